//! Every rule of `check`, with a minimal example each.

use serde_json::{Value, json};

use crate::{
    file_modes::blue_bound_by_modes,
    world::{BINDING_FILE, CONTRACT_FILE, EXPORTING, Run, World, contract, importing, snapshot},
};

/// Returns the codes of the errors and of the warnings.
fn codes(run: &Run) -> (Vec<String>, Vec<String>) {
    let answer = run.json();
    let of = |kind: &str| -> Vec<String> {
        answer[kind].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap().to_owned()).collect()
    };
    (of("errors"), of("warnings"))
}

/// Asserts the findings of `check` for the whole realm with the files of a repository, in order, and its exit code.
/// Returns it as text.
#[track_caller]
pub(crate) fn finds(world: &World, repo: &str, errors: &[&str], warnings: &[&str]) -> Run {
    let run = world.blue(&world.path(repo), &["check", "--all", "--json"]).exits(i32::from(!errors.is_empty()));
    let (found_errors, found_warnings) = codes(&run);
    assert_eq!(found_errors, errors, "{run}");
    assert_eq!(found_warnings, warnings, "{run}");
    world.blue(&world.path(repo), &["check", "--all"])
}

/// Publishes the contract as 1.1.0 with these lines added.
pub(crate) fn publish_with(world: &World, lines: &str) {
    world.write(&format!("fungal/{CONTRACT_FILE}"), &format!("{}{lines}", contract("1.1.0")));
    let commit = world.commit("fungal", "More words");
    assert!(commit.stderr.contains("published"), "{commit}");
}

/// Changes the stored document of the contract with plain git.
pub(crate) fn tamper(world: &World, change: impl Fn(&mut Value)) {
    let mut document = world.stored("contracts/s3-permissions.json");
    change(&mut document);
    world.plant("contracts/s3-permissions.json", &document.to_string());
}

#[test]
fn consistent_realm_passes() {
    let world = World::pair();
    let run = finds(&world, "access", &[], &[]);
    snapshot("check_ok", &[&run]);
}

#[test]
fn empty_realm_does_not_pass() {
    let world = World::new();
    let repo = world.join("fungal");
    let run = finds(&world, "fungal", &["nothing-to-check"], &[]);
    snapshot("check_nothing", &[&run]);
    world.ok(&repo, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "fungal"]);
    let run = finds(&world, "fungal", &["nothing-to-check"], &[]);
    assert_eq!(world.next_step(&run), "git blue contract new s3-access/…  # the name of the first contract");
    // A warning checks nothing either.
    world.write("fungal/.blue/contracts/s3-access/paths.yml", &contract("1.0.0"));
    world.commit("fungal", "A name that is not read");
    finds(&world, "fungal", &["nothing-to-check"], &["stray-file"]);
}

#[test]
fn file_of_a_retired_contract_publishes_nothing() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.ok(&provider, &["contract", "retire", "s3-access/s3-permissions", "--reason", "old", "--force"]);
    world.git(&provider, &["rm", "--quiet", CONTRACT_FILE]);
    world.commit("fungal", "Retire it");
    let again = world.blue(&provider, &["contract", "new", "s3-access/s3-permissions"]).exits(1);
    assert!(again.stderr.contains("owned by fungal, and retired"), "{again}");
    assert!(again.stderr.contains("# then write a version above 1.0.0 in it, and commit"), "{again}");
    for version in ["\"1.0.0\"", "auto"] {
        world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0").replace("\"1.0.0\"", version));
        let check = world.blue(&provider, &["check", "--worktree"]);
        let said = "s3-permissions stays retired; write a version above 1.0.0 to publish it again";
        assert!(check.stdout.contains(said), "{check}");
    }
}

/// A commit pins the files of its submodules.
#[test]
fn file_in_a_submodule_exists() {
    let world = World::pair();
    let consumer = world.path("access");
    world.git(&consumer, &["init", "--quiet", "vendor/orders"]);
    world.write("access/vendor/orders/order.json", "{}");
    world.commit("access/vendor/orders", "Orders");
    for (file, is_missing) in [("vendor/orders/order.json", false), ("vendor/order.json", true)] {
        let binding = importing(">=1.0.0, <2.0.0").replace("cdk/access_stack.py", file);
        world.write(&format!("access/{BINDING_FILE}"), &binding);
        world.commit("access", "Another file");
        for args in [&["check"][..], &["check", "--worktree"]] {
            let check = world.ok(&consumer, args);
            assert_eq!(check.stdout.contains("missing-file"), is_missing, "{check}");
        }
    }
}

