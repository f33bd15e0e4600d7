//! What two machines are told that work with clones of one repository at the same time.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{
    teamwork::{push, team},
    world::{BINDING_FILE, CONTRACT_FILE, DOMAIN_REF, EXPORTING, World, contract},
};

pub const PATHS: &str = "s3-access/s3-permissions";

/// Names the user of a clone.
pub fn name_user(world: &World, dir: &Path, name: &str) {
    world.git(dir, &["config", "user.name", name]);
    world.git(dir, &["config", "user.email", &format!("{name}@example.com")]);
}

/// Publishes a version of the contract from the clone `mate` on the second machine, and syncs.
pub fn publish_as_mate(world: &World, mate: &Path, version: &str) {
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

/// What a teammate changes without a commit, such as a yank, is ordinary work. The same by a stranger is an alarm.
#[test]
fn teammate_who_yanks_is_no_alarm() {
    for is_teammate in [true, false] {
        let (world, mate) = team();
        let fungal = world.path("fungal");
        name_user(&world, &mate, "mate");
        if is_teammate {
            world.on("second").write("mate/NOTES.md", "Notes\n");
            world.commit("mate", "Notes");
            world.git(&mate, &["push", "--quiet"]);
            world.on("home").git(&fungal, &["pull", "--quiet"]);
        }
        world.on("home").ok(&fungal, &["status"]);
        world.on("second").ok(&mate, &["contract", "yank", PATHS, "1.0.0", "--reason", "wrong"]);
        world.ok(&mate, &["sync"]);
        world.on("home").ok(&fungal, &["sync"]);
        let told = &world.json(&fungal, &["status"])["notifications"];
        let [one] = &told.as_array().unwrap()[..] else { panic!("{told}") };
        assert_eq!([&one["changed_by_other"], &one["by_other_clone"]], [&json!(!is_teammate), &json!(is_teammate)]);
        assert_eq!(one["author"], "mate <mate@example.com>", "{told}");
    }
}

/// A teammate is also known by what the teammate published, although this clone does not have the commit yet.
#[test]
fn teammate_who_yanks_what_is_not_pulled_yet_is_no_alarm() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["status"]);
    publish_as_mate(&world, &mate, "1.1.0");
    world.ok(&mate, &["contract", "yank", PATHS, "1.1.0", "--reason", "wrong"]);
    world.ok(&mate, &["sync"]);
    world.on("home").ok(&fungal, &["sync"]);
    let told = &world.json(&fungal, &["status"])["notifications"];
    let [one] = &told.as_array().unwrap()[..] else { panic!("{told}") };
    assert_eq!([&one["changed_by_other"], &one["by_other_clone"]], [&json!(false), &json!(true)], "{told}");
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
        assert_eq!(status.stdout.contains("not published: it has what was rolled back to"), pulled, "{status}");
        assert_eq!(world.version(), "1.0.0", "{status}");
    }
    // The next change from any machine is published.
    publish_as_mate(&world, &mate, "1.2.0");
    assert_eq!(world.version(), "1.2.0");
}

/// A commit that was rolled back before it was pushed is in no other clone. Whether a commit there is newer follows from
/// the realm.
#[test]
fn rollback_of_an_unpushed_commit_holds_only_its_content() {
    let binding = EXPORTING.replace("models/", "");
    let newer = [(CONTRACT_FILE, contract("1.2.0"), "1.2.0"), (BINDING_FILE, binding, "1.1.0")];
    for (file, text, version) in newer {
        let (world, mate) = team();
        let fungal = world.path("fungal");
        world.bump("1.1.0");
        let [old, new] = ["HEAD~1", "HEAD"].map(|at| world.line(&fungal, &["rev-parse", "--short=10", at]));
        world.git(&fungal, &["reset", "--quiet", "--hard", "HEAD~1"]);
        world.ok(&fungal, &["contract", "publish", "--rollback", "--reason", "never merged"]);
        world.ok(&fungal, &["sync"]);
        world.on("second").ok(&mate, &["sync"]);
        // The same content, which a person has to publish again.
        world.write(&format!("mate/{CONTRACT_FILE}"), &contract("1.1.0"));
        let commit = world.commit("mate", "The same again");
        let held = format!("not published: it has what was rolled back to {old}");
        let line = format!("git blue: {held}; git blue contract publish  # publish it again\n");
        assert_eq!(commit.stderr, line);
        let status = world.ok(&mate, &["status"]);
        let pull =
            format!("git pull  # get {new} by Ada, which was rolled back; if it stays missing, it is not pushed yet\n");
        assert!(status.stdout.contains(&held) && status.stdout.contains(&pull), "{status}");
        assert_eq!(world.version(), "1.0.0");
        // Anything else is newer.
        world.write(&format!("mate/{file}"), &text);
        world.commit("mate", "A change");
        assert_eq!(world.version(), version);
    }
}

