//! The version that a consumer's code was written against is the base of its diffs and notifications.

use serde_json::{Value, json};

use crate::world::{BINDING_FILE, CONTRACT_FILE, World, contract, importing, snapshot};

const CONTRACT: &str = "s3-access/s3-permissions";

fn import(world: &World) -> Value {
    world.json(&world.path("access"), &["status", "--peek"])["imports"][0].clone()
}

/// A consumer that published its binding before anybody looked at the realm.
fn unseen() -> World {
    let world = World::new();
    for repo in ["fungal", "access"] {
        world.join(repo);
    }
    world.ok(&world.path("fungal"), &["realm", "admin", "domain", "--name", "s3-access", "--repos", "fungal,access"]);
    world.write("fungal/models/s3_paths.py", "");
    world.write(&format!("fungal/{BINDING_FILE}"), crate::world::EXPORTING);
    world.bump("1.0.0");
    world.write("access/cdk/access_stack.py", "");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <2.0.0"));
    world.commit("access", "Read from the masks");
    world
}

#[test]
fn changes_are_reported_since_the_adapted_version() {
    let world = unseen();
    world.bump("1.1.0");
    let answer = world.json(&world.path("access"), &["status", "--peek"]);
    let told =
        answer["notifications"].as_array().unwrap().iter().find(|one| one["contract"] == "s3-permissions").unwrap();
    assert_eq!(told["change_type"], "VersionChanged");
    assert_eq!(told["changes"], json!({"old_version": "1.0.0", "new_version": "1.1.0"}));
    assert_eq!(told["version_count"], 1);
    assert_eq!(
        (&import(&world)["adapted_version"], &import(&world)["resolved_version"]),
        (&json!("1.0.0"), &json!("1.1.0"))
    );
    // The same if no served version satisfies the range.
    world.bump("2.0.0");
    assert_eq!(
        (&import(&world)["adapted_version"], &import(&world)["resolved_version"]),
        (&json!("1.0.0"), &Value::Null)
    );
    let status = world.ok(&world.path("access"), &["status", "--peek"]);
    assert!(
        status.stdout.contains("broken: the current version is 2.0.0  (adapted to 1.0.0, in cdk/access_stack.py)"),
        "{status}"
    );
    let diff = world.json(&world.path("access"), &["contract", "diff", CONTRACT]);
    assert_eq!((&diff["old_version"], &diff["new_version"]), (&json!("1.0.0"), &json!("2.0.0")));
    let provider = world.json(&world.path("fungal"), &["contract", "diff", CONTRACT]);
    assert_eq!(provider["old_version"], "1.1.0");
    let impact = world.json(&world.path("fungal"), &["contract", "impact", CONTRACT]);
    assert_eq!(impact["importers"][0]["adapted_version"], "1.0.0");
}

