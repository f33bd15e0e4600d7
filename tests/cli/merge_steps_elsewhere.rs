//! The steps of `realm pr status` if main moved, is checked out elsewhere, or was merged without being published or pushed.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{
    merge_steps::{RFC, commit, follow, of, status, tree},
    world::{BINDING_FILE, CONTRACT_FILE, World, contract, importing},
};

/// The provider breaks the contract, and the consumer accepts both versions. Both have a remote.
fn with_remotes() -> World {
    let world = World::pair();
    for repo in ["access", "fungal"] {
        let (path, url) = (world.path(repo), world.bare(&format!("remotes-{repo}.git")));
        world.git(&path, &["remote", "add", "origin", &url]);
        world.git(&path, &["push", "-q", "origin", "main"]);
    }
    world.ok(&world.path("fungal"), &["realm", "worktree", "create", "--rfc", RFC]);
    commit(&world, &tree(&world, "fungal"), CONTRACT_FILE, &contract("2.0.0"));
    commit(&world, &tree(&world, "access"), BINDING_FILE, &importing(">=1.0.0, <3.0.0"));
    for repo in ["access", "fungal"] {
        world.git(&tree(&world, repo), &["push", "-q", "origin", RFC]);
    }
    world
}

/// Pushes a commit to the remote's main from another clone.
fn push_elsewhere(world: &World, repo: &str, file: &str, text: &str) -> PathBuf {
    world.git(&world.root(), &["clone", "-q", &format!("remotes-{repo}.git"), "elsewhere"]);
    world.write(&format!("elsewhere/{file}"), text);
    world.commit("elsewhere", "Elsewhere");
    world.git(&world.path("elsewhere"), &["push", "-q", "origin", "HEAD:main"]);
    world.path("elsewhere")
}

fn steps(answer: &Value) -> Vec<(String, String)> {
    let text = |step: &Value, key: &str| step[key].as_str().unwrap().to_owned();
    answer["steps"].as_array().unwrap().iter().map(|step| (text(step, "repo"), text(step, "action"))).collect()
}

fn first(world: &World) -> Value {
    status(world)["steps"][0].clone()
}

fn run(world: &World, step: &Value) {
    world.finish_shell(&world.root(), step["command"].as_str().unwrap()).exits(0);
}

/// Its contract is the same file as where the branch began, and a merge brings the newer one.
#[test]
fn branch_that_is_only_behind_its_main_keeps_its_binding() {
    let world = World::pair();
    let own = |version: &str| contract(version).replace("fungal", "access").replace("s3-permissions", "own");
    let file = CONTRACT_FILE.replace("s3-permissions", "own");
    world.write(&format!("access/{file}"), &own("1.0.0"));
    world.commit("access", "Own");
    world.ok(&world.path("fungal"), &["realm", "worktree", "create", "--rfc", RFC]);
    commit(&world, &tree(&world, "fungal"), CONTRACT_FILE, &contract("2.0.0"));
    commit(&world, &tree(&world, "access"), BINDING_FILE, &importing(">=1.0.0, <3.0.0"));
    commit(&world, &world.path("access"), &file, &own("1.1.0"));
    let answer = status(&world);
    assert_eq!(answer["import_conflicts"], json!([]), "{answer:#}");
    assert!(!answer.to_string().contains("published in the meantime"), "{answer:#}");
    // A contract that both changed needs a merge first.
    commit(&world, &tree(&world, "access"), &file, &own("1.2.0"));
    let answer = status(&world);
    assert_eq!((&answer["steps"][0]["repo"], &answer["steps"][0]["action"]), (&json!("access"), &json!("repair")));
    assert!(answer["steps"][0]["command"].as_str().unwrap().contains(" merge "), "{answer:#}");
    assert_eq!(answer["steps"].as_array().unwrap().len(), 1, "{answer:#}");
}

#[test]
fn merge_begins_with_what_others_pushed() {
    let world = with_remotes();
    push_elsewhere(&world, "access", "other.txt", "other\n");
    follow(&world, &first(&world));
    let access = world.path("access");
    assert_eq!(world.line(&access, &["log", "--oneline", "origin/main..main"]), "");
    assert_eq!(world.line(&access, &["show", "origin/main:other.txt"]), "other");
    assert_eq!(of(&status(&world), "fungal")["blocked_by"], json!([]));
}

