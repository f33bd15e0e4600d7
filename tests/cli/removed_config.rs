//! Pull requests that delete `.blue/config.yaml`, or write the name of another repository into it.

use crate::{
    teamwork::{push, team},
    world::{CONTRACT_FILE, World, contract},
};

/// A provider, on a branch that deletes the file with its name.
fn deleted() -> World {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.git(&fungal, &["switch", "--quiet", "-c", "no-config"]);
    world.git(&fungal, &["rm", "--quiet", ".blue/config.yaml"]);
    world.commit("fungal", "No configuration");
    world
}

/// Other branches still have the file, but what is published must not depend on the branch that is checked out.
#[test]
fn main_without_the_name_is_published_from_no_other_branch() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.git(&fungal, &["branch", "other"]);
    world.git(&fungal, &["rm", "--quiet", ".blue/config.yaml"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    world.commit("fungal", "No configuration");
    let why = "has no .blue/config.yaml, so nothing from it is published";
    world.git(&fungal, &["switch", "--quiet", "other"]);
    let status = world.ok(&fungal, &["status"]);
    assert!(status.stdout.contains(why), "{status}");
    assert_eq!(world.version(), "1.0.0");
    world.git(&fungal, &["switch", "--quiet", "main"]);
    world.git(&fungal, &["checkout", "HEAD~1", "--", ".blue/config.yaml"]);
    world.commit("fungal", "Restore it");
    assert_eq!(world.version(), "1.1.0");
}

#[test]
fn deleting_the_name_fails_the_pull_request() {
    let world = deleted();
    let fungal = world.path("fungal");
    let store = world.store().display().to_string();
    for args in
        [&["check"][..], &["check", "--base", "main"], &["check", "--worktree"], &["check", "--realm-path", &store]]
    {
        let run = world.blue(&fungal, args).exits(1);
        let says = ".blue/config.yaml: error: it is deleted: once this is merged, nothing from fungal is published any more [config-removed]";
        assert!(run.stdout.contains(says), "{args:?}: {run}");
    }
    // Whoever names the repository does without the file.
    for args in [&["check", "--repo", "fungal"][..], &["check", "--realm-path", &store, "--repo", "fungal"]] {
        let run = world.blue(&fungal, args).exits(0);
        assert!(!run.stdout.contains("config-removed"), "{args:?}: {run}");
    }
    // The problem is no longer new once the base has it.
    world.write("fungal/README.md", "more\n");
    world.commit("fungal", "More");
    let later = world.blue(&fungal, &["check", "--base", "HEAD~1"]).exits(0);
    assert!(later.stdout.contains("warning: it is deleted"), "{later}");
    let restore = world.next_steps(&world.blue(&fungal, &["check"]).exits(1)).remove(0);
    assert_eq!(world.finish_shell(&fungal, &restore).code, 0, "{restore}");
    world.blue(&fungal, &["check"]).exits(0);
}

/// On the publishing branch no other branch may have the file.
#[test]
fn deleted_name_can_be_restored_on_main() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.git(&fungal, &["rm", "--quiet", ".blue/config.yaml"]);
    world.commit("fungal", "No configuration");
    world.commit("fungal", "More");
    let restore = world.next_step(&world.blue(&fungal, &["status"]));
    assert_eq!(world.finish_shell(&fungal, &restore).code, 0, "{restore}");
    world.ok(&fungal, &["status"]);
}

#[test]
fn repository_that_left_may_delete_its_name() {
    let world = World::pair();
    let access = world.path("access");
    world.ok(&access, &["leave", "--force"]);
    world.commit("access", "Leave");
    let store = world.store().display().to_string();
    let run = world.blue(&access, &["check", "--realm-path", &store]);
    assert!(!run.all().contains("config-removed"), "{run}");
}

/// A teammate left the realm, and this clone pulled the commit without the file.
#[test]
fn clone_of_a_repository_that_left_can_forget_it() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    world.on("home").ok(&fungal, &["leave", "--force"]);
    world.commit("fungal", "Leave");
    world.git(&fungal, &["push", "--quiet", "origin", "main"]);
    world.ok(&fungal, &["--realm", "aperture", "sync"]);
    world.on("second").git(&mate, &["pull", "--quiet"]);
    let status = world.blue(&mate, &["status"]).exits(128);
    let step = world.next_step(&status);
    assert_eq!(step, "git blue --realm aperture sync  # if fungal left the realm elsewhere", "{status}");
    assert_eq!(world.finish_shell(&mate, &step).code, 0, "{step}");
    let status = world.blue(&mate, &["status"]).exits(128);
    assert!(status.stderr.contains("fungal left the realm aperture"), "{status}");
    assert_eq!(world.next_step(&status), "git blue leave  # make this clone forget the realm too", "{status}");
    world.ok(&mate, &["leave"]);
    let outside = world.blue(&mate, &["status"]).exits(128);
    assert!(!outside.stderr.contains("left"), "{outside}");
    assert_eq!(world.git(&mate, &["commit", "--quiet", "--allow-empty", "-m", "More"]).all(), "");
    assert_eq!(world.git(&mate, &["status", "--short"]).stdout, "");
}

/// A teammate left the realm, and joined it again under another name.
#[test]
fn clone_of_a_repository_that_joined_again_joins_too() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    world.on("home").ok(&fungal, &["leave", "--force"]);
    world.commit("fungal", "Leave");
    world.ok(&fungal, &["init", "--realm", "aperture", "--repo", "depot"]);
    world.commit("fungal", "Join again");
    push(&world);
    world.on("second").git(&mate, &["pull", "--quiet"]);
    world.ok(&mate, &["sync"]);
    let step = world.next_step(&world.ok(&mate, &["status"]));
    assert_eq!(step, "git blue init  # join as depot: fungal left the realm");
    world.ok(&mate, &["init"]);
    let status = world.json(&mate, &["status"]);
    assert_eq!(status["read_only"], serde_json::Value::Null, "{status}");
}

/// A check under another repository's name would judge that repository's imports, and hide what is broken here.
#[test]
fn name_of_another_repository_is_an_error() {
    let world = World::pair();
    let access = world.path("access");
    world.git(&access, &["clone", "--quiet", ".", "../runner"]);
    let (runner, store) = (world.path("runner"), world.store().display().to_string());
    let copied = world.read("fungal/.blue/config.yaml");
    for (repo, reason) in [
        ("access", "this clone joined the realm aperture as access, so it cannot write as fungal of aperture"),
        ("runner", "the name fungal belongs to another repository in the realm aperture"),
    ] {
        world.write(&format!("{repo}/.blue/config.yaml"), &copied);
        world.commit(repo, "Copy the configuration");
        let expected = format!(".blue/config.yaml:3: error: {reason}");
        for args in [&["check"][..], &["check", "--worktree"], &["check", "--realm-path", &store]] {
            let check = world.blue(&world.path(repo), args).exits(1);
            assert!(check.stdout.contains(&expected), "{args:?}: {check}");
        }
        world.blue(&world.path(repo), &["check", "--repo", "access"]).exits(0);
    }
    // A clone of the named repository itself may be anywhere.
    world.git(&world.path("fungal"), &["clone", "--quiet", ".", "../fork"]);
    world.blue(&world.path("fork"), &["check"]).exits(0);
    world.git(&runner, &["revert", "--no-edit", "HEAD"]);
    world.blue(&runner, &["check"]).exits(0);
}
