//! Worktrees of an RFC across five repositories with remotes: creating, listing, removing, without touching anything
//! outside of their folder.

use std::{path::PathBuf, process::Stdio};

use serde_json::{Value, json};

use crate::worktree_removal::snapshot_of;
use crate::world::{REALM, World, snapshot};

/// The repositories: all except `solo` share a domain with `aperture`, through one of two domains.
pub const REPOS: [&str; 5] = ["aperture", "blue", "coral", "fungal", "solo"];

/// Five repositories, each with a complete bare remote.
pub fn five() -> World {
    let world = World::new();
    for repo in REPOS {
        let path = world.join(repo);
        world.git(&world.root(), &["clone", "-q", "--bare", repo, &format!("remotes/{repo}.git")]);
        let remote = world.path(&format!("remotes/{repo}.git")).display().to_string();
        world.git(&path, &["remote", "add", "origin", &remote]);
        world.git(&path, &["fetch", "-q", "origin"]);
        world.git(&path, &["remote", "set-head", "origin", "main"]);
    }
    let aperture = world.path("aperture");
    for (domain, repos) in [("events", "aperture,blue"), ("s3-access", "aperture,coral,fungal")] {
        world.ok(&aperture, &["realm", "admin", "domain", "--name", domain, "--repos", repos]);
    }
    world
}

/// The same, with `blue` only at its remote, which the realm knows.
pub fn without_blue() -> World {
    let world = five();
    let remote = world.path("remotes/blue.git").display().to_string();
    world.git(&world.path("blue"), &["remote", "set-url", "origin", &remote]);
    world.ok(&world.path("blue"), &["realm", "admin", "join", REALM]);
    std::fs::remove_dir_all(world.path("blue")).unwrap();
    world
}

/// Returns the expected path of a worktree.
pub fn tree(world: &World, rfc: &str, repo: &str) -> PathBuf {
    world.path(&format!("home/blue/worktrees/{REALM}/{rfc}/{repo}"))
}

pub(crate) fn create(world: &World, repo: &str, rfc: &str, more: &[&str]) -> Value {
    world.json(&world.path(repo), &[&["realm", "worktree", "create", "--rfc", rfc], more].concat())
}

/// Commits a change in a worktree.
pub fn work(world: &World, rfc: &str, repo: &str) {
    let at = tree(world, rfc, repo);
    std::fs::write(at.join("new.txt"), "new\n").unwrap();
    world.git(&at, &["add", "new.txt"]);
    world.git(&at, &["commit", "-q", "-m", "New"]);
}

#[test]
fn repositories_without_a_clone_are_cloned_by_the_printed_step() {
    let world = five();
    for repo in REPOS {
        world.ok(&world.path(repo), &["init"]);
    }
    world.ok(&world.path("aperture"), &["init", "--url", &world.hub()]);
    let own = world.path("remotes/aperture.git").display().to_string();
    world.git(&world.root(), &["clone", "-q", &own, "mine"]);
    let mine = world.on("second").path("mine");
    world.ok(&mine, &["init", "--realm", REALM, "--repo", "aperture", "--url", &world.hub()]);
    let failed = world.blue(&mine, &["realm", "worktree", "create", "--rfc", "rfc-1"]).exits(1);
    let step = world.next_steps(&failed).pop().unwrap();
    let expected =
        "git blue realm worktree create --rfc rfc-1 --clone  # clone blue, coral, fungal, and retry what failed";
    assert_eq!(step, expected, "{failed}");
    // Without a terminal, nobody can confirm the URLs.
    let done = world.finish_shell(&mine, &step.replace("--clone", "--clone --yes"));
    assert_eq!(done.code, 0, "{done}");
}

#[test]
fn ssh_does_not_ask_without_a_terminal() {
    let world = five();
    world.script("bin/ssh", "#!/bin/sh\necho \"$*\" >>\"$HOME/ssh.log\"\nexit 255\n");
    let aperture = world.path("aperture");
    world.git(&aperture, &["remote", "set-url", "origin", "ssh://git@host/aperture.git"]);
    world.blue(&aperture, &["realm", "worktree", "create", "--rfc", "rfc-1", "--fetch"]);
    let log = world.read("home/ssh.log");
    assert!(log.starts_with("-o BatchMode=yes "), "{log}");
}

