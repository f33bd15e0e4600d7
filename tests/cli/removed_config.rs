//! Pull requests that delete `.blue/config.yaml`.

use crate::world::World;

/// A provider, on a branch that deletes the file with its name.
fn deleted() -> World {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.git(&fungal, &["switch", "--quiet", "-c", "no-config"]);
    world.git(&fungal, &["rm", "--quiet", ".blue/config.yaml"]);
    world.commit("fungal", "No configuration");
    world
}

#[test]
fn deleting_the_name_fails_the_pull_request() {
    let world = deleted();
    let fungal = world.path("fungal");
    let store = world.store().display().to_string();
    for args in
        [&["check"][..], &["check", "--base", "main"], &["check", "--worktree"], &["check", "--realm-path", &store]]
    {
        let run = world.blue(&fungal, args).exits(1);
        let says =
            ".blue/config.yaml: error: it is deleted: without it, nothing of fungal is published once this is merged";
        assert!(run.stdout.contains(says), "{args:?}: {run}");
    }
    // Whoever names the repository does without the file.
    for args in [&["check", "--repo", "fungal"][..], &["check", "--realm-path", &store, "--repo", "fungal"]] {
        let run = world.blue(&fungal, args).exits(0);
        assert!(!run.stdout.contains("config-removed"), "{args:?}: {run}");
    }
    // The problem is no longer new once the base has it.
    world.write("fungal/README.md", "more\n");
    world.commit("fungal", "More");
    let later = world.blue(&fungal, &["check", "--base", "HEAD~1"]).exits(0);
    assert!(later.stdout.contains("warning: it is deleted"), "{later}");
    let restore = world.next_steps(&world.blue(&fungal, &["check"]).exits(1)).remove(0);
    assert_eq!(world.finish_shell(&fungal, &restore).code, 0, "{restore}");
    world.blue(&fungal, &["check"]).exits(0);
}

/// On the publishing branch no other branch may have the file.
#[test]
fn deleted_name_can_be_restored_on_main() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.git(&fungal, &["rm", "--quiet", ".blue/config.yaml"]);
    world.commit("fungal", "No configuration");
    world.commit("fungal", "More");
    let restore = world.next_step(&world.blue(&fungal, &["status"]));
    assert_eq!(world.finish_shell(&fungal, &restore).code, 0, "{restore}");
    world.ok(&fungal, &["status"]);
}

#[test]
fn repository_that_left_may_delete_its_name() {
    let world = World::pair();
    let access = world.path("access");
    world.ok(&access, &["leave", "--force"]);
    world.commit("access", "Leave");
    let store = world.store().display().to_string();
    let run = world.blue(&access, &["check", "--realm-path", &store]);
    assert!(!run.all().contains("config-removed"), "{run}");
}
