//! Breaks are found where they are made, before publishing, and where they have an effect.

use serde_json::{Value, json};

use crate::world::{BINDING_FILE, CONTRACT_FILE, DOMAIN_REF, World, contract, importing, snapshot};

/// Returns a world with the provider's pull request: a branch whose contract is outside of the consumer's range.
fn proposed() -> World {
    let world = World::pair();
    world.git(&world.path("fungal"), &["switch", "--quiet", "-c", "proposal"]);
    world.bump("2.0.0");
    world
}

/// Returns the errors of `check` with these arguments.
fn errors(world: &World, repo: &str, args: &[&str]) -> Vec<Value> {
    let answer = world.json(&world.path(repo), &[&["check"], args].concat());
    answer["errors"].as_array().unwrap().clone()
}

#[test]
fn provider_fails_before_publishing_a_break() {
    let world = proposed();
    let before = world.tip(DOMAIN_REF);
    let run = world.blue(&world.path("fungal"), &["check"]).exits(1);
    assert!(run.stdout.contains(&format!("{CONTRACT_FILE}:2: error: access imports")), "{run}");
    assert!(run.stdout.contains(">=1.0.0, <2.0.0") && run.stdout.contains("cdk/access_stack.py"), "{run}");
    snapshot("break_in_the_provider", &[&run]);
    assert_eq!(
        errors(&world, "fungal", &[]),
        [json!({
            "code": "import-broken",
            "severity": "error",
            "caused_by": "this-change",
            "domain": "s3-access",
            "contract": "s3-permissions",
            "repo": "access",
            "version_req": ">=1.0.0, <2.0.0",
            "version": "2.0.0",
            "pointer": null,
            "verdict": {
                "verdict": "compatible",
                "basis": "schemas",
                "direction": "backwards",
                "reading": "lenient",
                "old_version": "1.0.0",
                "new_version": "2.0.0",
                "difference": null,
                "more": 0,
                "reason": null,
            },
            "message": "access imports s3-access/s3-permissions >=1.0.0, <2.0.0, but this change publishes 2.0.0",
            "notes": [
                "the schemas are compatible: readers of 1.0.0 accept what 2.0.0 sends",
                "used in cdk/access_stack.py",
                "the range \">=1.0.0, <3.0.0\" accepts both versions",
            ],
            "file": CONTRACT_FILE,
            "line": 2,
            "column": null,
        })]
    );
    assert_eq!(world.tip(DOMAIN_REF), before);
    // The consumer's own CI still passes.
    world.blue(&world.path("access"), &["check"]).exits(0);
}

#[test]
fn consumer_fails_after_the_break_is_published() {
    let world = World::pair();
    world.bump("2.0.0");
    let run = world.blue(&world.path("access"), &["check"]).exits(1);
    snapshot("break_in_the_consumer", &[&run]);
    let errors = errors(&world, "access", &[]);
    assert_eq!(errors.len(), 1);
    assert_eq!((&errors[0]["file"], &errors[0]["line"]), (&json!(BINDING_FILE), &json!(4)));
    // Fixed in the working tree, then in a commit.
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <3.0.0"));
    world.blue(&world.path("access"), &["check"]).exits(1);
    world.blue(&world.path("access"), &["check", "--worktree"]).exits(0);
    world.commit("access", "Accept 2.0.0");
    world.blue(&world.path("access"), &["check"]).exits(0);
}