#[test]
fn mode_selects_the_files_that_are_judged() {
    let world = World::pair();
    let provider = world.path("fungal");
    let export =
        ["role: provider\nexports:\n  - contract: s3-permissions\n    source_files: [models/gone.py]\n"].concat();
    world.write(&format!("fungal/{BINDING_FILE}"), &export);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0").replace("required: [read]", "required: []"));
    for (mode, of_contract, of_binding) in
        [("all", true, true), ("contract", true, false), ("exporter", true, false), ("importer", false, true)]
    {
        let run = world.blue(&provider, &["check", "--worktree", "--mode", mode, "--json"]);
        let (errors, warnings) = codes(&run);
        assert_eq!(errors.contains(&"breaks-promise".to_owned()), of_contract, "{mode}: {run}");
        assert_eq!(warnings.contains(&"missing-file".to_owned()), of_binding, "{mode}: {run}");
    }
}

#[test]
fn missing_realm_does_not_pass() {
    let world = World::new();
    let repo = world.repo("alone");
    let run = world.blue(&repo, &["check"]).exits(128);
    let json = world.blue(&repo, &["check", "--json"]).exits(128);
    assert_eq!(json.json()["code"], "not-in-realm");
    let unknown = world.blue(&repo, &["check", "--realm", "nowhere"]).exits(128);
    snapshot("check_no_realm", &[&run, &json, &unknown]);
}

#[test]
fn provider_without_exports() {
    let world = World::pair();
    world.write(&format!("fungal/{BINDING_FILE}"), "role: provider\n");
    world.commit("fungal", "Export nothing");
    let run = finds(&world, "fungal", &["exports-nothing"], &[]);
    assert!(run.stdout.contains(&format!("{BINDING_FILE}: error: fungal has the role provider")), "{run}");
    world.write(&format!("access/{BINDING_FILE}"), "role: consumer\n");
    world.commit("access", "Import nothing");
    let run = finds(&world, "access", &["exports-nothing"], &["imports-nothing", "unused"]);
    // The named file is that of the binding's repository.
    assert!(run.stdout.contains("\nerror: fungal") || run.stdout.starts_with("error: fungal"), "{run}");
}

#[test]
fn bindings_with_missing_targets() {
    let world = World::pair();
    world.write(&format!("access/{BINDING_FILE}"), &importing("^1.0.0").replace("contract: s3", "contract: no-s3"));
    world.commit("access", "Misspell it");
    let run = finds(&world, "access", &["missing-contract"], &["unused"]);
    assert!(run.stdout.contains(&format!("{BINDING_FILE}:3: error")), "{run}");
    let other = EXPORTING.replace("contract: s3", "contract: no-s3");
    world.write(&format!("fungal/{BINDING_FILE}"), &other);
    world.commit("fungal", "Misspell it too");
    finds(&world, "fungal", &["missing-contract", "missing-contract"], &["unused"]);
}

#[test]
fn export_of_a_foreign_contract() {
    let world = World::pair();
    world.write(&format!("access/{BINDING_FILE}"), &EXPORTING.replace("models/s3_paths.py", "README.md"));
    world.commit("access", "Export the provider's");
    finds(&world, "access", &["not-owner"], &["unused"]);
}

#[test]
fn import_of_pre_releases_only() {
    let world = World::pair();
    world
        .write("fungal/.blue/contracts/s3-access/next.yaml", &contract("1.0.0-rc.1").replace("s3-permissions", "next"));
    world.commit("fungal", "A candidate");
    world.write(
        &format!("access/{BINDING_FILE}"),
        &importing("^1.0.0").replace("contract: s3-permissions", "contract: next"),
    );
    world.commit("access", "Too early");
    let run = finds(&world, "access", &["only-pre-releases"], &["unused"]);
    assert!(run.stdout.contains("only pre-releases up to 1.0.0-rc.1 are published"), "{run}");
    let step = world.next_step(&run);
    assert_eq!(world.finish_shell(&world.path("access"), &step).code, 0, "{step}");
}

