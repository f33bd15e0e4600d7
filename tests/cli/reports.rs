//! Reports of a check for CI runners and other tools: the break of a pull request, on its line.

use std::{ffi::OsStr, fs, path::PathBuf};

use serde_json::{Value, json};

use crate::world::{CONTRACT_FILE, Run, World};

/// Returns a world with the provider's pull request: a branch whose contract is outside of the consumer's range.
fn proposed() -> World {
    let world = World::pair();
    world.git(&world.path("fungal"), &["switch", "--quiet", "-c", "proposal"]);
    world.bump("2.0.0");
    world
}

/// Runs a check like a GitHub workflow. Returns the run and the step summary.
fn in_workflow(world: &World, args: &[&str]) -> (Run, String) {
    let summary = world.path("summary.md");
    let workspace = world.root();
    let vars = [
        ("GITHUB_ACTIONS", OsStr::new("true")),
        ("GITHUB_WORKSPACE", workspace.as_os_str()),
        ("GITHUB_STEP_SUMMARY", summary.as_os_str()),
    ];
    let run = world.blue_with(&world.path("fungal"), &[&["check"], args].concat(), &vars);
    (run, fs::read_to_string(summary).unwrap_or_default())
}

fn report(world: &World, format: &str) -> String {
    let file: PathBuf = world.path("report");
    let output = format!("{format}={}", file.display());
    let run = world.blue(&world.path("fungal"), &["check", "--output", &output]).exits(1);
    assert!(run.stdout.contains("error: access imports"), "the answer is for people all the same: {run}");
    fs::read_to_string(file).unwrap()
}

#[test]
fn workflow_gets_annotation_and_summary() {
    let world = proposed();
    let (run, summary) = in_workflow(&world, &[]);
    let run = run.exits(1);
    let place = format!("::error file=fungal/{CONTRACT_FILE},line=2,");
    assert!(run.stdout.starts_with(&place), "{run}");
    assert!(run.stdout.contains("title=s3-access/s3-permissions%3A import-broken::access imports"), "{run}");
    assert!(run.stdout.ends_with("failed: 1 error, 0 warnings, 1 contract checked\n"), "{run}");
    assert!(summary.starts_with("### Contracts: failed\n"), "{summary}");
    assert!(
        summary.contains(&format!("| error | `s3-access/s3-permissions` | `fungal/{CONTRACT_FILE}:2` |")),
        "{summary}"
    );
    // With another format there is no summary.
    fs::remove_file(world.path("summary.md")).unwrap();
    let (run, summary) = in_workflow(&world, &["--format", "human"]);
    assert!(run.stdout.starts_with(CONTRACT_FILE), "{run}");
    assert_eq!(summary, "");
    assert!(serde_json::from_str::<Value>(&in_workflow(&world, &["--json"]).0.stdout).is_ok());
}

/// A container may have the variable, but not the folder.
#[test]
fn summary_that_cannot_be_written_is_no_failure() {
    let world = World::pair();
    let vars = [("GITHUB_ACTIONS", OsStr::new("true")), ("GITHUB_STEP_SUMMARY", OsStr::new("/nonexistent/summary"))];
    let run = world.blue_with(&world.path("fungal"), &["check"], &vars).exits(0);
    assert!(run.stderr.contains("cannot write /nonexistent/summary"), "{run}");
}

#[test]
fn configuration_that_cannot_be_read_is_annotated_on_its_line() {
    let world = World::pair();
    world.write("fungal/.blue/config.yaml", "realm: [\n");
    world.commit("fungal", "Break it");
    let run = in_workflow(&world, &[]).0.exits(128);
    assert!(run.stdout.starts_with("::error file=.blue/config.yaml,line="), "{run}");
    assert!(!run.stdout.contains("::.blue/config.yaml"), "{run}");
}

#[test]
fn annotations_are_limited_to_ten() {
    let world = proposed();
    for n in 0..12 {
        world.write(&format!("fungal/.blue/contracts/s3-access/c{n}.yaml"), "name: other\n");
    }
    world.commit("fungal", "Twelve mistakes");
    let (run, summary) = in_workflow(&world, &[]);
    assert_eq!(run.stdout.lines().filter(|line| line.starts_with("::error ")).count(), 9, "{run}");
    assert!(run.stdout.contains("::error::and 4 more: git blue check lists them\n"), "{run}");
    assert_eq!(summary.lines().filter(|line| line.starts_with("| error |")).count(), 13, "{summary}");
}