#[test]
fn worktrees_from_create_to_remove() {
    let world = five();
    let aperture = world.path("aperture");
    let none = world.ok(&aperture, &["realm", "worktree", "list"]);
    let created = world.ok(&aperture, &["realm", "worktree", "create", "--rfc", "rfc-42"]);
    let again = world.ok(&aperture, &["realm", "worktree", "create", "--rfc", "rfc-42"]);
    work(&world, "rfc-42", "blue");
    std::fs::write(tree(&world, "rfc-42", "coral").join("README.md"), "changed\n").unwrap();
    let list = world.ok(&tree(&world, "rfc-42", "blue"), &["realm", "worktree", "list"]);
    let refused = world.blue(&aperture, &["realm", "worktree", "remove", "--rfc", "rfc-42"]);
    let forced =
        world.ok(&aperture, &["realm", "worktree", "remove", "--rfc", "rfc-42", "--force", "--delete-branches"]);
    let over = world.blue(&aperture, &["realm", "worktree", "remove", "--rfc", "rfc-42"]);
    snapshot("worktrees", &[&none, &created, &again, &list, &refused, &forced, &over]);
    assert!(tree(&world, "rfc-42", "blue").parent().unwrap().symlink_metadata().is_err(), "no empty folder is left");
    assert_eq!(
        world.line(&world.path("blue"), &["log", "-1", "--format=%s", "rfc-42"]),
        "New",
        "work on a branch stays"
    );
}

#[test]
fn peers_take_part_by_default() {
    let world = five();
    let peers = create(&world, "aperture", "rfc-1", &[]);
    assert_eq!(peers["created"], json!(["aperture", "blue", "coral", "fungal"]));
    assert_eq!(peers["reason"], "Repositories that share events, s3-access");
    assert_eq!(peers["paths"]["blue"], json!(tree(&world, "rfc-1", "blue")));
    assert_eq!(create(&world, "blue", "rfc-2", &[])["created"], json!(["aperture", "blue"]));
    let alone = create(&world, "solo", "rfc-3", &[]);
    assert_eq!(
        (&alone["created"], &alone["reason"]),
        (&json!(["solo"]), &json!("solo shares no domain with another repository"))
    );
    let named = create(&world, "aperture", "rfc-4", &["--repos", "solo,blue"]);
    assert_eq!((&named["created"], &named["reason"]), (&json!(["blue", "solo"]), &json!("Named in --repos")));
    assert_eq!(create(&world, "aperture", "rfc-5", &["--repos", "nobody"])["code"], "unknown-repo");
    assert_eq!(create(&world, "aperture", "rfc-5", &["--repos", ""])["status"], "error");
    // Several concurrently, each with its own.
    let list = world.json(&world.path("solo"), &["realm", "worktree", "list"]);
    assert_eq!(list["worktrees"].as_array().unwrap().len(), 4 + 2 + 1 + 2);
}

#[test]
fn new_worktree_is_in_the_realm() {
    let world = five();
    // The file was never committed here, so the repository's configuration names the realm.
    let late = world.repo("late");
    world.ok(&late, &["init", "--realm", REALM]);
    for repo in ["aperture", "late"] {
        create(&world, repo, "feat/x", &["--repos", repo]);
        let at = tree(&world, "feat/x", repo);
        assert_eq!(world.line(&at, &["branch", "--show-current"]), "feat/x");
        assert_eq!(world.line(&at, &["status", "--porcelain"]), "", "nothing of ours is in the way");
        let status = world.json(&at, &["status", "--peek"]);
        assert_eq!((&status["realm"], &status["current_repo"]), (&json!(REALM), &json!(repo)));
        let session = world.json(&at, &["session", "start", "--rfc", "feat/x"]);
        assert_eq!(session["session"]["active_rfc"], "feat/x");
        assert_eq!(world.json(&world.path(repo), &["session", "status"])["session"], Value::Null);
    }
}

