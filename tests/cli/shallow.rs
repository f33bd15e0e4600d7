//! A shallow clone is reported as such, not as outdated.

use crate::{
    teamwork::{push, team},
    world::{CONTRACT_FILE, REALM, World, contract, snapshot},
};

#[test]
fn shallow_clone_reports_what_to_fetch() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.git(&world.root(), &["clone", "-q", "--bare", "fungal", "code.git"]);
    let url = world.path("code.git").display().to_string();
    world.git(&fungal, &["remote", "add", "origin", &url]);
    world.ok(&fungal, &["realm", "admin", "join", REALM]);
    world.git(&fungal, &["config", "blue.publish", "off"]);
    world.git(&fungal, &["push", "-q", "origin", "main:old"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    world.commit("fungal", "1.1.0");
    world.commit("fungal", "More");
    world.git(&fungal, &["push", "-q", "origin", "main"]);
    // It is the same repository by its root commit; its origin is a mirror.
    let origin = format!("file://{url}");
    world.git(&world.root(), &["clone", "-q", "--depth", "1", &origin, "shallow"]);
    let shallow = world.path("shallow");
    world.git(&shallow, &["remote", "set-url", "origin", "https://mirror.example.com/code.git"]);
    let stranger = world.blue(&shallow, &["init", "--realm", REALM]).exits(1);
    assert!(stranger.stderr.contains("git fetch --unshallow"), "{stranger}");
    world.git(&shallow, &["remote", "set-url", "origin", &origin]);
    world.ok(&shallow, &["init", "--realm", REALM]);
    let refused = world.blue(&shallow, &["contract", "publish"]).exits(1);
    assert!(!refused.all().contains("behind") && refused.stderr.contains("git fetch --unshallow"), "{refused}");
    snapshot("shallow", &[&stranger, &refused]);
    // Nothing was published meanwhile, as far as it can tell.
    world.write(&format!("shallow/{CONTRACT_FILE}"), &contract("1.0.0").replace("v1.0.0", "other"));
    let changed = world.blue(&shallow, &["check", "--worktree"]).exits(1);
    assert!(!changed.all().contains("in the meantime"), "{changed}");
    assert!(changed.stdout.contains("cannot tell whether the branch lacks 1.0.0: git fetch --unshallow"), "{changed}");
    world.git(&shallow, &["checkout", "-q", "."]);
    world.git(&shallow, &["fetch", "-q", "--unshallow"]);
    world.ok(&shallow, &["contract", "publish"]);
    assert_eq!(world.version(), "1.1.0");
    // A branch that is only behind is no rollback.
    world.git(&world.root(), &["clone", "-q", "--depth", "1", "-b", "old", &origin, "behind"]);
    let behind = world.blue(&world.path("behind"), &["check"]).exits(0);
    assert!(behind.stdout.contains("cannot tell which is newer: git fetch --unshallow"), "{behind}");
    assert!(!behind.all().contains("--rollback"), "{behind}");
}

/// What a shallow clone has was published before, so the commit that was published since is newer.
#[test]
fn shallow_clone_of_a_published_commit_knows_that_it_is_behind() {
    let (world, _) = team();
    world.bump("1.1.0");
    push(&world);
    let origin = format!("file://{}", world.path("code.git").display());
    world.git(&world.root(), &["clone", "-q", "--depth", "1", &origin, "shallow"]);
    let shallow = world.path("shallow");
    world.on("second").ok(&shallow, &["sync"]);
    world.ok(&shallow, &["init"]);
    world.bump("1.2.0");
    push(&world);
    let sync = world.on("second").ok(&shallow, &["sync"]);
    assert!(sync.stdout.contains("this clone is behind: its main lacks the published commit"), "{sync}");
    assert!(!sync.stdout.contains("not published"), "{sync}");
    world.git(&shallow, &["pull", "-q"]);
    assert!(!world.ok(&shallow, &["status"]).stdout.contains("behind"));
}

/// Without its root commits, nothing shows whether it is the repository, which may have moved, or another one.
#[test]
fn shallow_clone_of_another_url_is_not_told_to_rename_the_repository() {
    let (world, _) = team();
    let origin = format!("file://{}", world.path("fungal").display());
    world.git(&world.root(), &["clone", "-q", "--depth", "1", &origin, "shallow"]);
    let shallow = world.path("shallow");
    let init = world.blue(&shallow, &["init"]).exits(1);
    assert!(init.stderr.contains("cannot tell whether this is fungal: the clone is shallow"), "{init}");
    assert_eq!(world.next_steps(&init), ["git fetch --unshallow", "git blue init"]);
    world.git(&shallow, &["fetch", "-q", "--unshallow"]);
    let init = world.blue(&shallow, &["init"]).exits(1);
    assert!(init.stderr.contains("git blue status  # in a fork, which can read and check, but not write"), "{init}");
}