#[test]
fn realm_of_pre_releases_is_not_empty() {
    let world = World::solo();
    world.git(&world.path("fungal"), &["rm", "-rq", ".blue/contracts", ".blue/bindings"]);
    world
        .write("fungal/.blue/contracts/s3-access/next.yaml", &contract("1.0.0-rc.1").replace("s3-permissions", "next"));
    world.commit("fungal", "A candidate");
    let check = world.blue(&world.path("fungal"), &["check"]);
    assert!(check.stdout.contains(" checked") && !check.stdout.contains("nothing-to-check"), "{check}");
}

#[test]
fn contract_that_promises_nothing_is_a_warning() {
    let world = World::solo();
    let text = contract("1.0.0").replace("s3-permissions", "empty").split("schema:").next().unwrap().to_owned();
    world.write("fungal/.blue/contracts/s3-access/empty.yaml", &text);
    let said = "empty has neither a schema nor a value";
    let check = world.blue(&world.path("fungal"), &["check", "--worktree"]).exits(0);
    assert!(check.stdout.contains(said) && check.stdout.contains("[empty-contract]"), "{check}");
    let commit = world.commit("fungal", "Promise nothing");
    assert!(commit.stderr.contains(said), "{commit}");
}

#[test]
fn supported_older_version_is_behind_not_broken() {
    let world = World::pair();
    world.bump("1.4.0");
    world
        .write(&format!("fungal/{CONTRACT_FILE}"), &format!("{}supported: [\">=1.0.0, <2.0.0\"]\n", contract("2.0.0")));
    world.commit("fungal", "Paths 2.0.0, and still 1");
    let run = finds(&world, "access", &[], &["import-behind"]);
    assert!(run.stdout.contains("the current version is 2.0.0, but 1.4.0 is still served"), "{run}");
    snapshot("check_behind", &[&run]);
    let status = world.json(&world.path("access"), &["status"]);
    assert_eq!(
        (&status["imports"][0]["state"], &status["imports"][0]["resolved_version"]),
        (&json!("behind"), &json!("1.4.0"))
    );
    finds(&world, "fungal", &[], &["import-behind"]);
    // A yanked version is not served any more.
    let state = || world.json(&world.path("access"), &["status"])["imports"][0]["resolved_version"].clone();
    for (version, left) in [("1.4.0", json!("1.0.0")), ("1.0.0", json!(null))] {
        let yank = ["contract", "yank", "s3-access/s3-permissions", version, "--reason", "it leaks"];
        let yanked = world.ok(&world.path("fungal"), &yank);
        assert_eq!(yanked.stdout.contains("breaks: access"), left.is_null(), "{yanked}");
        assert_eq!(state(), left);
    }
    let impact = world.ok(&world.path("fungal"), &["contract", "impact", "s3-access/s3-permissions"]);
    assert!(!impact.stdout.contains("`supported`"), "{impact}");
    let advice = "serving an older version would not help these repositories: they must adapt to 2.0.0: access";
    assert!(impact.stdout.contains(advice), "{impact}");
    let own = finds(&world, "fungal", &["import-broken"], &["supports-nothing"]);
    assert!(own.stdout.contains("but every version in that range was yanked"), "{own}");
    let consumer = world.blue(&world.path("access"), &["check"]).exits(1);
    assert!(!consumer.stdout.contains("supports-nothing"), "{consumer}");
}

#[test]
fn all_failing_paths_of_a_value() {
    let world = World::pair();
    tamper(&world, |document| document["value"] = json!({"read": ["x", 1, null]}));
    let run = world.blue(&world.path("access"), &["check", "--all", "--json"]).exits(1);
    let errors = run.json()["errors"].clone();
    let pointers: Vec<_> = errors.as_array().unwrap().iter().map(|one| (&one["code"], &one["pointer"])).collect();
    assert_eq!(pointers, [(&json!("invalid-value"), &json!("/read/1")), (&json!("invalid-value"), &json!("/read/2"))]);
    snapshot("check_invalid_value", &[&world.blue(&world.path("access"), &["check", "--all"])]);
}

#[test]
fn invalid_schema() {
    let world = World::pair();
    tamper(&world, |document| document["schema"] = json!({"type": "objekt"}));
    finds(&world, "access", &["invalid-schema"], &["schema-changed"]);
}

