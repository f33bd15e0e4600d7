//! Pull requests at the consumers whose ranges a version leaves behind. The forge is a stand-in that is validated
//! against GitHub's API description, with branches and commits in a real bare repository.

use std::{path::Path, time::Duration};

use serde_json::{Value, json};

use crate::{
    github::GitHub,
    notify_forge::{REPO, done, issues, outcomes, rename_the_field, tell},
    world::{BINDING_FILE, CONTRACT_FILE, World, contract, importing},
};

const BRANCH: &str = "git-blue/s3-access/s3-permissions";

/// Returns a world with a provider, and a consumer whose main branch is on the forge, with a comment in its binding.
fn place(range: &str) -> (World, GitHub) {
    let (world, forge) = crate::notify_forge::place();
    let text = importing(range).replace("\n    binding", " # as the masks were\n    binding");
    world.write(&format!("access/{BINDING_FILE}"), &text);
    world.commit("access", "Say why");
    let bare = world.path("remotes/access.git");
    std::fs::create_dir_all(&bare).unwrap();
    world.git(&bare, &["init", "--quiet", "--bare", "--initial-branch=main"]);
    world.git(&world.path("access"), &["push", "--quiet", "origin", "HEAD:main"]);
    (world, forge)
}

fn propose(world: &World) -> crate::world::Run {
    tell(world, &["--pull-request"])
}

fn pulls(forge: &GitHub) -> Vec<Value> {
    forge.state.lock().unwrap().pulls.get(REPO).cloned().unwrap_or_default()
}

fn on_branch(world: &World) -> String {
    world.git(&world.path("remotes/access.git"), &["show", &format!("{BRANCH}:{BINDING_FILE}")]).stdout
}

/// Returns how many commits the branch has beyond main, or `None` without the branch.
fn commits(world: &World) -> Option<usize> {
    let bare = world.path("remotes/access.git");
    let is_there = world.try_git(&bare, &["rev-parse", "--verify", "--quiet", BRANCH]).code == 0;
    is_there.then(|| world.line(&bare, &["rev-list", "--count", &format!("main..{BRANCH}")]).parse().unwrap())
}

/// Commits to the branch like a person.
fn adapt(world: &World, folder: &Path) {
    let remote = world.path("remotes/access.git");
    world.git(
        &world.root(),
        &["clone", "--quiet", "--branch", BRANCH, &remote.to_string_lossy(), &folder.to_string_lossy()],
    );
    std::fs::write(folder.join("cdk/access_stack.py"), "adapted\n").unwrap();
    world.git(folder, &["commit", "--quiet", "--all", "--message", "Read the places"]);
    world.git(folder, &["push", "--quiet"]);
}

