//! Every git command that moves the publishing branch, in the main checkout and in a linked worktree, with the oldest
//! and the newest git of the machine: the realm has the expected state, every change is notified once, and nothing is
//! written to the code repository.

use std::path::{Path, PathBuf};

use crate::{
    left_out::left_out,
    world::{CONTRACT_FILE, DOMAIN_REF, World, contract, gits},
};

/// A commit with `--author` and other settings of identity.
const AS_ANOTHER: &str = "another identity and date";

/// The place where the commands run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Main,
    Linked,
}

/// A world, and the working tree with the publishing branch.
struct Matrix {
    world: World,
    dir: PathBuf,
}

impl Matrix {
    fn new(git: &Path, place: Place) -> Self {
        let world = World::pair_with(git);
        let mut dir = world.path("fungal");
        if place == Place::Linked {
            world.git(&dir, &["switch", "--quiet", "-c", "aside"]);
            world.git(&dir, &["worktree", "add", "--quiet", "../linked", "main"]);
            dir = world.path("linked");
        }
        Self { world, dir }
    }

    /// Runs git in the working tree, and returns the output of the hooks.
    fn git(&self, args: &[&str]) -> String {
        self.world.git(&self.dir, args).stderr
    }

    fn write(&self, version: &str) {
        std::fs::write(self.dir.join(CONTRACT_FILE), contract(version)).unwrap();
    }

    fn commit(&self, version: &str) -> String {
        self.write(version);
        self.git(&["commit", "--quiet", "-a", "-m", &format!("Paths {version}")])
    }

    /// Commits a version on another branch, which is not published, and switches back.
    fn aside(&self, branch: &str, versions: &[&str]) {
        let before = self.world.tip(DOMAIN_REF);
        self.git(&["switch", "--quiet", "-c", branch]);
        for version in versions {
            let hint = "the changes to .blue/ are published once this commit is on main";
            assert!(self.commit(version).contains(hint), "{branch} is not published");
        }
        self.git(&["switch", "--quiet", "main"]);
        assert_eq!(self.world.tip(DOMAIN_REF), before);
    }

    /// Returns the consumer's notification: old version, new version, and number of versions.
    fn told(&self) -> Vec<(String, String, u64)> {
        let answer = self.world.json(&self.world.path("access"), &["status"]);
        let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let told = answer["notifications"].as_array().unwrap().iter();
        told.map(|one| {
            let changes = &one["changes"];
            (word(&changes["old_version"]), word(&changes["new_version"]), one["version_count"].as_u64().unwrap())
        })
        .collect()
    }

    /// Asserts that the realm has this version and commit, and that the consumer was notified once.
    #[track_caller]
    fn is_at(&self, what: &str, old: &str, new: &str, versions: u64) {
        assert_eq!(self.world.version(), new, "{what}");
        self.is_published(what);
        let expected = if old == new { Vec::new() } else { vec![(old.to_owned(), new.to_owned(), versions)] };
        assert_eq!(self.told(), expected, "{what}");
        assert_eq!(self.told(), [], "{what}: told twice");
    }

    /// Asserts that the last published commit is the working tree's, and that its realm commit has the user's identity
    /// and current time.
    #[track_caller]
    fn is_published(&self, what: &str) {
        let head = self.world.line(&self.dir, &["rev-parse", "HEAD"]);
        assert_eq!(self.world.stored("sources/fungal.json")["commit"], head, "{what}");
        let format = "--format=%an <%ae> %cn <%ce> %ad %cd";
        let who = self.world.line(&self.world.store(), &["log", "-1", format, "--date=format:%Y-%m", DOMAIN_REF]);
        // The author is the one of the commit. Who publishes it, and when, depends neither on that nor on git's variables.
        let author = if what == AS_ANOTHER { "Somebody <s@example.com>" } else { "Ada <ada@example.com>" };
        assert_eq!(who, format!("{author} Ada <ada@example.com> 2026-01 2026-01"), "{what}");
    }

