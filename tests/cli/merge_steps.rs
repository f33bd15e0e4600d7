//! Following the steps that `realm pr status` prints merges a break with passing checks.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{
    github::{GitHub, HOST},
    world::{BINDING_FILE, CONTRACT_FILE, REALM, World, contract, importing, snapshot},
};

pub const RFC: &str = "rfc-7";

pub fn tree(world: &World, repo: &str) -> PathBuf {
    world.path(&format!("home/blue/worktrees/{REALM}/{RFC}/{repo}"))
}

pub fn commit(world: &World, folder: &Path, file: &str, text: &str) {
    std::fs::write(folder.join(file), text).unwrap();
    world.git(folder, &["commit", "-q", "-a", "-m", "Change"]);
}

/// The provider has 2.0.0 on its branch. `access` accepts only that version; `other` has not changed.
fn deadlocked() -> World {
    let world = World::pair();
    world.join("other");
    let fungal = world.path("fungal");
    world.ok(&fungal, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "other"]);
    world.write(&format!("other/{BINDING_FILE}"), &importing("^1.0.0").replace("cdk/", ""));
    world.write("other/access_stack.py", "");
    world.commit("other", "Read too");
    world.ok(&fungal, &["realm", "worktree", "create", "--rfc", RFC]);
    commit(&world, &tree(&world, "fungal"), CONTRACT_FILE, &contract("2.0.0"));
    commit(&world, &tree(&world, "access"), BINDING_FILE, &importing(">=2.0.0, <3.0.0"));
    world
}

pub fn status(world: &World) -> Value {
    world.json(&world.path("fungal"), &["realm", "pr", "status", "--rfc", RFC])
}

pub fn of<'v>(answer: &'v Value, repo: &str) -> &'v Value {
    answer["repos"].as_array().unwrap().iter().find(|one| one["name"] == *repo).unwrap()
}

/// Executes one step.
pub fn follow(world: &World, step: &Value) {
    let text = |key: &str| step[key].as_str().unwrap();
    if step["action"] == "merge" {
        let mut command = world.command("sh", &world.root());
        command.args(["-c", text("command")]);
        let run = world.finish(command, "sh");
        assert_eq!(run.code, 0, "{run:?}");
        return;
    }
    let file = Path::new(text("file"));
    let old = std::fs::read_to_string(file).unwrap();
    let lines = old.lines().map(|line| match line.split_once("version:") {
        Some((before, _)) => format!("{before}version: \"{}\"\n", text("version_req")),
        None => format!("{line}\n"),
    });
    std::fs::write(file, lines.collect::<String>()).unwrap();
    world.git(file.parent().unwrap(), &["commit", "-q", "-a", "-m", "As the step says"]);
}

#[test]
fn following_the_steps_keeps_checks_green() {
    let world = deadlocked();
    let shown = world.ok(&world.path("fungal"), &["realm", "pr", "status", "--rfc", RFC]);
    snapshot("merge_steps", &[&shown]);
    let mut done = Vec::new();
    while let Some(step) = status(&world)["steps"].as_array().unwrap().first().cloned() {
        let repo = step["repo"].as_str().unwrap().to_owned();
        let action = step["action"].as_str().unwrap().to_owned();
        if action == "merge" {
            // The repository to be merged now passes.
            world.blue(&tree(&world, &repo), &["check"]).exits(0);
        }
        follow(&world, &step);
        if action != "widen" {
            for repo in ["access", "fungal", "other"] {
                world.blue(&world.path(repo), &["check"]).exits(0);
            }
        }
        done.push(format!("{action} {repo}"));
        assert!(done.len() < 20, "{done:?}");
    }
    let expected =
        ["widen access", "merge access", "widen other", "merge other", "merge fungal", "narrow access", "narrow other"];
    assert_eq!(done, expected);
    assert_eq!(world.version(), "2.0.0");
    assert_eq!(world.stored("bindings/other.json")["imports"][0]["version"], ">=2.0.0, <3.0.0");
}

