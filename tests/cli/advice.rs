//! Advice leads on: no step leads back to the message that it came from, and messages name what to write.

use crate::world::{CONTRACT_FILE, World, contract};

const AT: &str = "s3-access/s3-permissions";

#[test]
fn bump_restores_the_published_version_of_the_same_content() {
    for version in ["0.9.0", "1.0.0"] {
        let world = World::solo();
        let fungal = world.path("fungal");
        world.bump("1.1.0");
        let path = format!("fungal/{CONTRACT_FILE}");
        let published = world.read(&path);
        world.write(&path, &published.replace("\"1.1.0\"", &format!("{version:?}")));
        let check = world.blue(&fungal, &["check", "--worktree"]);
        assert!(version == "0.9.0" || check.stdout.contains("bump to 1.1.0"), "{check}");
        let bump = world.ok(&fungal, &["contract", "bump", AT]);
        assert!(bump.stdout.contains(&format!("{version} -> 1.1.0 (published: 1.1.0)")), "{bump}");
        assert!(bump.stdout.contains("because the content is the same as in 1.1.0"), "{bump}");
        assert_eq!(world.read(&path), published);
        world.ok(&fungal, &["check", "--worktree"]);
    }
}

#[test]
fn refusal_says_that_nothing_else_was_published() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["contract", "new", "billing/invoice", "--domain-members", "fungal"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0").replace("masks", "inputs"));
    let commit = world.commit("fungal", "Change both");
    assert!(commit.stderr.contains("; nothing was published; write version: \"1.0.1\", and commit"), "{commit}");
    world.blue(&fungal, &["contract", "get", "billing/invoice"]).exits(1);
}

#[test]
fn version_in_another_file_is_written_there() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let path = format!("fungal/{CONTRACT_FILE}");
    let from = |text: &str| text.replace("version: \"1.1.0\"", "version: { from: package.json }");
    world.write("fungal/package.json", r#"{"version": "1.1.0"}"#);
    world.write(&path, &from(&contract("1.1.0")));
    world.commit("fungal", "Read the version");
    world.write(&path, &from(&contract("1.1.0")).replace("masks", "inputs"));
    let step = "write the version 1.1.1 into package.json, and commit";
    let check = world.blue(&fungal, &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains(step) && !check.stdout.contains("contract bump"), "{check}");
    let bump = world.blue(&fungal, &["contract", "bump", AT]).exits(1);
    assert!(bump.stderr.contains(step), "{bump}");
    let commit = world.commit("fungal", "Change the value");
    assert!(commit.stderr.contains(step), "{commit}");
    world.write("fungal/package.json", r#"{"version": "1.0.0"}"#);
    let check = world.blue(&fungal, &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains(step), "{check}");
}

#[test]
fn unknown_commands_are_explained() {
    let world = World::new();
    let home = world.root();
    let foo = world.blue(&home, &["foo"]).exits(129);
    assert!(foo.stderr.contains("For more information, try 'git blue -h'."), "{foo}");
    let hooky = world.blue(&home, &["hoo"]).exits(129);
    assert!(hooky.stderr.contains("'hooks'") && !hooky.stderr.contains("'hook'"), "{hooky}");
    let below = world.blue(&home, &["contract", "foo"]).exits(129);
    assert!(below.stderr.contains("For more information, try '--help'."), "{below}");
    for (command, code) in [("install", 129), ("status", 129), ("pre-commit", 0)] {
        let hook = world.blue(&home, &["hook", command]).exits(code);
        let is_meant = hook.stderr.contains(&format!("did you mean git blue hooks {command}?"));
        assert_eq!(is_meant, code != 0, "{hook}");
    }
}

#[test]
fn check_points_to_files_that_are_not_committed() {
    let world = World::new();
    let fungal = world.join("fungal");
    world.ok(&fungal, &["contract", "new", "orders/order", "--domain-members", "fungal"]);
    let check = world.blue(&fungal, &["check"]);
    let step = "git blue check --worktree  # the files under .blue are not committed yet";
    assert_eq!(world.next_steps(&check), [step], "{check}");
    assert!(check.stdout.contains("there are no committed files under .blue/contracts"), "{check}");
    world.ok(&fungal, &["check", "--worktree"]);
    world.commit("fungal", "Add it");
    let other = world.join("access");
    let check = world.ok(&other, &["check"]);
    assert!(check.stdout.contains("note: only the realm was checked"), "{check}");
    assert!(check.stdout.contains("1 contract checked"), "{check}");
    assert!(!check.stdout.contains("--worktree"), "{check}");
}
