//! Hooks publish automatically, without disturbing the user's own hooks.

use std::os::unix::fs::PermissionsExt as _;

use crate::world::{World, snapshot};

const HOOK: &str = "fungal/.git/hooks/post-commit";

#[test]
fn user_hook_runs_after_ours_and_stays_unchanged() {
    for text in [
        "#!/bin/sh\necho mine >>ran\nexec true\n",
        "#!/usr/bin/env bash\nset -eu\necho mine >>ran\nexec true",
        "echo mine >>ran",
    ] {
        let world = World::solo();
        let provider = world.path("fungal");
        world.ok(&provider, &["hooks", "uninstall"]);
        assert!(!world.path(HOOK).exists());
        world.script(HOOK, text);
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
fn joined_clone_with_a_missing_realm_prints_one_line() {
    let world = World::solo();
    std::fs::rename(world.store(), world.path("elsewhere.git")).unwrap();
    let commit = world.bump("1.1.0");
    assert_eq!(commit.stderr.matches("git blue: not published: ").count(), 1, "{commit}");
    assert_eq!(commit.stderr.lines().count(), 1, "{commit}");
    std::fs::remove_dir_all(world.path("home/blue")).unwrap();
    let commit = world.bump("1.2.0");
    assert!(commit.stderr.contains("the realm aperture is not known on this machine"), "{commit}");
    // An unjoined clone prints nothing, although the hook may be shared.
    std::fs::remove_file(world.path("fungal/.git/blue-joined")).unwrap();
    assert_eq!(world.bump("1.3.0").stderr, "");
}

#[test]
fn hooks_are_installed_where_git_runs_them() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.ok(&provider, &["hooks", "uninstall"]);
    world.script("fungal/.husky/post-commit", "#!/bin/sh\necho husky >>ran\n");
    world.git(&provider, &["config", "core.hooksPath", ".husky"]);
    // Also from a subfolder: the path is relative to the root.
    let install = world.ok(&world.path("fungal/models"), &["hooks", "install"]);
    let status = world.ok(&provider, &["hooks", "status"]);
    snapshot("hooks_path", &[&install, &status]);
    // git tracks these files, so they are the same for everybody.
    let hook = world.read("fungal/.husky/post-merge");
    assert!(hook.contains("\"$(command -v git-blue)\" hook post-merge") && !hook.contains("\"/"), "{hook}");
    let commit = world.next_step(&install);
    assert_eq!(world.finish_shell(&world.path("fungal/models"), &commit).code, 0, "{commit}");
    assert_eq!(world.line(&provider, &["status", "--porcelain", ".husky"]), "");
    std::fs::remove_file(world.path("fungal/ran")).unwrap();
    world.bump("1.1.0");
    assert_eq!(world.version(), "1.1.0");
    assert_eq!(world.read("fungal/ran"), "husky\n");
    world.ok(&provider, &["hooks", "uninstall"]);
    assert_eq!(world.read("fungal/.husky/post-commit"), "#!/bin/sh\necho husky >>ran\n");
}

/// Its block must be the same for everyone.
#[test]
fn hook_that_is_a_link_to_a_tracked_script_gets_the_portable_block() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.ok(&provider, &["hooks", "uninstall"]);
    world.script("fungal/scripts/after commit", "#!/bin/sh\necho mine\n");
    std::os::unix::fs::symlink("../../scripts/after commit", world.path(HOOK)).unwrap();
    let install = world.ok(&provider, &["hooks", "install"]);
    let script = world.read("fungal/scripts/after commit");
    assert!(script.contains("\"$(command -v git-blue)\" hook post-commit"), "{script}");
    assert!(!script.contains("[ -x \"/"), "{script}");
    let step = world.next_step(&install);
    assert!(step.starts_with("git add 'scripts/after commit' && git commit -m"), "{install}");
    world.finish_shell(&provider, &step).exits(0);
    let other = world.read("fungal/.git/hooks/post-merge");
    assert!(other.contains("[ -x \"/"), "{other}");
}

#[test]
fn optional_hook_is_removed_without_a_note() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.ok(&provider, &["hooks", "install", "--pre-push"]);
    let removed = world.ok(&provider, &["hooks", "uninstall"]).stdout;
    assert!(removed.ends_with("  pre-push         removed\n"), "{removed}");
}

