//! Changing a contract in the realm: edit, retire, yank.

use std::ffi::OsStr;

use serde_json::json;

use crate::world::{CONTRACT_FILE, DOMAIN_REF, World, contract, snapshot};

const NAME: &str = "s3-access/s3-permissions";

#[test]
fn edits_from_a_file() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.write("fungal/next.yaml", &contract("1.1.0"));
    let run = world.ok(&provider, &["contract", "edit", NAME, "--file", "next.yaml"]);
    assert_eq!(world.version(), "1.1.0");
    let again = world.ok(&provider, &["contract", "edit", NAME, "--file", "next.yaml"]);
    let missing = world.blue(&provider, &["contract", "edit", NAME, "--file", "none.yaml"]).exits(128);
    snapshot("edit_file", &[&run, &again, &missing]);
    let pending = world.json(&world.path("access"), &["notifications", "list"])["notifications"].clone();
    assert_eq!(pending.as_array().unwrap().len(), 1);
}

#[test]
fn changes_that_were_not_pushed_are_said_to_be() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["init", "--url", &world.hub()]);
    world.write("fungal/next.yaml", &contract("1.1.0"));
    let edit = ["contract", "edit", NAME, "--file", "next.yaml"];
    assert_eq!(world.json(&fungal, &edit)["not_pushed"], true);
    assert_eq!(world.json(&fungal, &edit)["not_pushed"], false);
    let new = world.ok(&fungal, &["contract", "new", "paths/masks", "--domain-members", "fungal"]);
    assert!(new.stdout.contains("git blue sync  # not pushed yet"), "{new}");
    let more = world.ok(&fungal, &["contract", "new", "paths/jobs"]);
    assert!(!more.stdout.contains("git blue sync"), "{more}");
}

#[test]
fn edits_from_standard_input() {
    let world = World::pair();
    let provider = world.path("fungal");
    let args = ["blue", "contract", "edit", NAME, "--file", "-"];
    world.feed("git", &provider, &args, &contract("1.1.0")).exits(0);
    assert_eq!(world.version(), "1.1.0");
    // JSON is valid YAML.
    let json = json!({"name": "s3-permissions", "version": "2.0.0", "owner": "fungal", "value": 7}).to_string();
    world.feed("git", &provider, &args, &json).exits(0);
    assert_eq!(world.stored("contracts/s3-permissions.json")["value"], 7);
    let empty = world.feed("git", &provider, &args, "").exits(1);
    let renamed = world.feed("git", &provider, &args, &contract("1.3.0").replace("s3-permissions", "other")).exits(1);
    let own = world.feed("git", &provider, &args, &(contract("1.3.0") + "schema_hash: x\n")).exits(1);
    snapshot("edit_stdin_refused", &[&empty, &renamed, &own]);
}

/// An edit that would be refused does not begin.
#[test]
fn editor_is_opened_only_for_an_edit_that_is_possible() {
    let world = World::pair();
    let opened = [("GIT_EDITOR", OsStr::new("touch \"$HOME/opened\"; false"))];
    let edit = |repo: &str, more: &[&str]| {
        world.blue_with(&world.path(repo), &[&["contract", "edit", NAME], more].concat(), &opened)
    };
    let other = edit("access", &[]).exits(1);
    assert!(other.stderr.contains("only fungal can change it"), "{other}");
    // The editor would draw on the standard output.
    let json = edit("fungal", &["--json"]).exits(129);
    assert!(json.stdout.contains("needs --file"), "{json}");
    assert!(!world.path("home/opened").exists());
}

#[test]
fn edits_in_gits_editor() {
    let world = World::pair();
    let provider = world.path("fungal");
    // The file that keeps a refused edit is in the folder for temporary files of this world.
    let root = world.root();
    let edit = |editor: &str| {
        let vars = [("GIT_EDITOR", OsStr::new(editor)), ("TMPDIR", root.as_os_str())];
        world.blue_with(&provider, &["contract", "edit", NAME], &vars)
    };
    let run = edit("sed -i -e 's/1\\.0\\.0/1.1.0/g'").exits(0);
    assert_eq!(world.version(), "1.1.0");
    assert_eq!(world.stored("contracts/s3-permissions.json")["value"]["read"][1], "v1.1.0");
    // An unchanged file, or an editor that fails, changes nothing.
    let before = world.tip(DOMAIN_REF);
    let same = edit("true").exits(1);
    let gave_up = edit("false").exits(1);
    assert_eq!(world.tip(DOMAIN_REF), before);
    snapshot("edit_editor", &[&run, &same, &gave_up]);
    // A refused edit is kept.
    let refused = edit("sed -i -e 's/v1\\.1\\.0/other/'").exits(1);
    assert!(refused.stderr.contains("bump to 1.1.1"), "{refused}");
    let kept = refused.stderr.split("--file ").nth(1).unwrap().trim();
    assert!(std::fs::read_to_string(kept).unwrap().contains("other"));
}

