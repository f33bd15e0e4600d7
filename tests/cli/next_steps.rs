//! Printed commands work when they are pasted, and make progress.

use serde_json::Value;

use crate::world::{BINDING_FILE, CONTRACT_FILE, REALM, World, contract, importing};

pub const AT: &str = "s3-access/s3-permissions";

/// Returns the printed command that starts with `start`, without its reason.
pub fn command(steps: &[String], start: &str) -> String {
    let line = steps.iter().find(|step| step.starts_with(start)).unwrap_or_else(|| panic!("{start}: {steps:?}"));
    line.split("  # ").next().unwrap().to_owned()
}

/// Runs a printed command in a shell.
pub fn paste(world: &World, repo: &str, line: &str) {
    let run = world.finish_shell(&world.path(repo), line);
    assert_eq!(run.code, 0, "{line}: {run}");
}

#[test]
fn check_prints_the_command_that_approves_a_break() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let narrow = contract("1.1.0").replace("required: [read]", "required: []");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &narrow);
    let check = world.blue(&fungal, &["check", "--worktree"]).exits(1);
    let approve = command(&world.next_steps(&check), "git blue contract approve");
    let answer = world.blue(&fungal, &["check", "--worktree", "--json"]).exits(1).json();
    let fingerprint = answer["errors"][0]["fingerprint"].as_str().unwrap();
    assert!(approve.contains(&format!("{AT} {fingerprint} ")), "{approve}");
    let commit = world.commit("fungal", "read is optional");
    assert!(commit.stderr.contains(&approve), "{commit}");
    let peek = || world.json(&fungal, &["status", "--peek"])["unpublished"]["problem"].clone();
    assert!(peek().is_string());
    paste(&world, "fungal", &approve.replace('…', "nobody reads it"));
    assert_eq!(peek(), Value::Null);
    world.blue(&fungal, &["check"]).exits(0);
}

#[test]
fn new_contract_is_added_with_the_files_of_its_schema() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.write("fungal/a schema.json", r#"{"$ref": "part.json"}"#);
    world.write("fungal/part.json", r#"{"type": "object"}"#);
    let new = world.ok(&fungal, &["contract", "new", "s3-access/x", "--schema", "a schema.json"]);
    let add = command(&world.next_steps(&new), "git add");
    world.git(&fungal, &["add", ".blue/contracts/s3-access/x.yaml"]);
    let refused = world.git(&fungal, &["commit", "-q", "-m", "no schema"]);
    assert!(refused.stderr.contains("a schema.json: it is in the working tree, but not in the commit"), "{refused}");
    let status = world.ok(&fungal, &["status", "--peek"]);
    assert!(status.stdout.contains("git blue contract publish  # try again once this is corrected"), "{status}");
    paste(&world, "fungal", &add);
    world.ok(&fungal, &["contract", "get", "s3-access/x"]);
}

#[test]
fn steps_name_the_realm_if_it_is_not_the_default() {
    let world = World::pair();
    world.bump("1.1.0");
    let step = |dir: &std::path::Path, args: &[&str]| world.next_step(&world.ok(dir, args));
    let diff = ["--realm", REALM, "contract", "diff", AT, "1.0.0", "1.1.0"];
    let expected = format!("git blue --realm {REALM} contract impact {AT} --to 1.1.0  # show the affected consumers");
    assert_eq!(step(&world.root(), &diff), expected);
    assert_eq!(world.json(&world.root(), &diff)["next_steps"][0]["command"], expected.split("  # ").next().unwrap());
    paste(&world, ".", &expected);
    assert_eq!(step(&world.path("access"), &diff), expected.replace(&format!(" --realm {REALM}"), ""));
    let unknown = world.blue(&world.root(), &["--realm", REALM, "contract", "get", "s3-access/nothing"]).exits(1);
    assert!(unknown.stderr.contains(&format!("git blue --realm {REALM} contract list")), "{unknown}");
}

/// `realm admin binding` replaces the whole binding, so it is only suggested if there is none.
#[test]
fn contract_of_the_realm_is_exported_without_losing_imports() {
    let world = World::pair();
    let access = world.path("access");
    let args = ["realm", "admin", "contract", "--domain", "s3-access", "--name", "own", "--owner", "access"];
    let steps = world.next_steps(&world.ok(&access, &args));
    assert_eq!(steps[1], "git blue export s3-access/own  # in access");
    paste(&world, "access", &steps[1]);
    world.commit("access", "Export it");
    let binding = world.stored("bindings/access.json");
    assert_eq!(binding["imports"].as_array().map(Vec::len), Some(1), "{binding}");
    assert_eq!(binding["exports"][0]["contract"], "own");
}

#[test]
fn publishing_to_a_url_names_the_url_again() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let hub = world.hub();
    world.ok(&fungal, &["init", "--url", &hub]);
    world.ok(&fungal, &["sync"]);
    world.git(&fungal, &["config", "blue.publish", "off"]);
    world.bump("1.1.0");
    let dry = world.ok(&fungal, &["contract", "publish", "--realm-url", &hub, "--dry-run"]);
    let step = command(&world.next_steps(&dry), "git blue contract publish");
    assert_eq!(step, format!("git blue contract publish --realm-url {hub} --repo fungal"));
    paste(&world, "fungal", &step);
}

