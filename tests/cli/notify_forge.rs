//! Issues at the consumers that a version breaks or leaves behind. The forge is a stand-in; its issues follow
//! GitHub's documentation, which the fixture does not cover.

use serde_json::{Value, json};

use crate::{
    github::{GitHub, HOST},
    world::{BINDING_FILE, CONTRACT_FILE, Run, World, importing},
};

pub const REPO: &str = "acme/access";

/// A provider, and a consumer on the forge.
pub fn place() -> (World, GitHub) {
    let world = World::solo();
    let access = world.repo("access");
    world.git(&access, &["remote", "add", "origin", &format!("https://{HOST}/{REPO}.git")]);
    world.ok(&access, &["init", "--realm", "aperture"]);
    world.ok(&access, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "access"]);
    world.write("access/cdk/access_stack.py", "paths = load()\nfor path in paths[\"read\"]:\n    allow(path)\n");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <2.0.0"));
    world.commit("access", "Read from the masks");
    let forge = GitHub::start(&world);
    forge.state.lock().unwrap().unchecked = true;
    (world, forge)
}

pub fn tell(world: &World, more: &[&str]) -> Run {
    world.blue(&world.path("fungal"), &[&["notify", "forge", "--json"], more].concat())
}

/// Returns outcome and version of each issue.
pub fn outcomes(run: &Run) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let issues = run.json()["issues"].as_array().unwrap().clone();
    issues.iter().map(|one| (text(&one["outcome"]), text(&one["version"]))).collect()
}

pub fn done(outcome: &str, version: &str) -> Vec<(String, String)> {
    vec![(outcome.to_owned(), version.to_owned())]
}

pub fn issues(forge: &GitHub) -> Vec<Value> {
    forge.state.lock().unwrap().issues.get(REPO).cloned().unwrap_or_default()
}

/// Publishes a version with another field.
pub fn rename_the_field(world: &World, version: &str, field: &str) {
    let text = format!(
        "name: s3-permissions\nversion: \"{version}\"\nowner: fungal\ndescription: Paths\nschema:\n  type: object\n  \
         required: [{field}]\n  properties:\n    {field}: {{ type: array, items: {{ type: string }} }}\nvalue: {{ {field}: [\"a\"] }}\n"
    );
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    world.commit("fungal", &format!("Paths {version}"));
}

#[test]
fn issue_is_opened_updated_and_closed() {
    let (world, forge) = place();
    assert_eq!(outcomes(&tell(&world, &[]).exits(0)), [], "nobody is broken");
    rename_the_field(&world, "2.0.0", "paths");
    assert_eq!(outcomes(&tell(&world, &["--dry-run"]).exits(0)), done("opened", "2.0.0"));
    assert_eq!(issues(&forge), [] as [Value; 0]);
    assert_eq!(outcomes(&tell(&world, &[]).exits(0)), done("opened", "2.0.0"));
    let issue = issues(&forge).remove(0);
    assert_eq!(issue["title"], "s3-access/s3-permissions 2.0.0 breaks the import of this repository");
    let body = issue["body"].as_str().unwrap();
    assert!(body.starts_with("<!-- git blue import s3-access/s3-permissions 2.0.0 -->\n"), "{body}");
    for text in [
        "the range of the import is `>=1.0.0, <2.0.0`, and the code was written against 1.0.0",
        "The range is in `.blue/bindings/s3-access.yaml:4`.",
        "cdk/access_stack.py:2: for path in paths[\"read\"]:",
        "```diff\n",
        "- ",
    ] {
        assert!(body.contains(text), "{text}\n{body}");
    }
    forge.log();
    assert_eq!(outcomes(&tell(&world, &[]).exits(0)), done("unchanged", "2.0.0"));
    // Git sets this variable for aliases and hooks.
    let git_dir = world.path("fungal/.git");
    let vars = [("GIT_DIR", git_dir.as_os_str())];
    let again = world.blue_with(&world.path("fungal"), &["notify", "forge", "--json"], &vars).exits(0);
    assert_eq!(outcomes(&again), done("unchanged", "2.0.0"));
    assert!(forge.log().iter().all(|line| line.starts_with("GET ")), "only asked");
    rename_the_field(&world, "3.0.0", "places");
    assert_eq!(outcomes(&tell(&world, &[]).exits(0)), done("updated", "3.0.0"));
    assert_eq!(issues(&forge).len(), 1, "the same one");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=3.0.0, <4.0.0"));
    world.commit("access", "Read the places");
    let closed = tell(&world, &[]).exits(0);
    assert_eq!(outcomes(&closed), done("closed", "3.0.0"));
    let issue = issues(&forge).remove(0);
    assert!(issue["state"] == "closed" && issue["body"].as_str().unwrap().contains("3.0.0 settled -->"), "{issue}");
    assert_eq!(outcomes(&tell(&world, &[]).exits(0)), []);
    // Another break gets a new issue.
    rename_the_field(&world, "4.0.0", "paths");
    let text = world.ok(&world.path("fungal"), &["notify", "forge"]).stdout;
    assert!(text.contains("opened") && text.contains(&format!("https://{HOST}/{REPO}/issues/2")), "{text}");
}