#[test]
fn hooks_are_installed_in_a_path_with_a_line_break() {
    let world = World::new();
    let path = world.path("a\nb");
    world.git(&world.root(), &["init", "--quiet", "a\nb"]);
    world.ok(&path, &["init", "--realm", "aperture", "--repo", "fungal"]);
    assert!(path.join(".git/hooks/post-commit").is_file());
    assert!(!world.path("a").exists());
}

#[test]
fn hook_that_cannot_be_edited_is_left_alone() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.ok(&provider, &["hooks", "uninstall"]);
    let python = "#!/usr/bin/python3\nprint('mine')\n";
    world.script(HOOK, python);
    let run = world.blue(&provider, &["hooks", "install"]).exits(1);
    assert_eq!(world.read(HOOK), python);
    let status = world.blue(&provider, &["hooks", "status"]).exits(1);
    snapshot("hook_in_python", &[&run, &status]);
}

#[test]
fn pre_push_that_was_asked_for_but_not_installed_is_a_failure() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.script("fungal/.git/hooks/pre-push", "#!/usr/bin/python3\nprint('mine')\n");
    world.ok(&provider, &["hooks", "install"]);
    let run = world.blue(&provider, &["hooks", "install", "--pre-push"]).exits(1);
    assert!(run.all().contains("pre-push starts with"), "{run}");
}

#[test]
fn hook_that_is_no_readable_file_is_left_alone() {
    type Make = fn(&std::path::Path);
    let make: [(&str, Make); 4] = [
        ("it is a link that leads nowhere", |hook| std::os::unix::fs::symlink("/nowhere/post-commit", hook).unwrap()),
        ("it is a link that leads nowhere", |hook| std::os::unix::fs::symlink("post-commit", hook).unwrap()),
        ("it is not a regular file", |hook| {
            assert!(std::process::Command::new("mkfifo").arg(hook).status().unwrap().success());
        }),
        ("its text is not UTF-8", |hook| std::fs::write(hook, b"#!/bin/sh\n# caf\xe9\n").unwrap()),
    ];
    for (what, make) in make {
        let world = World::new();
        let provider = world.repo("fungal");
        let hook = provider.join(".git/hooks/post-commit");
        let _ = std::fs::remove_file(&hook);
        make(&hook);
        let kind = hook.symlink_metadata().unwrap().file_type();
        let run = world.ok(&provider, &["init", "--realm", "aperture"]);
        assert!(run.all().contains(what), "{run}");
        world.blue(&provider, &["hooks", "status"]).exits(1);
        world.ok(&provider, &["leave"]);
        assert_eq!(hook.symlink_metadata().unwrap().file_type(), kind, "{what}");
    }
}

#[test]
fn hook_that_is_no_script_does_not_stop_init() {
    for is_directory in [false, true] {
        let world = World::new();
        let provider = world.repo("fungal");
        if is_directory {
            std::fs::create_dir(world.path(HOOK)).unwrap();
        } else {
            std::fs::copy("/bin/true", world.path(HOOK)).unwrap();
        }
        let init = world.ok(&provider, &["init", "--realm", "aperture"]);
        let what = if is_directory { "it is a directory" } else { "it is a program, not a script" };
        assert!(init.stdout.contains(&format!("post-commit cannot be edited: {what}; replace it")), "{init}");
        assert!(init.stdout.contains("installed hooks: post-merge"), "{init}");
        let status = world.blue(&provider, &["hooks", "status"]).exits(1);
        assert!(status.stdout.contains(what), "{status}");
        world.blue(&provider, &["hooks", "install"]).exits(1);
        let uninstall = world.ok(&provider, &["hooks", "uninstall"]);
        assert_eq!(uninstall.stdout.matches(" removed").count(), 4, "{uninstall}");
        assert!(world.path(HOOK).exists());
    }
}