/// Elsewhere, the consumer does not accept the new version yet.
#[test]
fn provider_waits_until_its_consumer_is_pushed() {
    let world = with_remotes();
    world.git(&world.path("access"), &["merge", "-q", RFC]);
    push_elsewhere(&world, "access", "other.txt", "other\n");
    let answer = status(&world);
    assert_eq!(of(&answer, "fungal")["blocked_by"], json!(["access"]), "{answer:#}");
    assert_eq!(steps(&answer)[0], ("access".into(), "publish".into()));
    run(&world, &answer["steps"][0]);
    let answer = status(&world);
    assert_eq!((&of(&answer, "fungal")["blocked_by"], &of(&answer, "access")["blocked_by"]), (&json!([]), &json!([])));
    assert_eq!(steps(&answer)[0], ("fungal".into(), "merge".into()), "{answer:#}");
}

#[test]
fn following_the_steps_pushes_everything_and_ends_with_the_removal() {
    let world = with_remotes();
    let mut done = 0;
    while let Some(step) = status(&world)["steps"].as_array().unwrap().first().cloned() {
        if step["action"] == "publish" {
            run(&world, &step)
        } else {
            follow(&world, &step)
        }
        done += 1;
        assert!(done < 9, "{step}");
    }
    for repo in ["access", "fungal"] {
        assert_eq!(world.line(&world.path(repo), &["log", "--oneline", "origin/main..main"]), "", "{repo}");
    }
    let next = status(&world)["next_steps"].clone();
    let command = |at: usize| next[at]["command"].as_str().unwrap().to_owned();
    assert_eq!(command(0), format!("git blue realm worktree remove --rfc {RFC} --delete-branches"));
    assert!(next[0]["reason"].to_string().contains("everything is merged and published"), "{next:#}");
    for at in [0, 1, 2] {
        world.finish_shell(&world.path("fungal"), &command(at)).exits(0);
    }
    world.blue(&world.path("fungal"), &["realm", "pr", "status", "--rfc", RFC]).exits(128);
}

#[test]
fn branch_that_was_only_created_is_not_called_merged() {
    let world = World::pair();
    world.ok(&world.path("fungal"), &["realm", "worktree", "create", "--rfc", RFC]);
    assert!(!status(&world).to_string().contains("everything is merged"));
}

#[test]
fn merge_of_a_clone_without_hooks_is_published_by_the_next_step() {
    let world = with_remotes();
    let access = world.path("access");
    world.ok(&access, &["hooks", "uninstall"]);
    follow(&world, &first(&world));
    let answer = status(&world);
    assert_eq!(steps(&answer)[..2], [("access".into(), "publish".into()), ("fungal".into(), "merge".into())]);
    run(&world, &answer["steps"][0]);
    assert_eq!(steps(&status(&world))[0], ("fungal".into(), "merge".into()));
}

#[test]
fn refused_branch_is_repaired_before_it_is_merged() {
    let world = World::pair();
    world.ok(&world.path("fungal"), &["realm", "worktree", "create", "--rfc", RFC]);
    commit(&world, &tree(&world, "fungal"), CONTRACT_FILE, &contract("1.1.0").replace("read", "input"));
    commit(&world, &tree(&world, "access"), BINDING_FILE, &importing(">=1.0.0, <4.0.0"));
    let answer = status(&world);
    let last = answer["steps"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["repo"], &last["action"]), (&json!("fungal"), &json!("repair")), "{answer:#}");
    run(&world, &last);
    let answer = status(&world);
    assert!(steps(&answer).iter().all(|(_, action)| action != "repair"), "{answer:#}");
}

#[test]
fn import_of_a_version_that_nobody_publishes_is_no_conflict() {
    let world = World::pair();
    world.ok(&world.path("fungal"), &["realm", "worktree", "create", "--rfc", RFC]);
    commit(&world, &tree(&world, "access"), BINDING_FILE, &importing(">=2.0.0, <3.0.0"));
    let answer = status(&world);
    assert_eq!(answer["import_conflicts"], json!([]));
    let blockers = of(&answer, "access")["blockers"].to_string();
    assert!(blockers.contains("which no branch publishes (now 1.0.0)"), "{blockers}");
    assert_eq!(steps(&answer), [("access".into(), "repair".into())]);
    assert_eq!(answer["steps"][0]["command"], Value::Null);
}

#[test]
fn merge_takes_place_where_main_is_checked_out() {
    let world = with_remotes();
    let access = world.path("access");
    world.git(&access, &["switch", "-q", "-c", "feature"]);
    let main = world.path("access-main");
    world.git(&access, &["worktree", "add", "-q", main.to_str().unwrap(), "main"]);
    let step = first(&world);
    assert!(step["command"].as_str().unwrap().contains(main.to_str().unwrap()), "{step}");
    follow(&world, &step);
    assert_eq!(steps(&status(&world))[0].0, "fungal");
}