/// The provider still serves the old version, so the order no longer matters once it is merged.
#[test]
fn merges_that_are_left_are_listed_even_if_their_order_does_not_matter() {
    let world = deadlocked();
    let served = contract("2.0.0").replace("schema:", "supported: [\">=1.0.0, <2.0.0\"]\nschema:");
    commit(&world, &tree(&world, "fungal"), CONTRACT_FILE, &served);
    let adapted = importing(">=2.0.0, <3.0.0").replace("cdk/", "");
    commit(&world, &tree(&world, "other"), BINDING_FILE, &adapted);
    for left in [&["fungal", "access", "other"][..], &["access", "other"], &["other"], &[]] {
        let answer = status(&world);
        let steps = answer["steps"].as_array().unwrap();
        assert!(steps.iter().all(|step| step["action"] == "merge"), "{answer:#}");
        assert_eq!(steps.iter().map(|step| step["repo"].as_str().unwrap()).collect::<Vec<_>>(), left);
        if left.len() == 2 {
            let shown = world.ok(&world.path("fungal"), &["realm", "pr", "status", "--rfc", RFC]).stdout;
            assert!(shown.contains("* fungal: nothing to merge (rfc-7, 0 ahead, 0 behind)\n"), "{shown}");
            assert!(!shown.contains("has all its commits") && !shown.contains("waits for"), "{shown}");
        }
        steps.first().into_iter().for_each(|step| follow(&world, step));
    }
}

#[test]
fn deadlock_is_reported_with_both_remedies() {
    let world = deadlocked();
    let answer = status(&world);
    // Each check fails, and neither can be merged first.
    for repo in ["fungal", "access"] {
        world.blue(&tree(&world, repo), &["check"]).exits(1);
        assert_eq!(of(&answer, repo)["ready"], false);
    }
    assert_eq!(of(&answer, "fungal")["blocked_by"], json!(["access", "other"]));
    assert_eq!(of(&answer, "access")["blocked_by"], json!([]));
    assert_eq!((&answer["merge_order"], &answer["cyclic"]), (&json!(["access", "other", "fungal"]), &json!([])));
    let conflict = &answer["import_conflicts"][0];
    assert_eq!((&conflict["consumer"], &conflict["provider"]), (&json!("access"), &json!("fungal")));
    assert_eq!(
        (&conflict["old_version_req"], &conflict["version_req"]),
        (&json!(">=1.0.0, <2.0.0"), &json!(">=2.0.0, <3.0.0"))
    );
    let ways: String = conflict["resolutions"].as_array().unwrap().iter().map(|way| way.as_str().unwrap()).collect();
    assert!(ways.contains(">=1.0.0, <3.0.0") && ways.contains("supported: [\">=1.0.0, <2.0.0\"]"), "{ways}");
    // The second remedy: the provider still serves the old version, and is merged first.
    let served = contract("2.0.0").replace("schema:", "supported: [\">=1.0.0, <2.0.0\"]\nschema:");
    commit(&world, &tree(&world, "fungal"), CONTRACT_FILE, &served);
    let answer = status(&world);
    assert_eq!(answer["import_conflicts"], json!([]));
    assert_eq!(answer["merge_order"], json!(["fungal", "access"]));
    assert_eq!(
        (&of(&answer, "access")["blocked_by"], &of(&answer, "fungal")["blocked_by"]),
        (&json!(["fungal"]), &json!([]))
    );
    world.blue(&tree(&world, "fungal"), &["check"]).exits(0);
}

#[test]
fn step_that_accepts_both_versions_says_if_the_new_one_breaks_the_code() {
    let world = deadlocked();
    let fungal = tree(&world, "fungal");
    commit(&world, &fungal, CONTRACT_FILE, &contract("2.0.0").replace("read", "input"));
    let text = || status(&world)["steps"][0]["text"].as_str().unwrap().to_owned();
    let breaks = "accepts 1.0.0 and 2.0.0; 2.0.0 breaks its code: add expects with what the code needs";
    assert!(text().ends_with(breaks), "{}", text());
    let needs = "    expects: { type: object, required: [read], properties: { read: {} } }\n";
    let binding = importing(">=2.0.0, <3.0.0") + needs;
    commit(&world, &tree(&world, "access"), BINDING_FILE, &binding);
    let lacks = "2.0.0 lacks what its expects need: adapt its code and its expects to both versions";
    assert!(text().ends_with(lacks), "{}", text());
}