#[test]
fn issue_closed_by_a_person_stays_closed_for_that_version() {
    let (world, forge) = place();
    rename_the_field(&world, "2.0.0", "paths");
    tell(&world, &[]).exits(0);
    forge.state.lock().unwrap().issues.get_mut(REPO).unwrap()[0]["state"] = json!("closed");
    assert_eq!(outcomes(&tell(&world, &[]).exits(0)), done("dismissed", "2.0.0"));
    rename_the_field(&world, "3.0.0", "places");
    assert_eq!(outcomes(&tell(&world, &[]).exits(0)), done("opened", "3.0.0"));
}

#[test]
fn foreign_issues_and_pull_requests_are_left_alone() {
    let (world, forge) = place();
    rename_the_field(&world, "2.0.0", "paths");
    let mark = "<!-- git blue import s3-access/s3-permissions 2.0.0 -->\nAll is well";
    let pull = json!({ "number": 1, "state": "open", "title": "P", "body": mark, "pull_request": {} });
    let elses = json!({ "number": 2, "state": "open", "title": "Hello", "body": mark, "user": { "login": "eve" } });
    let list = json!([pull, elses]);
    forge.instead(200, "", &list.to_string());
    forge.instead(403, "", &json!({ "message": "Must have write access" }).to_string());
    forge.instead(200, "", &json!({ "login": "bot" }).to_string());
    assert_eq!(outcomes(&tell(&world, &[]).exits(0)), done("opened", "2.0.0"));
    assert_eq!(issues(&forge).len(), 1);
}

#[test]
fn uncloned_consumer_needs_an_allowed_owner() {
    let (world, forge) = place();
    rename_the_field(&world, "2.0.0", "paths");
    std::fs::rename(world.path("access"), world.path("gone")).unwrap();
    let failed = tell(&world, &[]).exits(1);
    assert_eq!(outcomes(&failed), done("failed", ""));
    assert!(failed.stdout.contains("pass --owner forge.test/acme"), "{failed}");
    for owner in ["forge.test/ac", "forge.test/acme-other", "elsewhere.test/acme"] {
        assert_eq!(outcomes(&tell(&world, &["--owner", owner]).exits(1)), done("failed", ""), "{owner}");
    }
    assert_eq!(outcomes(&tell(&world, &["--owner", "forge.test/acme"]).exits(0)), done("opened", "2.0.0"));
    let body = issues(&forge)[0]["body"].as_str().unwrap().to_owned();
    assert!(!body.contains("mention a changed field") && body.contains("Differences:"), "{body}");
}

#[test]
fn failing_forge_is_reported_for_its_repository() {
    let (world, forge) = place();
    rename_the_field(&world, "2.0.0", "paths");
    // The list of issues, and the repository itself.
    for _ in 0..2 {
        forge.instead(403, "", &json!({ "message": "no" }).to_string());
    }
    let failed = tell(&world, &[]).exits(1);
    assert_eq!(outcomes(&failed), done("failed", ""));
    assert_eq!(tell(&world, &["--repo", "fungal"]).exits(0).json()["issues"], json!([]));
    assert_eq!(outcomes(&tell(&world, &["--repo", "access"]).exits(0)), done("opened", "2.0.0"));
}

