//! Clones that lack what the realm has published of their repository, and the steps that bring them up to date.

use std::path::PathBuf;

use crate::{
    teamwork::{diverged, push, team},
    two_machines::name_user,
    world::{CONTRACT_FILE, World, contract},
};

/// A file that a newer published commit added is not missing, and nothing failed: the clone has to be pulled.
#[test]
fn clone_that_is_behind_is_told_to_pull() {
    let (world, mate) = team();
    let other = contract("1.0.0").replace("s3-permissions", "s3-paths");
    world.write("fungal/.blue/contracts/s3-access/s3-paths.yaml", &other);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    world.commit("fungal", "Paths");
    push(&world);
    for fetched in [false, true] {
        if fetched {
            world.git(&mate, &["fetch", "--quiet"]);
        }
        let runs = [&["sync"][..], &["status"], &["status", "--peek"], &["check"], &["check", "--worktree"], &[]];
        for args in runs {
            let run = world.on("second").blue(&mate, args).exits(0);
            let all = run.all();
            for word in ["reclaim", "retire", "contract publish", "rollback", "contract get", "failed", "unpublished"] {
                assert!(!all.contains(word), "{word}: {run}");
            }
            let is_check = args.contains(&"--worktree");
            assert!(is_check || all.contains("behind"), "{run}");
            assert!(is_check || world.next_step(&run).starts_with("git pull  # get the published commit"), "{run}");
        }
    }
    let status = world.json(&mate, &["status"]);
    assert_eq!(status["behind"]["domains"], serde_json::json!(["s3-access"]), "{status}");
    assert_eq!(status["unpublished"], serde_json::Value::Null);
    world.git(&mate, &["pull", "--quiet"]);
    let status = world.json(&mate, &["status"]);
    assert_eq!([&status["behind"], &status["unpublished"]], [&serde_json::Value::Null; 2], "{status}");
    assert_eq!(status["removed_files"], serde_json::json!([]));
}

/// A commit that changes nothing under `.blue` has nothing to publish, whether or not the clone has a remote.
#[test]
fn clone_that_is_behind_may_have_commits_of_its_own() {
    let (world, mate) = team();
    world.bump("1.1.0");
    push(&world);
    world.on("second").ok(&mate, &["sync"]);
    world.write("mate/code.py", "x");
    let commit = world.commit("mate", "Code");
    assert!(!commit.all().contains("not published"), "{commit}");
    for (has_remote, step) in
        [(true, "git pull  # get the published commit"), (false, "fetch that commit from the clone that has it")]
    {
        if !has_remote {
            world.git(&mate, &["remote", "remove", "origin"]);
        }
        for args in [&["status"][..], &["status", "--peek"], &["check"], &["sync"]] {
            let run = world.blue(&mate, args).exits(0);
            let all = run.all();
            assert!(all.contains("behind") && !all.contains("unpublished") && !all.contains("failed"), "{run}");
            assert!(all.contains(step), "{run}");
        }
    }
}

/// git refuses to fetch into a branch that has commits of its own.
#[test]
fn branch_with_commits_of_its_own_is_fetched_beside() {
    let (world, mate) = diverged();
    world.git(&mate, &["switch", "--quiet", "--create", "feature"]);
    let publish = world.blue(&mate, &["contract", "publish"]).exits(1);
    let step = world.next_step(&publish);
    assert!(step.starts_with("git fetch origin  # merge origin/main into main"), "{publish}");
    assert_eq!(world.finish_shell(&mate, &step).code, 0, "{step}");
}

/// A published commit that the teammate's clone lacks.
fn behind() -> (World, PathBuf) {
    let (world, mate) = team();
    world.bump("1.1.0");
    push(&world);
    world.on("second").ok(&mate, &["sync"]);
    (world, mate)
}

/// The step must work: git refuses to fetch into a branch that is checked out elsewhere.
#[test]
fn clone_that_is_behind_is_told_to_pull_where_the_branch_is() {
    for (is_linked, step) in [(true, "git -C [MATE] pull  # get the"), (false, "git fetch origin main:main  # get the")]
    {
        let (world, mate) = behind();
        let here = if is_linked {
            world.git(&mate, &["worktree", "add", "--quiet", "-b", "feature", "../linked"]);
            world.path("linked")
        } else {
            world.git(&mate, &["switch", "--quiet", "--detach"]);
            mate.clone()
        };
        let status = world.ok(&here, &["status"]);
        let told = world.next_step(&status);
        assert!(told.starts_with(&step.replace("[MATE]", &mate.display().to_string())), "{status}");
        world.finish_shell(&here, &told).exits(0);
        assert!(!world.ok(&here, &["status"]).stdout.contains("behind"));
    }
}

/// A bare clone tracks nothing, so `git pull` alone fails in its worktrees.
#[test]
fn worktree_of_a_bare_clone_is_told_what_to_pull() {
    let (world, _) = team();
    world.git(&world.root(), &["clone", "--quiet", "--bare", "code.git", "bare.git"]);
    world.git(&world.path("bare.git"), &["worktree", "add", "--quiet", "../linked", "main"]);
    let linked = world.path("linked");
    world.on("second").ok(&linked, &["init"]);
    world.on("home").bump("1.1.0");
    push(&world);
    world.on("second").ok(&linked, &["sync"]);
    let step = world.next_step(&world.ok(&linked, &["status"]));
    assert!(step.starts_with("git pull origin main  # get the published commit"), "{step}");
    world.finish_shell(&linked, &step).exits(0);
    assert!(!world.ok(&linked, &["status"]).stdout.contains("behind"));
}

/// A fetch changes the branches of a mirror itself. After a force push, they lack the published commit for good.
#[test]
fn mirror_may_follow_a_force_push() {
    let (world, _) = team();
    let fungal = world.path("fungal");
    world.git(&world.root(), &["clone", "--quiet", "--mirror", "code.git", "mirror.git"]);
    let mirror = world.path("mirror.git");
    world.on("second").ok(&mirror, &["init"]);
    world.on("home").bump("1.1.0");
    push(&world);
    world.on("second").git(&mirror, &["fetch", "--quiet"]);
    world.ok(&mirror, &["sync"]);
    world.on("home").git(&fungal, &["config", "blue.publish", "off"]);
    world.git(&fungal, &["reset", "--quiet", "--hard", "HEAD~1"]);
    world.git(&fungal, &["commit", "--quiet", "--allow-empty", "-m", "Other"]);
    world.git(&fungal, &["push", "--quiet", "--force"]);
    world.on("second").git(&mirror, &["fetch", "--quiet"]);
    let status = world.ok(&mirror, &["status"]);
    let replaces = world.next_steps(&status).iter().any(|step| step.contains("contract publish --rollback"));
    assert!(replaces, "{status}");
}

/// The other clone published it at the same time, so nothing is missing here that should be retired.
#[test]
fn contract_of_another_clone_is_not_missing_here() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    let other = |name: &str| contract("1.0.0").replace("s3-permissions", name);
    world.write("fungal/.blue/contracts/s3-access/s3-paths.yaml", &other("s3-paths"));
    world.commit("fungal", "Paths");
    name_user(&world, &mate, "mate");
    world.on("second").write("mate/.blue/contracts/s3-access/s3-keys.yaml", &other("s3-keys"));
    world.commit("mate", "Keys");
    world.ok(&mate, &["sync"]);
    world.on("home").ok(&fungal, &["sync"]);
    let status = world.json(&fungal, &["status"]);
    assert_eq!(status["removed_files"], serde_json::json!([]), "{status}");
    assert!(status["behind"].is_object(), "{status}");
}