#[test]
fn gitlab_code_quality_report() {
    let report: Value = serde_json::from_str(&report(&proposed(), "gitlab")).unwrap();
    let issue = &report[0];
    assert_eq!(issue["check_name"], "import-broken");
    assert_eq!(issue["severity"], "major");
    assert_eq!(issue["location"], json!({ "path": CONTRACT_FILE, "lines": { "begin": 2 } }));
    assert_eq!(issue["fingerprint"].as_str().unwrap().len(), 64);
    assert_eq!(report.as_array().unwrap().len(), 1);
}

#[test]
fn sarif_has_rule_place_and_stable_fingerprint() {
    let world = proposed();
    let one: Value = serde_json::from_str(&report(&world, "sarif")).unwrap();
    world.bump("3.0.0");
    let other: Value = serde_json::from_str(&report(&world, "sarif")).unwrap();
    let result = &one["runs"][0]["results"][0];
    assert_eq!(one["version"], "2.1.0");
    assert_eq!(one["runs"][0]["tool"]["driver"]["rules"][0]["id"], "import-broken");
    assert_eq!((&result["ruleId"], &result["ruleIndex"]), (&json!("import-broken"), &json!(0)));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!((&place["artifactLocation"]["uri"], &place["region"]["startLine"]), (&json!(CONTRACT_FILE), &json!(2)));
    assert_eq!(result["partialFingerprints"], other["runs"][0]["results"][0]["partialFingerprints"]);
    assert_ne!(result["message"], other["runs"][0]["results"][0]["message"]);
}