#[test]
fn adapted_version_changes_by_editing_the_import_or_by_command() {
    let world = World::pair();
    let dir = world.path("access");
    let adapted = || import(&world)["adapted_version"].clone();
    assert_eq!(world.stored("bindings/access.json")["imports"][0]["adapted_version"], "1.0.0");
    world.bump("1.1.0");
    // Another part of the file changes, and everything is published again.
    world.write(&format!("access/{BINDING_FILE}"), &format!("# a comment\n{}", importing(">=1.0.0, <2.0.0")));
    world.commit("access", "Comment");
    assert_eq!(adapted(), "1.0.0");
    let said = world.ok(&dir, &["contract", "adapted", CONTRACT]);
    let twice = world.ok(&dir, &["contract", "adapted", CONTRACT, "1.1.0"]);
    assert_eq!(adapted(), "1.1.0");
    world.ok(&dir, &["contract", "adapted", CONTRACT, "1.0.0"]);
    assert_eq!(adapted(), "1.0.0");
    let unknown = world.blue(&dir, &["contract", "adapted", CONTRACT, "9.0.0"]).exits(1);
    let owner = world.blue(&world.path("fungal"), &["contract", "adapted", CONTRACT]).exits(1);
    snapshot("adapted", &[&said, &twice, &unknown, &owner]);
    assert_eq!(world.json(&dir, &["contract", "adapted", CONTRACT])["old_version"], "1.0.0");
    world.bump("1.2.0");
    // Naming another file, a script or an expectation says nothing about the version.
    for more in ["    validation: scripts/check.sh\n", "    expects: { required: [read] }\n"] {
        let moved = importing(">=1.0.0, <2.0.0").replace("access_stack.py", "stack.py");
        world.write(&format!("access/{BINDING_FILE}"), &(moved + more));
        world.commit("access", "More about the import");
        assert_eq!(adapted(), "1.1.0", "{more}");
    }
    // Nor does a range that no version satisfies, unless it is about versions to come.
    for (range, expected) in [("=1.1.5", json!("1.1.0")), (">=9.0.0", Value::Null)] {
        world.write(&format!("access/{BINDING_FILE}"), &importing(range));
        world.commit("access", "Wait");
        assert_eq!(adapted(), expected);
    }
    // Editing the range counts as adapting the code.
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <3.0.0"));
    world.commit("access", "Wider");
    assert_eq!(adapted(), "1.2.0");
    // A version outside of the range needs another range.
    world.bump("4.0.0");
    let outside = world.json(&dir, &["contract", "adapted", CONTRACT]);
    assert_eq!(outside["adapted_version"], "4.0.0");
    assert!(outside["next_steps"][0]["reason"].as_str().unwrap().contains(BINDING_FILE), "{outside}");
}

#[test]
fn binding_of_an_older_program_has_an_adapted_version() {
    let world = World::pair();
    let mut stored = world.stored("bindings/access.json");
    stored["imports"][0].as_object_mut().unwrap().remove("adapted_version");
    world.plant("bindings/access.json", &stored.to_string());
    world.bump("1.1.0");
    assert_eq!((&import(&world)["adapted_version"], &import(&world)["state"]), (&json!("1.0.0"), &json!("current")));
}

/// Both sides of a change are often written at the same time, and the consumer's may be published first.
#[test]
fn import_written_before_its_version_is_judged_against_that_version() {
    let world = World::solo();
    world.join("access");
    world.ok(&world.path("fungal"), &["realm", "admin", "domain", "--name", "s3-access", "--repos", "access"]);
    world.write("access/cdk/access_stack.py", "");
    let publish = |version: &str, required: &str| {
        let text = contract(version).replace("required: [read]", &format!("required: [{required}]"));
        world.write(
            &format!("fungal/{CONTRACT_FILE}"),
            &(text + "compatibility: { backwards: false, forwards: false }\n"),
        );
        world.commit("fungal", version)
    };
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=2.0.0, <3.0.0"));
    world.commit("access", "Read 2.0.0");
    assert_eq!(world.stored("bindings/access.json")["imports"][0]["adapted_version"], Value::Null);
    publish("2.0.0", "read");
    let first = import(&world);
    assert_eq!((&first["adapted_version"], &first["state"]), (&json!("2.0.0"), &json!("current")), "{first}");
    world.ok(&world.path("access"), &["check"]);
    let hook = publish("2.1.0", "");
    assert!(hook.all().contains("breaks access"), "{hook}");
    let second = import(&world);
    assert_eq!((&second["adapted_version"], &second["state"]), (&json!("2.0.0"), &json!("broken")), "{second}");
    world.blue(&world.path("access"), &["check"]).exits(1);
}

/// The code of the consumer follows first, and the range with it.
#[test]
fn range_edited_before_its_version_is_judged_against_that_version() {
    let world = unseen();
    world.write(&format!("access/{BINDING_FILE}"), &importing("^2.0.0"));
    world.commit("access", "Follow 2.0.0 early");
    assert_eq!(import(&world)["adapted_version"], Value::Null);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("2.0.0").replace("required: [read]", "required: []"));
    world.commit("fungal", "2.0.0");
    assert_eq!((&import(&world)["adapted_version"], &import(&world)["state"]), (&json!("2.0.0"), &json!("current")));
    world.blue(&world.path("access"), &["check"]).exits(0);
    // A range that is only too narrow says nothing about the code.
    world.write(&format!("access/{BINDING_FILE}"), &importing("=1.9.0"));
    world.commit("access", "Narrow the range");
    assert_eq!(import(&world)["adapted_version"], "2.0.0");
}