#[test]
fn branch_prefix_is_configurable() {
    let world = five();
    let aperture = world.path("aperture");
    world.git(&aperture, &["config", "blue.branchPrefix", "ada/"]);
    let made = create(&world, "aperture", "x", &[]);
    assert_eq!(made["branch"], "ada/x");
    assert_eq!(world.line(&tree(&world, "x", "fungal"), &["branch", "--show-current"]), "ada/x");
    // The other repositories of the RFC know of no prefix.
    let again = world.json(&tree(&world, "x", "fungal"), &["realm", "worktree", "create", "--rfc", "x"]);
    assert_eq!((&again["branch"], &again["errors"]), (&json!("ada/x"), &json!([])), "{again}");
    world.git(&aperture, &["config", "blue.branchPrefix", "a b"]);
    assert!(create(&world, "aperture", "y", &[])["message"].as_str().unwrap().contains("blue.branchPrefix"));
}

#[test]
fn work_starts_at_the_default_branch_of_the_remote() {
    let world = five();
    // Somebody else pushes to main, and to a branch of the RFC.
    world.git(&world.root(), &["clone", "-q", "remotes/blue.git", "other"]);
    world.commit("other", "Theirs");
    world.git(&world.path("other"), &["push", "-q", "origin", "main", "main:refs/heads/begun"]);
    // Commits that are only on the local main do not belong in a pull request.
    world.commit("blue", "Mine");
    let subject = |rfc: &str| world.line(&tree(&world, rfc, "blue"), &["log", "-1", "--format=%s"]);
    create(&world, "blue", "stale", &["--repos", "blue"]);
    assert_eq!(subject("stale"), "Join the realm");
    create(&world, "blue", "fresh", &["--repos", "blue", "--fetch"]);
    assert_eq!(subject("fresh"), "Theirs");
    assert_eq!(
        world.try_git(&tree(&world, "fresh", "blue"), &["rev-parse", "@{upstream}"]).code,
        128,
        "it follows nothing"
    );
    create(&world, "blue", "begun", &["--repos", "blue"]);
    assert_eq!(
        world.line(&tree(&world, "begun", "blue"), &["rev-parse", "--abbrev-ref", "@{upstream}"]),
        "origin/begun"
    );
    // An existing branch is used unchanged.
    world.git(&world.path("blue"), &["branch", "mine", "main"]);
    create(&world, "blue", "mine", &["--repos", "blue"]);
    assert_eq!(subject("mine"), "Mine");
}

#[test]
fn failure_in_one_repository_stops_no_other() {
    let world = five();
    world.git(&world.path("blue"), &["switch", "-q", "-c", "rfc-1"]);
    std::fs::rename(world.path("coral"), world.path("moved")).unwrap();
    world.write(&format!("home/blue/worktrees/{REALM}/rfc-1/fungal/mine.txt"), "mine\n");
    let run = world.blue(&world.path("aperture"), &["realm", "worktree", "create", "--rfc", "rfc-1", "--json"]);
    assert_eq!(run.code, 1);
    let answer = run.json();
    assert_eq!(answer["created"], json!(["aperture"]));
    let codes: Vec<_> = answer["errors"].as_array().unwrap().iter().map(|one| (&one["repo"], &one["code"])).collect();
    let expected = [("blue", "branch-checked-out"), ("coral", "path-gone"), ("fungal", "path-taken")];
    assert_eq!(
        codes,
        expected.map(|(repo, code)| (json!(repo), json!(code))).iter().map(|(a, b)| (a, b)).collect::<Vec<_>>()
    );
    assert_eq!(world.read(&format!("home/blue/worktrees/{REALM}/rfc-1/fungal/mine.txt")), "mine\n");
    // After the problem is fixed, the same command does the rest.
    world.git(&world.path("blue"), &["switch", "-q", "main"]);
    std::fs::remove_file(tree(&world, "rfc-1", "fungal").join("mine.txt")).unwrap();
    world.git(&world.path("aperture"), &["config", "--add", "blue.root", &world.root().display().to_string()]);
    world.write("home/x/.git/HEAD", "no repository\n");
    let answer = create(&world, "aperture", "rfc-1", &[]);
    assert_eq!(answer["errors"], json!([]));
    assert_eq!((&answer["created"], &answer["reused"]), (&json!(["blue", "coral", "fungal"]), &json!(["aperture"])));
}