#[test]
fn outdated_range_is_proposed_updated_and_closed() {
    let (world, forge) = place(">=1.0.0, <2.0.0");
    forge.state.lock().unwrap().unchecked = false;
    forge.state.lock().unwrap().delay = Duration::from_millis(20);
    assert_eq!(outcomes(&propose(&world).exits(0)), [], "nobody is behind");
    rename_the_field(&world, "2.0.0", "paths");
    assert_eq!(outcomes(&tell(&world, &["--pull-request", "--dry-run"]).exits(0)), done("opened", "2.0.0"));
    assert_eq!((pulls(&forge).len(), commits(&world)), (0, None), "nothing is written");
    let before = world.git(&world.path("access"), &["status", "--porcelain", "--branch"]).stdout;
    assert_eq!(outcomes(&propose(&world).exits(0)), done("opened", "2.0.0"));
    let pull = pulls(&forge).remove(0);
    let fields = ["title", "draft", "state"].map(|key| pull[key].clone());
    assert_eq!(fields, [json!("Accept s3-access/s3-permissions 2.0.0"), json!(true), json!("open")]);
    assert_eq!((&pull["head"]["ref"], &pull["base"]["ref"]), (&json!(BRANCH), &json!("main")));
    let body = pull["body"].as_str().unwrap();
    assert!(body.starts_with("<!-- git blue import s3-access/s3-permissions 2.0.0 -->\n"), "{body}");
    for text in [
        "This changes the range to `>=2.0.0, <3.0.0`.",
        "adapt the code first",
        "cdk/access_stack.py:2: for path in paths[\"read\"]:",
        "```diff\n",
    ] {
        assert!(body.contains(text), "{text}\n{body}");
    }
    let moved = "version: \">=2.0.0, <3.0.0\" # as the masks were\n";
    assert!(on_branch(&world).contains(moved) && commits(&world) == Some(1), "{}", on_branch(&world));
    let after = world.git(&world.path("access"), &["status", "--porcelain", "--branch"]).stdout;
    assert_eq!(after, before, "the clone on this machine is not touched");
    assert_eq!(issues(&forge), [] as [Value; 0]);
    forge.log();
    assert_eq!(outcomes(&propose(&world).exits(0)), done("unchanged", "2.0.0"));
    assert!(forge.log().iter().all(|line| line.starts_with("GET ")), "only asked");
    rename_the_field(&world, "3.0.0", "places");
    assert_eq!(outcomes(&propose(&world).exits(0)), done("updated", "3.0.0"));
    let pull = pulls(&forge).remove(0);
    assert_eq!((pulls(&forge).len(), &pull["title"]), (1, &json!("Accept s3-access/s3-permissions 3.0.0")));
    assert!(on_branch(&world).contains("\">=3.0.0, <4.0.0\"") && commits(&world) == Some(2));
    // Merged but not published yet.
    world.git(&world.path("remotes/access.git"), &["update-ref", "refs/heads/main", BRANCH]);
    assert_eq!(outcomes(&propose(&world).exits(0)), done("unpublished", "3.0.0"));
    world.git(&world.path("access"), &["pull", "--quiet", "--no-rebase", "origin", "main"]);
    assert_eq!(outcomes(&propose(&world).exits(0)), done("closed", "3.0.0"));
    let pull = pulls(&forge).remove(0);
    assert!(pull["state"] == "closed" && pull["body"].as_str().unwrap().contains("3.0.0 settled -->"), "{pull}");
    assert_eq!(commits(&world), None, "the branch is gone");
    assert_eq!(outcomes(&propose(&world).exits(0)), []);
}

#[test]
fn compatible_version_is_proposed_without_draft() {
    let (world, forge) = place("=1.0.0");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    world.commit("fungal", "Paths 1.1.0");
    let text = world.ok(&world.path("fungal"), &["notify", "forge", "--pull-request"]).stdout;
    assert!(text.contains("opened") && text.contains("/acme/access/pull/"), "{text}");
    let pull = pulls(&forge).remove(0);
    assert_eq!(pull["draft"], json!(false));
    assert!(pull["body"].as_str().unwrap().contains("The schemas are compatible: "), "{pull}");
    assert!(on_branch(&world).contains("\">=1.0.0, <2.0.0\""), "it accepts both: {}", on_branch(&world));
}

#[test]
fn branch_with_foreign_commits_is_left_alone() {
    let (world, forge) = place(">=1.0.0, <2.0.0");
    rename_the_field(&world, "2.0.0", "paths");
    propose(&world).exits(0);
    adapt(&world, &world.path("theirs"));
    let tip = || world.line(&world.path("remotes/access.git"), &["rev-parse", BRANCH]);
    let theirs = tip();
    rename_the_field(&world, "3.0.0", "places");
    assert_eq!(outcomes(&propose(&world).exits(0)), done("updated", "3.0.0"));
    let body = pulls(&forge)[0]["body"].as_str().unwrap().to_owned();
    assert!(body.contains("because somebody else changed it: the range `>=3.0.0, <4.0.0` accepts"), "{body}");
    assert_eq!(tip(), theirs);
    assert_eq!(outcomes(&propose(&world).exits(0)), done("unchanged", "3.0.0"));
    // The consumer solves it in another way.
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=3.0.0, <4.0.0"));
    world.commit("access", "Read the places");
    assert_eq!(outcomes(&propose(&world).exits(0)), done("closed", "3.0.0"));
    assert_eq!(tip(), theirs, "what somebody committed stays");
}

#[test]
fn concurrent_push_is_not_overwritten() {
    let (world, forge) = place(">=1.0.0, <2.0.0");
    rename_the_field(&world, "2.0.0", "paths");
    propose(&world).exits(0);
    rename_the_field(&world, "3.0.0", "places");
    // Somebody pushes between the creation of the commit and the update of the branch.
    adapt(&world, &world.path("theirs"));
    let bare = world.path("remotes/access.git");
    let theirs = world.line(&bare, &["rev-parse", BRANCH]);
    world.git(&bare, &["update-ref", &format!("refs/heads/{BRANCH}"), &format!("{theirs}~1")]);
    forge.state.lock().unwrap().pushes = Some((format!("refs/heads/{BRANCH}"), theirs.clone()));
    let failed = propose(&world).exits(1);
    assert!(failed.stdout.contains("Update is not a fast forward"), "{failed}");
    assert_eq!(world.line(&bare, &["rev-parse", BRANCH]), theirs);
    assert_eq!(outcomes(&propose(&world).exits(0)), done("updated", "3.0.0"));
}

