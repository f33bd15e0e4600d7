//! The hook publishes automatically, does not disturb, and leaves the user's hooks unchanged.

use std::os::unix::fs::PermissionsExt as _;

use crate::world::{CONTRACT_FILE, DOMAIN_REF, World, contract, snapshot};

const HOOK: &str = "fungal/.git/hooks/post-commit";

/// Writes a hook of the user.
fn user_hook(world: &World, path: &str, text: &str) {
    world.write(path, text);
    std::fs::set_permissions(world.path(path), std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_hook_of_the_users_runs_after_ours_and_stays_byte_for_byte() {
    for text in [
        "#!/bin/sh\necho mine >>ran\nexec true\n",
        "#!/usr/bin/env bash\nset -eu\necho mine >>ran\nexec true",
        "echo mine >>ran",
    ] {
        let world = World::solo();
        let provider = world.path("fungal");
        world.ok(&provider, &["hooks", "uninstall"]);
        assert!(!world.path(HOOK).exists());
        user_hook(&world, HOOK, text);
        world.ok(&provider, &["hooks", "install"]);
        world.ok(&provider, &["hooks", "install"]);
        world.bump("1.1.0");
        assert_eq!(world.version(), "1.1.0", "{text}");
        assert_eq!(world.read("fungal/ran"), "mine\n");
        world.ok(&provider, &["hooks", "uninstall"]);
        assert_eq!(world.read(HOOK), text);
        assert_eq!(std::fs::metadata(world.path(HOOK)).unwrap().permissions().mode() & 0o777, 0o755);
    }
}

#[test]
fn a_joined_clone_whose_realm_is_gone_says_one_line() {
    let world = World::solo();
    std::fs::rename(world.store(), world.path("elsewhere.git")).unwrap();
    let commit = world.bump("1.1.0");
    assert_eq!(commit.stderr.matches("git blue: not published: ").count(), 1, "{commit}");
    assert_eq!(commit.stderr.lines().count(), 1, "{commit}");
    std::fs::remove_dir_all(world.path("home/blue")).unwrap();
    let commit = world.bump("1.2.0");
    assert!(commit.stderr.contains("the realm aperture is not known on this machine"), "{commit}");
    // In a clone that did not join, the hook prints nothing, since it may be a shared hook.
    std::fs::remove_file(world.path("fungal/.git/blue-joined")).unwrap();
    assert_eq!(world.bump("1.3.0").stderr, "");
}

#[test]
fn where_the_hooks_are_is_gits_to_say() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.ok(&provider, &["hooks", "uninstall"]);
    user_hook(&world, "fungal/.husky/post-commit", "#!/bin/sh\necho husky >>ran\n");
    world.git(&provider, &["config", "core.hooksPath", ".husky"]);
    // This also works in a subfolder: the path is relative to the root.
    let install = world.ok(&world.path("fungal/models"), &["hooks", "install"]);
    let status = world.ok(&provider, &["hooks", "status"]);
    snapshot("hooks_path", &[&install, &status]);
    world.bump("1.1.0");
    assert_eq!(world.version(), "1.1.0");
    assert_eq!(world.read("fungal/ran"), "husky\n");
    world.ok(&provider, &["hooks", "uninstall"]);
    assert_eq!(world.read("fungal/.husky/post-commit"), "#!/bin/sh\necho husky >>ran\n");
}

#[test]
fn what_cannot_be_extended_is_left_alone() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.ok(&provider, &["hooks", "uninstall"]);
    let python = "#!/usr/bin/python3\nprint('mine')\n";
    user_hook(&world, HOOK, python);
    let run = world.blue(&provider, &["hooks", "install"]).exits(1);
    assert_eq!(world.read(HOOK), python);
    let status = world.blue(&provider, &["hooks", "status"]).exits(1);
    snapshot("hook_in_python", &[&run, &status]);
    std::fs::write(world.path(HOOK), [0xff, 0xfe]).unwrap();
    world.blue(&provider, &["hooks", "install"]).exits(1);
}

#[test]
fn status_tells_what_git_would_not_run() {
    let world = World::solo();
    let provider = world.path("fungal");
    std::fs::set_permissions(world.path(HOOK), std::fs::Permissions::from_mode(0o644)).unwrap();
    let run = world.blue(&provider, &["hooks", "status"]).exits(1);
    assert!(run.stdout.contains("not executable") && run.stdout.contains("chmod +x"), "{run}");
    let answer = world.json(&provider, &["hooks", "status"]);
    assert_eq!(answer["hooks"][0]["name"], "post-commit");
    assert_eq!(answer["hooks"][0]["installed"], true);
}