#[test]
fn consumer_that_is_not_on_this_machine_is_cloned_first() {
    let world = World::pair();
    world.git(&world.path("fungal"), &["switch", "-q", "-c", RFC]);
    world.bump("2.0.0");
    std::fs::remove_dir_all(world.path("access")).unwrap();
    let step = first(&world);
    assert_eq!((&step["repo"], &step["file"]), (&json!("access"), &Value::Null));
    let command = step["command"].as_str().unwrap();
    let clone = format!(
        "git -C {} blue realm worktree create --rfc {RFC} --repos access --clone",
        world.path("fungal").display()
    );
    assert!(command.starts_with(&clone), "{command}");
}

/// No forge says so.
#[test]
fn squashed_branch_is_pulled_and_then_done() {
    let world = with_remotes();
    let clone = push_elsewhere(&world, "access", BINDING_FILE, &importing(">=1.0.0, <3.0.0"));
    world.git(&clone, &["push", "-q", "origin", &format!(":{RFC}")]);
    let access = world.path("access");
    world.git(&access, &["fetch", "-q", "--prune"]);
    let answer = status(&world);
    assert_eq!(of(&answer, "fungal")["blocked_by"], json!(["access"]), "{answer:#}");
    assert_eq!(steps(&answer)[..2], [("access".into(), "publish".into()), ("fungal".into(), "merge".into())]);
    run(&world, &answer["steps"][0]);
    let answer = status(&world);
    assert_eq!(of(&answer, "access")["commits_ahead"], 0, "{answer:#}");
    assert_eq!(steps(&answer)[0], ("fungal".into(), "merge".into()));
}

fn blockers(answer: &Value, repo: &str) -> String {
    of(answer, repo)["blockers"].to_string()
}

/// The merge step would leave main in the middle of a merge.
#[test]
fn branch_that_conflicts_with_main_is_merged_with_it_first() {
    let world = with_remotes();
    let access = world.path("access");
    commit(&world, &access, BINDING_FILE, &importing(">=1.0.0, <1.5.0"));
    world.git(&access, &["push", "-q", "origin", "main"]);
    let answer = status(&world);
    assert!(blockers(&answer, "access").contains("it cannot be merged into main without conflicts"), "{answer:#}");
    assert_eq!(of(&answer, "access")["ready"], false);
    assert_eq!(steps(&answer), [("access".into(), "repair".into())]);
    let merge = format!("git -C {} merge origin/main", tree(&world, "access").display());
    assert!(answer["steps"][0]["command"].as_str().unwrap().starts_with(&merge), "{answer:#}");

    let place = format!("a merge is not finished in {}", access.display());
    assert!(!blockers(&answer, "access").contains("not finished"));
    assert_eq!(world.try_git(&access, &["merge", RFC]).code, 1);
    let answer = status(&world);
    assert!(blockers(&answer, "access").contains(&place), "{answer:#}");
    assert!(answer["steps"][0]["text"].as_str().unwrap().contains(&place), "{answer:#}");
    world.git(&access, &["merge", "--abort"]);
    assert!(!blockers(&status(&world), "access").contains("not finished"));
}

/// Its uncommitted changes cannot be seen.
#[test]
fn worktree_that_was_moved_is_named() {
    let world = with_remotes();
    let (access, here, moved) = (world.path("access"), tree(&world, "access"), world.path("moved"));
    std::fs::rename(&here, &moved).unwrap();
    let git = format!("git -C {} worktree", access.display());
    let answer = status(&world);
    let blocker = format!("its worktree {} is missing: if it was moved, run {git} repair NEW-PATH", here.display());
    assert!(blockers(&answer, "access").contains(&blocker), "{answer:#}");
    let list = world.json(&access, &["realm", "worktree", "list"]);
    assert_eq!(list["next_steps"][0]["command"], format!("{git} prune"), "{list:#}");
    let reason = format!("or, if {} was moved: {git} repair NEW-PATH", here.display());
    assert_eq!(list["next_steps"][0]["reason"], reason);
    world.git(&access, &["worktree", "repair", moved.to_str().unwrap()]);
    let answer = status(&world);
    assert_eq!((&of(&answer, "access")["path"], &of(&answer, "access")["blockers"]), (&json!(moved), &json!([])));
}

/// Removes the consumer's worktree and its branch here, as after a merge.
fn forget_branch(world: &World) {
    let access = world.path("access");
    world.git(&access, &["worktree", "remove", "--force", tree(world, "access").to_str().unwrap()]);
    world.git(&access, &["branch", "-q", "-D", RFC]);
}