/// Who pulls a commit publishes it as well. The history has it once, by the one who published it first, on each machine.
#[test]
fn pulled_publication_is_recorded_once() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    name_user(&world, &fungal, "owner");
    name_user(&world, &mate, "mate");
    world.bump("1.1.0");
    push(&world);
    let hub = world.tip("refs/blue/domains/s3-access");
    world.on("second").git(&mate, &["pull", "--quiet"]);
    let said = world.ok(&mate, &["sync"]);
    assert!(!said.all().contains("merged") && !said.all().contains("pushed"), "{said}");
    for (home, dir) in [("second", &mate), ("home", &fungal)] {
        world.on(home).ok(dir, &["sync"]);
        assert_eq!(world.tip("refs/blue/domains/s3-access"), hub, "{home}");
        let log = world.json(dir, &["contract", "log", PATHS]);
        let authors: Vec<_> = log["entries"].as_array().unwrap().iter().map(|one| &one["author"]).collect();
        assert_eq!(authors, ["owner <owner@example.com>", "Ada <ada@example.com>"], "{home}");
    }
}

/// What this machine pushed to another remote stays: that remote would bring it back.
#[test]
fn publication_at_another_remote_is_merged() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    let other = world.bare("other.git");
    world.bump("1.1.0");
    push(&world);
    world.on("second").git(&mate, &["pull", "--quiet"]);
    let store = world.store();
    world.git(&store, &["remote", "add", "other", &other]);
    world.ok(&mate, &["sync", "--remote", "other"]);
    for _ in 0..2 {
        world.on("second").ok(&mate, &["sync"]);
        world.on("home").ok(&fungal, &["sync"]);
    }
    let tips = ["home", "second"].map(|home| world.on(home).tip("refs/blue/domains/s3-access"));
    assert_eq!(tips[0], tips[1]);
    let at = |dir: &str| world.line(&world.path(dir), &["rev-parse", "refs/blue/domains/s3-access"]);
    assert_eq!([at("hub.git"), at("other.git")], [tips[0].as_str(); 2]);
    assert_eq!(world.line(&store, &["rev-list", "--count", "--merges", "refs/blue/domains/s3-access"]), "1");
}

/// A teammate pulls a change, commits something else on top and publishes both. The change keeps its author, for the
/// teammate before a sync and for everybody after it.
#[test]
fn published_change_names_its_author() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    name_user(&world, &fungal, "owner");
    name_user(&world, &mate, "mate");
    let access = world.on("second").repo("access");
    world.ok(&access, &["init", "--url", &world.hub()]);
    world.on("home").ok(&fungal, &["sync"]);
    world.ok(&fungal, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "access"]);
    world.ok(&fungal, &["sync"]);
    world.on("second").ok(&access, &["sync"]);
    world.ok(&access, &["status"]);
    world.on("home").bump("1.1.0");
    let change = world.line(&fungal, &["rev-parse", "HEAD"]);
    world.git(&fungal, &["push", "--quiet", "origin", "main"]);
    world.write("mate/NOTES.md", "Notes\n");
    world.git(&mate, &["add", "."]);
    world.git(&mate, &["commit", "--quiet", "-m", "Notes"]);
    world.on("second").git(&mate, &["pull", "--quiet", "--rebase"]);
    for synced in [false, true] {
        if synced {
            world.on("home").ok(&fungal, &["sync"]);
            world.on("second").ok(&mate, &["sync"]);
            world.on("home").ok(&fungal, &["sync"]);
        }
        for (home, dir) in [("second", &mate), ("home", &fungal)] {
            let version = &world.on(home).json(dir, &["contract", "timeline", PATHS])["entries"][0];
            assert_eq!(version["version"], "1.1.0", "{version}");
            assert_eq!(version["author"], "owner <owner@example.com>", "{synced} {home} {version}");
            assert_eq!(version["source_commit"], change, "{synced} {home} {version}");
        }
        let told = world.on("home").ok(&fungal, &["status", "--peek"]);
        assert!(!told.stdout.contains("another clone"), "{told}");
    }
    let told = &world.on("second").json(&access, &["notifications", "list"])["notifications"];
    let news: Vec<_> = told.as_array().unwrap().iter().filter(|one| one["from_repo"] == "fungal").collect();
    assert!(!news.is_empty() && news.iter().all(|one| one["author"] == "owner <owner@example.com>"), "{told}");
    assert!(news.iter().any(|one| one["source_commit"] == change), "{told}");
    let person = ["log", "-1", "--format=%an %cn", "--grep=Blue-Change-Commit", "refs/blue/domains/s3-access"];
    assert_eq!(world.line(&world.store(), &person), "owner mate");
}