#[test]
fn empty_hooks_path_switches_hooks_off() {
    let world = World::new();
    let provider = world.repo("fungal");
    world.git(&provider, &["config", "core.hooksPath", ""]);
    let init = world.ok(&provider, &["init", "--realm", "aperture"]);
    assert!(init.stdout.contains("it is empty, so git runs no hooks"), "{init}");
    for args in [&["hooks", "install"], &["hooks", "status"]] {
        world.blue(&provider, args).exits(1);
    }
    assert!(!world.path(HOOK).exists());
    world.git(&provider, &["config", "--unset", "core.hooksPath"]);
    world.ok(&provider, &["hooks", "install"]);
    world.git(&provider, &["config", "core.hooksPath", ""]);
    let status = world.blue(&provider, &["hooks", "status"]).exits(1);
    assert!(status.stdout.contains("git does not run it: core.hooksPath is empty"), "{status}");
}

#[test]
fn hook_in_another_language_that_calls_us_is_installed() {
    for call in ["import os; os.system('git blue hook post-commit')", "run(['/bin/git-blue', 'hook', 'post-commit'])"] {
        let world = World::solo();
        let provider = world.path("fungal");
        let python = format!("#!/usr/bin/python3\n{call}\n");
        world.script(HOOK, &python);
        let status = world.ok(&provider, &["hooks", "status"]);
        assert!(status.stdout.contains("its own lines call git blue"), "{status}");
        world.ok(&provider, &["hooks", "install"]);
        assert_eq!(world.read(HOOK), python);
        let uninstall = world.blue(&provider, &["hooks", "uninstall"]).exits(1);
        assert!(uninstall.stdout.contains("remove the call to git blue hook from "), "{uninstall}");
    }
}

#[test]
fn hooks_of_every_repository_survive_leave() {
    let world = World::new();
    std::fs::create_dir(world.path("hooks")).unwrap();
    let hooks = world.path("hooks").display().to_string();
    world.git(&world.root(), &["config", "--global", "core.hooksPath", &hooks]);
    let one = world.join("one");
    let two = world.join("two");
    let left = world.ok(&one, &["leave"]);
    assert!(
        left.stdout.contains("git blue hooks uninstall  # the hooks were kept, because they run in every repository"),
        "{left}"
    );
    let status = world.ok(&two, &["hooks", "status"]);
    assert!(status.stdout.contains("for every repository: core.hooksPath is set outside of this one"), "{status}");
    assert_eq!(world.json(&two, &["hooks", "install"])["is_shared"], true);
    let removed = world.ok(&two, &["hooks", "uninstall"]);
    assert!(removed.stdout.contains("for every repository"), "{removed}");
    // Hooks of this repository alone are removed.
    world.git(&two, &["config", "core.hooksPath", ".hooks"]);
    world.ok(&two, &["hooks", "install"]);
    world.ok(&two, &["leave"]);
    assert!(!two.join(".hooks/post-commit").exists());
}

#[test]
fn branch_without_the_realm_is_silent() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.git(&provider, &["switch", "--quiet", "--orphan", "pages"]);
    world.write("fungal/index.html", "<p>hello</p>");
    assert_eq!(world.commit("fungal", "Write a page").stderr, "");
    // On the publishing branch, the missing file is reported.
    world.git(&provider, &["switch", "--quiet", "main"]);
    world.git(&provider, &["rm", "--quiet", "-r", ".blue"]);
    let commit = world.commit("fungal", "Remove the realm");
    assert!(commit.stderr.starts_with("git blue: not published: "), "{commit}");
}