#[test]
fn automatic_version_is_not_replaced() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let text = contract("1.0.0").replace("\"1.0.0\"", "auto");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    for more in [&[][..], &["minor"]] {
        let bump = world.blue(&fungal, &[&["contract", "bump", AT], more].concat()).exits(1);
        assert!(bump.stderr.contains("version: auto") && !bump.all().contains("0.0.0-auto"), "{bump}");
        assert_eq!(world.read(&format!("fungal/{CONTRACT_FILE}")), text);
    }
}

#[test]
fn file_that_names_another_repository_is_named() {
    let world = World::pair();
    let access = world.path("access");
    let config = world.read("access/.blue/config.yaml").replace("repo: access", "repo: fungal");
    world.write("access/.blue/config.yaml", &config);
    let refused = world.blue(&access, &["contract", "retire", AT, "--reason", "x"]).exits(1);
    assert!(refused.stderr.contains("repo: access into .blue/config.yaml"), "{refused}");
    assert!(!refused.stderr.contains("unset"), "{refused}");
    assert!(world.path(&format!("access/{BINDING_FILE}")).exists());
}

#[test]
fn impossible_branch_is_not_tried_again() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["realm", "worktree", "create", "--rfc", "a/b"]);
    for rfc in ["a", "a/b/c"] {
        let refused = world.blue(&fungal, &["realm", "worktree", "create", "--rfc", rfc]).exits(1);
        assert!(refused.stdout.contains("choose another name for the RFC"), "{refused}");
        assert!(!refused.stdout.contains("retry"), "{refused}");
    }
}

#[test]
fn review_of_a_retired_contract_says_what_to_do() {
    let world = World::pair();
    let access = world.path("access");
    world.ok(&world.path("fungal"), &["contract", "retire", AT, "--force", "--reason", "gone"]);
    let review = world.ok(&access, &["review"]);
    assert!(review.stdout.contains("the contract is retired"), "{review}");
    assert!(!review.stdout.contains("nothing is broken"), "{review}");
    assert_eq!(world.json(&access, &["review"])["imports"][0]["withdrawal"], "retired");
    let prime = world.ok(&access, &["prime"]);
    assert!(prime.stdout.contains(&format!("Retired: {AT}.")), "{prime}");
    paste(&world, "access", &command(&world.next_steps(&review), "git blue unimport"));
}

#[test]
fn retired_contract_is_not_to_be_imported_again() {
    let world = World::pair();
    world.bump("2.0.0");
    world.ok(&world.path("fungal"), &["contract", "retire", AT, "--force", "--reason", "gone"]);
    let review = world.ok(&world.path("access"), &["review"]);
    assert!(review.stdout.contains("broken"), "{review}");
    paste(&world, "access", &command(&world.next_steps(&review), "git blue unimport"));
}

#[test]
fn binding_that_was_never_committed_needs_no_commit() {
    let world = World::pair();
    world.join("other");
    let other = world.path("other");
    world.ok(&other, &["import", AT]);
    let undone = world.ok(&other, &["unimport", AT]);
    assert!(undone.stdout.contains("removed .blue/bindings") && !undone.stdout.contains("git commit"), "{undone}");
}

#[test]
fn nothing_to_sync_is_not_to_be_synced() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.hub();
    world.ok(&fungal, &["init", "--url", &world.path("hub.git").display().to_string()]);
    world.bump("1.1.0");
    let first = world.ok(&fungal, &["sync", "--dry-run"]);
    assert!(first.stdout.contains("# perform the sync"), "{first}");
    world.ok(&fungal, &["sync"]);
    let second = world.ok(&fungal, &["sync", "--dry-run"]);
    assert!(!second.stdout.contains("# perform the sync"), "{second}");
}