#[test]
fn junit_has_a_case_for_each_contract() {
    let world = proposed();
    let xml = report(&world, "junit");
    assert!(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites "), "{xml}");
    assert!(xml.contains("tests=\"2\" failures=\"1\""), "{xml}");
    assert!(
        xml.contains("<testcase classname=\"git-blue.s3-access\" name=\"s3-access/s3-permissions\"><failure "),
        "{xml}"
    );
    assert!(xml.contains("&gt;=1.0.0, &lt;2.0.0"), "{xml}");
    world.bump("1.1.0");
    let run = world.blue(&world.path("fungal"), &["check", "--format", "junit"]).exits(0);
    assert!(run.stdout.contains("tests=\"2\" failures=\"0\"") && !run.stdout.contains("<failure"), "{run}");
    // Only what this change touches is compared with its promise.
    let consumer = world.blue(&world.path("access"), &["check", "--format", "junit"]);
    assert!(consumer.stdout.contains("tests=\"1\"") && !consumer.stdout.contains("backwards"), "{consumer}");
    // A file that cannot be read leaves no case that passes.
    world.write(&format!("fungal/{CONTRACT_FILE}"), "name: [\n");
    world.commit("fungal", "A mistake");
    let run = world.blue(&world.path("fungal"), &["check", "--format", "junit"]).exits(1);
    assert!(run.stdout.contains("tests=\"1\" failures=\"1\""), "{run}");
    let case = "name=\"s3-access/s3-permissions\"><failure type=\"unreadable-file\"";
    assert!(run.stdout.contains(case), "{run}");
}

#[test]
fn missing_base_is_in_the_reports() {
    let world = proposed();
    let base = [("GITHUB_BASE_REF", OsStr::new("elsewhere")), ("GITHUB_ACTIONS", OsStr::new("true"))];
    let run = world.blue_with(&world.path("fungal"), &["check", "--output", "markdown=a.md"], &base).exits(1);
    let says = "the base origin/elsewhere is not in this clone, so its problems count as errors";
    assert!(run.stdout.contains(&format!("::notice title=missing-base::{says}: fetch it (fetch-depth: 0)\n")), "{run}");
    assert!(world.read("fungal/a.md").contains(says));
    let json = world.blue_with(&world.path("fungal"), &["check", "--json"], &base).exits(1).json();
    assert_eq!(json["missing_base"], "origin/elsewhere");
}

#[test]
fn check_that_cannot_run_says_so_in_every_report() {
    let world = proposed();
    let folder = world.path("fungal");
    let formats = ["markdown", "junit", "sarif", "gitlab", "json", "github"];
    let mut args = vec!["check".to_owned()];
    args.extend(formats.iter().flat_map(|format| ["--output".to_owned(), format!("{format}=report.{format}")]));
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    world.blue(&folder, &args).exits(1);
    let read = |format: &str| world.read(&format!("fungal/report.{format}"));
    assert!(read("markdown").starts_with("### Contracts: failed\n"));
    args.extend(["--realm-url", "./nowhere.git"]);
    let run = world.blue(&folder, &args).exits(128);
    assert!(run.stdout.is_empty() && run.stderr.starts_with("fatal: "), "{run}");
    let markdown = read("markdown");
    assert!(markdown.starts_with("### Contracts: not checked\n\ngit blue check could not run\n"), "{markdown}");
    assert!(markdown.contains("| error |") && markdown.contains("`remote`"), "{markdown}");
    let junit = read("junit");
    assert!(junit.contains("tests=\"1\" failures=\"0\" errors=\"1\"") && junit.contains("<error type="), "{junit}");
    let sarif: Value = serde_json::from_str(&read("sarif")).unwrap();
    let run = &sarif["runs"][0];
    assert_eq!((&run["results"], &run["invocations"][0]["executionSuccessful"]), (&Value::Null, &json!(false)));
    let quality: Value = serde_json::from_str(&read("gitlab")).unwrap();
    assert_eq!(quality[0]["check_name"], "remote");
    let answer: Value = serde_json::from_str(&read("json")).unwrap();
    assert_eq!(answer["status"], "error");
    assert!(read("github").starts_with("::error title=remote::"), "{}", read("github"));
    // In a workflow run, as the format of the answer.
    let (run, summary) = in_workflow(&world, &["--realm-url", "./nowhere.git"]);
    let run = run.exits(128);
    assert!(run.stdout.starts_with("::error title=remote::") && run.stderr.starts_with("fatal: "), "{run}");
    assert!(run.stdout.ends_with("not checked: git blue check could not run\n"), "{run}");
    assert!(summary.starts_with("### Contracts: not checked\n"), "{summary}");
    // Also outside of a repository that can be opened.
    world.write("plain/.git", "gitdir: /nowhere\n");
    let run = world.blue(&world.path("plain"), &["check", "--output", "markdown=a.md"]).exits(128);
    assert!(world.read("plain/a.md").starts_with("### Contracts: not checked\n"), "{run}");
}

#[test]
fn several_reports_at_once_and_invalid_options() {
    let world = proposed();
    let provider = world.path("fungal");
    let args = ["check", "--output", "markdown=a.md", "--output", "json=b.json"];
    world.blue(&provider, &args).exits(1);
    assert!(world.read("fungal/a.md").contains("| error |"));
    let answer: Value = serde_json::from_str(&world.read("fungal/b.json")).unwrap();
    assert_eq!(answer["valid"], false);
    for (wrong, says) in [
        ("b.json", "expected FORMAT=FILE, as in sarif=blue.sarif"),
        ("xml=b", "there is no format xml"),
        ("human=b", "redirect the output"),
        ("sarif=", "the file name after"),
        ("json=-", "use --format"),
    ] {
        let run = world.blue(&provider, &["check", "--output", wrong]).exits(129);
        assert!(run.stderr.contains(says), "{run}");
    }
    let twice = world.blue(&provider, &["check", "--output", "junit=a", "--output", "sarif=a"]).exits(129);
    assert!(twice.stderr.contains("a cannot have two reports"), "{twice}");
    let run = world.blue(&provider, &["check", "--output", "sarif=no/such/folder"]).exits(128);
    assert!(run.stderr.contains("no/such/folder") && run.stdout.contains("error: access imports"), "{run}");
    let args = ["check", "--json", "--output", "sarif=no/such/folder", "--output", "junit=c.xml"];
    let run = world.blue(&provider, &args).exits(128);
    assert!(run.json()["valid"] == false && run.stderr.contains("no/such/folder"), "{run}");
    assert!(world.read("fungal/c.xml").contains("<failure"));
}
