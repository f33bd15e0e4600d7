//! One comment on a pull request, created once and then updated. The forge is a stand-in; its comments follow
//! GitHub's documentation, which the fixture does not cover.

use std::ffi::OsStr;

use serde_json::{Value, json};

use crate::{
    github::{GitHub, HOST, on_forge, tree},
    world::{Run, World},
};

const MARKER: &str = "<!-- git blue: contracts -->";

fn place() -> (World, GitHub) {
    let (world, forge) = on_forge();
    forge.state.lock().unwrap().unchecked = true;
    (world, forge)
}

/// Returns the variables of a workflow run of pull request 7 of a repository.
fn run_of(repository: &str) -> [(&'static str, &OsStr); 2] {
    [("GITHUB_REPOSITORY", OsStr::new(repository)), ("GITHUB_REF", OsStr::new("refs/pull/7/merge"))]
}

/// Comments like a workflow run of pull request 7.
fn comment(world: &World, report: &str, summary: bool) -> Run {
    world.write("report.md", report);
    let (report, file) = (world.path("report.md"), world.path("summary.md"));
    let mut vars = run_of("acme/aperture").to_vec();
    vars.extend(summary.then_some(("GITHUB_STEP_SUMMARY", file.as_os_str())));
    let args = ["realm", "pr", "comment", "--body", report.to_str().unwrap(), "--json"];
    world.blue_with(&world.path("aperture"), &args, &vars)
}

fn comments(forge: &GitHub) -> Vec<Value> {
    forge.state.lock().unwrap().comments.get("acme/aperture").cloned().unwrap_or_default()
}

#[test]
fn comment_is_created_once_and_updated() {
    let (world, forge) = place();
    let elses = json!({ "id": 1, "html_url": "https://forge.test/1", "body": "Looks good" });
    forge.state.lock().unwrap().comments.insert("acme/aperture".into(), vec![elses]);
    for (report, outcome) in [("failed", "created"), ("failed", "unchanged"), ("ok", "updated"), ("ok", "unchanged")] {
        let answer = comment(&world, report, false).exits(0).json();
        assert_eq!((&answer["outcome"], &answer["number"]), (&json!(outcome), &json!(7)), "{answer}");
        assert_eq!(answer["url"], format!("https://{HOST}/acme/aperture/pull/7#issuecomment-2"));
    }
    let bodies: Vec<_> = comments(&forge).iter().map(|one| one["body"].as_str().unwrap().to_owned()).collect();
    assert_eq!(bodies, ["Looks good".to_owned(), format!("{MARKER}\nok\n")]);
}

/// Two jobs that comment at once both find no comment.
#[test]
fn every_own_comment_is_updated() {
    let (world, forge) = place();
    let own = |id: u64| json!({ "id": id, "html_url": "https://forge.test/1", "body": format!("{MARKER}\nfailed") });
    forge.state.lock().unwrap().comments.insert("acme/aperture".into(), vec![own(1), own(2)]);
    assert_eq!(comment(&world, "ok", false).exits(0).json()["outcome"], "updated");
    let bodies: Vec<_> = comments(&forge).iter().map(|one| one["body"].clone()).collect();
    assert_eq!(bodies, vec![json!(format!("{MARKER}\nok\n")); 2]);
}

#[test]
fn foreign_comment_with_the_marker_is_ignored() {
    let (world, forge) = place();
    let list = json!([{ "id": 1, "html_url": "https://forge.test/1", "body": format!("{MARKER}\nall is well") }]);
    forge.instead(200, "", &list.to_string());
    forge.instead(403, "", &json!({ "message": "Must have admin rights" }).to_string());
    assert_eq!(comment(&world, "failed", false).exits(0).json()["outcome"], "created");
    assert_eq!(comments(&forge)[0]["body"], format!("{MARKER}\nfailed\n"));
}

#[test]
fn report_goes_to_the_summary_if_commenting_is_denied() {
    let (world, forge) = place();
    let denied = json!({ "message": "Resource not accessible by integration" }).to_string();
    for _ in 0..2 {
        forge.instead(403, "", &denied);
        let answer = comment(&world, "### Contracts: failed", true).exits(0).json();
        assert_eq!(answer["outcome"], "summary", "{answer}");
        assert!(answer["reason"].as_str().unwrap().contains("Resource not accessible"), "{answer}");
    }
    assert_eq!(world.read("summary.md"), "### Contracts: failed\n", "once");
    forge.instead(403, "", &denied);
    assert_eq!(comment(&world, "failed", false).exits(1).json()["code"], "refused");
    assert_eq!(comment(&world, " \n", false).exits(129).json()["code"], "usage");
    assert!(comments(&forge).is_empty());
}

#[test]
fn branch_determines_the_pull_request() {
    let (world, forge) = place();
    let blue = tree(&world, "blue");
    let args = ["realm", "pr", "comment", "--body", "-"];
    let lost = world.feed("git", &blue, &[&["blue"], &args[..]].concat(), "ok").exits(1);
    assert!(lost.stderr.contains("has no open pull request") && lost.stderr.contains("--number N"), "{lost}");
    world.ok(&world.path("aperture"), &["realm", "pr", "create", "--rfc", "rfc-1", "--title", "New API"]);
    let number = forge.state.lock().unwrap().pulls["acme/blue"][0]["number"].clone();
    let run = world.feed("git", &blue, &[&["blue"], &args[..]].concat(), "ok").exits(0);
    assert!(run.stdout.starts_with(&format!("commented #{number} https://{HOST}/acme/blue/")), "{run}");
    // The short name of the command works too.
    let again = world.feed("git", &blue, &["blue", "pr", "comment", "--body", "-"], "ok").exits(0);
    assert!(again.stdout.starts_with("the comment is up to date"), "{again}");
}

#[test]
fn number_of_the_run_is_only_used_in_its_repository() {
    let (world, forge) = place();
    world.write("report.md", "ok");
    let report = world.path("report.md");
    let args = ["realm", "pr", "comment", "--body", report.to_str().unwrap(), "--json"];
    let gitlab = |path| [("CI_PROJECT_PATH", OsStr::new(path)), ("CI_MERGE_REQUEST_IID", OsStr::new("7"))];
    for vars in [run_of("acme/aperture"), gitlab("acme/aperture")] {
        let lost = world.blue_with(&world.path("fungal"), &args, &vars).exits(1);
        assert!(lost.stdout.contains("pass --number N"), "{lost}");
        assert_eq!(forge.state.lock().unwrap().comments.get("acme/fungal"), None);
    }
    let vars = gitlab("Acme/Aperture");
    let answer = world.blue_with(&world.path("aperture"), &args, &vars).exits(0).json();
    assert_eq!((&answer["number"], comments(&forge).len()), (&json!(7), 1));
}

#[test]
fn forge_of_the_workflow_needs_no_configuration() {
    let (world, forge) = place();
    let aperture = world.path("aperture");
    world.git(&aperture, &["config", "--global", "--unset", &format!("blue.forge.{HOST}.type")]);
    world.write("report.md", "ok");
    let report = world.path("report.md");
    let args = ["realm", "pr", "comment", "--body", report.to_str().unwrap()];
    let on = |server: &str| {
        let mut vars = run_of("acme/aperture").to_vec();
        vars.extend([("GITHUB_ACTIONS", OsStr::new("true")), ("GITHUB_SERVER_URL", OsStr::new(server))]);
        world.blue_with(&aperture, &args, &vars)
    };
    let lost = on("https://elsewhere.test").exits(1);
    assert!(lost.stderr.contains("cannot tell what kind of forge forge.test is"), "{lost}");
    on(&format!("https://{HOST}")).exits(0);
    assert_eq!(comments(&forge).len(), 1);
}