#[test]
fn done_work_is_not_claimed_again() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["install", "editor", "--vscode"]);
    let again = world.ok(&fungal, &["install", "editor", "--vscode"]);
    assert!(again.stdout.contains("already installed") && !again.stdout.contains("git commit"), "{again}");
    world.ok(&fungal, &["uninstall", "editor"]);
    assert!(!world.path("fungal/.vscode/settings.json").exists());
    let reclaim = world.ok(&fungal, &["realm", "admin", "reclaim", "--reason", "x"]);
    assert!(reclaim.stdout.contains("already has the name fungal"), "{reclaim}");
    let log = world.ok(&fungal, &["realm", "log", "--until", "3w"]);
    assert!(log.stdout.contains("no entries"), "{log}");
    let log = world.blue(&fungal, &["realm", "log", "--repo", "fungl"]).exits(128);
    assert!(log.stderr.contains("has no repository fungl (did you mean fungal?)"), "{log}");
    let check = world.blue(&fungal, &["check", "--repo", "fungl"]).exits(128);
    assert!(check.stderr.contains("has no repository fungl (did you mean fungal?)"), "{check}");
    assert_eq!(world.next_step(&check), "git blue check --repo fungal");
    let diff = world.ok(&fungal, &["contract", "diff", AT, "1.0.0", "1.0.0"]);
    assert!(!diff.stdout.contains("needs"), "{diff}");
    let reseed = world.blue(&fungal, &["realm", "admin", "reseed"]).exits(1);
    assert!(reseed.stderr.contains("the realm has no remote\n"), "{reseed}");
}

#[test]
fn check_of_a_named_repository_needs_a_clone() {
    let world = World::pair();
    let refused = world.blue(&world.root(), &["--realm", "aperture", "check", "--repo", "fungal"]).exits(128);
    assert!(refused.stderr.contains("is not in a git repository"), "{refused}");
    assert!(!refused.stderr.contains("pass --repo"), "{refused}");
}

#[test]
fn corrupt_object_is_given_up_only_by_the_printed_command() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.bump("1.1.0");
    let blob = world.tip("refs/blue/domains/s3-access:contracts/s3-permissions.json");
    crate::missing_objects::unpack(&world, &world.store());
    let file = world.store().join("objects").join(&blob[..2]).join(&blob[2..]);
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, "garbage").unwrap();
    let sick = world.blue(&fungal, &["doctor", "--fix"]).exits(1);
    paste(&world, "fungal", &command(&world.next_steps(&sick), "git blue doctor --realm"));
    assert_eq!(world.version(), "1.0.0");
}

#[test]
fn deleted_file_is_brought_back_before_its_version_is_raised() {
    let world = World::solo();
    let fungal = world.path("fungal");
    for staged in [false, true] {
        if staged {
            drop(world.git(&fungal, &["rm", "-q", CONTRACT_FILE]))
        } else {
            std::fs::remove_file(world.path(&format!("fungal/{CONTRACT_FILE}"))).unwrap()
        }
        let bump = world.blue(&fungal, &["contract", "bump", AT]).exits(1);
        assert!(!bump.stderr.contains("run it in fungal"), "{bump}");
        let impact = world.blue(&fungal, &["contract", "impact", AT, "--worktree"]).exits(1);
        assert_eq!(world.next_steps(&impact), world.next_steps(&bump), "{impact}");
        paste(&world, "fungal", &command(&world.next_steps(&bump), "git restore"));
        assert_eq!(world.line(&fungal, &["status", "--porcelain"]), "");
    }
}

/// No branch has a commit that was amended or reset, so it cannot be merged.
#[test]
fn dropped_commit_is_not_to_be_merged() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.bump("1.1.0");
    let other = contract("1.1.0").replace("jobs/", "tasks/");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &other);
    world.git(&fungal, &["commit", "-q", "-a", "--amend", "-m", "Other paths"]);
    let check = world.blue(&fungal, &["check"]).exits(1);
    assert!(check.stdout.contains("already published with different content"), "{check}");
    assert!(!check.stdout.contains("merge"), "{check}");
    world.git(&fungal, &["reset", "-q", "--hard", "HEAD~1"]);
    let check = world.blue(&fungal, &["check"]).exits(1);
    assert!(check.stdout.contains("publish it with --rollback, or write a version above 1.1.0"), "{check}");
    // Each of the steps works.
    let steps = world.next_steps(&check);
    let [rollback, bump] = &steps[..] else { panic!("{check}") };
    world.finish_shell(&fungal, bump).exits(0);
    world.blue(&fungal, &["check", "--worktree"]).exits(0);
    world.git(&fungal, &["checkout", "-q", "."]);
    world.finish_shell(&fungal, &rollback.replace('…', "reverted")).exits(0);
    assert_eq!(world.version(), "1.0.0");
}