#[test]
fn pull_request_closed_by_a_person_stays_closed_for_that_version() {
    let (world, forge) = place(">=1.0.0, <2.0.0");
    rename_the_field(&world, "2.0.0", "paths");
    propose(&world).exits(0);
    forge.set("access", "state", json!("closed"));
    assert_eq!(outcomes(&propose(&world).exits(0)), done("dismissed", "2.0.0"));
    rename_the_field(&world, "3.0.0", "places");
    assert_eq!(outcomes(&propose(&world).exits(0)), done("opened", "3.0.0"));
    assert_eq!(pulls(&forge).len(), 2);
}

#[test]
fn issue_is_opened_if_no_range_can_change() {
    let (world, forge) = place(">=1.0.0");
    rename_the_field(&world, "2.0.0", "paths");
    assert_eq!(outcomes(&propose(&world).exits(0)), done("opened", "2.0.0"));
    assert_eq!((pulls(&forge).len(), issues(&forge).len()), (0, 1));
}

#[test]
fn pull_request_replaces_an_issue() {
    let (world, forge) = place(">=1.0.0, <2.0.0");
    rename_the_field(&world, "2.0.0", "paths");
    tell(&world, &[]).exits(0);
    let both = [done("opened", "2.0.0"), done("closed", "2.0.0")].concat();
    assert_eq!(outcomes(&propose(&world).exits(0)), both);
    let body = issues(&forge)[0]["body"].as_str().unwrap().to_owned();
    assert!(body.contains("Continued in https://forge.test/acme/access/pull/"), "{body}");
    assert_eq!(outcomes(&propose(&world).exits(0)), done("unchanged", "2.0.0"));
}

#[test]
fn marker_on_another_branch_is_ignored() {
    let (world, forge) = place(">=1.0.0, <2.0.0");
    rename_the_field(&world, "2.0.0", "paths");
    propose(&world).exits(0);
    let body = pulls(&forge)[0]["body"].clone();
    let fork = json!({ "ref": BRANCH, "sha": "0".repeat(40) });
    {
        let mut state = forge.state.lock().unwrap();
        let all = state.pulls.get_mut(REPO).unwrap();
        let mut theirs = all[0].clone();
        all[0]["state"] = json!("closed");
        theirs["number"] = json!(900);
        theirs["body"] = body;
        for (key, value) in fork.as_object().unwrap() {
            theirs["head"][key] = value.clone();
        }
        theirs["head"]["repo"]["full_name"] = json!("eve/access");
        all.push(theirs);
    }
    rename_the_field(&world, "3.0.0", "places");
    assert_eq!(outcomes(&propose(&world).exits(0)), done("opened", "3.0.0"));
    let theirs = pulls(&forge).into_iter().find(|one| one["number"] == 900).unwrap();
    assert!(theirs["title"].as_str().unwrap().ends_with("2.0.0"), "{theirs}");
}

#[test]
fn interrupted_run_is_completed_by_the_next() {
    let (world, forge) = place(">=1.0.0, <2.0.0");
    rename_the_field(&world, "2.0.0", "paths");
    let bare = world.path("remotes/access.git");
    let mut lost = 0;
    loop {
        forge.state.lock().unwrap().loses = Some(lost);
        let first = propose(&world);
        if forge.state.lock().unwrap().loses.take().is_some() {
            break;
        }
        first.exits(1);
        propose(&world).exits(0);
        assert_eq!((pulls(&forge).len(), commits(&world)), (1, Some(1)), "after {lost} writes");
        assert!(on_branch(&world).contains("\">=2.0.0, <3.0.0\""), "after {lost} writes");
        forge.state.lock().unwrap().pulls.clear();
        world.git(&bare, &["update-ref", "-d", &format!("refs/heads/{BRANCH}")]);
        lost += 1;
    }
    assert_eq!(lost, 4, "a tree, a commit, a branch and a pull request");
}
