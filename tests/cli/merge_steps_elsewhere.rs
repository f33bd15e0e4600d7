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