#[test]
fn spelling_of_a_range_does_not_adapt_the_code() {
    let world = World::pair();
    let with = |range: &str| {
        world.write(&format!("access/{BINDING_FILE}"), &importing(range));
        world.commit("access", range);
    };
    with(">=1.0.0,<3.0.0");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("2.0.0").replace("required: [read]", "required: []"));
    world.commit("fungal", "Break it");
    with(">=1.0.0, <3.0.0");
    assert_eq!(import(&world)["adapted_version"], "1.0.0");
    world.blue(&world.path("access"), &["check"]).exits(1);
}

/// The consumer accepts every version, and the provider publishes one that breaks it.
fn broken_within_its_range() -> World {
    let world = World::pair();
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0"));
    world.commit("access", "Accept every version");
    let breaking =
        contract("2.0.0").replace("type: string", "type: integer").replace("[\"jobs/*/masks/*\", \"v2.0.0\"]", "[1]");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &breaking);
    world.commit("fungal", "Numbers");
    world
}

/// The file is removed by mistake, and restored.
#[test]
fn import_that_comes_back_is_not_adapted_to_what_broke_it() {
    let world = broken_within_its_range();
    let access = world.path("access");
    world.blue(&access, &["check"]).exits(1);
    world.git(&access, &["rm", "-q", BINDING_FILE]);
    world.commit("access", "Remove it");
    world.git(&access, &["revert", "--no-edit", "HEAD"]);
    let check = world.blue(&access, &["check"]).exits(1);
    assert!(check.stdout.contains("[import-broken]"), "{check}");
    assert_eq!(world.stored("bindings/access.json")["imports"][0]["adapted_version"], "1.0.0");
}

/// The check before publishing and a binding that is written to the realm find the same.
#[test]
fn import_that_comes_back_is_checked_before_it_is_published() {
    let world = broken_within_its_range();
    let access = world.path("access");
    world.git(&access, &["rm", "-q", BINDING_FILE]);
    world.commit("access", "Remove it");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0"));
    let check = world.blue(&access, &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains("[import-broken]"), "{check}");
    let import = "s3-permissions@>=1.0.0:cdk/access_stack.py";
    let binding = ["--domain", "s3-access", "--repo", "access", "--role", "consumer", "--import", import];
    world.ok(&access, &[&["realm", "admin", "binding"][..], &binding].concat());
    assert_eq!(world.stored("bindings/access.json")["imports"][0]["adapted_version"], "1.0.0");
}

/// The consumer adapts to the new version, and drops that commit again.
#[test]
fn range_that_comes_back_is_not_adapted_to_what_broke_it() {
    let world = broken_within_its_range();
    let access = world.path("access");
    let adapted = || world.stored("bindings/access.json")["imports"][0]["adapted_version"].clone();
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <3.0.0"));
    world.commit("access", "Adapt to 2.0.0");
    assert_eq!(adapted(), "2.0.0");
    world.ok(&access, &["check"]);
    world.git(&access, &["revert", "--no-edit", "HEAD"]);
    assert_eq!(adapted(), "1.0.0");
    let check = world.blue(&access, &["check"]).exits(1);
    assert!(check.stdout.contains("[import-broken]"), "{check}");
    world.git(&access, &["revert", "--no-edit", "HEAD"]);
    assert_eq!(adapted(), "2.0.0");
    world.git(&access, &["reset", "--quiet", "--hard", "HEAD~2"]);
    world.ok(&access, &["status"]);
    assert_eq!(adapted(), "2.0.0", "HEAD~2 is the adapted commit");
    world.git(&access, &["reset", "--quiet", "--hard", "HEAD~1"]);
    world.ok(&access, &["status"]);
    assert_eq!(adapted(), "1.0.0");
}
