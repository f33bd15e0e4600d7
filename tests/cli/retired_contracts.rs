//! Advice about contracts that are retired or replaced.

use crate::advice::AT;
use crate::world::{BINDING_FILE, CONTRACT_FILE, World, contract, importing};

#[test]
fn bump_of_a_retired_contract_says_what_publishes_it_again() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["contract", "retire", AT, "--reason", "over"]);
    let bump = world.blue(&fungal, &["contract", "bump", AT]).exits(1);
    let step =
        format!("remove {CONTRACT_FILE}; to publish the contract again, write a version above 1.0.0 in it, and commit");
    assert!(bump.stderr.contains(&format!("hint: {step}\n")), "{bump}");
    world.bump("1.1.0");
    assert_eq!(world.stored("contracts/s3-permissions.json")["retired"], serde_json::Value::Null);
}

#[test]
fn a_changed_file_of_a_retired_contract_is_not_bumped() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["contract", "retire", AT, "--reason", "over"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0").replace("masks", "inputs"));
    let step = "remove the file, or raise its version to 1.0.1 to publish the retired contract again, and commit";
    let check = world.blue(&fungal, &["check", "--worktree"]).exits(1);
    let impact = world.ok(&fungal, &["contract", "impact", AT, "--worktree"]);
    for run in [&check, &impact] {
        assert!(run.stdout.contains(step) && !run.stdout.contains("contract bump"), "{run}");
    }
    let commit = world.commit("fungal", "Change it");
    assert!(commit.stderr.contains(step), "{commit}");
}

/// The owner retired the contract, and left.
#[test]
fn the_name_of_a_retired_contract_is_not_imported() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    world.ok(&fungal, &["contract", "retire", AT, "--reason", "over", "--force"]);
    let new = world.blue(&access, &["contract", "new", AT]).exits(1);
    let rename = "hint: choose another name: the name of a retired contract cannot be reused";
    assert!(new.stderr.contains(rename) && !new.stderr.contains("git blue import"), "{new}");
    world.git(&fungal, &["rm", "-qr", ".blue/contracts", ".blue/bindings"]);
    world.commit("fungal", "Leave");
    world.ok(&fungal, &["realm", "admin", "remove-member", "fungal", "--domain", "s3-access"]);
    let reclaim =
        "git blue realm admin reclaim --help  # if fungal no longer exists: take over its name in a new repository";
    world.write(&format!("access/{CONTRACT_FILE}"), &contract("2.0.0").replace("owner: fungal", "owner: access"));
    let check = world.blue(&access, &["check", "--worktree"]).exits(1);
    let why = "s3-permissions belongs to fungal, which retired it and left the domain; only fungal can change it";
    assert!(check.stdout.contains(why), "{check}");
    let commit = world.commit("access", "Take the name");
    assert!(commit.stderr.contains("; choose another name"), "{commit}");
    let transfer = world.blue(&access, &["contract", "transfer", AT, "--to", "access"]).exits(1);
    for run in [&check, &transfer] {
        assert!(world.next_steps(run).contains(&reclaim.to_owned()), "{run}");
    }
}

/// `order` is replaced by `next`, which the owner gives up, or replaces too.
#[test]
fn successors_that_are_given_up_are_not_recommended() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    let publish = |name: &str, version: &str, replaced_by: Option<&str>| {
        let deprecated = replaced_by.map(|other| format!("deprecated: {{ since: 1.0.0, replaced_by: {other} }}\n"));
        let text = contract(version).replace("s3-permissions", name) + &deprecated.unwrap_or_default();
        world.write(&format!("fungal/.blue/contracts/s3-access/{name}.yaml"), &text);
        world.commit("fungal", "Publish it")
    };
    publish("last", "1.0.0", None);
    publish("next", "1.0.0", None);
    publish("s3-permissions", "1.0.0", Some("next"));
    let review = || world.next_steps(&world.ok(&access, &["review"]));
    assert!(review()[0].starts_with("git blue import s3-access/next  # replaces s3-permissions"), "{:?}", review());
    let commit = publish("next", "1.0.1", Some("last"));
    assert!(!commit.stderr.contains("dead-successor"), "{commit}");
    let check = world.ok(&fungal, &["check"]);
    assert!(check.stdout.contains("replaced by next, which is deprecated too: write last [dead-successor]"), "{check}");
    assert!(world.ok(&access, &["check"]).stdout.contains("; move to last"), "{check}");
    assert!(review()[0].starts_with("git blue import s3-access/last  #"), "{:?}", review());
    world.write(
        &format!("access/{BINDING_FILE}"),
        &(importing(">=1.0.0, <2.0.0") + "  - { contract: last, version: \"^1\" }\n"),
    );
    world.commit("access", "Import both");
    let steps = review();
    assert!(steps[0].ends_with("uses last instead"), "{steps:?}");
    publish("last", "1.0.1", Some("s3-permissions"));
    let check = world.ok(&access, &["check"]);
    assert!(check.stdout.contains("; its successor last is deprecated too, and leads back to it"), "{check}");
    publish("last", "1.0.2", None);
    let retire = world.ok(&fungal, &["contract", "retire", "s3-access/last", "--reason", "over", "--force"]);
    assert!(retire.stdout.contains("name another successor of s3-access/next, which last replaces"), "{retire}");
    assert!(review()[0].starts_with("git blue unimport s3-access/"), "{:?}", review());
}

#[test]
fn import_of_a_deprecated_contract_names_its_successor() {
    let world = World::pair();
    let next = contract("1.0.0").replace("s3-permissions", "next");
    world.write("fungal/.blue/contracts/s3-access/next.yaml", &next);
    let deprecated = "deprecated: { since: 1.0.0, sunset: 2026-02-28, replaced_by: next }\n";
    world.write(&format!("fungal/{CONTRACT_FILE}"), &(contract("1.0.0") + deprecated));
    world.commit("fungal", "Deprecate it");
    let import = world.ok(&world.path("access"), &["import", AT, "^1.0"]);
    let why = "s3-access/s3-permissions is deprecated, served until 2026-02-28, and replaced by next";
    assert!(world.next_steps(&import).contains(&format!("git blue import s3-access/next  # {why}")), "{import}");
    let terms = |was: &str| format!("deprecated since 1.0.0, {was}served until 2026-02-28, use next");
    let shown = |args: &[&str]| world.ok(&world.path("access"), args).stdout;
    for was in ["", "was "] {
        assert!(
            shown(&["review"]).contains(&format!("\n  the contract is {}\n", terms(was))),
            "{}",
            shown(&["review"])
        );
        assert!(shown(&["status"]).contains(&terms(was)), "{}", shown(&["status"]));
        let owner = world.ok(&world.path("fungal"), &["status"]).stdout;
        assert!(owner.contains(&format!("imported by access  ({})", terms(was))), "{owner}");
        let prime = shown(&["prime"]);
        assert!(prime.contains(&format!("s3-permissions ({was}served until 2026-02-28)")), "{prime}");
        world.pass_days(60);
    }
}

#[test]
fn an_old_branch_does_not_bring_a_retired_contract_back() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.git(&fungal, &["branch", "old"]);
    world.bump("1.1.0");
    world.ok(&fungal, &["contract", "retire", AT, "--reason", "over"]);
    world.git(&fungal, &["checkout", "-q", "old"]);
    let check = world.ok(&fungal, &["check"]);
    assert!(!check.stdout.contains("brought-back"), "{check}");
}
