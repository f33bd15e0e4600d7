//! Reports of schema comparisons: places, older sides and ids.

use std::{ffi::OsStr, fs};

use serde_json::{Value, json};

use crate::{
    verdicts::{ids, refused_break, write},
    world::{CONTRACT_FILE, World, snapshot},
};

const AT: &str = "s3-access/s3-permissions";
const OLD: &str = "{\n  \"type\": \"object\",\n  \"properties\": {\n    \"indent\": { \"maximum\": 255 }\n  }\n}\n";

/// Runs a command with a report in this format. Returns the report and the exit code.
fn reported(world: &World, folder: &str, args: &[&str], format: &str) -> (String, i32) {
    let file = world.path("report");
    let output = format!("{format}={}", file.display());
    let run = world.blue(&world.path(folder), &[args, &["--output", &output]].concat());
    (fs::read_to_string(file).unwrap_or_else(|error| panic!("{error}: {run}")), run.code)
}

fn sarif(world: &World, folder: &str, args: &[&str]) -> Value {
    let log: Value = serde_json::from_str(&reported(world, folder, args, "sarif").0).unwrap();
    log["runs"][0].clone()
}

fn result<'a>(run: &'a Value, rule: &str) -> &'a Value {
    let results = run["results"].as_array().unwrap();
    results.iter().find(|one| one["ruleId"] == rule).unwrap_or_else(|| panic!("no {rule}: {run:#}"))
}

/// Two schema files, of which the newer one refuses more.
fn schemas() -> World {
    let world = World::new();
    world.write("old.json", OLD);
    world.write("new.yaml", "type: object\nproperties:\n  # narrower\n  indent:\n    maximum: 24\n");
    world
}

#[test]
fn break_is_annotated_on_the_breaking_line() {
    let world = ids();
    write(&world, "2.3.0", "integer");
    let workspace = world.root();
    let vars = [("GITHUB_ACTIONS", OsStr::new("true")), ("GITHUB_WORKSPACE", workspace.as_os_str())];
    let run = world.blue_with(&world.path("fungal"), &["check", "--worktree"], &vars).exits(1);
    let line = world.read(&format!("fungal/{CONTRACT_FILE}"));
    let line = line.lines().position(|line| line.contains("type: integer")).unwrap() + 1;
    let place = format!("file=fungal/{CONTRACT_FILE},line={line},");
    assert_eq!(run.stdout.matches(&place).count(), 2, "{run}");
    snapshot("annotated_break", &[&run]);
}

#[test]
fn sarif_has_the_older_side_and_a_stable_id() {
    let world = ids();
    write(&world, "2.3.0", "integer");
    let run = sarif(&world, "fungal", &["check", "--worktree"]);
    let one = result(&run, "breaks-promise");
    let old = &one["relatedLocations"][0];
    let at = &old["physicalLocation"]["artifactLocation"];
    assert_eq!((&at["uri"], &at["uriBaseId"]), (&json!("s3-access/s3-permissions/2.2.0"), &json!("REALM")));
    assert_eq!(old["message"]["text"], "2.2.0 /schema/properties/id/type");
    assert!(run["originalUriBaseIds"]["REALM"]["description"]["text"].is_string());
    let name = |run: &Value| result(run, "breaks-promise")["partialFingerprints"].clone();
    // Another version and other lines: the same break.
    write(&world, "2.4.0", "integer");
    let file = format!("fungal/{CONTRACT_FILE}");
    world.write(&file, &world.read(&file).replace("schema:\n", "# agreed\n\nschema:\n"));
    let later = sarif(&world, "fungal", &["check", "--worktree"]);
    assert_eq!(name(&later), name(&run));
    let line = |run: &Value| result(run, "breaks-promise")["locations"][0]["physicalLocation"]["region"].clone();
    assert_eq!(line(&later)["startLine"].as_u64(), line(&run)["startLine"].as_u64().map(|line| line + 2));
    // Another type is another break.
    write(&world, "2.3.0", "boolean");
    world.write(&file, &world.read(&file).replace("id: a", "id: true"));
    assert_ne!(name(&sarif(&world, "fungal", &["check", "--worktree"])), name(&run));
}