#[test]
fn options_select_what_is_checked() {
    let world = proposed();
    let provider = world.path("fungal");
    world.blue(&provider, &["check", "--published"]).exits(0);
    world.blue(&provider, &["check", "--commit", "main"]).exits(0);
    world.blue(&provider, &["check", "--commit", "proposal"]).exits(1);
    let unknown = world.blue(&provider, &["check", "--commit", "nowhere"]).exits(128);
    assert!(unknown.stderr.contains("nowhere"), "{unknown}");
    // HEAD counts, not the working tree.
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    world.blue(&provider, &["check"]).exits(1);
    world.blue(&provider, &["check", "--worktree"]).exits(0);
    let both = world.blue(&provider, &["check", "--worktree", "--published"]).exits(129);
    snapshot("check_subjects", &[&unknown, &both]);
    // Outside of a repository, only the published realm can be checked; a commit needs a repository.
    let nowhere = world.root();
    world.blue(&nowhere, &["check", "--realm", "aperture", "--published"]).exits(0);
    world.blue(&nowhere, &["check", "--realm", "aperture"]).exits(128);
    world.blue(&nowhere, &["check", "--realm", "aperture", "--worktree"]).exits(128);
}

#[test]
fn advisory_reports_and_passes() {
    let world = proposed();
    let run = world.blue(&world.path("fungal"), &["check", "--advisory"]).exits(0);
    assert!(run.stdout.contains("error: access imports"), "{run}");
    let answer = world.json(&world.path("fungal"), &["check", "--advisory"]);
    assert_eq!(answer["valid"], false);
    // An unreadable realm fails even with --advisory.
    world.blue(&world.root(), &["check", "--advisory"]).exits(128);
}

#[test]
fn strict_fails_on_warnings() {
    let world = World::solo();
    let run = world.blue(&world.path("fungal"), &["check"]).exits(0);
    assert!(
        run.stdout.contains(&format!("{CONTRACT_FILE}: warning: nobody imports s3-access/s3-permissions [unused]")),
        "{run}"
    );
    let strict = world.blue(&world.path("fungal"), &["check", "--strict"]).exits(1);
    snapshot("strict", &[&run, &strict]);
    assert_eq!(world.json(&world.path("fungal"), &["check", "--strict"])["valid"], false);
    assert_eq!(world.json(&world.path("fungal"), &["check"])["valid"], true);
}