/// The commit that is published only adds a comment, and describes another contract.
#[test]
fn published_version_names_who_wrote_it() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let other = "fungal/.blue/contracts/s3-access/other.yaml";
    world.write(other, &contract("1.0.0").replace("s3-permissions", "other"));
    world.commit("fungal", "Another");
    let commit = |author: &str| {
        let author = format!("{author} <{author}@example.com>");
        world.git(&fungal, &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-am", "x", "--author", &author]);
    };
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("2.0.0").replace("jobs/*", "tasks/*"));
    commit("bob");
    world.write(
        &format!("fungal/{CONTRACT_FILE}"),
        &format!("# Paths\n{}", world.read(&format!("fungal/{CONTRACT_FILE}"))),
    );
    world.write(other, &world.read(other).replace("Paths that", "All paths that"));
    commit("cy");
    world.ok(&fungal, &["status"]);
    let version = &world.json(&fungal, &["contract", "timeline", PATHS])["entries"][0];
    assert_eq!((&version["version"], &version["author"]), (&json!("2.0.0"), &json!("bob <bob@example.com>")));
}

/// The contract with another description, which needs no new version.
pub fn described() -> String {
    contract("1.0.0").replace("Paths that", "The paths that")
}

/// Publishes and pushes a change of the contract, which the teammate pulls.
fn publish_and_pull(text: &str) -> (World, PathBuf) {
    let (world, mate) = team();
    world.write(&format!("fungal/{CONTRACT_FILE}"), text);
    world.commit("fungal", "A change");
    push(&world);
    world.on("second").git(&mate, &["pull", "--quiet"]);
    world.ok(&mate, &["sync"]);
    (world, mate)
}

/// Whoever looks at an older commit did not drop the newer one: origin still has it.
#[test]
fn branch_that_was_reset_is_behind_while_its_upstream_has_the_published_commit() {
    for text in [contract("1.1.0"), described()] {
        let (world, mate) = publish_and_pull(&text);
        let published = world.tip(DOMAIN_REF);
        world.git(&mate, &["reset", "--quiet", "--hard", "HEAD~1"]);
        for args in ["status", "sync"] {
            let run = world.ok(&mate, &[args]);
            assert!(run.all().contains("behind") && !run.all().contains("rollback"), "{run}");
            assert!(world.next_step(&run).starts_with("git pull  # get the published commit"), "{run}");
        }
        let publish = world.blue(&mate, &["contract", "publish"]).exits(1);
        assert!(world.next_step(&publish).starts_with("git pull  # "), "{publish}");
        world.write("mate/code.py", "x");
        let commit = world.commit("mate", "Code");
        assert_eq!(commit.stderr, "");
        assert_eq!(world.tip(DOMAIN_REF), published);
    }
}

/// Otherwise two clones would undo each other's publication forever.
#[test]
fn dropped_commit_is_not_published_again_by_a_clone_that_still_has_it() {
    let (world, mate) = publish_and_pull(&described());
    let fungal = world.path("fungal");
    let dropped = world.line(&fungal, &["rev-parse", "HEAD"]);
    world.on("home").git(&fungal, &["reset", "--quiet", "--hard", "HEAD~1"]);
    world.git(&fungal, &["push", "--quiet", "--force"]);
    let published = world.ok(&fungal, &["sync"]);
    assert!(published.stdout.contains("published now"), "{published}");
    let tip = world.tip(DOMAIN_REF);
    for is_fetched in [false, true] {
        if is_fetched {
            world.git(&mate, &["fetch", "--quiet"]);
        }
        world.on("second").ok(&mate, &["sync"]);
        let status = world.ok(&mate, &["status"]);
        assert!(status.stdout.contains("not published: it has what another clone dropped from the branch"), "{status}");
        world.on("home").ok(&fungal, &["sync"]);
        assert_eq!(world.tip(DOMAIN_REF), tip);
    }
    // Commits on top of it stay.
    world.on("second").write("mate/code.py", "x");
    world.commit("mate", "Code");
    let status = world.ok(&mate, &["status"]);
    let step = format!("git pull --rebase  # drop {} here too; your other commits stay", &dropped[..10]);
    assert!(world.next_steps(&status).contains(&step), "{status}");
    world.finish_shell(&mate, &step).exits(0);
    assert_eq!(world.line(&mate, &["log", "--format=%s", "-1"]), "Code");
    let status = world.json(&mate, &["status"]);
    assert_eq!([&status["behind"], &status["unpublished"]], [&Value::Null; 2], "{status}");
    assert_eq!(world.tip(DOMAIN_REF), tip);
    // The clone that dropped it may bring it back.
    world.on("home").git(&fungal, &["reset", "--quiet", "--hard", &dropped]);
    world.ok(&fungal, &["status"]);
    assert_eq!(
        world.stored("contracts/s3-permissions.json")["description"],
        "The paths that fungal writes and others read"
    );
}