#[test]
fn approved_break_is_suppressed() {
    let world = ids();
    let provider = world.path("fungal");
    let fingerprint = refused_break(&world);
    world.ok(&provider, &["contract", "approve", AT, &fingerprint, "--reason", "nobody reads it"]);
    let run = sarif(&world, "fungal", &["check"]);
    let suppression = &result(&run, "break-approved")["suppressions"][0];
    assert_eq!((&suppression["kind"], &suppression["status"]), (&json!("external"), &json!("accepted")));
    assert!(suppression["justification"].as_str().unwrap().ends_with("nobody reads it"), "{suppression}");
    assert!(result(&run, "import-broken").get("suppressions").is_none());
}

#[test]
fn junit_has_a_case_for_each_direction() {
    let world = ids();
    write(&world, "2.3.0", "integer");
    let (xml, code) = reported(&world, "fungal", &["check", "--worktree"], "junit");
    assert_eq!(code, 1);
    assert!(xml.contains("tests=\"2\" failures=\"1\""), "{xml}");
    assert!(xml.contains(&format!("name=\"{AT} backwards\"><failure ")), "{xml}");
    assert!(!xml.contains("forwards"), "nothing is promised: {xml}");
    let path = format!("fungal/{}", crate::world::CONTRACT_FILE);
    world.write(&path, &world.read(&path).replace("forwards: false", "forwards: true"));
    let (xml, _) = reported(&world, "fungal", &["check", "--worktree"], "junit");
    for direction in ["backwards", "forwards"] {
        assert!(xml.contains(&format!("name=\"{AT} {direction}\"><failure ")), "{xml}");
    }
}

#[test]
fn two_schemas_are_reported_by_file_and_line() {
    let world = schemas();
    let run = world.blue(&world.root(), &["compat", "old.json", "new.yaml", "--format", "github"]).exits(1);
    assert!(run.stdout.starts_with("::error file=new.yaml,line=5,title=narrowed-maximum::new.yaml rejects "), "{run}");
    assert!(run.stdout.ends_with("failed: 1 error, 0 warnings\n"), "{run}");
    let log = sarif(&world, ".", &["compat", "old.json", "new.yaml"]);
    let one = result(&log, "narrowed-maximum");
    let old = &one["relatedLocations"][0]["physicalLocation"];
    assert_eq!((&old["artifactLocation"], &old["region"]["startLine"]), (&json!({ "uri": "old.json" }), &json!(4)));
    let (quality, _) = reported(&world, ".", &["compat", "old.json", "new.yaml"], "gitlab");
    let quality: Value = serde_json::from_str(&quality).unwrap();
    assert_eq!(quality[0]["location"], json!({ "path": "new.yaml", "lines": { "begin": 5 } }));
    let (table, _) = reported(&world, ".", &["compat", "old.json", "new.yaml"], "markdown");
    assert!(
        table.starts_with("### Contracts: failed\n\n1 error, 0 warnings from `old.json` to `new.yaml`\n"),
        "{table}"
    );
    assert!(table.ends_with("\nNeeds a major version: it breaks compatibility\n"), "{table}");
    let (xml, _) = reported(&world, ".", &["compat", "old.json", "new.yaml"], "junit");
    assert!(xml.contains("tests=\"2\" failures=\"1\"") && xml.contains("name=\"forwards\"><failure "), "{xml}");
}

#[test]
fn compare_annotates_on_a_runner_by_default() {
    let world = schemas();
    let vars = [("GITHUB_ACTIONS", OsStr::new("true"))];
    let run =
        |args: &[&str]| world.blue_with(&world.root(), &[&["compat", "old.json", "new.yaml"], args].concat(), &vars);
    assert!(run(&[]).exits(1).stdout.starts_with("::error "));
    assert!(run(&["--format", "human"]).exits(1).stdout.starts_with("error[narrowed-maximum]"));
    assert!(serde_json::from_str::<Value>(&run(&["--json"]).stdout).is_ok());
    let args = ["compat", "old.json", "missing.json"];
    let failed = world.blue_with(&world.root(), &args, &vars).exits(128);
    assert!(failed.stdout.starts_with("::error title="), "{failed}");
    let failed = world.blue(&world.root(), &[&args[..], &["--format", "json"]].concat()).exits(128);
    assert_eq!((failed.json()["status"].as_str(), &*failed.stderr), (Some("error"), ""));
    let file = run(&["--direction", "backwards", "--output", "json=answer.json"]).exits(0);
    assert_eq!(file.stdout, "Needs a minor version: the set of valid values changes\nok: 0 errors, 0 warnings\n");
    assert!(serde_json::from_str::<Value>(&world.read("answer.json")).unwrap()["compatible"] == true);
}