#[test]
fn schema_changed_under_its_version_with_its_hash() {
    let world = World::pair();
    tamper(&world, |document| document["schema"]["properties"]["write"] = json!({}));
    let plain = finds(&world, "access", &[], &["schema-changed"]);
    assert!(plain.stdout.contains("the schema of s3-permissions changed, but the version is still 1.0.0"), "{plain}");

    // The hash of the changed schema, taken from our own answer.
    let hashes = world.json(&world.path("access"), &["check"])["schema_hashes"].clone();
    let fresh = hashes[0]["schema_hash"].clone();
    assert_ne!(world.stored("contracts/s3-permissions.json")["schema_hash"], fresh);
    tamper(&world, |document| document["schema_hash"] = fresh.clone());
    finds(&world, "access", &[], &["schema-changed"]);
    // Its consumers are notified of it.
    let told = world.json(&world.path("access"), &["notifications", "list"])["notifications"][0].clone();
    assert_eq!(
        (&told["change_type"], &told["import_state"]),
        (&json!("VersionChanged"), &json!("satisfied")),
        "{told}"
    );
}

#[test]
fn value_changed_under_its_version() {
    let world = World::pair();
    tamper(&world, |document| document["value"] = json!({"read": ["everything"]}));
    finds(&world, "access", &[], &["content-changed"]);
}

#[test]
fn document_without_our_fields() {
    let world = World::pair();
    tamper(&world, |document| {
        let document = document.as_object_mut().unwrap();
        document.remove("schema_hash");
        document.remove("content_hash");
        document.insert("version".into(), json!("1.0.1"));
    });
    finds(&world, "access", &[], &["hash-missing", "version-missing"]);
}

#[test]
fn missing_owners_and_members() {
    let world = World::pair();
    tamper(&world, |document| document["owner"] = json!("nobody"));
    finds(&world, "access", &["unknown-owner", "not-owner"], &[]);

    let world = World::pair();
    world.join("outside");
    tamper(&world, |document| document["owner"] = json!("outside"));
    finds(&world, "access", &["owner-not-member", "not-owner"], &[]);

    let world = World::pair();
    world.plant("domain.json", &json!({"name": "s3-access", "description": "", "members": ["access"]}).to_string());
    finds(&world, "access", &["owner-not-member", "not-member"], &[]);
}

#[test]
fn invalid_names_and_versions() {
    let world = World::pair();
    for (path, text) in [
        ("contracts/not a name.json", "{}"),
        ("versions/s3-permissions/one.json", "{}"),
        (
            "contracts/s3-permissions.json",
            "{\"name\": \"s3-permissions\", \"owner\": \"fungal\", \"version\": \"1.0\"}",
        ),
    ] {
        world.plant(path, text);
        let run = world.blue(&world.path("access"), &["check"]).exits(1);
        assert!(run.stdout.contains(path) && run.stdout.contains("[damaged]"), "{run}");
    }
    for (what, text) in [
        ("name", contract("1.0.0").replace("name: s3-permissions", "name: ../s3")),
        ("version", contract("1.0.0").replace("\"1.0.0\"\n", "\"1.0.0+build\"\n")),
        ("owner", contract("1.0.0").replace("owner: fungal", "owner: -fungal")),
    ] {
        world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
        let run = world.blue(&world.path("fungal"), &["check", "--worktree"]).exits(1);
        assert!(run.stdout.contains("[unreadable-file]"), "{what}: {run}");
    }
}

#[test]
fn declared_files_missing_from_the_commit() {
    let world = World::pair();
    world.git(&world.path("access"), &["rm", "--quiet", "cdk/access_stack.py"]);
    world.commit("access", "Move the stack");
    let run = finds(&world, "access", &[], &["missing-file"]);
    assert!(run.stdout.contains(&format!("{BINDING_FILE}:4: warning: cdk/access_stack.py, which uses")), "{run}");
    world.git(&world.path("fungal"), &["mv", "models", "model"]);
    world.commit("fungal", "Move the models");
    finds(&world, "fungal", &[], &["missing-file"]);
    // A path out of the repository does not count, even if the file exists.
    world.write(
        "access/.blue/bindings/s3-access.yaml",
        &importing("^1.0.0").replace("cdk/access_stack.py", "../fungal/README.md"),
    );
    world.commit("access", "Point elsewhere");
    finds(&world, "access", &[], &["missing-file"]);
}

#[test]
fn branch_that_is_behind_is_not_a_break() {
    let world = World::pair();
    world.git(&world.path("fungal"), &["branch", "old"]);
    world.bump("1.1.0");
    world.git(&world.path("fungal"), &["switch", "--quiet", "old"]);
    let run = finds(&world, "fungal", &[], &["behind"]);
    assert!(run.stdout.contains("is 1.0.0 here and 1.1.0 in the realm"), "{run}");
}

