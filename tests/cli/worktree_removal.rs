//! Removing the worktrees of an RFC, without losing work.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::worktrees::{REPOS, create, five, tree, work};
use crate::world::World;

/// Returns every file of the world except those in git's own folders.
pub(crate) fn snapshot_of(world: &World) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![world.root()]);
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() && path.file_name().is_some_and(|name| name != ".git" && name != "blue-cache") {
                folders.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn removing_keeps_work_without_force() {
    let world = five();
    let aperture = world.path("aperture");
    let remove =
        |more: &[&str]| world.json(&aperture, &[&["realm", "worktree", "remove", "--rfc", "x"], more].concat());
    create(&world, "aperture", "x", &[]);
    // An untracked file, an unpushed commit, and a commit on no branch.
    std::fs::write(tree(&world, "x", "aperture").join("untracked"), "").unwrap();
    work(&world, "x", "blue");
    work(&world, "x", "coral");
    world.git(&tree(&world, "x", "coral"), &["switch", "-q", "--detach"]);
    let refused = remove(&[]);
    assert_eq!(refused["code"], "unsaved-work");
    assert_eq!(refused["problems"].as_array().unwrap().len(), 3);
    for repo in ["aperture", "blue", "coral", "fungal"] {
        assert!(tree(&world, "x", repo).is_dir(), "{repo}: all of them or none");
    }
    // An ignored file, such as a build artefact, does not count as work.
    std::fs::remove_file(tree(&world, "x", "aperture").join("untracked")).unwrap();
    for repo in ["blue", "coral"] {
        world.git(&tree(&world, "x", repo), &["push", "-q", "origin", "HEAD:refs/heads/x"]);
        world.git(&world.path(repo), &["fetch", "-q"]);
    }
    let inside = world.json(&tree(&world, "x", "blue"), &["realm", "worktree", "remove", "--rfc", "x"]);
    assert_eq!(inside["code"], "current-worktree");
    let removed = remove(&["--delete-branches"]);
    assert_eq!(removed["removed"], json!(["aperture", "blue", "coral", "fungal"]), "{removed}");
    assert_eq!(removed["branches_deleted"], json!(["aperture", "fungal"]));
    assert_eq!(removed["branches_kept"], json!(["blue", "coral"]), "they are not in main");
    assert_eq!(world.git(&world.path("blue"), &["worktree", "list"]).stdout.lines().count(), 1);
    for repo in REPOS {
        assert!(world.path(repo).join("README.md").is_file(), "{repo} itself is untouched");
    }
}

#[test]
fn work_in_submodules_is_kept() {
    let world = five();
    let (aperture, fungal) = (world.path("aperture"), world.path("fungal"));
    let library = world.path("remotes/solo.git").display().to_string();
    let submodule = ["-c", "protocol.file.allow=always", "submodule", "--quiet"];
    world.git(&aperture, &[&submodule[..], &["add", &library, "library"]].concat());
    world.git(&aperture, &["commit", "-q", "-m", "Add a library"]);
    world.git(&aperture, &["push", "-q", "origin", "main"]);
    let remove = |more: &[&str]| world.json(&fungal, &[&["realm", "worktree", "remove", "--rfc", "x"], more].concat());
    // Git refuses to remove a worktree with submodules.
    create(&world, "aperture", "x", &["--repos", "aperture"]);
    let removed = remove(&[]);
    assert_eq!(removed["removed"], json!(["aperture"]), "{removed}");
    create(&world, "aperture", "x", &["--repos", "aperture"]);
    world.git(&tree(&world, "x", "aperture"), &[&submodule[..], &["update", "--init"]].concat());
    let refused = remove(&[]);
    assert_eq!(refused["code"], "unsaved-work", "{refused}");
    assert_eq!(refused["problems"][0]["message"], "aperture has a submodule that is checked out");
    assert!(tree(&world, "x", "aperture").join("library/README.md").is_file());
    world.git(&tree(&world, "x", "aperture"), &["submodule", "--quiet", "deinit", "--all"]);
    let removed = remove(&[]);
    assert_eq!(removed["removed"], json!(["aperture"]), "{removed}");
    assert!(!tree(&world, "x", "aperture").exists());
}

#[test]
fn only_worktrees_that_git_lists_are_removed() {
    let world = five();
    let aperture = world.path("aperture");
    create(&world, "aperture", "x", &["--repos", "blue"]);
    // A folder, a link and a clone in place of worktrees of the RFC.
    let outside = world.repo("outside");
    std::fs::create_dir(tree(&world, "x", "fungal")).unwrap();
    std::os::unix::fs::symlink(&outside, tree(&world, "x", "coral")).unwrap();
    world.git(&world.root(), &["clone", "-q", "remotes/aperture.git", tree(&world, "x", "aperture").to_str().unwrap()]);
    let removed = world.json(&aperture, &["realm", "worktree", "remove", "--rfc", "x", "--force"]);
    assert_eq!(removed["removed"], json!(["blue"]));
    assert!(outside.join("README.md").is_file());
    assert!(tree(&world, "x", "aperture").join("README.md").is_file());
    assert!(tree(&world, "x", "coral").symlink_metadata().is_ok());
    let list = world.json(&aperture, &["realm", "worktree", "list"]);
    assert_eq!((&list["worktrees"][0]["state"], &list["worktrees"][0]["repo"]), (&json!("orphan"), &Value::Null));
}

#[test]
fn worktrees_made_or_deleted_with_git_are_handled() {
    let world = five();
    let aperture = world.path("aperture");
    create(&world, "aperture", "x", &["--repos", "blue,coral"]);
    world.git(&world.path("fungal"), &["worktree", "add", "-q", "-b", "x", "../by-hand"]);
    std::fs::remove_dir_all(tree(&world, "x", "coral")).unwrap();
    let list = world.json(&aperture, &["realm", "worktree", "list"]);
    let states: Vec<_> =
        list["worktrees"].as_array().unwrap().iter().map(|one| (&one["rfc"], &one["repo"], &one["state"])).collect();
    let expected = [("blue", "present"), ("coral", "gone"), ("fungal", "elsewhere")]
        .map(|(repo, state)| (json!("x"), json!(repo), json!(state)));
    assert_eq!(states, expected.iter().map(|(a, b, c)| (a, b, c)).collect::<Vec<_>>());
    // Missing worktrees are created again, and those made elsewhere are left alone.
    let again = create(&world, "aperture", "x", &["--repos", "blue,coral,fungal"]);
    assert_eq!((&again["created"], &again["reused"]), (&json!(["coral"]), &json!(["blue"])));
    assert_eq!(again["errors"][0]["code"], "branch-checked-out");
    std::fs::remove_dir_all(tree(&world, "x", "coral")).unwrap();
    let removed = world.json(&aperture, &["realm", "worktree", "remove", "--rfc", "x"]);
    assert_eq!(removed["removed"], json!(["blue", "coral"]));
    assert!(world.path("by-hand/README.md").is_file());
}

#[test]
fn branch_that_cannot_be_deleted_is_an_error_of_its_own() {
    let world = five();
    let (aperture, fungal) = (world.path("aperture"), world.path("fungal"));
    create(&world, "aperture", "x", &[]);
    world.ok(&tree(&world, "x", "fungal"), &["session", "start"]);
    world.git(&fungal, &["worktree", "add", "--quiet", "--force", "../second", "x"]);
    let removed = world.json(&aperture, &["realm", "worktree", "remove", "--rfc", "x", "--delete-branches"]);
    assert_eq!(removed["removed"], json!(["aperture", "blue", "coral", "fungal"]), "{removed}");
    assert_eq!(removed["branches_deleted"], json!(["aperture", "blue", "coral"]));
    assert_eq!(removed["errors"][0]["repo"], "fungal");
    assert_eq!(world.json(&fungal, &["session", "list"])["sessions"], json!([]), "it was ended");
}

#[test]
fn nothing_is_removed_if_a_worktree_is_locked() {
    let world = five();
    let (aperture, path) = (world.path("aperture"), tree(&world, "x", "fungal"));
    create(&world, "aperture", "x", &[]);
    world.git(&path, &["worktree", "lock", "--reason", "on a stick", "."]);
    for more in [&[][..], &["--force"]] {
        let refused = world.json(&aperture, &[&["realm", "worktree", "remove", "--rfc", "x"], more].concat());
        assert_eq!(refused["code"], "locked-worktree", "{refused}");
        assert!(refused["message"].as_str().unwrap().contains("fungal is locked: on a stick"), "{refused}");
        assert!(tree(&world, "x", "blue").is_dir(), "all of them or none");
        let step = format!("git -C {} worktree unlock {}", world.path("fungal").display(), path.display());
        assert_eq!(refused["next_steps"][0]["command"], step);
    }
    world.git(&path, &["worktree", "unlock", "."]);
    let removed = world.json(&aperture, &["realm", "worktree", "remove", "--rfc", "x"]);
    assert_eq!(removed["removed"], json!(["aperture", "blue", "coral", "fungal"]), "{removed}");
}

#[test]
fn commit_on_no_branch_can_be_put_on_the_branch() {
    let world = five();
    let (aperture, path) = (world.path("aperture"), tree(&world, "x", "blue"));
    create(&world, "aperture", "x", &["--repos", "blue"]);
    world.git(&path, &["switch", "-q", "--detach"]);
    world.git(&path, &["commit", "-q", "--allow-empty", "-m", "Lost"]);
    let refused = world.json(&aperture, &["realm", "worktree", "remove", "--rfc", "x"]);
    let step = refused["next_steps"][0]["command"].as_str().unwrap();
    world.feed("sh", &aperture, &["-c", step], "").exits(0);
    assert_eq!(world.line(&path, &["log", "-1", "--format=%s", "x"]), "Lost", "{refused}");
}