#[test]
fn undecided_is_skipped_or_fails_with_strict() {
    let world = World::new();
    world.write("old.json", r#"{"$ref": "https://example.com/old.json"}"#);
    world.write("new.json", r#"{"$ref": "https://example.com/new.json"}"#);
    let args = ["compat", "old.json", "new.json", "--direction", "backwards"];
    let (xml, code) = reported(&world, ".", &args, "junit");
    assert_eq!(code, 0, "{xml}");
    assert!(
        xml.contains("failures=\"0\"") && xml.contains("skipped=\"1\"") && xml.contains("<skipped message="),
        "{xml}"
    );
    let (xml, code) = reported(&world, ".", &[&args[..], &["--strict"]].concat(), "junit");
    assert_eq!(code, 1, "{xml}");
    assert!(xml.contains("name=\"backwards\"><failure") && !xml.contains("<skipped"), "{xml}");
}

#[test]
fn diff_reports_in_the_file_to_be_published() {
    let world = ids();
    write(&world, "2.3.0", "integer");
    let log = sarif(&world, "fungal", &["contract", "diff", AT, "--worktree"]);
    let one = result(&log, "widened-type");
    let place = &one["locations"][0]["physicalLocation"];
    assert_eq!((&place["artifactLocation"]["uri"], &place["region"]["startLine"]), (&json!(CONTRACT_FILE), &json!(9)));
    assert_eq!(one["relatedLocations"][0]["message"]["text"], "2.2.0 /schema/properties/id/type");
    let (xml, code) = reported(&world, "fungal", &["contract", "diff", AT, "--worktree"], "junit");
    assert!(code == 0 && xml.contains(&format!("name=\"{AT} backwards\"><failure ")), "{xml}");
    // A direction that is not promised does not pass either.
    assert!(xml.contains(&format!("name=\"{AT} forwards\"><skipped message=")), "{xml}");
    // Other published versions than that of the file are in no file on the runner.
    let (quality, _) = reported(&world, "fungal", &["contract", "diff", AT, "1.0.0", "2.2.0"], "gitlab");
    let quality: Value = serde_json::from_str(&quality).unwrap();
    assert!(quality.as_array().unwrap().iter().all(|one| one["location"]["path"] == ".blue/config.yaml"), "{quality}");
}

/// The owner's repository has the file of the newer version, and the one that its schema is in.
#[test]
fn versions_are_compared_in_the_files_of_their_owner() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let publish = |version: &str, kind: &str| {
        let schema = format!("{{\n  \"type\": \"object\",\n  \"properties\": {{\n    \"n\": {kind}\n  }}\n}}\n");
        world.write("fungal/lines.json", &schema);
        let file = format!("name: lines\nversion: \"{version}\"\nowner: fungal\nschema: {{ file: lines.json }}\n");
        world.write("fungal/.blue/contracts/s3-access/lines.yaml", &file);
        world.commit("fungal", version);
    };
    publish("1.0.0", r#"{ "type": "integer" }"#);
    publish("2.0.0", r#"{ "type": "string" }"#);
    let place = |args: &[&str]| {
        let args = [&["contract", "diff", "s3-access/lines"], args].concat();
        let run = sarif(&world, "fungal", &args);
        let at = run["results"][0]["locations"][0]["physicalLocation"].clone();
        (at["artifactLocation"]["uri"].as_str().unwrap().to_owned(), at["region"]["startLine"].clone())
    };
    for args in [&["1.0.0", "2.0.0"][..], &["1.0.0", "--worktree"], &["1.0.0", "--commit", "HEAD"]] {
        assert_eq!(place(args), ("lines.json".to_owned(), json!(4)), "{args:?}");
    }
    // A version with another content than the file's is in no file.
    assert_eq!(place(&["2.0.0", "1.0.0"]).0, ".blue/config.yaml");
    let run = world.ok(&fungal, &["contract", "diff", "s3-access/lines", "1.0.0", "2.0.0", "--format", "github"]);
    assert!(run.stdout.contains("file=lines.json,line=4,"), "{run}");
}