#[test]
fn impact_of_a_compatible_version_outside_of_the_range_is_no_break() {
    let world = World::pair();
    let access = world.path("access");
    let binding = |more: &str| {
        format!("role: consumer\nimports: [ {{ contract: s3-permissions, version: \"=1.0.0\"{more} }} ]\n")
    };
    for more in ["", ", expects: { required: [read] }"] {
        world.write(&format!("access/{BINDING_FILE}"), &binding(more));
        world.commit("access", "Pin it");
        let advice = world.ok(&access, &["contract", "impact", AT, "--to", "1.1.0"]);
        assert!(!advice.stdout.contains("breaks this repository"), "{advice}");
    }
    world.bump("1.1.0");
    for more in ["", ", expects: { required: [read] }"] {
        world.write(&format!("access/{BINDING_FILE}"), &binding(more));
        world.commit("access", "Pin it");
        let impact = world.ok(&access, &["contract", "impact", AT]);
        let step = command(&world.next_steps(&impact), "git blue review");
        assert!(!impact.stdout.contains("breaks this repository"), "{step}: {impact}");
        assert!(impact.stdout.contains("1.1.0 is compatible, but outside of the range"), "{impact}");
    }
}

#[test]
fn review_is_suggested_only_if_it_shows_something() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <1.9.0"));
    world.commit("access", "Another range");
    let list = world.ok(&fungal, &["notifications", "list"]);
    assert!(list.stdout.contains("binding") && !list.stdout.contains("git blue review"), "{list}");
    world.ok(&fungal, &["contract", "transfer", AT, "--to", "access"]);
    for command in [&["notifications", "list"][..], &["status"]] {
        let run = world.ok(&access, command);
        assert!(run.stdout.contains("offers") && !run.stdout.contains("git blue review"), "{run}");
    }
    world.bump("1.1.0");
    for command in [&["notifications", "list"][..], &["status"]] {
        let run = world.ok(&access, command);
        assert!(run.stdout.contains("git blue review"), "{run}");
    }
}

#[test]
fn retired_contract_is_called_retired() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    world.ok(&fungal, &["contract", "yank", AT, "1.0.0", "--reason", "it leaks"]);
    let prime = world.ok(&access, &["prime"]);
    assert!(prime.stdout.contains(&format!("Yanked: {AT} 1.0.0.")), "{prime}");
    let retire = world.ok(&fungal, &["contract", "retire", AT, "--force", "--reason", "no more masks"]);
    let impact = world.ok(&access, &["contract", "impact", AT]);
    assert!(impact.stdout.contains("retired: no more masks"), "{impact}");
    assert_eq!(world.json(&access, &["contract", "impact", AT])["retired"], "no more masks");
    let topology = world.ok(&access, &["realm", "topology"]);
    assert!(topology.stdout.contains("1.0.0 retired"), "{topology}");
    let topology = world.json(&access, &["realm", "topology"]);
    assert_eq!(topology["domains"][0]["contracts"][0]["retired"], true);
    // Its file would publish it again.
    paste(&world, "fungal", &command(&world.next_steps(&retire), "git rm"));
    let again = world.ok(&fungal, &["contract", "retire", AT, "--force", "--reason", "no more masks"]);
    assert!(!again.stdout.contains("git rm"), "{again}");
}

#[test]
fn transfer_names_the_binding_only_if_it_exports_the_contract() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.git(&fungal, &["rm", "-q", BINDING_FILE]);
    world.commit("fungal", "No exports");
    let offer = world.ok(&fungal, &["contract", "transfer", AT, "--to", "access"]);
    assert!(offer.stdout.contains("git rm") && !offer.stdout.contains("bindings"), "{offer}");
}

#[test]
fn automatic_version_of_an_undecided_change_is_unknown() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let text = contract("1.0.0")
        .replace("\"1.0.0\"", "auto")
        .replace("items: {", "items: { not: { $ref: \"https://example.com/x\" },");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    let bump = world.blue(&fungal, &["contract", "bump", AT]).exits(1);
    let commit = world.commit("fungal", "Auto");
    assert!(commit.stderr.contains("not published"), "{commit}");
    assert!(bump.stderr.contains("cannot choose the version") && bump.stderr.contains("\"2.0.0\" in"), "{bump}");
}

#[test]
fn refused_amend_is_reported_once() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.bump("1.1.0");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0").replace("jobs/", "tasks/"));
    let amend = world.git(&fungal, &["commit", "-q", "-a", "--amend", "-m", "Other paths"]);
    assert_eq!(amend.stderr.matches("not published").count(), 1, "{amend}");
    // Another amend reports it again, because it is another commit.
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0").replace("jobs/", "work/"));
    let amend = world.git(&fungal, &["commit", "-q", "-a", "--amend", "-m", "Yet other paths"]);
    assert_eq!(amend.stderr.matches("not published").count(), 1, "{amend}");
}

#[test]
fn check_says_that_nothing_is_committed() {
    let world = World::new();
    let fungal = world.join("fungal");
    world.ok(&fungal, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "fungal"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0"));
    let check = world.blue(&fungal, &["check"]);
    assert!(check.stdout.contains("git blue check --worktree  # the files under .blue are not committed"), "{check}");
}