#[test]
fn status_reports_hooks_that_git_would_not_run() {
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
fn hooks_that_are_switched_off_do_not_stop_init() {
    let world = World::new();
    let provider = world.repo("fungal");
    world.git(&provider, &["config", "core.hooksPath", "/dev/null"]);
    let init = world.ok(&provider, &["init", "--realm", "aperture"]);
    assert!(init.stdout.contains("/dev/null is not a directory, so git runs no hooks"), "{init}");
    for args in [&["hooks", "install"], &["hooks", "status"]] {
        let run = world.blue(&provider, args).exits(1);
        assert_eq!(world.finish_shell(&provider, &world.next_step(&run)).code, 0, "{run}");
    }
    assert!(world.ok(&provider, &["doctor"]).stdout.contains("git config --show-origin core.hooksPath"));
    // With the setting gone, they are installed; one that is not executable is named at once.
    world.git(&provider, &["config", "--unset", "core.hooksPath"]);
    world.script(HOOK, "#!/bin/sh\n");
    std::fs::set_permissions(world.path(HOOK), std::fs::Permissions::from_mode(0o644)).unwrap();
    let init = world.ok(&provider, &["init"]);
    assert!(init.stdout.contains("installed hooks: post-merge, ") && init.stdout.contains("chmod +x "), "{init}");
    let install = world.blue(&provider, &["hooks", "install"]).exits(1);
    assert_eq!(world.finish_shell(&provider, &world.next_step(&install)).code, 0, "{install}");
    world.blue(&provider, &["hooks", "status"]).exits(0);
}

#[test]
fn shared_hook_is_silent_outside_the_realm() {
    let world = World::solo();
    let hooks = world.path("fungal/.git/hooks");
    world.git(&world.path("fungal"), &["config", "--global", "core.hooksPath", hooks.to_str().unwrap()]);
    let alone = world.repo("alone");
    assert_eq!(world.commit("alone", "Nothing of any realm's").all(), "");
    world.git(&alone, &["init", "--quiet", "--bare", "../bare.git"]);
    assert_eq!(world.ok(&world.root(), &["hook", "post-commit"]).all(), "");
}

/// The kernel lets nobody create files there.
#[cfg(target_os = "linux")]
#[test]
fn hooks_that_cannot_be_written_do_not_stop_init() {
    let world = World::new();
    let provider = world.repo("fungal");
    world.git(&provider, &["config", "core.hooksPath", "/sys"]);
    let init = world.ok(&provider, &["init", "--realm", "aperture"]);
    assert!(init.stdout.contains("joined as fungal") && !init.stdout.contains("installed hooks"), "{init}");
    let step = "git blue contract publish  # after a commit: no hook can be written to /sys (";
    assert_eq!(init.stdout.matches(step).count(), 1, "{init}");
    let install = world.blue(&provider, &["hooks", "install"]).exits(1);
    assert!(install.stdout.contains(step), "{install}");
}

#[test]
fn hooks_of_a_bare_repository_serve_its_worktrees() {
    let world = World::solo();
    world.git(&world.root(), &["clone", "--quiet", "--bare", "fungal", "fungal.git"]);
    let bare = world.path("fungal.git");
    let init = world.ok(&bare, &["init"]);
    let step = "git blue status  # publish: a push to a bare repository runs none of these hooks";
    assert!(init.stdout.contains(step) && !init.stdout.contains("installed hooks"), "{init}");
    let status = world.blue(&bare, &["hooks", "status"]).exits(1);
    assert!(status.stdout.contains("git does not run it: the repository is bare"), "{status}");
    assert!(status.stdout.contains(step) && !status.stdout.contains("chmod"), "{status}");
    assert!(world.ok(&bare, &["doctor"]).stdout.contains(step));
    // The git dir of a repository with a working tree is not bare.
    world.ok(&world.path("fungal/.git"), &["hooks", "status"]);
    world.git(&bare, &["worktree", "add", "--quiet", "../linked", "main"]);
    world.ok(&bare, &["hooks", "status"]);
    world.ok(&world.path("linked"), &["hooks", "status"]);
}

#[test]
fn clone_that_has_not_joined_is_told_that_its_hooks_publish_nothing() {
    let world = World::pair();
    world.git(&world.root(), &["clone", "--quiet", "access", "copy"]);
    let copy = world.path("copy");
    for (verb, code) in [("status", 1), ("install", 0), ("status", 0)] {
        let run = world.blue(&copy, &["hooks", verb]).exits(code);
        let step = "git blue init  # this clone has not joined a realm, so its hooks publish nothing";
        assert_eq!(world.next_step(&run), step, "{run}");
    }
}

/// A new worktree lacks the file by which husky ignores its own folder.
#[test]
fn folder_of_husky_is_never_to_be_committed() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.git(&provider, &["config", "core.hooksPath", ".husky/_"]);
    let install = world.ok(&provider, &["hooks", "install"]);
    assert!(!install.all().contains("git add"), "{install}");
    assert!(install.all().contains("npm pkg set"), "{install}");
}