#[test]
fn foreign_repository_in_the_recorded_folder_is_left_alone() {
    let world = five();
    std::fs::remove_dir_all(world.path("blue")).unwrap();
    world.git(&world.root(), &["init", "-q", "blue"]);
    world.write("blue/x", "x");
    world.commit("blue", "Something else");
    let answer = create(&world, "aperture", "rfc-1", &["--repos", "blue"]);
    assert_eq!(answer["errors"][0]["code"], "wrong-repository");
    assert_eq!(world.line(&world.path("blue"), &["branch", "--list", "rfc-1"]), "");
}

#[test]
fn missing_repository_is_cloned_after_consent() {
    let world = without_blue();
    let missing = create(&world, "aperture", "rfc-1", &["--repos", "blue"]);
    assert_eq!(missing["errors"][0]["code"], "path-gone");
    let unasked = create(&world, "aperture", "rfc-1", &["--repos", "blue", "--clone"]);
    assert_eq!(unasked["code"], "not-confirmed", "nobody is at a terminal");
    let cloned = create(&world, "aperture", "rfc-1", &["--repos", "blue", "--clone", "--yes"]);
    assert_eq!((&cloned["created"], &cloned["errors"]), (&json!(["blue"]), &json!([])));
    let hooks =
        format!("git -C {} blue hooks install", world.path(&format!("home/blue/clones/{REALM}/blue")).display());
    assert!(cloned["next_steps"].as_array().unwrap().iter().any(|step| step["command"] == *hooks), "{cloned}");
    let clones = world.path(&format!("home/blue/clones/{REALM}")).read_dir().unwrap().count();
    assert_eq!(clones, 1, "and nothing half made");
    assert!(world.path(&format!("home/blue/clones/{REALM}/blue/.git")).is_dir());
    assert_eq!(world.json(&tree(&world, "rfc-1", "blue"), &["status", "--peek"])["current_repo"], "blue");
}

#[test]
fn incomplete_clone_is_named() {
    let world = without_blue();
    let clone = format!("home/blue/clones/{REALM}/blue");
    world.write(&format!("{clone}/.git/HEAD.lock"), "");
    let again = create(&world, "aperture", "rfc-1", &["--repos", "blue", "--clone", "--yes", "--fetch"]);
    assert_eq!(again["errors"][0]["code"], "path-taken");
    let steps = again["next_steps"].as_array().unwrap();
    assert_eq!(steps[0]["reason"], format!("move {} away", world.path(&clone).display()));
    let retry = "git blue realm worktree create --rfc rfc-1 --repos blue --clone --fetch";
    assert_eq!(steps[1]["command"], retry, "{again}");
}

#[test]
fn unsafe_names_are_refused() {
    let world = five();
    let aperture = world.path("aperture");
    create(&world, "aperture", "rfc-1", &[]);
    let before = snapshot_of(&world);
    for name in ["..", "../x", "a/../b", "a/..", "/etc", "a//b", "a b", "é", "a\u{202e}b", "x.lock", "", "a/", ".git"]
    {
        for verb in ["create", "remove"] {
            let mut command = world.command("git", &aperture);
            command.args(["blue", "realm", "worktree", verb]);
            let output = command.args([&format!("--rfc={name}")]).output().unwrap();
            assert_eq!(output.status.code(), Some(129), "{verb} {name:?}");
        }
    }
    let dash = world.blue(&aperture, &["realm", "worktree", "remove", "--rfc=-f", "--force"]);
    assert_eq!(dash.code, 129);
    for repo in ["..", "a/b", "-x", "../aperture"] {
        let run = world.blue(&aperture, &["realm", "worktree", "create", "--rfc", "x", &format!("--repos={repo}")]);
        assert_eq!(run.code, 129, "{run:?}");
    }
    assert_eq!(snapshot_of(&world), before);
}