#[test]
fn merge_whose_branch_was_deleted_is_pulled() {
    let world = with_remotes();
    let access = world.path("access");
    world.git(&access, &["push", "-q", "origin", &format!("{RFC}:main"), &format!(":{RFC}")]);
    // As if this clone did not know of the push.
    world.git(&access, &["update-ref", "refs/remotes/origin/main", "main"]);
    forget_branch(&world);
    let pull = format!("git -C {} pull --no-rebase origin main", access.display());
    let text = first(&world)["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with(&format!("access: {pull}, then write version: ")), "{text}");
    world.git(&access, &["fetch", "-q"]);
    let answer = status(&world);
    assert_eq!(answer["import_conflicts"], json!([]), "{answer:#}");
    assert!(
        blockers(&answer, "fungal").contains("access was merged at its remote, and has to be pulled"),
        "{answer:#}"
    );
    assert_eq!(steps(&answer)[..2], [("access".into(), "publish".into()), ("fungal".into(), "merge".into())]);
    run(&world, &answer["steps"][0]);
    let answer = status(&world);
    assert_eq!((&steps(&answer)[0], &blockers(&answer, "fungal")[..]), (&("fungal".into(), "merge".into()), "[]"));
}

#[test]
fn branch_that_is_merged_at_its_remote_is_not_missed() {
    let world = with_remotes();
    let access = world.path("access");
    world.git(&access, &["push", "-q", "origin", &format!("{RFC}:main")]);
    world.git(&access, &["pull", "-q", "origin", "main"]);
    forget_branch(&world);
    assert!(world.line(&access, &["rev-parse", &format!("origin/{RFC}")]).len() >= 40);
    let answer = status(&world);
    assert_eq!((&answer["errors"], &steps(&answer)[0]), (&json!([]), &("fungal".into(), "merge".into())), "{answer:#}");
}

#[test]
fn contract_whose_file_was_removed_is_retired_at_the_end() {
    let world = with_remotes();
    for (repo, file) in [("access", BINDING_FILE), ("fungal", CONTRACT_FILE), ("fungal", BINDING_FILE)] {
        world.git(&tree(&world, repo), &["rm", "-q", file]);
        world.git(&tree(&world, repo), &["commit", "-q", "-m", "Remove"]);
    }
    for _ in 0..2 {
        follow(&world, &first(&world));
    }
    let next = |world: &World| status(world)["next_steps"][0]["command"].as_str().unwrap().to_owned();
    let retire = next(&world);
    let expected = format!("git -C {} blue contract retire s3-access/s3-permissions", world.path("fungal").display());
    assert!(retire.starts_with(&expected), "{retire}");
    world.finish_shell(&world.root(), &retire).exits(0);
    assert!(next(&world).starts_with("git blue realm worktree remove "), "{}", next(&world));
}

/// What others published since then may need other steps.
#[test]
fn realm_that_is_not_synced_automatically_is_synced_before_the_steps() {
    let world = World::pair();
    let (fungal, hub) = (world.path("fungal"), world.hub());
    world.ok(&fungal, &["init", "--url", &hub]);
    world.ok(&fungal, &["realm", "worktree", "create", "--rfc", RFC]);
    commit(&world, &tree(&world, "fungal"), CONTRACT_FILE, &contract("2.0.0"));
    world.ok(&fungal, &["sync"]);
    let actions = || steps(&status(&world)).into_iter().map(|(_, action)| action).collect::<Vec<_>>();
    let planned = actions();
    assert!(!planned.contains(&"sync".to_owned()), "{planned:?}");
    world.pass_hours(1);
    let old = status(&world);
    assert_eq!(
        (&old["steps"][0]["action"], &old["next_steps"][0]["command"]),
        (&json!("sync"), &json!("git blue sync"))
    );
    assert_eq!(actions()[1..], planned);
    run(&world, &old["steps"][0]);
    assert_eq!(actions(), planned);
}

#[test]
fn commits_of_main_need_no_pull_request() {
    let world = with_remotes();
    let fungal = world.path("fungal");
    commit(&world, &fungal, CONTRACT_FILE, &contract("1.1.0"));
    let answer = world.json(&fungal, &["realm", "pr", "status"]);
    let push = format!("git -C {} push origin main", fungal.display());
    assert_eq!(answer["next_steps"][0]["command"], push, "{answer:#}");
    assert!(!answer["next_steps"].to_string().contains("pull requests, "), "{answer:#}");
    assert!(!answer["next_steps"].to_string().contains("open pull requests"), "{answer:#}");
}
