//! Which branch is published, and what to do if it is unknown.

use std::path::PathBuf;

use crate::publishing::{clones, publish};
use crate::world::{CONTRACT_FILE, World, contract};

#[test]
fn branch_that_lacks_what_was_published_is_not_offered_as_the_publishing_branch() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.bump("1.1.0");
    for (from, is_offered) in [("HEAD", true), ("HEAD~1", false)] {
        world.git(&fungal, &["switch", "--quiet", "-C", "other", from]);
        world.git(&fungal, &["commit", "--quiet", "--allow-empty", "-m", "More"]);
        let run = publish(&world, "fungal", &[]).exits(1);
        assert_eq!(run.stderr.contains("git config blue.publishBranch other"), is_offered, "{run}");
        world.git(&fungal, &["switch", "--quiet", "main"]);
    }
}

/// As on the runner of a tag.
#[test]
fn clone_without_the_publishing_branch_is_told_to_fetch_it() {
    let world = clones();
    let (fungal, second) = (world.path("fungal"), world.path("second"));
    world.git(&fungal, &["config", "blue.publish", "off"]);
    world.bump("1.1.0");
    world.git(&fungal, &["push", "--quiet", "origin", "main"]);
    world.git(&second, &["fetch", "--quiet"]);
    world.git(&second, &["switch", "--quiet", "--detach", "origin/main"]);
    let forget = || {
        for name in ["refs/heads/main", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"] {
            world.git(&second, &["update-ref", "--no-deref", "-d", name]);
        }
    };
    let asked = |said: &str| {
        forget();
        let lost = publish(&world, "second", &[]).exits(1);
        assert!(lost.stderr.contains(said), "{lost}");
        world.finish_shell(&second, &world.next_step(&lost)).exits(0);
    };
    asked("cannot tell which branch is published");
    publish(&world, "second", &["--dry-run"]).exits(0);
    world.git(&second, &["config", "blue.publishBranch", "main"]);
    asked("this clone lacks the publishing branch main");
    publish(&world, "second", &[]).exits(0);
    assert_eq!(world.version(), "1.1.0");
}

/// As after `git clone -o`.
#[test]
fn only_remote_takes_the_place_of_origin() {
    let world = clones();
    let (hub, fungal, second) = (world.path("hub.git"), world.path("fungal"), world.path("second"));
    world.git(&second, &["remote", "rename", "origin", "company"]);
    world.bump("1.1.0");
    world.git(&fungal, &["push", "--quiet", "origin", "main"]);
    let behind = world.ok(&second, &["status"]);
    assert!(world.next_step(&behind).starts_with("git pull  #"), "{behind}");
    world.git(&second, &["switch", "--quiet", "-c", "other"]);
    let elsewhere = world.ok(&second, &["status"]);
    assert!(world.next_step(&elsewhere).starts_with("git fetch company main:main  #"), "{elsewhere}");
    // The remote decides which branch is published.
    world.git(&hub, &["branch", "develop", "main"]);
    world.git(&hub, &["symbolic-ref", "HEAD", "refs/heads/develop"]);
    world.git(&second, &["fetch", "--quiet"]);
    world.git(&second, &["remote", "set-head", "company", "-a"]);
    world.git(&second, &["switch", "--quiet", "develop"]);
    world.write(&format!("second/{CONTRACT_FILE}"), &contract("1.2.0"));
    world.commit("second", "Paths 1.2.0");
    assert_eq!(world.version(), "1.2.0");
}