/// A colleague pushed the branch of the consumer, and this clone fetched it.
#[test]
fn branch_that_is_only_at_origin_is_included_by_the_named_step() {
    let world = World::pair();
    world.git(&world.path("fungal"), &["switch", "-q", "-c", RFC]);
    world.bump("2.0.0");
    let access = world.path("access");
    world.git(&access, &["switch", "-q", "-c", "colleague"]);
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <3.0.0"));
    world.commit("access", "Accept both");
    world.git(&access, &["update-ref", &format!("refs/remotes/origin/{RFC}"), "HEAD"]);
    world.git(&access, &["switch", "-q", "main"]);
    // A command that would find nothing to do says so, too.
    world.blue(&access, &["realm", "pr", "prepare", "--rfc", "other", "-m", "x"]).exits(128);
    world.git(&access, &["update-ref", "refs/remotes/origin/other", "HEAD"]);
    let prepare = world.blue(&access, &["realm", "pr", "prepare", "--rfc", "other", "-m", "x"]).exits(1);
    assert!(prepare.all().contains("the branch other exists only on origin"), "{prepare}");
    let answer = world.blue(&world.path("fungal"), &["realm", "pr", "status", "--rfc", RFC, "--json"]).json();
    assert_eq!(answer["errors"][0]["repo"], json!("access"), "{answer}");
    let step = answer["errors"][0]["next_step"]["command"].as_str().unwrap();
    assert_eq!(answer["next_steps"][0]["command"], json!(step));
    assert_eq!(world.finish_shell(&access, step).code, 0, "{step}");
    let answer = status(&world);
    assert_eq!(answer["import_conflicts"], json!([]), "{answer}");
    assert!(of(&answer, "access")["ready"].is_boolean(), "{answer}");
}

#[test]
fn consumer_without_a_branch_is_named() {
    let world = World::pair();
    world.git(&world.path("fungal"), &["switch", "-q", "-c", RFC]);
    world.bump("2.0.0");
    let answer = status(&world);
    assert_eq!(of(&answer, "fungal")["blocked_by"], json!([]));
    let blockers = of(&answer, "fungal")["blockers"].to_string();
    assert!(
        blockers.contains("access, which has no local branch for this RFC, must accept >=1.0.0, <3.0.0"),
        "{blockers}"
    );
    assert_eq!((&answer["steps"][0]["repo"], &answer["steps"][0]["action"]), (&json!("access"), &json!("widen")));
    assert_eq!(answer["steps"][0]["file"], json!(world.path("access").join(BINDING_FILE)));
    follow(&world, &answer["steps"][0]);
    let answer = status(&world);
    assert_eq!(answer["import_conflicts"], json!([]));
    assert_eq!(answer["steps"].as_array().unwrap().len(), 1, "the merge of the provider: {answer}");
    assert!(!of(&answer, "fungal")["blockers"].to_string().contains("must accept"), "{answer}");
    world.blue(&world.path("fungal"), &["check"]).exits(0);
}

#[test]
fn branches_without_contract_changes_are_merged_in_any_order() {
    let world = World::pair();
    for repo in ["fungal", "access"] {
        world.git(&world.path(repo), &["switch", "-q", "-c", RFC]);
        world.commit(repo, "Elsewhere");
    }
    let answer = status(&world);
    let merged: Vec<_> = answer["steps"].as_array().unwrap().iter().map(|step| step["repo"].clone()).collect();
    assert_eq!((&json!(merged), &answer["merge_order"]), (&json!(["fungal", "access"]), &json!(["fungal", "access"])));
    // A repository with nothing to push is neither pushed nor unpushed.
    world.git(&world.path("access"), &["reset", "-q", "--hard", "main"]);
    let answer = status(&world);
    assert_eq!((&of(&answer, "access")["pushed"], &of(&answer, "fungal")["pushed"]), (&Value::Null, &json!(false)));
}