#[test]
fn denied_access_is_reported_even_if_nothing_is_due() {
    let (world, forge) = place();
    rename_the_field(&world, "2.0.0", "paths");
    tell(&world, &[]).exits(0);
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=2.0.0, <3.0.0"));
    world.commit("access", "Read the paths");
    for (status, says) in
        [(401, "does not accept the token"), (403, "does not accept"), (404, "has no such repository")]
    {
        // The list of issues, and the repository itself.
        for _ in 0..2 {
            forge.instead(status, "", &json!({ "message": "no" }).to_string());
        }
        let failed = tell(&world, &[]).exits(1);
        assert!(outcomes(&failed) == done("failed", "") && failed.stdout.contains(says), "{status}: {failed}");
    }
    forge.instead(410, "", &json!({ "message": "Issues are disabled for this repo" }).to_string());
    assert_eq!(outcomes(&tell(&world, &[]).exits(0)), []);
    forge.instead(404, "", &json!({ "message": "no" }).to_string());
    forge.instead(200, "", &json!({ "has_issues": false }).to_string());
    assert_eq!(outcomes(&tell(&world, &[]).exits(0)), []);
    assert_eq!(outcomes(&tell(&world, &[]).exits(0)), done("closed", "2.0.0"));
    rename_the_field(&world, "3.0.0", "places");
    forge.instead(410, "", &json!({ "message": "Issues are disabled for this repo" }).to_string());
    let failed = tell(&world, &[]).exits(1);
    assert!(failed.stdout.contains("issues are disabled for this repository on"), "{failed}");
}

#[test]
fn issue_is_closed_after_the_last_import_was_removed() {
    let (world, forge) = place();
    rename_the_field(&world, "2.0.0", "paths");
    tell(&world, &[]).exits(0);
    world.ok(&world.path("access"), &["unimport", "s3-access/s3-permissions"]);
    world.commit("access", "Read no paths");
    forge.log();
    assert_eq!(outcomes(&tell(&world, &[]).exits(0)), done("closed", "2.0.0"));
    assert_eq!(issues(&forge)[0]["state"], "closed");
}

#[test]
fn issue_is_closed_after_the_repository_left_the_realm() {
    let (world, forge) = place();
    rename_the_field(&world, "2.0.0", "paths");
    tell(&world, &[]).exits(0);
    let other = "<!-- git blue import elsewhere/paths 2.0.0 -->\nOf another realm";
    let other = json!({ "number": 2, "state": "open", "title": "Other", "body": other, "html_url": "" });
    forge.state.lock().unwrap().issues.get_mut(REPO).unwrap().push(other);
    world.ok(&world.path("access"), &["leave", "--force"]);
    assert_eq!(outcomes(&tell(&world, &[]).exits(0)), [], "it is not cloned here any more");
    let owner = format!("{HOST}/acme");
    assert_eq!(outcomes(&tell(&world, &["--owner", &owner, "--dry-run"]).exits(0)), done("closed", "2.0.0"));
    assert_eq!(outcomes(&tell(&world, &["--owner", &owner]).exits(0)), done("closed", "2.0.0"));
    let held = issues(&forge);
    assert_eq!((&held[0]["state"], &held[1]["state"]), (&json!("closed"), &json!("open")));
    assert!(held[0]["body"].as_str().unwrap().ends_with("this repository left the realm.\n"), "{held:?}");
    assert_eq!(outcomes(&tell(&world, &["--owner", &owner]).exits(0)), []);
    // The list of issues, and the repository itself.
    (0..2).for_each(|_| forge.instead(404, "", &json!({ "message": "Not Found" }).to_string()));
    tell(&world, &["--owner", &owner]).exits(0);
    // Under another name, it is still the same repository, whose issues are its own.
    world.commit("access", "Leave the realm");
    world.ok(&world.path("access"), &["init", "--realm", "aperture", "--repo", "gates"]);
    forge.state.lock().unwrap().issues.get_mut(REPO).unwrap()[0]["state"] = json!("open");
    forge.log();
    tell(&world, &["--owner", &owner]).exits(0);
    assert_eq!(forge.log().iter().filter(|line| line.starts_with("PATCH")).count(), 0);
}