#[test]
fn editor_is_not_opened_for_the_contract_of_another_repository() {
    let world = World::pair();
    let vars = [("GIT_EDITOR", OsStr::new("touch opened"))];
    let refused = world.blue_with(&world.path("access"), &["contract", "edit", NAME], &vars).exits(1);
    assert!(refused.stderr.contains("fungal") && !world.path("access/opened").exists(), "{refused}");
}

#[test]
fn edit_applies_the_rules_of_publishing() {
    let world = World::pair();
    let provider = world.path("fungal");
    let before = world.tip(DOMAIN_REF);
    let args = ["blue", "contract", "edit", NAME, "--file", "-"];
    let reused = world.feed("git", &provider, &args, &contract("1.0.0").replace("v1", "w1")).exits(1);
    let down = world.feed("git", &provider, &args, &contract("0.9.0")).exits(1);
    let invalid = world.feed("git", &provider, &args, &contract("1.1.0").replace("\"jobs/*/masks/*\"", "7")).exits(1);
    let unknown =
        world.feed("git", &provider, &["blue", "contract", "edit", "s3-access/none", "--file", "-"], "").exits(1);
    snapshot("edit_refused", &[&reused, &down, &invalid, &unknown]);
    assert_eq!(world.tip(DOMAIN_REF), before);
}

#[test]
fn retiring_an_imported_contract_needs_force() {
    let world = World::pair();
    let provider = world.path("fungal");
    let refused = world.blue(&provider, &["contract", "retire", NAME, "--reason", "moved to s3-paths"]).exits(1);
    assert!(refused.stderr.contains("still imported by access"), "{refused}");
    assert!(refused.stderr.contains("replaced_by: CONTRACT"), "{refused}");
    let run = world.ok(&provider, &["contract", "retire", NAME, "--reason", "moved to s3-paths", "--force"]);
    let again = world.ok(&provider, &["contract", "retire", NAME, "--reason", "moved to s3-paths", "--force"]);
    let list = world.ok(&provider, &["contract", "list"]);
    snapshot("retire", &[&refused, &run, &again, &list]);
    // The first reason stays.
    let other = world.ok(&provider, &["contract", "retire", NAME, "--reason", "another"]);
    assert!(other.stdout.contains(&format!("already retired {NAME}: moved to s3-paths")), "{other}");
    assert!(!world.ok(&provider, &["contract", "get", NAME]).stdout.contains("another"));
    let yank = |reason: &str| world.ok(&provider, &["contract", "yank", NAME, "1.0.0", "--reason", reason]);
    yank("first");
    let other = yank("second");
    assert!(other.stdout.contains(&format!("already yanked {NAME} 1.0.0: first")), "{other}");
    assert!(!world.ok(&provider, &["contract", "get", NAME]).stdout.contains("second"));
    // Its content and versions stay.
    let get = world.json(&provider, &["contract", "get", NAME])["contract"].clone();
    assert_eq!((&get["value"]["read"][1], &get["retired"]["reason"]), (&json!("v1.0.0"), &json!("moved to s3-paths")));
    assert_eq!(world.stored("versions/s3-permissions/1.0.0.json")["retired"], json!(null));
    // A new version brings the contract back.
    world.bump("1.1.0");
    assert_eq!(world.stored("contracts/s3-permissions.json")["retired"], json!(null));
    let told = world.json(&world.path("access"), &["status"])["notifications"].clone();
    assert_eq!(told[0]["change_type"], "VersionChanged", "what came between cancels out");
}

#[test]
fn retires_an_unused_contract_without_force() {
    let world = World::solo();
    world.ok(&world.path("fungal"), &["contract", "retire", NAME, "--reason", "never used"]);
    assert_eq!(world.stored("contracts/s3-permissions.json")["retired"]["reason"], "never used");
}