#[test]
fn branches_of_an_rfc_are_checked_together() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    let none = world.blue(&fungal, &["check", "--rfc", RFC]).exits(128);
    world.ok(&fungal, &["realm", "worktree", "create", "--rfc", RFC]);
    commit(&world, &tree(&world, "fungal"), CONTRACT_FILE, &contract("2.0.0"));
    let alone = world.blue(&tree(&world, "fungal"), &["check", "--rfc", RFC]).exits(1);
    commit(&world, &tree(&world, "access"), BINDING_FILE, &importing(">=2.0.0, <3.0.0"));
    // Each fails alone; together they pass, from either repository.
    for repo in ["fungal", "access"] {
        world.blue(&tree(&world, repo), &["check"]).exits(1);
        world.blue(&tree(&world, repo), &["check", "--rfc", RFC]).exits(0);
    }
    let together = world.ok(&fungal, &["check", "--rfc", RFC]);
    snapshot("check_rfc", &[&none, &alone, &together]);
    let answer = world.json(&access, &["check", "--rfc", RFC]);
    assert_eq!((&answer["judged"], &answer["rfc"], &answer["valid"]), (&json!("rfc"), &json!(RFC), &json!(true)));
    assert_eq!((&answer["branches"][0]["repo"], &answer["branches"][1]["repo"]), (&json!("access"), &json!("fungal")));
    // A branch that exists only at the remote counts as last fetched.
    world.git(&access, &["update-ref", "refs/remotes/origin/rfc-7", "rfc-7"]);
    world.git(&access, &["worktree", "remove", "--force", tree(&world, "access").to_str().unwrap()]);
    world.git(&access, &["branch", "-q", "-D", RFC]);
    let answer = world.json(&tree(&world, "fungal"), &["check", "--rfc", RFC]);
    assert_eq!(
        (&answer["valid"], &answer["branches"][0]["branch"]),
        (&json!(true), &json!("refs/remotes/origin/rfc-7"))
    );
    let asked = world.ok(&fungal, &["mcp", "test-tool", "realm_check", "--args", r#"{"rfc": "rfc-7"}"#]).json();
    assert_eq!((&asked["judged"], &asked["valid"]), (&json!("rfc"), &json!(true)), "{asked}");
    // Uncommitted work is named.
    std::fs::write(tree(&world, "fungal").join(CONTRACT_FILE), contract("3.0.0")).unwrap();
    world.blue(&tree(&world, "fungal"), &["check", "--rfc", RFC, "--worktree"]).exits(1);
}

/// The consumer's branch accepts both versions, but its code is adapted to the old one only, which the new one breaks.
#[test]
fn consumer_that_breaks_between_the_merges_is_named() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["realm", "worktree", "create", "--rfc", RFC]);
    commit(&world, &tree(&world, "fungal"), CONTRACT_FILE, &contract("2.0.0").replace("read", "input"));
    let binding = importing(">=1.0.0, <3.0.0");
    commit(&world, &tree(&world, "access"), BINDING_FILE, &binding);
    let blocker = "once fungal is merged, 2.0.0 of s3-access/s3-permissions breaks the import of access: add expects with \
                   what the code needs, or keep serving the old version (supported)";
    let is_named = || {
        let blockers = of(&status(&world), "access")["blockers"].as_array().unwrap().contains(&json!(blocker));
        let check = world.ok(&fungal, &["check", "--rfc", RFC]).stdout;
        assert_eq!(check.contains(&format!("warning: {blocker} [import-broken]")), blockers, "{check}");
        blockers
    };
    assert!(is_named());
    // The same once the consumer's branch is merged, but not pushed.
    let access = world.path("access");
    world.git(&access, &["update-ref", "refs/remotes/origin/main", "main"]);
    world.git(&access, &["merge", "--quiet", RFC]);
    let answer = status(&world);
    assert_eq!(answer["merge_order"], json!(["access", "fungal"]), "{answer}");
    assert!(of(&answer, "access")["blockers"].as_array().unwrap().contains(&json!(blocker)), "{answer}");
    let check = world.blue(&fungal, &["check", "--rfc", RFC]).exits(1);
    assert!(!check.stdout.contains(blocker), "{check}");
    commit(&world, &tree(&world, "access"), BINDING_FILE, &format!("{binding}    expects: {{ type: object }}\n"));
    assert!(!is_named());
}