#[test]
fn nothing_is_opened_if_not_all_issues_could_be_read() {
    let (world, forge) = place();
    rename_the_field(&world, "2.0.0", "paths");
    let page = |issues: &Value| {
        let link = format!("Link: <{}/repos/{REPO}/issues?page=2>; rel=\"next\"\r\n", forge.url);
        forge.instead(200, &link, &issues.to_string());
    };
    (0..100).for_each(|_| page(&json!([])));
    let failed = tell(&world, &[]).exits(1);
    assert!(outcomes(&failed) == done("failed", "") && failed.stdout.contains("posted before"), "{failed}");
    assert_eq!(issues(&forge), [] as [Value; 0]);
    // An issue that is found is kept up to date.
    tell(&world, &[]).exits(0);
    let found = json!(issues(&forge));
    (0..100).for_each(|_| page(&found));
    assert_eq!(outcomes(&tell(&world, &[]).exits(0)), done("unchanged", "2.0.0"));
}

#[test]
fn forge_that_cannot_be_read_is_named_even_if_nothing_is_due() {
    let (world, _forge) = place();
    world.git(&world.path("access"), &["remote", "set-url", "origin", "https://forge.invalid/acme/access.git"]);
    let told = tell(&world, &[]).exits(0).json();
    assert_eq!((&told["issues"], &told["unread"][0]["repo"]), (&json!([]), &json!("access")), "{told}");
    let told = world.blue(&world.path("fungal"), &["notify", "forge"]).exits(0);
    assert!(told.stdout.contains("issues not read: access "), "{told}");
    assert!(!told.stdout.contains("no open issue was found"), "{told}");
}

#[test]
fn refused_edit_of_an_own_issue_is_a_failure() {
    let (world, forge) = place();
    rename_the_field(&world, "2.0.0", "paths");
    tell(&world, &[]).exits(0);
    let mut issue = issues(&forge).remove(0);
    issue["user"] = json!({ "login": "bot" });
    let refuse = |status: u16, user: (u16, Value)| {
        forge.instead(200, "", &json!([issue]).to_string());
        forge.instead(status, "", &json!({ "message": "no" }).to_string());
        forge.instead(user.0, "", &user.1.to_string());
    };
    // A token without a user may edit all issues or none.
    let users = [(200, json!({ "login": "bot" })), (403, json!({ "message": "not accessible by integration" }))];
    rename_the_field(&world, "3.0.0", "places");
    for user in users.clone() {
        refuse(403, user);
        let failed = tell(&world, &[]).exits(1);
        assert_eq!(outcomes(&failed), done("failed", "3.0.0"), "{failed}");
        assert!(failed.stdout.contains("/issues/1 was not updated: ") && !failed.json()["complete"].as_bool().unwrap());
    }
    assert_eq!(issues(&forge).len(), 1, "no second one");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=3.0.0, <4.0.0"));
    world.commit("access", "Read the places");
    for (status, user) in [403, 404].into_iter().zip(users) {
        refuse(status, user);
        let failed = tell(&world, &[]).exits(1);
        assert_eq!(outcomes(&failed), done("failed", "2.0.0"), "{failed}");
        assert!(failed.stdout.contains("/issues/1 was not closed: "), "{failed}");
    }
    refuse(403, (200, json!({ "login": "somebody else" })));
    assert_eq!(outcomes(&tell(&world, &[]).exits(0)), [], "it is not our issue");
    assert_eq!(outcomes(&tell(&world, &[]).exits(0)), done("closed", "2.0.0"));
}

#[test]
fn issues_are_found_behind_a_proxy() {
    let (world, forge) = place();
    rename_the_field(&world, "2.0.0", "paths");
    tell(&world, &[]).exits(0);
    let others: Vec<_> = (2..102).map(|number| json!({ "number": number, "state": "open", "title": "x" })).collect();
    // The forge links to its own name for itself, or the proxy removes the header.
    let link = "Link: <http://inner:3000/repos/x/issues?state=all&per_page=100&page=2>; rel=\"next\"\r\n";
    for header in [link, ""] {
        forge.instead(200, header, &json!(others).to_string());
        forge.log();
        assert_eq!(outcomes(&tell(&world, &[]).exits(0)), done("unchanged", "2.0.0"));
        assert_eq!(forge.log(), vec![format!("GET /repos/{REPO}/issues"); 2]);
    }
}
