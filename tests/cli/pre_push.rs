//! The pre-push hook, which checks what is pushed.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

use crate::world::{BINDING_FILE, World, importing};

/// Creates a hub and installs the pre-push hook.
pub(crate) fn pushing(world: &World, more: &[&str]) -> std::path::PathBuf {
    let provider = world.path("fungal");
    world.hub();
    world.git(&provider, &["remote", "add", "origin", "../hub.git"]);
    world.ok(&provider, &[&["hooks", "install", "--pre-push"], more].concat());
    provider
}

#[test]
fn pre_push_rejects_a_break() {
    let world = World::pair();
    let hook = "fungal/.git/hooks/pre-push";
    world.script(hook, "#!/bin/sh\ncat >>pushed\n");
    let provider = pushing(&world, &[]);
    world.git(&provider, &["push", "--quiet", "-u", "origin", "main"]);
    let seen = world.read("fungal/pushed");
    assert!(seen.starts_with("refs/heads/main "), "the user's own lines read what git wrote: {seen:?}");
    world.git(&provider, &["push", "--quiet", "origin", "main"]);
    assert_eq!(world.read("fungal/pushed"), seen, "nothing to push is nothing to read");

    world.git(&provider, &["switch", "--quiet", "-c", "break"]);
    world.bump("2.0.0");
    // The pushed commits count, not the working tree.
    world.git(&provider, &["push", "--quiet", "origin", "main"]);
    let run = world.try_git(&provider, &["push", "--quiet", "origin", "break"]);
    assert_ne!(run.code, 0, "{run}");
    assert!(run.stderr.contains("access imports s3-access/s3-permissions >=1.0.0, <2.0.0"), "{run}");
    // A branch whose name is not UTF-8 does not hide the others.
    let odd = OsStr::from_bytes(b"odd\xff");
    assert!(world.command("git", &provider).arg("branch").args([odd, "main".as_ref()]).status().unwrap().success());
    assert_ne!(world.try_git(&provider, &["push", "--quiet", "--all", "origin"]).code, 0);
    world.git(&provider, &["push", "--quiet", "--no-verify", "origin", "break"]);
    // A tag of a file has nothing to check.
    world.git(&provider, &["tag", "file", "HEAD:.blue/config.yaml"]);
    assert_eq!(world.git(&provider, &["push", "--quiet", "origin", "file"]).stderr, "");
    // A missing realm blocks no push, and neither does an edit of the configuration.
    std::fs::rename(world.store(), world.path("away")).unwrap();
    let unknown = world.git(&provider, &["push", "--quiet", "origin", "break:again"]);
    assert!(unknown.stderr.starts_with("git blue: not checked: "), "{unknown}");
    std::fs::rename(world.path("away"), world.store()).unwrap();
    let config = world.read("fungal/.blue/config.yaml");
    world.write("fungal/.blue/config.yaml", "<<<<<<< HEAD\n");
    let unreadable = world.git(&provider, &["push", "--quiet", "origin", "break:another"]);
    assert!(unreadable.stderr.starts_with("git blue: not checked: "), "{unreadable}");
    world.write("fungal/.blue/config.yaml", &config);
    world.ok(&provider, &["hooks", "uninstall"]);
    assert_eq!(world.read(hook), "#!/bin/sh\ncat >>pushed\n");
}

/// A consumer that another repository broke can still push, and its own break is still rejected.
#[test]
fn pre_push_compares_with_what_origin_has() {
    let world = World::pair();
    let consumer = world.path("access");
    world.hub();
    world.git(&consumer, &["remote", "add", "origin", "../hub.git"]);
    world.git(&consumer, &["push", "--quiet", "-u", "origin", "main"]);
    world.ok(&consumer, &["hooks", "install", "--pre-push"]);
    world.bump("2.0.0");
    world.git(&consumer, &["switch", "--quiet", "-c", "typo"]);
    world.write("access/README.md", "less\n");
    world.commit("access", "A typing error");
    world.git(&consumer, &["push", "--quiet", "origin", "typo"]);
    world.write(&format!("access/{BINDING_FILE}"), &importing("^7.0.0"));
    world.commit("access", "Another break");
    assert_ne!(world.try_git(&consumer, &["push", "--quiet", "origin", "typo"]).code, 0);
}

#[test]
fn pre_push_checks_each_commit_of_many_refs() {
    let world = World::pair();
    let provider = pushing(&world, &[]);
    let main = world.line(&provider, &["rev-parse", "main"]);
    world.git(&provider, &["switch", "--quiet", "-c", "break"]);
    world.bump("2.0.0");
    let other = world.line(&provider, &["rev-parse", "break"]);
    let line = |name: &str, id: &str| format!("refs/heads/{name} {id} refs/heads/{name} {}\n", "0".repeat(40));
    let pushed: String = (0..9_000).map(|n| line(&format!("copy-{n}"), &main)).collect();
    let run =
        world.feed(env!("CARGO_BIN_EXE_git-blue"), &provider, &["hook", "pre-push"], &(pushed + &line("z", &other)));
    assert!(run.code == 1 && run.stderr.contains("access imports s3-access/s3-permissions"), "{run}");
}
