//! Committing the work of an RFC in its worktrees: what is committed, and what prevents it.

use serde_json::{Value, json};

use crate::{
    left_out::left_out,
    worktrees::{five, tree},
    world::World,
};

fn repo<'v>(answer: &'v Value, name: &str) -> &'v Value {
    answer["repos"].as_array().unwrap().iter().find(|one| one["name"] == *name).unwrap()
}

/// Five repositories, with worktrees of an RFC in those that share a domain with `aperture`.
fn in_worktrees() -> World {
    let world = five();
    world.ok(&world.path("aperture"), &["realm", "worktree", "create", "--rfc", "rfc-1"]);
    world
}

fn prepare(world: &World, more: &[&str]) -> Value {
    let args = ["realm", "pr", "prepare", "--rfc", "rfc-1", "--message", "x"];
    world.json(&world.path("aperture"), &[&args, more].concat())
}

/// Asserts that nothing can be committed in `aperture` before this git command has ended, and what continues it.
fn assert_in_progress(world: &World, command: &str) {
    let tree = tree(world, "rfc-1", "aperture");
    std::fs::write(tree.join("another"), "").unwrap();
    world.git(&tree, &["add", "another"]);
    let head = world.line(&tree, &["rev-parse", "HEAD"]);
    let answer = prepare(world, &[]);
    let error = &answer["errors"][0];
    assert_eq!((&error["repo"], &error["code"]), (&json!("aperture"), &json!("operation-in-progress")), "{answer}");
    let step = format!("git -C {} {command} --continue", tree.display());
    assert_eq!(error["next_step"]["command"], step);
    assert_eq!(world.line(&tree, &["rev-parse", "HEAD"]), head, "nothing was committed");
}

#[test]
fn prepare_commits_only_intended_files() {
    let world = in_worktrees();
    let aperture = world.path("aperture");
    let tree = |world: &World, name: &str| tree(world, "rfc-1", name);
    let prepare = |more: &[&str]| {
        world.json(&aperture, &[&["realm", "pr", "prepare", "--rfc", "rfc-1", "--message", "-m: odd"], more].concat())
    };
    let write = |repo: &str, file: &str| {
        let path = tree(&world, repo).join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, file).unwrap();
    };
    write("aperture", "README.md");
    write("aperture", "sub/new file.txt");
    write("aperture", "*.txt");
    write("aperture", ".env");
    // The user's hook may refuse.
    world.script("blue/.git/hooks/pre-commit", "#!/bin/sh\necho no tabs >&2\nexit 1\n");
    write("blue", "README.md");
    // Committing does not resolve a conflict.
    let fungal = tree(&world, "fungal");
    write("fungal", "README.md");
    world.git(&fungal, &["commit", "-q", "-a", "-m", "Ours"]);
    world.git(&fungal, &["switch", "-q", "-c", "side", "main"]);
    std::fs::write(fungal.join("README.md"), "theirs\n").unwrap();
    world.git(&fungal, &["commit", "-q", "-a", "-m", "Theirs"]);
    world.git(&fungal, &["switch", "-q", "rfc-1"]);
    assert_eq!(world.try_git(&fungal, &["merge", "-q", "side"]).code, 1);

    let dry = prepare(&["--dry-run", "--all"]);
    assert_eq!(repo(&dry, "aperture")["files"], json!(["README.md", "*.txt", "sub/new file.txt"]));
    assert_eq!(repo(&dry, "aperture")["commit"], Value::Null);
    let answer = prepare(&[]);
    let done = repo(&answer, "aperture");
    assert_eq!((&done["files"], &done["untracked"]), (&json!(["README.md"]), &json!(["*.txt", "sub/new file.txt"])));
    assert_eq!(done["secrets"], json!([".env"]));
    assert_eq!(world.line(&tree(&world, "aperture"), &["log", "-1", "--format=%s"]), "-m: odd");
    let codes: Vec<_> = answer["errors"].as_array().unwrap().iter().map(|one| (&one["repo"], &one["code"])).collect();
    assert_eq!(codes, [(&json!("blue"), &json!("not-committed")), (&json!("fungal"), &json!("operation-in-progress"))]);
    assert!(answer["errors"][0]["message"].as_str().unwrap().contains("no tabs"));
    let steps = answer["next_steps"].to_string();
    assert!(steps.contains("stay staged") && steps.contains("merge --continue"), "{steps}");
    assert!(!steps.contains("realm pr create"), "{steps}");
    let answer = prepare(&["--all"]);
    assert_eq!(repo(&answer, "aperture")["files"], json!(["*.txt", "sub/new file.txt"]));
    assert_eq!(
        world.line(&tree(&world, "aperture"), &["status", "--porcelain"]),
        "?? .env",
        "a secret is not committed by the way"
    );
    // Nothing is committed on another branch.
    world.git(&tree(&world, "coral"), &["switch", "-q", "--detach"]);
    write("coral", "README.md");
    let answer = prepare(&[]);
    assert!(
        answer["errors"].as_array().unwrap().iter().any(|one| one["repo"] == "coral" && one["code"] == "other-branch"),
        "{answer}"
    );
}