    fn run(&self) {
        let published = |old: &str, new: &str| format!("git blue: published s3-access/s3-permissions {old} -> {new}\n");
        assert_eq!(self.commit("1.1.0"), published("1.0.0", "1.1.0"));
        self.is_at("commit", "1.0.0", "1.1.0", 1);

        assert_eq!(self.git(&["commit", "--quiet", "--amend", "-m", "In other words"]), "");
        self.is_at("amend of the message", "1.1.0", "1.1.0", 0);
        self.write("1.2.0");
        let amend = self.git(&["commit", "--quiet", "-a", "--amend", "-m", "Paths 1.2.0"]);
        assert_eq!(amend, published("1.1.0", "1.2.0"));
        self.is_at("amend", "1.1.0", "1.2.0", 1);

        self.write("1.3.0");
        let overrides = ["-c", "user.name=Mallory", "-c", "user.email=m@example.com", "commit", "--quiet", "-a"];
        let more = ["-m", "x", "--author", "Somebody <s@example.com>", "--date", "2001-01-01T00:00:00Z"];
        let mut command = self.world.command("git", &self.dir);
        command.args(overrides).args(more).env("GIT_COMMITTER_DATE", "2002-01-01T00:00:00Z");
        command.env("GIT_COMMITTER_EMAIL", "m@example.com").env("GIT_CONFIG_COUNT", "1");
        command.env("GIT_CONFIG_KEY_0", "user.email").env("GIT_CONFIG_VALUE_0", "n@example.com");
        assert_eq!(self.world.finish(command, "git commit").stderr, published("1.2.0", "1.3.0"));
        self.is_at(AS_ANOTHER, "1.2.0", "1.3.0", 1);

        self.aside("merged", &["1.4.0"]);
        let merge = self.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "merged"]);
        assert_eq!(merge, published("1.3.0", "1.4.0"));
        self.is_at("merge", "1.3.0", "1.4.0", 1);

        self.aside("squashed", &["1.5.0"]);
        self.git(&["merge", "--quiet", "--squash", "squashed"]);
        assert_eq!(self.world.version(), "1.4.0", "a squash merge alone commits nothing");
        assert_eq!(self.git(&["commit", "--quiet", "-m", "Squashed"]), published("1.4.0", "1.5.0"));
        self.is_at("squash merge", "1.4.0", "1.5.0", 1);

        self.aside("picked", &["1.6.0"]);
        self.git(&["cherry-pick", "picked"]);
        self.is_at("cherry-pick", "1.5.0", "1.6.0", 1);

        let tip = self.world.tip(DOMAIN_REF);
        let revert = self.git(&["revert", "--no-edit", "HEAD"]);
        assert!(revert.contains("would go back from 1.6.0 to 1.5.0"), "{revert}");
        assert_eq!(revert.lines().count(), 1, "{revert}");
        assert_eq!(self.world.tip(DOMAIN_REF), tip, "a version never goes down by itself");
        // A refusal is not repeated at each commit.
        assert_eq!(self.git(&["commit", "--quiet", "--allow-empty", "-m", "Elsewhere"]), "");
        assert_eq!(self.git(&["revert", "--no-edit", "HEAD~1"]), "");
        assert_eq!(self.world.tip(DOMAIN_REF), tip, "and back is no news");
        assert_eq!(self.told(), []);

        self.aside("mailed", &["1.7.0"]);
        let patch = self.git_out(&["format-patch", "-1", "-o", "../patches", "mailed"]);
        self.git(&["am", "--quiet", patch.trim()]);
        self.is_at("am", "1.6.0", "1.7.0", 1);

        self.git(&["branch", "base"]);
        for version in ["1.8.0", "1.9.0", "1.10.0"] {
            self.commit(version);
        }
        self.is_at("three commits", "1.7.0", "1.10.0", 3);
        self.git(&["switch", "--quiet", "base"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "Below"]);
        self.git(&["switch", "--quiet", "main"]);
        self.git(&["rebase", "--quiet", "base"]);
        self.is_at("rebase of three that were published", "1.10.0", "1.10.0", 0);

        self.aside("topic", &["1.11.0", "1.12.0", "1.13.0"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "Meanwhile"]);
        self.git(&["switch", "--quiet", "topic"]);
        self.git(&["rebase", "--quiet", "main"]);
        self.git(&["switch", "--quiet", "main"]);
        assert_eq!(self.world.version(), "1.10.0", "a rebase of another branch");
        assert_eq!(self.git(&["merge", "--quiet", "--ff-only", "topic"]), published("1.10.0", "1.13.0"));
        // Commits that were never the branch's tip were never published.
        self.is_at("fast-forward of three", "1.10.0", "1.13.0", 1);

        self.git(&["clone", "--quiet", "--bare", ".", "../hub.git"]);
        self.git(&["clone", "--quiet", "../hub.git", "../other"]);
        self.world.write(&format!("other/{CONTRACT_FILE}"), &contract("1.14.0"));
        assert_eq!(self.world.commit("other", "From elsewhere").stderr, "", "a clone has no hooks yet");
        self.world.git(&self.world.path("other"), &["push", "--quiet", "origin", "main"]);
        let pull = self.git(&["pull", "--quiet", "--ff-only", "../hub.git", "main"]);
        assert_eq!(pull, published("1.13.0", "1.14.0"));
        self.is_at("fast-forward pull", "1.13.0", "1.14.0", 1);

        let tip = self.world.tip(DOMAIN_REF);
        self.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
        let status = self.world.ok(&self.dir, &["status"]);
        assert!(status.stdout.contains("would go back from 1.14.0 to 1.13.0"), "{status}");
        self.git(&["reset", "--quiet", "--hard", "HEAD@{1}"]);
        let status = self.world.ok(&self.dir, &["status"]);
        assert!(!status.stdout.contains("unpublished"), "{status}");
        assert_eq!(self.world.tip(DOMAIN_REF), tip, "reset back and forth");
        self.aside("ahead", &["1.15.0"]);
        self.git(&["reset", "--quiet", "--hard", "ahead"]);
        assert_eq!(self.world.version(), "1.14.0", "no hook runs on reset");
        let status = self.world.ok(&self.dir, &["status"]);
        assert!(status.stdout.contains("published now: s3-access/s3-permissions 1.14.0 -> 1.15.0"), "{status}");
        self.is_at("reset forwards", "1.14.0", "1.15.0", 1);

        self.write("1.16.0");
        self.git(&["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-a", "-m", "No hook"]);
        assert_eq!(self.world.version(), "1.15.0");
        let added = self.git(&["worktree", "add", "--quiet", "../extra", "-b", "extra"]);
        assert!(added.contains("1.15.0 -> 1.16.0"), "{added}");
        self.is_at("worktree add after a commit without hooks", "1.15.0", "1.16.0", 1);
        self.ends_clean();
    }

    fn git_out(&self, args: &[&str]) -> String {
        self.world.git(&self.dir, args).stdout
    }

    /// Asserts that the code repository is untouched and the realm intact.
    fn ends_clean(&self) {
        let refs = self.git_out(&["for-each-ref", "--format=%(refname)"]);
        assert!(refs.lines().all(|name| !name.contains("blue")), "{refs}");
        assert_eq!(self.git_out(&["status", "--porcelain"]), "");
        let keys = self.git_out(&["config", "--local", "--list", "--name-only"]);
        assert!(keys.lines().all(|key| !key.contains("blue")), "{keys}");
        assert_eq!(self.world.git(&self.world.store(), &["fsck", "--strict", "--no-dangling"]).stdout, "");
        let log = self.world.git(&self.world.store(), &["log", "--format=%cn", DOMAIN_REF]).stdout;
        assert!(log.lines().all(|line| line == "Ada"), "{log}");
        self.world.ok(&self.world.path("access"), &["check"]);
    }
}

/// Tests the hooks with the oldest git, unless it is the newest, too.
fn run_with_oldest(place: Place) {
    match &gits()[..] {
        [oldest, _, ..] => Matrix::new(oldest, place).run(),
        _ => left_out("there is one version of git: name others in GIT_BLUE_TEST_GITS"),
    }
}

#[test]
fn oldest_git_in_the_main_checkout() {
    run_with_oldest(Place::Main);
}

#[test]
fn oldest_git_in_a_linked_worktree() {
    run_with_oldest(Place::Linked);
}

#[test]
fn newest_git_in_the_main_checkout() {
    Matrix::new(gits().last().unwrap(), Place::Main).run();
}

#[test]
fn newest_git_in_a_linked_worktree() {
    Matrix::new(gits().last().unwrap(), Place::Linked).run();
}
