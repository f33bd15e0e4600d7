//! Comparing contracts before they are committed or published.

use serde_json::json;

use crate::world::{CONTRACT_FILE, World, contract, snapshot};

const CONTRACT: &str = "s3-access/s3-permissions";

/// The provider's working tree has 2.0.0, with another required field.
fn edited() -> World {
    let world = World::pair();
    let text = contract("2.0.0").replace("required: [read]", "required: [input]").replace("    read:", "    input:");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text.replace("  read: [", "  input: ["));
    world
}

#[test]
fn diff_and_impact_work_before_the_commit() {
    let world = edited();
    let dir = world.path("fungal");
    let before = world.tip(crate::world::DOMAIN_REF);
    let diff = world.ok(&dir, &["contract", "diff", CONTRACT, "--worktree"]);
    let impact = world.ok(&dir, &["contract", "impact", CONTRACT, "--worktree"]);
    snapshot("drafts", &[&diff, &impact]);
    let answer = world.json(&dir, &["contract", "diff", CONTRACT, "1.0.0", "--worktree"]);
    assert_eq!((&answer["source"], &answer["new_version"]), (&json!("worktree"), &json!("2.0.0")));
    let answer = world.json(&dir, &["contract", "impact", CONTRACT, "--worktree"]);
    assert_eq!(
        (&answer["broken"], &answer["published"], &answer["source"]),
        (&json!(1), &json!(false), &json!("worktree"))
    );
    // A commit that is not on the publishing branch.
    world.git(&dir, &["switch", "-q", "-c", "proposal"]);
    world.commit("fungal", "Rename");
    world.git(&dir, &["switch", "-q", "main"]);
    let answer = world.json(&dir, &["contract", "diff", CONTRACT, "--commit", "proposal"]);
    assert_eq!((&answer["source"], &answer["content_changed"]), (&json!("commit"), &json!(true)));
    assert_eq!(world.json(&dir, &["contract", "impact", CONTRACT, "--commit", "proposal"])["broken"], 1);
    assert_eq!(world.json(&dir, &["contract", "impact", CONTRACT, "--commit", "main"])["broken"], 0);
    assert_eq!(world.tip(crate::world::DOMAIN_REF), before);
}

/// Publishing adds entries to `evolution` that the file does not have.
#[test]
fn diff_of_an_untouched_file_removes_no_generated_entries() {
    let world = World::solo();
    world.bump("1.1.0");
    let unchanged = world.ok(&world.path("fungal"), &["contract", "diff", CONTRACT, "--worktree"]);
    assert!(!unchanged.stdout.contains("evolution"), "{unchanged}");
    let published = world.json(&world.path("fungal"), &["contract", "get", CONTRACT]);
    assert_eq!(published["contract"]["evolution"].as_array().map(Vec::len), Some(1), "{published}");
}

#[test]
fn impact_of_an_edit_whose_version_is_not_raised_yet() {
    let world = edited();
    let dir = world.path("fungal");
    let path = format!("fungal/{CONTRACT_FILE}");
    world.write(&path, &world.read(&path).replace("2.0.0", "1.0.0"));
    let impact = world.json(&dir, &["contract", "impact", CONTRACT, "--worktree"]);
    assert_eq!(
        (&impact["version"], &impact["published"], &impact["broken"]),
        (&json!("2.0.0"), &json!(false), &json!(1)),
        "{impact}"
    );
    let run = world.blue(&dir, &["contract", "impact", CONTRACT, "--worktree"]).exits(0);
    let step = world.next_step(&run);
    assert!(step.starts_with("git blue contract bump s3-access/s3-permissions  # 1.0.0 was already"), "{step}");
    assert_eq!(world.finish_shell(&dir, &step).code, 0);
    assert!(world.read(&path).contains("version: \"2.0.0\""));
    // Unchanged files are the published version.
    world.git(&dir, &["checkout", "-q", "--", "."]);
    let impact = world.json(&dir, &["contract", "impact", CONTRACT, "--worktree"]);
    assert_eq!((&impact["published"], &impact["broken"]), (&json!(true), &json!(0)), "{impact}");
}

#[test]
fn pre_release_is_judged_as_its_release() {
    let world = edited();
    let dir = world.path("fungal");
    let path = format!("fungal/{CONTRACT_FILE}");
    world.write(&path, &world.read(&path).replace("2.0.0", "1.1.0-rc.1"));
    let impact = world.json(&dir, &["contract", "impact", CONTRACT, "--worktree"]);
    assert_eq!((&impact["broken"], &impact["breaks_promise"]), (&json!(1), &json!([])), "{impact}");
    // Publishing it breaks nobody.
    world.blue(&dir, &["check", "--worktree"]).exits(0);
}