/// A binding may refer to it.
#[test]
fn new_files_of_git_blue_are_committed() {
    let world = in_worktrees();
    let tree = tree(&world, "rfc-1", "aperture");
    std::fs::create_dir_all(tree.join(".blue/expects")).unwrap();
    std::fs::write(tree.join(".blue/expects/order.json"), "{}").unwrap();
    std::fs::write(tree.join("notes"), "").unwrap();
    let answer = prepare(&world, &[]);
    let done = repo(&answer, "aperture");
    assert_eq!((&done["files"], &done["untracked"]), (&json!([".blue/expects/order.json"]), &json!(["notes"])));
}

#[test]
fn nothing_is_committed_during_a_rebase() {
    let world = in_worktrees();
    let tree = tree(&world, "rfc-1", "aperture");
    world.git(&tree, &["commit", "-q", "--allow-empty", "-m", "Empty"]);
    // It stops without a conflict, so there is no `REBASE_HEAD`.
    world.try_git(&tree, &["rebase", "-q", "--force-rebase", "--exec", "test -e done", "HEAD~1"]).exits(1);
    assert_in_progress(&world, "rebase");
}

#[test]
fn nothing_is_committed_while_patches_are_applied() {
    let world = in_worktrees();
    let tree = tree(&world, "rfc-1", "aperture");
    let write = |text: &str| {
        std::fs::write(tree.join("README.md"), text).unwrap();
        world.git(&tree, &["commit", "-q", "-a", "-m", text]);
    };
    write("theirs");
    let patch = world.path("theirs.patch");
    std::fs::write(&patch, world.git(&tree, &["format-patch", "-1", "--stdout"]).stdout).unwrap();
    world.git(&tree, &["reset", "-q", "--hard", "HEAD~1"]);
    write("ours");
    world.try_git(&tree, &["am", "-q", patch.to_str().unwrap()]);
    assert_in_progress(&world, "am");
}

#[test]
fn changes_inside_of_a_submodule_are_not_committed() {
    let world = in_worktrees();
    let tree = tree(&world, "rfc-1", "aperture");
    let url = world.path("solo").display().to_string();
    world.git(&tree, &["submodule", "--quiet", "add", &url, "sub"]);
    world.git(&tree, &["commit", "-q", "-m", "Include it"]);
    std::fs::write(tree.join("sub/README.md"), "changed").unwrap();
    let answer = prepare(&world, &[]);
    assert_eq!((&answer["errors"], &repo(&answer, "aperture")["files"]), (&json!([]), &json!([])), "{answer}");
    let status = world.json(&world.path("aperture"), &["realm", "pr", "status", "--rfc", "rfc-1"]);
    let aperture = repo(&status, "aperture");
    assert_eq!((&aperture["uncommitted_changes"], &aperture["holds_only_secrets"]), (&json!(0), &Value::Null));
}

#[test]
fn placeholder_of_a_next_step_is_no_message() {
    let world = in_worktrees();
    for message in ["…", " "] {
        let args = ["realm", "pr", "prepare", "--rfc", "rfc-1", "--message", message];
        world.blue(&world.path("aperture"), &args).exits(129);
    }
}

#[test]
fn file_name_that_is_not_utf8_is_committed() {
    let world = in_worktrees();
    let tree = tree(&world, "rfc-1", "aperture");
    let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"caf\xe9 *.txt");
    if std::fs::write(tree.join(name), "").is_err() {
        return left_out("this file system refuses such a name");
    }
    let answer = prepare(&world, &["--all"]);
    assert_eq!(answer["errors"], json!([]), "{answer}");
    assert_eq!(world.line(&tree, &["status", "--porcelain"]), "");
}

#[test]
fn pathspec_variables_of_a_caller_are_ignored() {
    let world = in_worktrees();
    std::fs::write(tree(&world, "rfc-1", "aperture").join("README.md"), "changed").unwrap();
    let args = ["realm", "pr", "prepare", "--rfc", "rfc-1", "--message", "x"];
    let run = world.blue_with(&world.path("aperture"), &args, &[("GIT_LITERAL_PATHSPECS", "1".as_ref())]);
    assert!(run.exits(0).stdout.contains("committed 1 file"), "literal pathspecs");
}
