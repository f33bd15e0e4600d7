//! Repositories of another user are refused as git refuses them. Only root can create one; otherwise these tests
//! are left out.

use std::{
    ffi::OsStr,
    os::unix::fs::{MetadataExt as _, lchown},
    path::Path,
};

use crate::{
    left_out::left_out,
    world::{DOMAIN_REF, Run, World},
};

/// An unprivileged user id.
const OTHER: u32 = 65_534;

/// Returns a realm in which `access` belongs to another user, or `None` without root.
fn world() -> Option<World> {
    let world = World::pair();
    if world.root().metadata().unwrap().uid() != 0 {
        left_out("only root can give a repository to another user");
        return None;
    }
    give(&world.path("access"), OTHER);
    Some(world)
}

/// Changes the owner of a folder and its content.
fn give(path: &Path, user: u32) {
    lchown(path, Some(user), None).unwrap();
    if path.symlink_metadata().unwrap().is_dir() {
        path.read_dir().unwrap().for_each(|entry| give(&entry.unwrap().path(), user));
    }
}

const COMMANDS: [&[&str]; 10] = [
    &["status"],
    &["check"],
    &["realm", "list"],
    &["init", "--realm", "aperture"],
    &["contract", "publish"],
    &["contract", "get", "s3-access/s3-permissions"],
    &["session", "start"],
    &["notifications", "list"],
    &["hooks", "install"],
    &["doctor", "--fix"],
];

#[test]
fn repository_of_another_user_is_refused_like_git() {
    let Some(world) = world() else { return };
    let (path, before) = (world.path("access"), world.tip(DOMAIN_REF));
    // Neither reads its configuration.
    let config = world.read("access/.git/config");
    world.write("access/.git/config", "[broken\n");
    let said = format!("detected dubious ownership in repository at '{}'", path.display());
    let advice = format!("git config --global --add safe.directory {}", path.display());
    let git = world.try_git(&path, &["status"]).exits(128);
    assert!(git.stderr.contains(&said) && git.stderr.contains(&advice), "{git:?}");
    let refused = |run: Run| {
        assert_eq!(run.stderr, format!("fatal: {said}\nhint: {advice}\n"), "{run:?}");
        assert_eq!((run.code, &*run.stdout), (128, ""));
    };
    for command in COMMANDS {
        refused(world.blue(&path, command));
    }
    refused(world.blue(&path.join("cdk"), &["status"]));
    let answer = world.blue(&path, &["status", "--json"]).exits(128).json();
    assert_eq!((&answer["code"], &answer["message"]), (&"dubious-ownership".into(), &said.as_str().into()));
    for event in ["post-commit", "post-checkout", "pre-push"] {
        let run = world.blue(&path, &["hook", event]).exits(0);
        assert_eq!(run.all(), "", "{event}");
    }
    let run = world.blue(&path, &["mcp", "test-tool", "realm_status"]).exits(1);
    assert_eq!(run.json()["code"], "dubious-ownership", "{run:?}");
    assert_eq!(world.tip(DOMAIN_REF), before, "nothing was written");
    // The suggested command works for git and for us.
    world.write("access/.git/config", &config);
    give(&path, OTHER);
    let run = world.feed("sh", &world.root(), &["-c", &advice], "");
    assert_eq!(run.code, 0, "{run:?}");
    world.git(&path, &["status"]);
    world.ok(&path, &["status"]);
}

#[test]
fn each_part_of_a_repository_is_checked() {
    let Some(world) = world() else { return };
    let path = world.path("access");
    let refuses = |folder: &Path| {
        let (git, blue) = (world.try_git(folder, &["status"]), world.blue(folder, &["status", "--peek"]));
        assert_eq!(git.code == 128, blue.code == 128, "{git:?} {blue:?}");
        blue.code == 128
    };
    for (part, is_refused) in [("", true), (".git", true), ("cdk", false)] {
        give(&path, 0);
        lchown(path.join(part), Some(OTHER), None).unwrap();
        assert_eq!(refuses(&path), is_refused, "{part:?}");
    }
    // The file of a linked worktree that points to its repository.
    give(&path, 0);
    let tree = world.path("tree");
    world.git(&path, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    assert!(!refuses(&tree));
    lchown(tree.join(".git"), Some(OTHER), None).unwrap();
    assert!(refuses(&tree));
    // A bare repository.
    world.git(&world.root(), &["clone", "-q", "--bare", "access", "bare.git"]);
    give(&world.path("bare.git"), OTHER);
    let run = world.blue(&world.path("bare.git"), &["status"]).exits(128);
    assert!(run.stderr.contains("dubious ownership"), "{run:?}");
}

#[test]
fn safe_directory_is_respected() {
    let Some(world) = world() else { return };
    let path = world.path("access");
    let status = |vars: &[(&str, &str)]| {
        let vars: Vec<_> = vars.iter().map(|(name, value)| (*name, OsStr::new(*value))).collect();
        world.blue_with(&path, &["status", "--peek"], &vars).code
    };
    // Root may act for the user who called sudo.
    assert_eq!(status(&[("SUDO_UID", &OTHER.to_string())]), 0);
    assert_eq!(status(&[("SUDO_UID", "12345")]), 128);
    let listed =
        |value| [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "safe.directory"), ("GIT_CONFIG_VALUE_0", value)];
    assert_eq!(status(&listed("*")), 0);
    assert_eq!(status(&listed("/nowhere")), 128);
    // The repository's own configuration is ignored.
    world.git(&world.root(), &["config", "--file", "access/.git/config", "safe.directory", "*"]);
    assert_eq!(status(&[]), 128);
}