#[test]
fn yanked_version_is_not_selected() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.bump("1.1.0");
    let never = world.blue(&provider, &["contract", "yank", NAME, "9.9.9", "--reason", "no"]).exits(1);
    let run = world.ok(&provider, &["contract", "yank", NAME, "1.0.0", "--reason", "it leaks"]);
    let current = world.ok(&provider, &["contract", "yank", NAME, "1.1.0", "--reason", "this too"]);
    let get = world.ok(&provider, &["contract", "get", NAME]);
    let impact = world.ok(&provider, &["contract", "impact", NAME, "--to", "1.0.0"]);
    assert!(impact.stdout.contains("yanked: it leaks"), "{impact}");
    // A rollback would select it.
    world.bump("1.0.0");
    let back = world.blue(&provider, &["contract", "publish", "--rollback", "--reason", "try the old one"]).exits(1);
    assert!(back.stderr.contains("was yanked (it leaks)"), "{back}");
    snapshot("yank", &[&never, &run, &current, &get, &back]);
    let yanked = world.stored("contracts/s3-permissions.json")["yanked"].clone();
    assert_eq!(yanked, json!([{"version": "1.0.0", "reason": "it leaks"}, {"version": "1.1.0", "reason": "this too"}]));
    assert_eq!(world.stored("versions/s3-permissions/1.0.0.json")["yanked"], json!([]));
    // The next version keeps the yanked marks.
    world.bump("1.2.0");
    assert_eq!(world.stored("contracts/s3-permissions.json")["yanked"], yanked);
    world.blue(&world.path("access"), &["check", "--strict"]).exits(0);
}

#[test]
fn document_can_be_exported_as_yaml_and_edited_back() {
    let world = World::pair();
    let provider = world.path("fungal");
    let json = world.ok(&provider, &["contract", "get", NAME, "--format", "json"]);
    // It is the document, not the answer that --json asks for.
    world.blue(&provider, &["contract", "get", NAME, "--format", "yaml", "--json"]).exits(129);
    let document: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(document["version"], "1.0.0");
    let yaml = world.ok(&provider, &["contract", "get", NAME, "--format", "yaml"]);
    snapshot("document_as_yaml", &[&yaml]);
    let next = yaml.stdout.replace("1.0.0", "1.1.0");
    world.feed("git", &provider, &["blue", "contract", "edit", NAME, "--file", "-"], &next).exits(0);
    assert_eq!(world.stored("contracts/s3-permissions.json")["value"]["read"][1], "v1.1.0");
}

#[test]
fn edit_reads_the_files_that_a_document_refers_to() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.write("fungal/schema.json", r#"{"type": "string"}"#);
    world.write("fungal/next.yaml", &by_reference());
    world.ok(&provider, &["contract", "edit", NAME, "--file", "next.yaml"]);
    assert_eq!(world.stored("contracts/s3-permissions.json")["schema"], json!({"type": "string"}));
    world.write("fungal/next.yaml", &by_reference().replace("schema.json", "none.json"));
    let missing = world.blue(&provider, &["contract", "edit", NAME, "--file", "next.yaml"]).exits(1);
    assert!(missing.stderr.contains("next.yaml:") && missing.stderr.contains("none.json"), "{missing}");
}

/// Returns a contract whose schema is in a file.
fn by_reference() -> String {
    "name: s3-permissions\nversion: \"2.0.0\"\nowner: fungal\nschema: { file: schema.json }\n".to_owned()
}

#[test]
fn yank_says_which_version_breaks_its_importers() {
    let world = World::pair();
    let provider = world.path("fungal");
    let narrow =
        |version: &str| contract(version).replace("items: { type: string }", "items: { type: string, minLength: 1 }");
    let narrow = |version: &str, more: &str| narrow(version).replace("values: free", &format!("values: free{more}"));
    world.write(&format!("fungal/{CONTRACT_FILE}"), &narrow("1.1.0", ""));
    world.commit("fungal", "Never empty");
    world.ok(&world.path("access"), &["contract", "adapted", NAME, "1.1.0"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &narrow("2.0.0", "\nsupported: [\"^1\"]"));
    world.commit("fungal", "The next major version");
    let yank = world.ok(&provider, &["contract", "yank", NAME, "1.1.0", "--reason", "wrong"]);
    assert!(yank.stdout.contains("it gets 1.0.0, which breaks it: "), "{yank}");
}
