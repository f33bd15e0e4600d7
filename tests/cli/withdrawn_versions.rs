//! Contracts and versions that were deprecated, retired or yanked.

use serde_json::json;

use crate::check_rules::{finds, publish_with};
use crate::world::{CONTRACT_FILE, World, contract, importing, snapshot};

#[test]
fn deprecated_and_past_sunset() {
    let world = World::pair();
    publish_with(&world, "deprecated: { since: \"1.1.0\", sunset: 2026-02-01, replaced_by: s3-paths }\n");
    let before = finds(&world, "access", &[], &["import-deprecated"]);
    world.pass_days(30);
    let after = finds(&world, "access", &[], &["past-sunset"]);
    snapshot("check_deprecated", &[&before, &after]);
}

#[test]
fn deprecation_that_names_nothing() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let deprecated = |since: &str, by: &str| {
        let lines = format!("deprecated:\n  since: \"{since}\"\n  replaced_by: {by}\n");
        world.write(&format!("fungal/{CONTRACT_FILE}"), &(contract("1.1.0") + &lines));
    };
    deprecated("9.0.0", "s3-pemissions");
    let check = world.blue(&fungal, &["check", "--worktree"]).exits(0);
    let line = contract("1.1.0").lines().count() + 2;
    let file = format!("{CONTRACT_FILE}:{line}: warning: ");
    assert!(check.stdout.contains("deprecated.since is 9.0.0, but the newest version is 1.1.0"), "{check}");
    assert!(check.stdout.contains(&file), "{check}");
    let file = format!("{CONTRACT_FILE}:{}: warning: ", line + 1);
    assert!(check.stdout.contains(&file) && check.stdout.contains("[unknown-successor]"), "{check}");
    let published = world.commit("fungal", "Deprecate");
    let dry = world.blue(&fungal, &["contract", "log", "s3-access/s3-permissions"]);
    assert!(published.stderr.contains("is replaced by s3-pemissions, which does not exist"), "{published} {dry}");
    assert!(!published.stderr.contains("did you mean"), "{published}");
    // It stays a problem once it is published.
    let check = world.ok(&fungal, &["check"]);
    assert!(check.stdout.contains("[unknown-successor]") && check.stdout.contains("[deprecated-later]"), "{check}");
    // A contract of the working tree counts, also if the deprecating file is as it was published.
    let successor = "fungal/.blue/contracts/s3-access/s3-pemissions.yaml";
    world.write(successor, &contract("1.0.0").replace("s3-permissions", "s3-pemissions"));
    let check = world.ok(&fungal, &["check", "--worktree"]);
    assert!(!check.stdout.contains("unknown-successor") && check.stdout.contains("[deprecated-later]"), "{check}");
    std::fs::remove_file(world.path(successor)).unwrap();
    // A contract of the same commit counts.
    deprecated("1.1.0", "paths");
    let other = contract("0.1.0").replace("s3-permissions", "paths");
    world.write("fungal/.blue/contracts/s3-access/paths.yaml", &other);
    let check = world.blue(&fungal, &["check", "--worktree"]);
    assert!(!check.stdout.contains("unknown-successor") && !check.stdout.contains("deprecated-later"), "{check}");
}

#[test]
fn yanked_and_retired() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.ok(&provider, &["contract", "yank", "s3-access/s3-permissions", "1.0.0", "--reason", "it leaks"]);
    let yanked = finds(&world, "access", &[], &["import-yanked"]);
    let own = world.ok(&provider, &["status"]);
    assert!(own.stdout.contains("s3-access/s3-permissions  1.0.0  yanked"), "{own}");
    // Nothing but the contract shows the reason, which is text from the realm.
    assert!(!yanked.stdout.contains("it leaks"), "{yanked}");
    let consumer = world.path("access");
    let import = &world.json(&consumer, &["status"])["imports"][0];
    assert_eq!((&import["yanked"], &import["rank"]), (&json!(true), &json!("attention")));
    let status = world.ok(&consumer, &["status"]);
    assert!(status.stdout.contains("accepts 1.0.0, which was yanked"), "{status}");
    let told = world.ok(&consumer, &["notifications", "list"]);
    assert!(told.stdout.contains("your import relies on it"), "{told}");
    assert_eq!(world.json(&consumer, &["contract", "list"])["contracts"][0]["state"], "yanked");
    // What needs attention is in the review that the status suggests.
    let review = world.ok(&consumer, &["review"]);
    assert!(review.stdout.contains("the current version was yanked"), "{review}");
    assert!(review.stdout.contains("git blue contract get s3-access/s3-permissions  # 1.0.0 was yanked"), "{review}");
    let other = world.join("other");
    let none = world.blue(&other, &["import", "s3-access/s3-permissions"]).exits(1);
    assert!(none.stderr.contains("every version of s3-access/s3-permissions was yanked"), "{none}");
    world.ok(&other, &["import", "s3-access/s3-permissions", ">=1.0.0"]);
    world.bump("1.1.0");
    finds(&world, "access", &[], &[]);
    world.ok(&provider, &["contract", "retire", "s3-access/s3-permissions", "--reason", "moved", "--force"]);
    let retired = finds(&world, "access", &[], &["import-retired"]);
    assert!(!retired.stdout.contains("moved"), "{retired}");
    snapshot("check_yanked_retired", &[&yanked, &retired]);
}

#[test]
fn a_range_that_only_accepts_a_yanked_version() {
    let world = World::pair();
    world.write("access/.blue/bindings/s3-access.yaml", &importing("=1.0.0"));
    world.commit("access", "Pin the version");
    world.bump("1.1.0");
    let check = world.blue(&world.path("access"), &["check"]).exits(1);
    assert!(check.stdout.contains("the range \">=1.0.0, <2.0.0\" accepts both versions"), "{check}");
    let provider = world.path("fungal");
    world.ok(&provider, &["contract", "yank", "s3-access/s3-permissions", "1.0.0", "--reason", "it leaks"]);
    let check = world.blue(&world.path("access"), &["check"]).exits(1);
    assert!(check.stdout.contains("1.0.0 was yanked") && !check.stdout.contains("accepts both"), "{check}");
}

#[test]
fn a_deprecation_in_a_pre_release_is_said_to_wait() {
    let world = World::pair();
    world.bump("2.0.0-rc.1");
    let waiting = contract("2.0.0-rc.1") + "deprecated: { since: 1.0.0 }\n";
    world.write(&format!("fungal/{CONTRACT_FILE}"), &waiting);
    let check = world.ok(&world.path("fungal"), &["check", "--worktree"]);
    let text = "the deprecation in 2.0.0-rc.1 takes effect once it is released; to deprecate s3-permissions now, add it \
        to 1.0.0 and publish that [not-in-effect]";
    assert!(check.stdout.contains(text), "{check}");
    world.commit("fungal", "Deprecate it");
    assert!(world.ok(&world.path("fungal"), &["check"]).stdout.contains("[not-in-effect]"));
}