#[test]
fn repositories_of_every_kind() {
    let world = five();
    let aperture = world.path("aperture");
    // Detached, bare, shallow, empty; and an RFC whose folder would be inside of another one's worktree.
    world.git(&world.path("blue"), &["switch", "-q", "--detach"]);
    assert_eq!(create(&world, "aperture", "x", &["--repos", "blue"])["created"], json!(["blue"]));
    let nested = create(&world, "aperture", "x/blue", &["--repos", "coral"]);
    assert_eq!(nested["errors"][0]["code"], "nested-worktree");
    world.ok(&world.path("coral"), &["init", "--realm", REALM]);
    std::fs::remove_dir_all(world.path("coral")).unwrap();
    let url = format!("file://{}", world.path("remotes/coral.git").display());
    world.git(&world.root(), &["clone", "-q", "--depth", "1", &url, "coral"]);
    // It lacks the root commit, and is identified by the URL that it joined with.
    let joined_with = world.path("remotes/coral.git").display().to_string();
    world.git(&world.path("coral"), &["remote", "set-url", "origin", &joined_with]);
    assert_eq!(create(&world, "aperture", "x", &["--repos", "coral"])["errors"][0]["code"], "wrong-repository");
    world.ok(&world.path("coral"), &["init"]);
    assert_eq!(world.git(&world.path("coral"), &["rev-parse", "--is-shallow-repository"]).stdout, "true\n");
    assert_eq!(create(&world, "aperture", "x", &["--repos", "coral"])["created"], json!(["coral"]));
    std::fs::remove_dir_all(world.path("fungal")).unwrap();
    world.git(&world.root(), &["clone", "-q", "--bare", "remotes/fungal.git", "fungal"]);
    world.ok(&world.path("fungal"), &["init"]);
    let bare = create(&world, "aperture", "x", &["--repos", "fungal"]);
    assert_eq!(bare["created"], json!(["fungal"]), "{bare}");
    assert_eq!(world.json(&tree(&world, "x", "fungal"), &["status", "--peek"])["current_repo"], "fungal");
    let empty = world.path("empty");
    world.git(&world.root(), &["init", "-q", "empty"]);
    world.ok(&empty, &["init", "--realm", REALM]);
    let nothing = create(&world, "aperture", "x", &["--repos", "empty"]);
    assert_eq!(nothing["errors"][0]["code"], "no-default-branch", "{nothing}");
    // Removing them needs no working tree.
    let removed = world.json(&aperture, &["realm", "worktree", "remove", "--rfc", "x"]);
    assert_eq!(removed["removed"], json!(["blue", "coral", "fungal"]), "{removed}");
}

/// Makes a worktree look as if git had been killed while creating it.
fn interrupt(world: &World, path: &std::path::Path) {
    world.git(path, &["worktree", "lock", "--reason", "initializing", "."]);
    std::fs::remove_file(path.join("README.md")).unwrap();
}