#[test]
fn merge_is_pushed_to_the_remote_that_the_branch_is_compared_with() {
    let world = World::pair();
    let (fungal, code) = (world.path("fungal"), world.bare("code.git"));
    world.git(&fungal, &["remote", "add", "origin", &code]);
    world.git(&fungal, &["push", "-q", "origin", "main"]);
    world.ok(&fungal, &["realm", "worktree", "create", "--rfc", RFC]);
    commit(&world, &tree(&world, "fungal"), CONTRACT_FILE, &contract("2.0.0"));
    commit(&world, &tree(&world, "access"), BINDING_FILE, &importing(">=1.0.0, <3.0.0"));
    for repo in ["access", "fungal"] {
        let step = status(&world)["steps"][0].clone();
        assert_eq!((&step["repo"], &step["action"]), (&json!(repo), &json!("merge")));
        assert_eq!(step["command"].as_str().unwrap().contains(" push origin main"), repo == "fungal", "{step}");
        follow(&world, &step);
    }
    let answer = status(&world);
    let left = answer["steps"].as_array().unwrap().iter().map(|step| step["action"].clone()).collect::<Vec<_>>();
    assert_eq!((json!(left), &answer["merge_order"]), (json!(["narrow"]), &json!([])));
}

/// Without its branch checked out, the folder has the files of another branch.
#[test]
fn edit_on_a_branch_that_is_not_checked_out_begins_with_a_switch() {
    let world = World::pair();
    let access = world.path("access");
    world.git(&access, &["switch", "-q", "-c", RFC]);
    commit(&world, &access, BINDING_FILE, &importing(">=2.0.0, <3.0.0"));
    world.git(&world.path("fungal"), &["switch", "-q", "-c", RFC]);
    commit(&world, &world.path("fungal"), CONTRACT_FILE, &contract("2.0.0"));
    let first = || status(&world)["steps"][0]["text"].as_str().unwrap().to_owned();
    assert!(first().starts_with("access: write version: "), "{}", first());
    world.git(&access, &["switch", "-q", "main"]);
    let switch = format!("git -C {} switch {RFC}", access.display());
    assert!(first().starts_with(&format!("access: {switch}, then write version: ")), "{}", first());
    assert_eq!(world.finish_shell(&access, &switch).code, 0);
    assert!(first().starts_with("access: write version: "), "{}", first());
}

/// Of the repository in which the check runs, too, the branch at origin is judged if there is no local one. HEAD of a
/// CI runner is detached, and is what is proposed.
#[test]
fn own_branch_at_origin_is_judged_unless_head_is_detached() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    for (dir, file, text) in
        [(&fungal, CONTRACT_FILE, contract("2.0.0")), (&access, BINDING_FILE, importing(">=2.0.0, <3.0.0"))]
    {
        world.git(dir, &["switch", "-q", "-c", RFC]);
        commit(&world, dir, file, &text);
    }
    world.git(&access, &["update-ref", "refs/remotes/origin/rfc-7", RFC]);
    world.git(&access, &["switch", "-q", "main"]);
    world.git(&access, &["branch", "-q", "-D", RFC]);
    let check = world.json(&access, &["check", "--rfc", RFC]);
    assert_eq!(check["branches"][0]["branch"], "refs/remotes/origin/rfc-7", "{check}");
    assert_eq!(check["valid"], true, "{check}");
    let told = world.ok(&access, &["check", "--rfc", RFC]);
    assert!(told.stdout.contains("branches: origin/rfc-7 of access, rfc-7 of fungal\n"), "{told}");
    world.git(&access, &["switch", "-q", "--detach"]);
    world.blue(&access, &["check", "--rfc", RFC]).exits(1);
}

