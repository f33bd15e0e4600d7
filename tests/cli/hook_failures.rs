//! Problems with the realm, the machine or the user's hooks: the commit succeeds in the usual time, with at most one
//! line of output.

use std::{
    ffi::OsStr,
    fs::File,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use crate::pre_push::pushing;
use crate::{
    wait::eventually,
    world::{CONTRACT_FILE, DOMAIN_REF, Run, World, contract},
};

pub(crate) const HOOK: &str = "fungal/.git/hooks/post-commit";

/// Much more than a commit takes, and much less than other lock timeouts.
const USUAL: Duration = Duration::from_secs(15);

/// Commits a version with a command that the test prepares.
pub(crate) fn commit(world: &World, version: &str, prepare: impl FnOnce(&mut Command)) -> Run {
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract(version));
    let mut command = world.command("git", &world.path("fungal"));
    command.args(["commit", "--quiet", "-a", "-m", version]);
    prepare(&mut command);
    let start = Instant::now();
    let run = world.finish(command, "git commit").exits(0);
    assert!(start.elapsed() < USUAL, "it took {:?}: {run}", start.elapsed());
    assert!(run.all().lines().count() <= 1, "{run}");
    assert_eq!(world.line(&world.path("fungal"), &["log", "-1", "--format=%s"]), version);
    run
}