#[test]
fn interrupted_creation_is_repeated() {
    let world = five();
    let (aperture, path) = (world.path("aperture"), tree(&world, "x", "blue"));
    create(&world, "aperture", "x", &["--repos", "blue"]);
    interrupt(&world, &path);
    // While another process is creating it, it is left alone.
    world.set("GIT_BLUE_LOCK_TIMEOUT_MS", "100");
    let lock = std::fs::File::open(path.ancestors().nth(2).unwrap().join(".blue.lock")).unwrap();
    lock.lock_shared().unwrap();
    let busy = create(&world, "aperture", "x", &["--repos", "blue"]);
    assert_eq!(busy["errors"][0]["code"], "busy", "{busy}");
    lock.unlock().unwrap();
    let again = create(&world, "aperture", "x", &["--repos", "blue"]);
    assert_eq!((&again["created"], &again["reused"]), (&json!(["blue"]), &json!([])), "{again}");
    assert!(path.join("README.md").is_file());
    assert_eq!(world.json(&aperture, &["realm", "worktree", "list"])["worktrees"][0]["locked"], false);
    // It can also be removed.
    interrupt(&world, &path);
    let remove = ["realm", "worktree", "remove", "--rfc", "x"];
    assert_eq!(world.json(&aperture, &remove)["code"], "unsaved-work");
    assert_eq!(world.json(&aperture, &[&remove[..], &["--force"]].concat())["removed"], json!(["blue"]));
}

/// Git was killed before it wrote HEAD, without which the folder is no repository.
#[test]
fn creation_that_had_hardly_begun_is_repeated() {
    let world = five();
    let (aperture, path) = (world.path("aperture"), tree(&world, "x", "blue"));
    create(&world, "aperture", "x", &["--repos", "blue"]);
    let interrupt = || {
        interrupt(&world, &path);
        std::fs::remove_file(world.path("blue/.git/worktrees/blue/HEAD")).unwrap();
    };
    interrupt();
    let list = world.ok(&aperture, &["realm", "worktree", "list"]);
    assert!(list.stdout.contains("cannot be read"), "{list}");
    let again = create(&world, "aperture", "x", &["--repos", "blue"]);
    assert_eq!((&again["created"], &again["errors"]), (&json!(["blue"]), &json!([])), "{again}");
    interrupt();
    let removed = world.json(&aperture, &["realm", "worktree", "remove", "--rfc", "x"]);
    assert_eq!(removed["removed"], json!(["blue"]), "{removed}");
    assert!(!path.exists());
}

/// Such as one on a drive that is not mounted.
#[test]
fn missing_worktree_that_is_locked_is_unlocked_first() {
    let world = five();
    let (aperture, path) = (world.path("aperture"), tree(&world, "x", "fungal"));
    create(&world, "aperture", "x", &[]);
    world.git(&path, &["worktree", "lock", "."]);
    std::fs::remove_dir_all(&path).unwrap();
    let list = world.ok(&aperture, &["realm", "worktree", "list"]);
    assert!(list.stdout.contains(&format!("worktree unlock {} && git -C ", path.display())), "{list}");
    let refused = create(&world, "aperture", "x", &[]);
    assert_eq!(refused["errors"][0]["code"], "locked-worktree");
    let step = refused["errors"][0]["next_step"]["command"].as_str().unwrap();
    world.feed("sh", &aperture, &["-c", step], "").exits(0);
    assert_eq!(create(&world, "aperture", "x", &[])["created"], json!(["fungal"]));
}

#[test]
fn two_processes_create_the_same_worktrees() {
    let world = five();
    let start = || {
        let mut command = world.command("git", &world.path("aperture"));
        command.args(["blue", "realm", "worktree", "create", "--rfc", "x", "--json"]).stdout(Stdio::piped());
        command.spawn().unwrap()
    };
    let created = [start(), start()].map(|child| {
        let output = child.wait_with_output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["errors"], json!([]), "{answer}");
        answer["created"].as_array().unwrap().len() + answer["reused"].as_array().unwrap().len()
    });
    assert_eq!(created[0], created[1]);
}

#[test]
fn repository_without_a_commit_needs_one() {
    let world = World::pair();
    world.git(&world.root(), &["init", "--quiet", "fresh"]);
    let fresh = world.path("fresh");
    world.ok(&fresh, &["init", "--realm", "aperture"]);
    let run = world.blue(&fresh, &["realm", "worktree", "create", "--rfc", "rfc-1", "--repos", "fresh"]).exits(1);
    assert!(run.all().contains("fresh has no commit to start from") && run.all().contains(" commit …"), "{run}");
}