/// Files in a folder that may not be read are not removed files.
#[test]
fn unreadable_folder_is_an_error() {
    use std::{fs, os::unix::fs::PermissionsExt as _};
    let world = World::pair();
    let folder = world.path("fungal/.blue");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).unwrap();
    let run = blue_bound_by_modes(&world, &world.path("fungal"), &["check", "--worktree"]);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(run.code, 128, "{run}");
    assert!(run.all().contains("cannot read") && run.all().contains(".blue"), "{run}");
}

/// A realm has no two domains whose names differ only in case.
#[test]
fn folder_of_a_domain_in_another_case_is_renamed() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.write(
        "fungal/.blue/contracts/S3-access/s3-paths.yaml",
        &contract("1.0.0").replace("s3-permissions", "s3-paths"),
    );
    let check = world.blue(&fungal, &["check", "--worktree"]).exits(1);
    assert!(check.all().contains("rename S3-access to s3-access in the paths under .blue"), "{check}");
    assert!(!check.all().contains("realm admin domain"), "{check}");
}

#[test]
fn folder_of_a_misspelt_domain_is_renamed_or_its_domain_created() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.write("fungal/.blue/contracts/s3-acess/extra.yaml", &contract("1.0.0").replace("s3-permissions", "extra"));
    let check = world.blue(&fungal, &["check", "--worktree"]).exits(1);
    assert!(check.all().contains("rename s3-acess to s3-access in the paths under .blue"), "{check}");
    assert!(check.all().contains("realm admin domain --name s3-acess --repos fungal  # or create it"), "{check}");
}

/// The owner publishes what the import waits for.
#[test]
fn import_that_is_written_ahead_waits_for_its_version() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let late = world.join("late");
    world.ok(&fungal, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "late"]);
    world.write("late/cdk/access_stack.py", "");
    world.write(&format!("late/{BINDING_FILE}"), &importing(">=2.0.0, <3.0.0"));
    world.commit("late", "Ahead of 2.0.0");
    let check = world.blue(&late, &["check"]).exits(1);
    let said = "late imports s3-access/s3-permissions >=2.0.0, <3.0.0, but no such version is published";
    assert!(check.stdout.contains(said), "{check}");
    assert!(check.stdout.contains("or write \">=1.0.0, <3.0.0\" if the code works with 1.0.0"), "{check}");
    let review = world.ok(&late, &["review"]);
    assert!(review.stdout.contains("wait for a version in >=2.0.0, <3.0.0"), "{review}");
    let impact = ["contract", "impact", "s3-access/s3-permissions"];
    assert!(world.ok(&late, &impact).stdout.contains("no version in >=2.0.0, <3.0.0 is published: wait for one"));
    let impact = world.ok(&fungal, &impact);
    assert!(!impact.stdout.contains("must be adapted"), "{impact}");
}

#[test]
fn misspelled_folder_is_a_warning() {
    let world = World::pair();
    world.write("fungal/.blue/contract/s3-access/other.yaml", &contract("1.0.0"));
    world.write("fungal/.blue/binding/s3-access.yaml", "role: consumer\n");
    world.write("fungal/.blue/config.yml", "repo: fungal\n");
    world.commit("fungal", "Slip");
    let check = world.blue(&world.path("fungal"), &["check"]).exits(0);
    for (path, meant) in [("contract/s3-access/other.yaml", "contracts"), ("binding/s3-access.yaml", "bindings")] {
        let line =
            format!(".blue/{path}: warning: it is not read: the directory must be called .blue/{meant} [stray-file]");
        assert!(check.stdout.contains(&line), "{check}");
    }
    assert!(check.stdout.contains(".blue/config.yml: warning: it is not read: "), "{check}");
}

/// An import that was written ahead is not broken by the first version.
#[test]
fn first_version_below_a_range_is_not_a_break_of_the_change() {
    let world = World::pair();
    let import = importing(">=1.0.0, <2.0.0") + "  - { contract: next, version: \"^1.0\" }\n";
    world.write(&format!("access/{BINDING_FILE}"), &import);
    world.commit("access", "Rely on what is to come");
    world.write("fungal/.blue/contracts/s3-access/next.yaml", &contract("0.9.0").replace("s3-permissions", "next"));
    let check = world.ok(&world.path("fungal"), &["check", "--worktree"]);
    assert!(check.stdout.contains("warning: access imports s3-access/next ^1.0"), "{check}");
}
