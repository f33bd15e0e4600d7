//! What two machines are told that work with clones of one repository at the same time.

use std::path::Path;

use serde_json::{Value, json};

use crate::{
    teamwork::team,
    world::{CONTRACT_FILE, World, contract},
};

const PATHS: &str = "s3-access/s3-permissions";

/// Names the user of a clone.
fn name_user(world: &World, dir: &Path, name: &str) {
    world.git(dir, &["config", "user.name", name]);
    world.git(dir, &["config", "user.email", &format!("{name}@example.com")]);
}

/// Publishes a version of the contract from the clone `mate` on the second machine, and syncs.
fn publish_as_mate(world: &World, mate: &Path, version: &str) {
    name_user(world, mate, "mate");
    world.on("second").write(&format!("mate/{CONTRACT_FILE}"), &contract(version));
    world.commit("mate", "A version");
    world.ok(mate, &["sync"]);
}

/// A merge has the content of neither side, but nobody changed it behind the owner's back.
#[test]
fn concurrent_changes_of_the_owner_are_no_alarm() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["status"]);
    world.ok(&fungal, &["contract", "yank", PATHS, "1.0.0", "--reason", "wrong"]);
    publish_as_mate(&world, &mate, "1.1.0");
    world.on("home").ok(&fungal, &["sync"]);
    let told = &world.json(&fungal, &["status"])["notifications"];
    let [one] = &told.as_array().unwrap()[..] else { panic!("{told}") };
    assert_eq!([&one["changed_by_other"], &one["by_other_clone"]], [&json!(false), &json!(true)], "{told}");
    assert_eq!(one["author"], "mate <mate@example.com>", "{told}");
}

/// The teammate published under the former name, before the rename arrived there.
#[test]
fn renamed_clone_that_is_behind_is_told_to_pull() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["realm", "admin", "rename", "fungal", "mushroom"]);
    world.commit("fungal", "Rename");
    publish_as_mate(&world, &mate, "1.1.0");
    world.on("home").ok(&fungal, &["sync"]);
    for args in [&["status"][..], &["check"]] {
        let run = world.blue(&fungal, args).exits(0);
        assert!(!run.all().contains("rollback"), "{run}");
        assert!(run.all().contains("this clone is behind"), "{run}");
        assert!(!run.all().contains("although this repository owns it"), "{run}");
    }
}

/// The commit that each machine lacks is named with the one who published it.
#[test]
fn publisher_of_a_concurrent_commit_is_named() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    name_user(&world, &fungal, "owner");
    let other = contract("1.0.0").replace("s3-permissions", "s3-paths");
    world.write("fungal/.blue/contracts/s3-access/s3-paths.yaml", &other);
    world.commit("fungal", "Paths");
    publish_as_mate(&world, &mate, "1.1.0");
    let told = world.on("home").ok(&fungal, &["sync"]);
    let commit = world.line(&mate, &["rev-parse", "--short=10", "HEAD"]);
    assert!(told.all().contains(&format!("{commit} by mate; if it stays missing, it is not pushed yet")), "{told}");
}

/// If the published commit is not pushed, pulling does not help.
#[test]
fn fetch_first_names_the_publisher() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    publish_as_mate(&world, &mate, "1.1.0");
    let commit = world.line(&mate, &["rev-parse", "--short=10", "HEAD"]);
    world.on("home").ok(&fungal, &["sync"]);
    let other = contract("1.0.0").replace("s3-permissions", "s3-paths");
    world.write("fungal/.blue/contracts/s3-access/s3-paths.yaml", &other);
    let told = world.commit("fungal", "Paths");
    let step = format!("git pull  # then publish again; if {commit} by mate stays missing, it is not pushed yet");
    assert!(told.all().contains(&step), "{told}");
}

/// No other clone has the commits that were squashed, whichever of them was published last.
#[test]
fn squash_of_published_commits_is_recorded() {
    for has_hooks in [true, false] {
        let (world, mate) = team();
        let fungal = world.path("fungal");
        world.bump("1.1.0");
        world.write("fungal/code.py", "x");
        world.commit("fungal", "Code");
        if !has_hooks {
            world.git(&fungal, &["config", "core.hooksPath", "/dev/null"]);
        }
        world.git(&fungal, &["reset", "--quiet", "--soft", "HEAD~2"]);
        world.commit("fungal", "Both");
        world.git(&fungal, &["push", "--quiet"]);
        world.ok(&fungal, &["sync"]);
        let head = world.line(&fungal, &["rev-parse", "HEAD"]);
        assert_eq!(world.stored("sources/fungal.json")["commit"], Value::from(head), "hooks: {has_hooks}");
        world.on("second").ok(&mate, &["sync"]);
        world.git(&mate, &["pull", "--quiet"]);
        let status = world.json(&mate, &["status"]);
        assert_eq!([&status["behind"], &status["unpublished"]], [&Value::Null; 2], "{status}");
    }
}

/// A file that says `version: auto` cannot be bumped.
#[test]
fn conflict_of_automatic_versions_is_resolved_by_writing_one() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    let file = ".blue/contracts/s3-access/s3-paths.yaml";
    let auto = |text: &str| {
        contract("1.0.0").replace("s3-permissions", "s3-paths").replace("\"1.0.0\"", "auto").replace("v1.0.0", text)
    };
    for (home, repo, text) in [("home", "fungal", "one"), ("second", "mate", "two")] {
        world.on(home).write(&format!("{repo}/{file}"), &auto(text));
        world.commit(repo, "Paths");
        world.ok(&world.path(repo), &["sync"]);
    }
    let write = format!("write version: \"1.0.1\" in {file}, with the intended content, and commit");
    for args in [&["status"][..], &["check"]] {
        let run = world.blue(&mate, args);
        assert!(run.all().contains(&write), "{run}");
        assert!(!run.all().contains("contract bump"), "{run}");
    }
    world.on("home").ok(&fungal, &["sync"]);
}

/// What one machine rolled back, no other publishes again.
#[test]
fn rollback_holds_on_every_machine() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    world.bump("1.1.0");
    world.git(&fungal, &["push", "--quiet", "origin", "main"]);
    world.ok(&fungal, &["sync"]);
    for pulled in [false, true] {
        world.on("home");
        world.ok(&fungal, &["contract", "publish"]);
        world.ok(&fungal, &["contract", "publish", "--commit", "HEAD~1", "--rollback", "--reason", "broke"]);
        world.ok(&fungal, &["sync"]);
        world.on("second").ok(&mate, &["sync"]);
        if pulled {
            world.git(&mate, &["pull", "--quiet"]);
        }
        world.ok(&mate, &["sync"]);
        let status = world.ok(&mate, &["status"]);
        assert_eq!(status.stdout.contains("not published: it was rolled back to"), pulled, "{status}");
        assert_eq!(world.version(), "1.0.0", "{status}");
    }
    // The next change from any machine is published.
    publish_as_mate(&world, &mate, "1.2.0");
    assert_eq!(world.version(), "1.2.0");
}
