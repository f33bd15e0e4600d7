//! `git blue` alone shows the state and next steps; bare verbs find their command.

use crate::world::{World, snapshot};

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