#[test]
fn modes_select_one_side() {
    let world = World::pair();
    // One error on each side.
    let stored = world.stored("contracts/s3-permissions.json").to_string();
    world.plant("contracts/s3-permissions.json", &stored.replace("jobs/*/masks/*\"", "\",7").replace("1.0.0", "3.0.0"));
    let codes = |mode: &str| -> Vec<String> {
        let errors = errors(&world, "access", &["--published", "--mode", mode]);
        errors.iter().map(|one| one["code"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(codes("contract"), ["invalid-value"]);
    assert_eq!(codes("importer"), ["import-broken"]);
    assert_eq!(codes("all"), ["invalid-value", "import-broken"]);
}

#[test]
fn json_is_printed_with_either_flag() {
    let world = proposed();
    let provider = world.path("fungal");
    let one = world.blue(&provider, &["check", "--format", "json"]).exits(1);
    let other = world.blue(&provider, &["check", "--json"]).exits(1);
    assert_eq!(one.json(), other.json());
}

#[test]
fn new_contract_and_consumer_may_share_a_commit() {
    let world = World::new();
    let both = world.join("mono");
    world.ok(&both, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "mono"]);
    world.git(&both, &["switch", "--quiet", "-c", "proposal"]);
    world.write(&format!("mono/{CONTRACT_FILE}"), &contract("1.0.0").replace("owner: fungal", "owner: mono"));
    let binding = "role: both\nexports: [{ contract: s3-permissions }]\nimports: [{ contract: s3-permissions, version: ^1.0.0 }]\n";
    world.write(&format!("mono/{BINDING_FILE}"), binding);
    world.commit("mono", "Both ends");
    world.blue(&both, &["check"]).exits(0);
    world.git(&both, &["switch", "--quiet", "main"]);
    world.git(&both, &["merge", "--quiet", "--ff-only", "proposal"]);
    world.ok(&both, &["contract", "publish"]);
    assert_eq!(world.stored("bindings/mono.json")["imports"][0]["resolved_version"], "1.0.0");
}

#[test]
fn check_finds_what_publishing_refuses() {
    let world = World::pair();
    world.git(&world.path("fungal"), &["switch", "--quiet", "-c", "proposal"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0").replace("v1.0.0", "other"));
    world.write(
        "fungal/.blue/contracts/s3-access/mine.yaml",
        &contract("1.0.0").replace("s3-permissions", "mine").replace("fungal", "access"),
    );
    world.write("fungal/.blue/contracts/s3-access/wrong.yaml", "name: wrong\nversion: 1.0\n");
    world.write("fungal/.blue/contracts/nowhere/x.yaml", &contract("1.0.0").replace("s3-permissions", "x"));
    world.write("fungal/.blue/contracts/stray.yaml", "");
    world.commit("fungal", "Five mistakes");
    let run = world.blue(&world.path("fungal"), &["check"]).exits(1);
    snapshot("check_finds_refusals", &[&run]);
    let errors = errors(&world, "fungal", &[]);
    let codes: Vec<_> = errors.iter().map(|one| one["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["unreadable-file", "unreadable-file", "unknown-domain", "not-owner", "version-reused"]);
    assert!(errors.iter().all(|one| one["file"].as_str().unwrap().starts_with(".blue/contracts/")), "{errors:?}");
}

#[test]
fn break_of_an_older_supported_version_has_a_verdict() {
    let world = World::pair();
    let file = format!("fungal/{CONTRACT_FILE}");
    let supported = contract("2.0.0").replace("schema:", "supported: [\"^1.0.0\"]\nschema:");
    world.write(&file, &supported);
    world.commit("fungal", "Serve both");
    let schema = "compatibility: {}\nschema: {type: integer}\nvalue: 1\n";
    let major = contract("3.0.0");
    let head = major.split("schema:").next().unwrap().lines().filter(|line| !line.starts_with("compatibility"));
    world.write(&file, &(head.map(|line| format!("{line}\n")).collect::<String>() + schema));
    let found = errors(&world, "fungal", &["--worktree"]);
    assert_eq!((&found[0]["code"], &found[0]["version"]), (&json!("import-broken"), &json!("3.0.0")), "{found:#?}");
    assert_eq!(found[0]["verdict"]["verdict"], "breaks", "{found:#?}");
    let impact = world.json(&world.path("fungal"), &["contract", "impact", "s3-access/s3-permissions", "--worktree"]);
    assert_eq!(impact["importers"][0]["verdict"]["verdict"], "breaks", "{impact:#}");
}

#[test]
fn version_that_is_not_published_is_not_called_current() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let next = contract("2.0.0") + "supported: [\">=1.0.0, <2.0.0\"]\n";
    world.write(&format!("fungal/{CONTRACT_FILE}"), &next);
    let check = world.blue(&fungal, &["check", "--worktree"]);
    let says = "this change publishes 2.0.0, but 1.0.0 is still served";
    assert!(check.stdout.contains(says), "{check}");
    world.commit("fungal", "2.0.0");
    let check = world.blue(&fungal, &["check"]);
    assert!(check.stdout.contains("the current version is 2.0.0, but 1.0.0 is still served"), "{check}");
}

/// An import may resolve to another version than before, because a file changes `supported`, or a version is yanked.
#[test]
fn version_that_an_import_falls_back_to_is_compared_too() {
    let world = World::pair();
    let [fungal, access] = ["fungal", "access"].map(|repo| world.path(repo));
    let requiring = |version: &str, name: &str, rest: &str| {
        let contract = contract(version).replace("required: [read]", &format!("required: [{name}]"));
        contract.replace("read:", &format!("{name}:")) + rest
    };
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <3.0.0"));
    world.commit("access", "Accept 2");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &requiring("2.0.0", "input", ""));
    world.commit("fungal", "2.0.0");
    world.ok(&access, &["contract", "adapted", "s3-access/s3-permissions", "2.0.0"]);
    let at = "s3-access/s3-permissions";
    world.write(&format!("fungal/{CONTRACT_FILE}"), &requiring("3.0.0", "other", "supported: [\"^1\"]\n"));
    let found = errors(&world, "fungal", &["--worktree"]);
    assert_eq!(found[0]["code"], "import-broken", "{found:#?}");
    assert_eq!(found[0]["verdict"]["new_version"], "1.0.0", "{found:#?}");
    let impact = world.json(&fungal, &["contract", "impact", at, "--worktree"]);
    assert_eq!(impact["importers"][0]["verdict"]["verdict"], "breaks", "{impact:#}");
    let commit = world.commit("fungal", "3.0.0");
    assert!(commit.stderr.contains("breaks access"), "{commit}");
    // Once 2.0.0 is served, the import holds; until it is yanked.
    world.write(&format!("fungal/{CONTRACT_FILE}"), &requiring("3.0.1", "other", "supported: [\"<3.0.0\"]\n"));
    assert_eq!(errors(&world, "fungal", &["--worktree"]), Vec::<Value>::new());
    world.commit("fungal", "3.0.1");
    let yank = world.json(&fungal, &["contract", "yank", at, "2.0.0", "--reason", "It loses data"]);
    assert_eq!(yank["breaks"][0]["verdict"]["new_version"], "1.0.0", "{yank:#}");
}

/// Editors lock a file by a hidden link that leads nowhere. A file whose name is wrong is renamed, not corrected.
#[test]
fn files_of_editors_are_strays_and_wrong_names_are_renamed() {
    let world = World::pair();
    let folder = world.path("fungal/.blue/contracts/s3-access");
    std::os::unix::fs::symlink("ada@host.1:2", folder.join(".#s3-permissions.yaml")).unwrap();
    world.write("fungal/.blue/contracts/s3-access/s3-permissions.yaml~", "");
    world.write("fungal/.gitignore", "*~\n");
    let check = world.blue(&world.path("fungal"), &["check", "--worktree"]).exits(0);
    let hidden = ".blue/contracts/s3-access/.#s3-permissions.yaml: warning: it is not read: its name starts with a dot";
    assert!(check.stdout.contains(hidden) && check.stdout.contains("1 warning"), "{check}");
    for name in ["s3 (1)", "s3 copy"] {
        world.write(&format!("fungal/.blue/contracts/s3-access/{name}.yaml"), &contract("1.0.0"));
    }
    let check = world.blue(&world.path("fungal"), &["check", "--worktree"]).exits(1);
    let step = "rename or remove .blue/contracts/s3-access/s3 (1).yaml and 1 other file, and check again";
    assert!(check.stdout.ends_with(&format!("\nnext\n  {step}\n")), "{check}");
}

/// A pre-commit hook judges what is committed, also if git commits another index than its usual one.
#[test]
fn staged_files_are_checked_as_they_would_be_committed() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let (good, broken) = (world.read(&format!("fungal/{CONTRACT_FILE}")), "name: [");
    world.write(&format!("fungal/{CONTRACT_FILE}"), broken);
    world.ok(&fungal, &["check", "--staged"]);
    world.git(&fungal, &["add", CONTRACT_FILE]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &good);
    world.ok(&fungal, &["check", "--worktree"]);
    let found = errors(&world, "fungal", &["--staged"]);
    assert_eq!(found[0]["file"], CONTRACT_FILE, "{found:?}");
    world.git(&fungal, &["reset", "--quiet"]);

    world.script("fungal/.git/hooks/pre-commit", "#!/bin/sh\ngit blue check --staged >&2\n");
    world.write(&format!("fungal/{CONTRACT_FILE}"), broken);
    let refused = world.try_git(&fungal, &["commit", "--quiet", "-a", "-m", "Break it"]);
    assert!(refused.code == 1 && refused.stderr.contains(CONTRACT_FILE), "{refused}");
    world.write("fungal/other", "");
    world.git(&fungal, &["add", "other"]);
    world.git(&fungal, &["commit", "--quiet", "-m", "Add another file", "other"]);
}