#[test]
fn a_commit_in_a_linked_work_tree_publishes_to_the_right_realm() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.git(&provider, &["switch", "--quiet", "-c", "aside"]);
    world.git(&provider, &["worktree", "add", "--quiet", "../linked", "main"]);
    world.write(&format!("linked/{CONTRACT_FILE}"), &contract("1.1.0"));
    // Git passes GIT_DIR and, with `-a` or paths, GIT_INDEX_FILE to the hook.
    let commit = world.git(&world.path("linked"), &["commit", "--quiet", "-a", "-m", "Paths 1.1.0"]);
    assert_eq!(commit.stderr, "git blue: published s3-access/s3-permissions 1.0.0 -> 1.1.0\n");
    assert_eq!(world.version(), "1.1.0");
    assert_eq!(world.git(&world.path("linked"), &["status", "--porcelain"]).stdout, "");
    assert_eq!(world.git(&world.store(), &["fsck", "--strict", "--no-dangling"]).stdout, "");
}

#[test]
fn the_realms_commit_carries_the_configured_identity_and_now() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    let refs = world.git(&provider, &["for-each-ref"]).stdout.lines().count();
    world.git(
        &provider,
        &[
            "-c",
            "user.name=Mallory",
            "-c",
            "user.email=m@example.com",
            "commit",
            "--quiet",
            "-a",
            "-m",
            "Paths",
            "--author",
            "Somebody <s@example.com>",
            "--date",
            "2001-01-01T00:00:00Z",
        ],
    );
    assert_eq!(world.version(), "1.1.0");
    let who =
        world.git(&world.store(), &["log", "-1", "--format=%an <%ae> %ad%n%cn <%ce>", "--date=format:%Y", DOMAIN_REF]);
    assert_eq!(who.stdout, "Ada <ada@example.com> 2026\nAda <ada@example.com>\n");
    // The code repository has the user's commit and nothing of ours.
    assert_eq!(world.git(&provider, &["for-each-ref"]).stdout.lines().count(), refs);
    assert_eq!(world.git(&provider, &["status", "--porcelain"]).stdout, "");
}

#[test]
fn an_environment_that_leaks_does_not_mislead() {
    let world = World::solo();
    world.repo("other");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    world.git(&world.path("fungal"), &["add", "--all"]);
    let mut command = world.command("git", &world.path("fungal"));
    command
        .args(["commit", "--quiet", "-m", "Paths 1.1.0"])
        .env("GIT_AUTHOR_NAME", "Mallory")
        .env("GIT_COMMITTER_EMAIL", "m@example.com")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "user.name")
        .env("GIT_CONFIG_VALUE_0", "Mallory");
    assert!(command.status().unwrap().success());
    assert_eq!(world.version(), "1.1.0");
    let who = world.git(&world.store(), &["log", "-1", "--format=%an %ae %cn %ce", DOMAIN_REF]);
    assert_eq!(who.stdout, "Ada ada@example.com Ada ada@example.com\n");
}

#[test]
fn a_commit_is_a_commit_whatever_is_missing() {
    let world = World::solo();
    let provider = world.path("fungal");
    // The binary is neither at its old path nor in PATH.
    let hook = world.read(HOOK).replace(env!("CARGO_BIN_EXE_git-blue"), "/nowhere/git-blue");
    world.write(HOOK, &hook);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    let mut command = world.command("git", &provider);
    let path = "/usr/local/bin:/usr/bin:/bin";
    let output = command.args(["commit", "--quiet", "-a", "-m", "Paths"]).env("PATH", path).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0), "{output:?}");
    assert_eq!(world.version(), "1.0.0");
    // The binary in PATH is used.
    world.bump("1.2.0");
    assert_eq!(world.version(), "1.2.0");
    // A missing realm is reported in one line, and the commit succeeds.
    std::fs::rename(world.store(), world.path("away")).unwrap();
    let commit = world.bump("1.3.0");
    assert!(commit.stderr.lines().count() <= 1, "{commit}");
}

#[test]
fn a_hook_that_is_everybodys_says_nothing_elsewhere() {
    let world = World::solo();
    let hooks = world.path("fungal/.git/hooks");
    world.git(&world.path("fungal"), &["config", "--global", "core.hooksPath", hooks.to_str().unwrap()]);
    let alone = world.repo("alone");
    assert_eq!(world.commit("alone", "Nothing of any realm's").all(), "");
    world.git(&alone, &["init", "--quiet", "--bare", "../bare.git"]);
    assert_eq!(world.ok(&world.root(), &["hook", "post-commit"]).all(), "");
}