#[test]
fn commits_are_compared_like_versions() {
    let world = edited();
    let dir = world.path("fungal");
    world.commit("fungal", "Rename");
    let answer = world.json(&dir, &["contract", "diff", CONTRACT, "HEAD~1", "HEAD"]);
    assert_eq!((&answer["old_version"], &answer["new_version"]), (&json!("1.0.0"), &json!("2.0.0")));
    assert_eq!((&answer["old_source"], &answer["source"]), (&json!("commit"), &json!("commit")));
    assert_eq!((&answer["old_origin"], &answer["compared"]["bump"]), (&json!(null), &json!("major")));
    let run = world.blue(&dir, &["contract", "diff", CONTRACT, "HEAD~1", "2.0.0"]).exits(0);
    assert!(run.stdout.contains("1.0.0 (commit) -> 2.0.0"), "{}", run.stdout);
    let run = world.blue(&dir, &["contract", "diff", CONTRACT, "1.0.0", "main"]).exits(0);
    assert!(run.stdout.contains("1.0.0 -> 2.0.0 (commit)"), "{}", run.stdout);
    // Sides with the same version are told apart.
    world.write(
        &format!("fungal/{CONTRACT_FILE}"),
        &world.read(&format!("fungal/{CONTRACT_FILE}")).replace("input", "inputs"),
    );
    let run = world.blue(&dir, &["contract", "diff", CONTRACT, "HEAD", "--worktree"]).exits(0);
    assert!(run.stdout.contains("2.0.0 (commit) -> 2.0.0 (working tree)"), "{}", run.stdout);
    assert!(run.stdout.contains("valid in the new 2.0.0, invalid in the old 2.0.0"), "{}", run.stdout);
    // A commit is compared with the published version too.
    let answer = world.json(&dir, &["contract", "diff", CONTRACT, "HEAD~1"]);
    assert_eq!((&answer["new_version"], &answer["source"]), (&json!("2.0.0"), &json!("realm")));
    let run = world.blue(&dir, &["contract", "diff", CONTRACT, "1.0", "2.0.0"]).exits(128);
    assert!(run.stderr.contains("hint: write a version as three numbers"), "{}", run.stderr);
}

#[test]
fn schema_file_alone_is_enough() {
    let world = World::pair();
    let dir = world.path("fungal");
    world.write(
        "schema.json",
        r#"{"type": "object", "required": ["input"], "properties": {"input": {"type": "string"}}}"#,
    );
    let file = world.path("schema.json").display().to_string();
    let answer = world.json(&dir, &["contract", "impact", CONTRACT, "--schema", &file]);
    assert_eq!((&answer["source"], &answer["version"]), (&json!("schema"), &json!("2.0.0")));
    world.blue(&dir, &["contract", "impact", CONTRACT, "--schema", "none.json"]).exits(128);
}

#[test]
fn schema_file_is_read_as_by_other_commands() {
    let world = World::pair();
    let dir = world.path("fungal");
    let impact = |file: &str| world.blue(&dir, &["contract", "impact", CONTRACT, "--schema", file]);
    world.write("fungal/bad.json", r#"{"properties": {"a": {"type": "objekt"}}}"#);
    let bad = impact("bad.json").exits(128);
    assert!(bad.stderr.contains("bad.json#/properties/a/type: not a valid JSON Schema: "), "{bad}");
    world.write(
        "fungal/api.yaml",
        "openapi: 3.1.0\ncomponents:\n  schemas:\n    Paths:\n      type: object\n      required: [input]\n      \
         properties: {input: {$ref: part.json}}\n",
    );
    world.write("fungal/part.json", r#"{"type": "string"}"#);
    let api = impact("api.yaml").exits(128);
    assert!(api.stderr.contains("has schemas, but is not a JSON Schema"), "{api}");
    let part = world.json(&dir, &["contract", "impact", CONTRACT, "--schema", "api.yaml#/components/schemas/Paths"]);
    assert_eq!((&part["source"], &part["version"]), (&json!("schema"), &json!("2.0.0")));
}

#[test]
fn missing_draft_is_reported() {
    let world = edited();
    let missing = world.blue(&world.path("access"), &["contract", "diff", CONTRACT, "--worktree"]).exits(1);
    let unknown = world.blue(&world.path("fungal"), &["contract", "diff", CONTRACT, "--commit", "nowhere"]).exits(128);
    world.write(&format!("fungal/{CONTRACT_FILE}"), "name: [");
    let broken = world.blue(&world.path("fungal"), &["contract", "impact", CONTRACT, "--worktree"]).exits(1);
    snapshot("drafts_missing", &[&missing, &unknown, &broken]);
    for args in
        [&["diff", CONTRACT, "1.0.0", "1.1.0", "--worktree"][..], &["impact", CONTRACT, "--to", "2.0.0", "--worktree"]]
    {
        world.blue(&world.path("fungal"), &[&["contract"], args].concat()).exits(129);
    }
}

#[test]
fn mcp_and_http_compare_drafts_too() {
    let world = edited();
    let dir = world.path("fungal");
    let ask = |tool: &str, args: &str| world.ok(&dir, &["mcp", "test-tool", tool, "--args", args]).json();
    let at = r#""domain": "s3-access", "contract": "s3-permissions""#;
    let diff = ask("contract_diff", &format!("{{{at}, \"worktree\": true}}"));
    let impact = ask("contract_impact", &format!("{{{at}, \"worktree\": true}}"));
    let found = |answer: &serde_json::Value, pointer: &str| answer.pointer(pointer).cloned().unwrap_or_default();
    assert_eq!(found(&diff, "/new_version"), "2.0.0", "{diff}");
    assert_eq!(found(&impact, "/broken"), 1, "{impact}");
}

/// Publishing keeps the entries of the realm, so comparing a draft must not call them removed.
#[test]
fn draft_with_an_automatic_version_has_the_evolution_that_is_published() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.bump("1.1.0");
    let auto = contract("1.1.0").replace("\"1.1.0\"", "auto").replace("v1.1.0", "v2");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &auto);
    let diff = world.ok(&fungal, &["contract", "diff", "s3-access/s3-permissions", "--worktree"]);
    assert!(diff.stdout.contains("/evolution/1 added"), "{diff}");
    assert!(!diff.stdout.lines().any(|line| line.contains("/evolution/") && line.contains("removed")), "{diff}");
}