/// Creates a pull request in each repository: a breaking version, and the binding that accepts it.
fn with_pull_requests() -> (World, GitHub) {
    let world = World::pair();
    let forge = GitHub::start(&world);
    forge.state.lock().unwrap().unchecked = true;
    for repo in ["access", "fungal"] {
        world.git(&world.root(), &["clone", "-q", "--bare", repo, &format!("remotes/{repo}.git")]);
        world.git(&world.path(repo), &["remote", "add", "origin", &format!("https://{HOST}/acme/{repo}.git")]);
    }
    let fungal = world.path("fungal");
    world.ok(&fungal, &["realm", "worktree", "create", "--rfc", RFC]);
    commit(&world, &tree(&world, "fungal"), CONTRACT_FILE, &contract("2.0.0"));
    commit(&world, &tree(&world, "access"), BINDING_FILE, &importing(">=1.0.0, <3.0.0"));
    world.ok(&fungal, &["realm", "pr", "create", "--rfc", RFC, "--title", "Break"]);
    (world, forge)
}

#[test]
fn pull_requests_depend_on_each_other_as_in_the_merge_order() {
    let (world, forge) = with_pull_requests();
    assert_eq!(status(&world)["merge_order"], json!(["access", "fungal"]));
    let [access, fungal] = ["access", "fungal"].map(|repo| forge.body(repo));
    assert!(fungal.contains("Depends on acme/access#70\n"), "{fungal}");
    assert!(!access.contains("Depends on") && access.contains("acme/fungal#70"), "{access}");
}

/// Until somebody pulls, it is not published, and the provider has to wait.
#[test]
fn pull_request_that_was_merged_on_the_forge_is_to_be_pulled() {
    let (world, forge) = with_pull_requests();
    // A squash merge, whose commit is not on the branch.
    let hub = world.path("remotes/access.git");
    let squashed = world.line(&hub, &["commit-tree", &format!("{RFC}^{{tree}}"), "-p", "main", "-m", "Break (#1)"]);
    world.git(&hub, &["update-ref", "refs/heads/main", &squashed]);
    for (key, value) in [("state", "closed"), ("merged_at", "2026-01-24T12:00:00Z"), ("merge_commit_sha", &*squashed)] {
        forge.set("access", key, json!(value));
    }
    let merged = status(&world);
    assert_eq!(of(&merged, "access")["blockers"], json!(["its merge is not published yet"]), "{merged:#}");
    assert_eq!(of(&merged, "fungal")["blocked_by"], json!(["access"]), "{merged:#}");
    assert_eq!(merged["import_conflicts"], json!([]));
    let steps: Vec<_> =
        merged["steps"].as_array().unwrap().iter().map(|step| [&step["repo"], &step["action"]]).collect();
    assert_eq!(json!(&steps[..2]), json!([["access", "publish"], ["fungal", "merge"]]));
    let pull = merged["next_steps"][0]["command"].as_str().unwrap();
    assert_eq!(pull, format!("git -C {} pull --no-rebase origin main", world.path("access").display()));
    world.finish_shell(&world.root(), pull).exits(0);
    let pulled = status(&world);
    assert_eq!(of(&pulled, "access")["blockers"], json!([]), "{pulled:#}");
    assert_eq!(of(&pulled, "fungal")["blocked_by"], json!([]), "{pulled:#}");
}