#[test]
fn refusal_of_contract_publish_is_remembered() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0").replace("jobs/*", "tasks/*"));
    world.git(&fungal, &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-a", "-m", "x"]);
    let unpublished = || world.json(&fungal, &["status", "--peek"])["unpublished"].clone();
    world.blue(&fungal, &["contract", "publish", "--dry-run"]).exits(1);
    assert!(unpublished()["failed_at"].is_null());
    world.blue(&fungal, &["contract", "publish"]).exits(1);
    let unpublished = unpublished();
    let problem = unpublished["problem"].as_str().unwrap();
    assert!(problem.contains("already published with different content"), "{problem}");
    assert!(unpublished["failed_at"].is_string(), "{unpublished}");
}

#[test]
fn publishes_once_a_locked_realm_is_free() {
    let world = World::pair();
    let lock = File::open(world.store().join("blue/locks/s3-access")).unwrap();
    lock.lock().unwrap();
    // Another open descriptor of a pipe must not be kept by the background process.
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    let mut command = world.command("sh", &world.path("fungal"));
    command.args(["-c", "exec 5>&1; git commit --quiet -a -m 'Paths 1.1.0'"]);
    let start = Instant::now();
    let run = world.finish(command, "git commit").exits(0);
    assert!(start.elapsed() < USUAL, "{run}");
    assert!(run.stderr.starts_with("git blue: the realm is locked; "), "{run}");
    assert_eq!(run.all().lines().count(), 1, "{run}");
    let next = commit(&world, "1.2.0", |_| {});
    assert!(next.stderr.contains("once it is free"), "{next}");
    assert_eq!(world.version(), "1.0.0");
    drop(lock);
    eventually("publishing", || world.version() == "1.2.0");
    let log = world.path("home/blue/log/publish.log");
    let entries = || std::fs::read_to_string(&log).unwrap_or_default().matches("\"failed\":null").count();
    eventually("the log", || entries() == 2);
    assert_eq!(log.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(world.git(&world.store(), &["fsck", "--strict", "--no-dangling"]).stdout, "");
    let status = world.json(&world.path("fungal"), &["status"]);
    assert_eq!(status["unpublished"], serde_json::Value::Null);
    assert_eq!(world.json(&world.path("access"), &["status"])["notifications"].as_array().unwrap().len(), 1);
}

/// The branch is reset while a process waits for the lock.
#[test]
fn commit_that_was_dropped_while_the_realm_was_locked_is_not_published() {
    let world = World::pair();
    let lock = File::open(world.store().join("blue/locks/s3-access")).unwrap();
    lock.lock().unwrap();
    let run = commit(&world, "1.1.0", |_| {});
    assert!(run.stderr.contains("once it is free"), "{run}");
    // The process has seen the branch, and waits.
    std::thread::sleep(Duration::from_millis(300));
    world.git(&world.path("fungal"), &["reset", "--quiet", "--hard", "HEAD~1"]);
    drop(lock);
    let log = world.path("home/blue/log/publish.log");
    eventually("the log", || std::fs::read_to_string(&log).unwrap_or_default().contains("\"failed\":null"));
    assert_eq!(world.version(), "1.0.0");
    let status = world.json(&world.path("fungal"), &["status"]);
    assert_eq!(status["unpublished"], serde_json::Value::Null, "{status}");
}

#[test]
fn refused_commit_is_reported_by_one_hook() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0").replace("jobs/*", "tasks/*"));
    let refused = world.commit("fungal", "Refused");
    assert!(refused.stderr.contains("not published"), "{refused}");
    for command in [&["checkout", "--quiet", "-b", "other"][..], &["checkout", "--quiet", "main"]] {
        assert_eq!(world.git(&fungal, command).stderr, "");
    }
    let status = world.ok(&fungal, &["status"]);
    assert!(status.stdout.contains("already published with different content"), "{status}");
}

/// Another branch still has the file.
#[test]
fn reminder_of_a_removed_file_outlasts_commits_on_other_branches() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.git(&fungal, &["branch", "other"]);
    world.git(&fungal, &["rm", "--quiet", CONTRACT_FILE]);
    let reminds = |run: &Run| run.stderr.contains(CONTRACT_FILE);
    assert!(reminds(&world.commit("fungal", "Remove it")));
    world.git(&fungal, &["switch", "--quiet", "other"]);
    let elsewhere = world.git(&fungal, &["commit", "--allow-empty", "--message", "Elsewhere"]);
    assert!(!reminds(&elsewhere), "{elsewhere}");
    world.git(&fungal, &["switch", "--quiet", "main"]);
    let again = world.git(&fungal, &["commit", "--allow-empty", "--message", "Again"]);
    assert!(reminds(&again), "{again}");
}

#[test]
fn commits_queued_behind_a_lock_are_published_in_any_order() {
    const VERSIONS: [&str; 5] = ["1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0"];
    let world = World::solo();
    let lock = File::open(world.store().join("blue/locks/s3-access")).unwrap();
    lock.lock().unwrap();
    for version in VERSIONS {
        commit(&world, version, |_| {});
        // Each process has seen the branch and waits before the next commit.
        std::thread::sleep(Duration::from_millis(200));
    }
    drop(lock);
    let log = world.path("home/blue/log/publish.log");
    let entries = || std::fs::read_to_string(&log).unwrap_or_default().lines().map(str::to_owned).collect::<Vec<_>>();
    eventually("the log", || entries().len() == VERSIONS.len());
    for entry in entries() {
        assert!(entry.contains("\"failed\":null"), "{entry}");
    }
    assert_eq!(world.version(), "1.5.0");
}

#[test]
fn status_reports_failed_publishes() {
    let world = World::solo();
    let lock = File::open(world.store().join("blue/locks/s3-access")).unwrap();
    lock.lock().unwrap();
    commit(&world, "1.1.0", |command| {
        command.env("GIT_BLUE_LOCK_TIMEOUT_MS", "100");
    });
    let log = world.path("home/blue/log/publish.log");
    eventually("the log", || std::fs::read_to_string(&log).unwrap_or_default().contains("is locked by process"));
    drop(lock);
    let provider = world.path("fungal");
    let peek = world.ok(&provider, &["status", "--peek"]);
    let short = world.line(&provider, &["rev-parse", "--short=10", "HEAD"]);
    assert!(peek.stdout.contains(&format!("publishing {short} failed: ")), "{peek}");
    assert!(peek.stdout.contains("\n  git blue contract publish  # try again once this is corrected\n"), "{peek}");
    assert_eq!(world.version(), "1.0.0", "to peek publishes nothing");
    let status = world.ok(&provider, &["status"]);
    assert!(status.stdout.contains("published now: s3-access/s3-permissions 1.0.0 -> 1.1.0"), "{status}");
    assert!(!world.ok(&provider, &["status"]).stdout.contains("unpublished"));
}

#[test]
fn check_publishes_nothing() {
    let world = World::solo();
    world.git(&world.path("fungal"), &["config", "core.hooksPath", "/dev/null"]);
    commit(&world, "1.1.0", |_| {});
    assert_eq!(world.version(), "1.0.0");
    let before = world.tip(DOMAIN_REF);
    let check = world.ok(&world.path("fungal"), &["check"]);
    assert!(check.stdout.contains("not published yet: ") && check.stdout.contains("(main)"), "{check}");
    assert_eq!(world.tip(DOMAIN_REF), before);
    let answer = world.json(&world.path("fungal"), &["check"]);
    assert_eq!(answer["unpublished"]["domains"], serde_json::json!(["s3-access"]));
}

#[test]
fn unwritable_realm() {
    let world = World::solo();
    // Tests may run as root, for whom no file is read-only, so a file in place of a folder is used.
    std::fs::rename(world.store().join("blue/locks"), world.path("locks")).unwrap();
    std::fs::write(world.store().join("blue/locks"), "").unwrap();
    let run = commit(&world, "1.1.0", |_| {});
    assert!(run.stderr.starts_with("git blue: not published: cannot open "), "{run}");
    std::fs::remove_file(world.store().join("blue/locks")).unwrap();
    std::fs::rename(world.path("locks"), world.store().join("blue/locks")).unwrap();
    let next = commit(&world, "1.2.0", |_| {});
    assert_eq!(next.stderr, "git blue: published s3-access/s3-permissions 1.0.0 -> 1.2.0\n");
}

#[test]
fn full_disk() {
    let world = World::solo();
    // Every write fails, as on a full disk, except those of the commit.
    let hook = world.read(HOOK).replacen("#!/bin/sh\n", "#!/bin/sh\ntrap '' XFSZ\nulimit -f 0\n", 1);
    std::fs::write(world.path(HOOK), hook).unwrap();
    let before = world.tip(DOMAIN_REF);
    let run = commit(&world, "1.1.0", |_| {});
    assert!(run.stderr.starts_with("git blue: not published: "), "{run}");
    assert_eq!(world.tip(DOMAIN_REF), before);
    assert_eq!(world.git(&world.store(), &["fsck", "--strict", "--no-dangling"]).stdout, "");
    world.ok(&world.path("fungal"), &["hooks", "uninstall"]);
    world.ok(&world.path("fungal"), &["status"]);
    assert_eq!(world.version(), "1.1.0");
}

#[test]
fn missing_realm_and_missing_home() {
    let world = World::solo();
    std::fs::rename(world.store(), world.path("away")).unwrap();
    // A joined clone gets one line.
    let said = commit(&world, "1.1.0", |_| {}).all();
    assert!(said.contains("git blue: not published: ") && said.lines().count() == 1, "{said}");
    std::fs::rename(world.path("away"), world.store()).unwrap();
    let no_home = |command: &mut Command| {
        command.env_remove("HOME").env_remove("GIT_BLUE_HOME");
    };
    let said = commit(&world, "1.2.0", no_home).all();
    assert!(said.starts_with("git blue: not published: ") && said.contains("neither GIT_BLUE_HOME nor HOME"), "{said}");
    assert_eq!(world.version(), "1.0.0");
    assert!(commit(&world, "1.3.0", |_| {}).stderr.contains("1.0.0 -> 1.3.0"));
}

#[test]
fn minimal_path_and_missing_binary() {
    let world = World::solo();
    // Neither git nor the hook needs it.
    let git = String::from_utf8(Command::new("sh").args(["-c", "command -v git"]).output().unwrap().stdout).unwrap();
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    let mut command = world.command(git.trim(), &world.path("fungal"));
    command.args(["commit", "--quiet", "-a", "-m", "Paths"]).env("PATH", "/nowhere");
    let run = world.finish(command, "git commit").exits(0);
    assert_eq!(run.stderr, "git blue: published s3-access/s3-permissions 1.0.0 -> 1.1.0\n");

    let hook = world.read(HOOK).replace(env!("CARGO_BIN_EXE_git-blue"), "/nowhere/git-blue");
    std::fs::write(world.path(HOOK), hook).unwrap();
    std::fs::create_dir(world.path("only-git")).unwrap();
    std::os::unix::fs::symlink(git.trim(), world.path("only-git/git")).unwrap();
    let elsewhere = |command: &mut Command| {
        command.env("PATH", world.path("only-git"));
    };
    assert_eq!(commit(&world, "1.2.0", elsewhere).all(), "");
    assert_eq!(world.version(), "1.1.0");
    assert!(commit(&world, "1.3.0", |_| {}).stderr.contains("1.1.0 -> 1.3.0"), "the one in PATH");
}

#[test]
fn misleading_environment_variables() {
    let world = World::solo();
    let other = world.repo("other");
    let refs = world.git(&other, &["for-each-ref"]).stdout;
    let elsewhere = other.join(".git");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    world.git(&world.path("fungal"), &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-a", "-m", "Paths"]);
    let mut command = world.command(env!("CARGO_BIN_EXE_git-blue"), &world.path("fungal"));
    command.args(["hook", "post-commit"]);
    for name in ["GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        command.env(name, &elsewhere);
    }
    let run = world.finish(command, "git-blue hook post-commit").exits(0);
    assert!(run.stderr.contains("1.0.0 -> 1.1.0"), "{run}");
    assert_eq!(world.git(&other, &["for-each-ref"]).stdout, refs);
    // git commands that we start run hooks too.
    let mut command = world.command(env!("CARGO_BIN_EXE_git-blue"), &world.path("fungal"));
    command.args(["hook", "post-commit"]).env("GIT_BLUE_RUNNING", "1");
    assert_eq!(world.finish(command, "git-blue hook post-commit").exits(0).all(), "");
    // Called by hand outside of a repository.
    assert_eq!(world.ok(&world.root(), &["hook", "post-merge"]).all(), "");
}

#[test]
fn git_dir_that_is_no_repository() {
    let world = World::solo();
    let run = world.blue_with(&world.root(), &["status"], &[("GIT_DIR", OsStr::new("nowhere"))]).exits(128);
    let path = world.path("nowhere");
    assert!(run.stderr.starts_with(&format!("fatal: not a git repository: '{}'\n", path.display())), "{run}");
}

#[test]
fn user_hooks_that_exec_or_fail() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.ok(&provider, &["hooks", "uninstall"]);
    for (version, text) in [("1.1.0", "#!/bin/sh\nexec false\n"), ("1.2.0", "#!/bin/sh -eu\nfalse\n")] {
        world.script(HOOK, text);
        world.ok(&provider, &["hooks", "install"]);
        assert!(commit(&world, version, |_| {}).stderr.contains(version));
        world.ok(&provider, &["hooks", "uninstall"]);
        assert_eq!(world.read(HOOK), text);
    }
}

#[test]
fn twenty_commits_in_a_loop_are_published_in_order() {
    let world = World::pair();
    let file = world.path("fungal").join(CONTRACT_FILE);
    let text = contract("VERSION").replace('\n', "\\n").replace('"', "\\\"").replace('%', "%%");
    let lines = format!(
        "for n in $(seq 1 20); do printf \"{text}\" | sed \"s/VERSION/1.$n.0/\" >{}; git commit -qam \"$n\"; done",
        file.display()
    );
    let mut command = world.command("sh", &world.path("fungal"));
    command.args(["-c", &lines]);
    world.finish(command, "sh").exits(0);
    eventually("publishing", || world.version() == "1.20.0");
    let log = world.git(&world.store(), &["log", "--reverse", "--format=%s", DOMAIN_REF]).stdout;
    let versions: Vec<u32> =
        log.lines().filter_map(|line| line.rsplit_once(" -> 1.")?.1.strip_suffix(".0")?.parse().ok()).collect();
    assert!(versions.is_sorted() && versions.last() == Some(&20), "{versions:?}");
    assert_eq!(versions.len(), 20, "nobody else wrote, so none waited: {versions:?}");
    let told = world.json(&world.path("access"), &["status"])["notifications"].clone();
    assert_eq!((told.as_array().unwrap().len(), told[0]["version_count"].as_u64()), (1, Some(20)), "{told}");
}

#[test]
fn hint_if_only_source_files_changed() {
    let world = World::solo();
    world.write("fungal/models/s3_paths.py", "# other paths\n");
    let run = world.commit("fungal", "Move the masks");
    assert_eq!(run.stderr, "git blue: models/s3_paths.py changed, but the contract s3-permissions did not\n");
    world.write("fungal/models/s3_paths.py", "# yet others\n");
    assert!(world.bump("1.1.0").stderr.starts_with("git blue: published "));
    world.git(&world.path("fungal"), &["config", "blue.hint", "false"]);
    world.write("fungal/models/s3_paths.py", "# and others\n");
    assert_eq!(world.commit("fungal", "Move them again").stderr, "");
}

#[test]
fn hooks_act_for_the_repository_that_git_was_given() {
    let world = World::pair();
    let provider = pushing(&world, &[]);
    world.git(&provider, &["switch", "--quiet", "-c", "break"]);
    world.bump("2.0.0");
    world.git(&provider, &["switch", "--quiet", "-c", "major", "main"]);
    let git_dir = provider.join(".git").display().to_string();
    world.git(&provider, &["remote", "set-url", "origin", world.path("hub.git").to_str().unwrap()]);
    for place in [world.root(), world.path("access"), world.repo("stranger")] {
        let run = world.try_git(&place, &["--git-dir", &git_dir, "push", "origin", "break"]);
        assert!(run.code != 0 && run.stderr.contains("access imports s3-access/s3-permissions"), "{run}");
    }
    world.git(&provider, &["switch", "--quiet", "main"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    world.git(&provider, &["add", "."]);
    let run = world.git(&world.path("access"), &["--git-dir", "../fungal/.git", "commit", "--quiet", "-m", "More"]);
    assert_eq!(run.stderr, "git blue: published s3-access/s3-permissions 1.0.0 -> 1.1.0\n");
}

#[test]
fn hooks_publish_from_a_working_tree_that_only_git_dir_leads_to() {
    for is_configured in [false, true] {
        let world = World::new();
        let (home, tree) = (world.path("dots.git"), world.path("tree"));
        world.git(&world.root(), &["init", "--quiet", "--bare", "dots.git"]);
        world.write("tree/README.md", "# dots\n");
        let mut before = vec!["--git-dir".to_owned(), home.display().to_string()];
        if is_configured {
            world.git(&home, &["config", "core.bare", "false"]);
            world.git(&home, &["config", "core.worktree", tree.to_str().unwrap()]);
        } else {
            before.extend(["--work-tree".to_owned(), tree.display().to_string()]);
        }
        let git = |args: &[&str]| {
            let args: Vec<_> = before.iter().map(String::as_str).chain(args.iter().copied()).collect();
            world.git(&tree, &args)
        };
        git(&["add", "."]);
        git(&["commit", "--quiet", "-m", "Start"]);
        git(&["blue", "init", "--realm", "aperture", "--repo", "dots"]);
        world.write("tree/sample.json", "{}\n");
        git(&["blue", "contract", "new", "files/dots", "--from-samples", "sample.json", "--domain-members", "dots"]);
        git(&["add", "."]);
        let run = git(&["commit", "--quiet", "-m", "Add a contract"]);
        assert_eq!(run.stderr, "git blue: published files/dots 1.0.0\n", "configured: {is_configured}");
    }
}

/// Makes git report a version. Hooks from configuration are run here, since most versions of git do not run them.
fn pretend_git(world: &World, version: &str) {
    let git = String::from_utf8(Command::new("sh").args(["-c", "command -v git"]).output().unwrap().stdout).unwrap();
    let script =
        format!("#!/bin/sh\n[ \"$1\" = --version ] && echo 'git version {version}' || exec {} \"$@\"\n", git.trim());
    world.script("bin/git", &script);
}

#[test]
fn hooks_in_git_configuration() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.ok(&provider, &["hooks", "uninstall"]);
    let config = world.read("fungal/.git/config");
    // Not through git, which would put itself first in PATH.
    let blue = |args: &[&str]| {
        let mut command = world.command(env!("CARGO_BIN_EXE_git-blue"), &provider);
        command.args(args);
        world.finish(command, "git-blue")
    };
    pretend_git(&world, "2.53.0");
    let old = blue(&["hooks", "install", "--config-hooks"]).exits(128);
    assert!(old.stderr.contains("needs git 2.54 or newer"), "{old}");
    assert_eq!(world.read("fungal/.git/config"), config);

    pretend_git(&world, "2.54.0");
    blue(&["hooks", "install", "--config-hooks", "--pre-push"]).exits(0);
    let written = world.read("fungal/.git/config");
    let (command, event) = (written.find("command = ").unwrap(), written.find("event = ").unwrap());
    assert!(command < event, "{written}");
    let status = world.ok(&provider, &["hooks", "status"]);
    assert!(status.stdout.contains("in git's configuration"), "{status}");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    let disabled = "hook.git-blue-post-commit.enabled=false";
    world.git(&provider, &["-c", disabled, "commit", "--quiet", "-a", "-m", "Paths 1.1.0"]);
    assert_eq!(world.version(), "1.0.0");
    let command = world.line(&provider, &["config", "hook.git-blue-post-commit.command"]);
    let mut hook = world.command("sh", &provider);
    hook.args(["-c", &format!("{command} \"$@\""), &command]);
    assert!(world.finish(hook, "the hook").exits(0).stderr.contains("1.0.0 -> 1.1.0"));
    // Installing into files too would run it twice.
    world.ok(&provider, &["hooks", "install"]);
    assert!(!world.path(HOOK).exists());
    world.ok(&provider, &["hooks", "uninstall"]);
    assert_eq!(world.read("fungal/.git/config").trim_end(), config.trim_end());
}

#[test]
fn hooks_that_link_to_one_file() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.ok(&provider, &["hooks", "uninstall"]);
    let text = "#!/bin/sh\necho \"${0##*/}\" >>ran\n";
    world.script("fungal/.git/hooks/all", text);
    for hook in ["post-commit", "post-merge", "post-rewrite"] {
        std::os::unix::fs::symlink("all", world.path("fungal/.git/hooks").join(hook)).unwrap();
    }
    world.ok(&provider, &["hooks", "install"]);
    let installed = world.read("fungal/.git/hooks/all");
    assert_eq!(installed.matches(">>> git blue >>>").count(), 1, "{installed}");
    world.ok(&provider, &["hooks", "install"]);
    assert_eq!(world.read("fungal/.git/hooks/all"), installed, "installing twice changes nothing");
    world.bump("1.1.0");
    assert_eq!((world.version().as_str(), world.read("fungal/ran").as_str()), ("1.1.0", "post-commit\n"));
    world.ok(&provider, &["hooks", "uninstall"]);
    assert_eq!(world.read("fungal/.git/hooks/all"), text);
    assert!(Path::new(&world.path(HOOK)).is_symlink());
}
