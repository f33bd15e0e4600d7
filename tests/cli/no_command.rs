//! `git blue` alone shows the state and next steps; bare verbs find their command.

use crate::world::{CONTRACT_FILE, World, snapshot};

#[test]
fn bare_command_shows_state_and_next_steps() {
    let world = World::pair();
    let outside = world.ok(&world.root(), &[]);
    let fresh = world.ok(&world.repo("fresh"), &[]);
    world.bump("2.0.0");
    let pending = world.ok(&world.path("access"), &[]);
    let quiet = world.ok(&world.path("fungal"), &[]);
    snapshot("screen", &[&outside, &fresh, &pending, &quiet]);
    // It marks nothing as seen.
    assert_eq!(world.json(&world.path("access"), &["status", "--peek"])["notifications"].as_array().unwrap().len(), 1);
    world.blue(&world.root(), &["--json"]).exits(129);
    world.git(&world.path("fungal"), &["rm", "--quiet", CONTRACT_FILE]);
    world.commit("fungal", "Remove the file");
    let removed = world.ok(&world.path("fungal"), &[]);
    assert!(removed.stdout.contains("1 contract without a file"), "{removed}");
}

#[test]
fn bare_verb_runs_or_lists_the_full_command() {
    let world = World::pair();
    let dir = world.path("access");
    let get = world.ok(&dir, &["get", "s3-access/s3-permissions"]);
    assert!(get.stdout.contains("s3-permissions"), "{get:?}");
    world.ok(&dir, &["publish", "--dry-run"]);
    let several = world.blue(&dir, &["log"]).exits(129);
    let unknown = world.blue(&dir, &["frobnicate"]).exits(129);
    snapshot("screen_deeper", &[&several, &unknown]);
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let world = World::solo();
    let fungal = world.path("fungal");
    for line in ["git blue help", "git blue -h", "git blue status", "git blue --json status", "git blue --json frob"] {
        let run = world.finish_shell(&fungal, &format!("{line} >/dev/full"));
        assert_ne!(run.code, 0, "{line}: {run}");
        assert!(
            run.stderr.lines().any(|line| line.starts_with("fatal: ") || line.starts_with("error: ")),
            "{line}: {run}"
        );
    }
}

#[test]
fn missing_command_is_an_error_in_json() {
    let world = World::solo();
    let answer = world.blue(&world.path("fungal"), &["--json", "contract"]).exits(129).json();
    assert_eq!(
        answer["error"]["message"].as_str().or(answer["message"].as_str()),
        Some("git blue contract needs a command")
    );
}