#[test]
fn publishing_branch_that_was_renamed_at_origin_is_reported() {
    let world = clones();
    let (hub, second) = (world.path("hub.git"), world.path("second"));
    world.git(&hub, &["branch", "-m", "main", "trunk"]);
    world.git(&hub, &["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    world.git(&second, &["fetch", "--quiet", "--prune"]);
    world.git(&second, &["switch", "--quiet", "-c", "trunk", "--track", "origin/trunk"]);
    world.write(&format!("second/{CONTRACT_FILE}"), &contract("1.1.0"));
    let commit = world.commit("second", "Paths 1.1.0");
    let said = "not published: the publishing branch main no longer exists at origin; git remote set-head origin -a";
    assert!(commit.stderr.contains(said), "{commit}");
    let status = world.ok(&second, &["status"]);
    assert_eq!(world.finish_shell(&second, &world.next_step(&status)).code, 0, "{status}");
    world.ok(&second, &["status"]);
    assert_eq!(world.version(), "1.1.0");
}

#[test]
fn publishing_branch_is_configured_or_detected() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.git(&provider, &["switch", "--quiet", "-c", "release"]);
    world.git(&provider, &["config", "blue.publishBranch", "refs/heads/release"]);
    world.bump("1.1.0");
    assert_eq!(world.version(), "1.1.0");
    world.git(&provider, &["config", "blue.publishBranch", ""]);
    // Now `main`, the existing init.defaultBranch.
    world.bump("1.2.0");
    assert_eq!(world.version(), "1.1.0");
    world.git(&provider, &["branch", "--quiet", "-D", "main"]);
    // The only branch.
    publish(&world, "fungal", &[]).exits(0);
    assert_eq!(world.version(), "1.2.0");
}

#[test]
fn detached_head_publishes_the_branch() {
    let world = World::solo();
    let provider: PathBuf = world.path("fungal");
    world.git(&provider, &["switch", "--quiet", "--detach"]);
    let hint = "git blue: the changes to .blue/ are published once this commit is on main\n";
    assert_eq!(world.bump("1.1.0").all(), hint);
    publish(&world, "fungal", &[]).exits(1);
    world.git(&provider, &["branch", "--quiet", "-f", "main", "HEAD"]);
    publish(&world, "fungal", &[]).exits(0);
    assert_eq!(world.version(), "1.1.0");
}

#[test]
fn unknown_publishing_branch_is_reported() {
    let world = World::solo();
    let provider = world.path("fungal");
    for name in ["develop", "feature"] {
        world.git(&provider, &["branch", "--quiet", name]);
    }
    world.git(&provider, &["switch", "--quiet", "develop"]);
    world.git(&provider, &["branch", "--quiet", "-D", "main"]);
    const STEP: &str = "git config blue.publishBranch develop  # publish this branch";
    let reported = |commit: &crate::world::Run, problem: &str| {
        assert_eq!(commit.stderr, format!("git blue: not published: {problem}; {STEP}\n"));
        let status = world.ok(&provider, &["status"]);
        assert!(status.stdout.contains(problem) && status.stdout.contains(STEP), "{status}");
        let doctor = world.blue(&provider, &["doctor"]);
        assert!(doctor.stdout.contains(&format!("nothing is published: {problem}")), "{doctor}");
        assert!(doctor.stdout.contains(STEP), "{doctor}");
    };
    reported(&world.bump("1.1.0"), "cannot tell which branch is published");
    // A commit that changes nothing below .blue prints nothing.
    world.write("fungal/README.md", "More\n");
    assert_eq!(world.commit("fungal", "Unrelated").stderr, "");
    world.git(&provider, &["config", "blue.publishBranch", "mian"]);
    reported(&world.bump("1.2.0"), "the publishing branch mian does not exist");
    world.git(&provider, &["config", "blue.publishBranch", "develop"]);
    world.git(&provider, &["config", "blue.publish", "banana"]);
    let doctor = world.blue(&provider, &["doctor"]);
    assert!(doctor.stdout.contains("nothing is published: blue.publish is \"banana\""), "{doctor}");
    world.git(&provider, &["config", "--unset", "blue.publish"]);
    let status = world.ok(&provider, &["status"]);
    assert!(!status.stdout.contains(STEP), "{status}");
    assert_eq!(world.version(), "1.2.0");
}

#[test]
fn publishing_branch_may_be_a_full_name_or_empty() {
    let world = World::pair();
    let provider = world.path("fungal");
    for (name, version) in [("refs/heads/main", "1.1.0"), ("", "1.2.0")] {
        world.git(&provider, &["config", "blue.publishBranch", name]);
        world.bump(version);
        assert_eq!(world.version(), version);
    }
}