/// It may be a draft, or have failing checks.
#[test]
fn branch_is_not_merged_past_a_pull_request_that_is_not_shown() {
    let world = deadlocked();
    let forge = GitHub::start(&world);
    let step = |world: &World| {
        let answer = status(world);
        let steps = answer["steps"].as_array().unwrap().clone();
        steps.into_iter().find(|step| step["repo"] == "fungal" && step["action"] == "merge").unwrap()
    };
    assert!(step(&world)["command"].as_str().unwrap().contains(" merge "), "there is no forge");
    for repo in ["access", "fungal", "other"] {
        world.git(&world.path(repo), &["remote", "add", "origin", &format!("https://{HOST}/acme/{repo}.git")]);
    }
    (0..60).for_each(|_| forge.instead(500, "", "{}"));
    let step = step(&world);
    assert_eq!(step["text"], "fungal: merge its pull request, once the forge shows it");
    assert_eq!(step["command"], Value::Null, "{step}");
}

/// The check of the provider on another machine needs what the merge of the consumer published.
#[test]
fn realm_is_pushed_after_each_merge_unless_it_is_synced_automatically() {
    let world = World::pair();
    let (fungal, hub) = (world.path("fungal"), world.hub());
    world.ok(&fungal, &["init", "--url", &hub]);
    world.ok(&fungal, &["sync"]);
    world.ok(&fungal, &["realm", "worktree", "create", "--rfc", RFC]);
    commit(&world, &tree(&world, "fungal"), CONTRACT_FILE, &contract("2.0.0"));
    commit(&world, &tree(&world, "access"), BINDING_FILE, &importing(">=1.0.0, <3.0.0"));
    let blocker = json!("the realm is not pushed");
    let is_blocked = |answer: &Value| of(answer, "fungal")["blockers"].as_array().unwrap().contains(&blocker);
    world.ok(&fungal, &["sync"]);
    let before = status(&world);
    assert!(!is_blocked(&before), "{before:#}");
    world.git(&world.path("access"), &["merge", "--quiet", RFC]);
    let merged = status(&world);
    assert!(is_blocked(&merged) && of(&merged, "fungal")["ready"] == false, "{merged:#}");
    assert_eq!(merged["next_steps"][0]["command"], "git blue sync");
    // The step pushes it.
    let command = before["steps"][0]["command"].as_str().unwrap();
    assert!(command.ends_with(&format!(" && git -C {} blue sync", world.path("access").display())), "{command}");
    world.finish_shell(&world.root(), command).exits(0);
    assert!(!is_blocked(&status(&world)));
}

/// Until then, the provider must not be merged, and nothing else is left to write.
#[test]
fn merged_branch_that_is_not_published_is_named() {
    let world = World::pair();
    let access = world.path("access");
    world.ok(&world.path("fungal"), &["realm", "worktree", "create", "--rfc", RFC]);
    commit(&world, &tree(&world, "fungal"), CONTRACT_FILE, &contract("2.0.0"));
    let expecting = format!("{}    expects: {{ file: needed.json }}\n", importing(">=1.0.0, <3.0.0"));
    commit(&world, &tree(&world, "access"), BINDING_FILE, &expecting);
    let refused = world.git(&access, &["merge", "--quiet", RFC]);
    assert!(refused.stderr.contains("not published"), "{refused}");
    let answer = status(&world);
    let blockers = of(&answer, "access")["blockers"].as_array().unwrap().clone();
    assert!(blockers.contains(&json!("main is not published yet")), "{answer:#}");
    assert!(blockers.iter().any(|why| why.as_str().unwrap().contains("needed.json")), "{answer:#}");
    assert_eq!(of(&answer, "fungal")["blocked_by"], json!(["access"]), "{answer:#}");
    assert!(answer["steps"].as_array().unwrap().iter().all(|step| step["action"] != "widen"), "{answer:#}");
    world.write("access/needed.json", "{\"type\": \"object\"}\n");
    world.git(&access, &["add", "needed.json"]);
    world.commit("access", "What it needs");
    let answer = status(&world);
    assert_eq!(of(&answer, "fungal")["blocked_by"], json!([]), "{answer:#}");
}
