//! Machines with their own homes, and a hub that they use through a URL.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
    time::{Duration, Instant},
};

use git_blue::testing::sandbox::Sandbox;

/// The name of the shared realm.
pub const REALM: &str = "r";
/// Much longer than a sync with a server on this machine takes.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct World {
    pub sandbox: Sandbox,
}

/// The result of a command.
#[derive(Debug)]
pub struct Run {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

impl World {
    /// Makes a hub that no machine uses yet.
    pub fn new() -> Self {
        let world = Self { sandbox: Sandbox::new() };
        world.sandbox.git(&world.sandbox.path(), &["init", "--quiet", "--bare", "hub.git"]);
        world
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.sandbox.path().join(relative)
    }

    pub fn set(&mut self, name: &str, value: impl Into<std::ffi::OsString>) {
        self.sandbox.set(name, value);
    }

    /// Makes a machine with its own repository.
    pub fn machine(&self, machine: &str) {
        let top = self.sandbox.path();
        self.sandbox.git(&top, &["init", "--quiet", machine]);
        self.sandbox.git(&self.path(machine), &["commit", "--quiet", "--allow-empty", "-m", machine]);
    }

    pub fn command(&self, machine: &str, args: &[&str]) -> Command {
        let mut command = self.sandbox.command(env!("CARGO_BIN_EXE_git-blue"), &self.path(machine));
        command.args(args).env("GIT_BLUE_HOME", self.path(&format!("{machine}-home")));
        command
    }

    pub fn blue(&self, machine: &str, args: &[&str]) -> Run {
        let start = Instant::now();
        let run = self.command(machine, args).output().unwrap().into();
        assert!(start.elapsed() < PATIENCE, "{args:?} took {:?}: {run:?}", start.elapsed());
        run
    }

    #[track_caller]
    pub fn ok(&self, machine: &str, args: &[&str]) -> Run {
        let run = self.blue(machine, args);
        assert_eq!(run.code, 0, "{machine} {args:?}: {run:?}");
        run
    }

    /// Adds a machine to the realm at a URL. Creates the realm if needed.
    #[track_caller]
    pub fn join(&self, machine: &str, url: &str) {
        self.machine(machine);
        self.ok(machine, &["init", "--realm", REALM, "--url", url]);
        self.ok(machine, &["realm", "admin", "domain", "--name", "s3", "--repos", machine]);
    }

    /// Publishes a version of a machine's own contract. Nothing is pushed yet.
    pub fn publish(&self, machine: &str, version: u32) {
        self.publish_value(machine, version, "1");
    }

    pub fn publish_value(&self, machine: &str, version: u32, value: &str) {
        let folder = self.path(machine).join(".blue/contracts/s3");
        std::fs::create_dir_all(&folder).unwrap();
        let text = format!(
            "name: of-{machine}\nversion: \"1.{version}.0\"\nowner: {machine}\nvalues: free\nvalue: \"{value}\"\n"
        );
        std::fs::write(folder.join(format!("of-{machine}.yaml")), text).unwrap();
        self.sandbox.git(&self.path(machine), &["add", "."]);
        let mut commit = self.sandbox.command("git", &self.path(machine));
        commit.args(["commit", "--quiet", "-m", "Publish"]);
        commit.env("GIT_BLUE_HOME", self.path(&format!("{machine}-home")));
        assert!(commit.status().unwrap().success());
    }

    pub fn store(&self, machine: &str) -> PathBuf {
        self.path(&format!("{machine}-home/realms/{REALM}.git"))
    }

    /// Returns the refs that are synced.
    pub fn tips(&self, repo: &Path) -> String {
        let refs = ["for-each-ref", "--format=%(refname) %(objectname)", "refs/blue/realm", "refs/blue/domains"];
        self.sandbox.git(repo, &refs)
    }

    #[track_caller]
    pub fn all_alike(&self, machines: &[&str]) {
        let hub = self.tips(&self.path("hub.git"));
        assert!(hub.contains("refs/blue/domains/s3"), "{hub}");
        for machine in machines {
            assert_eq!(self.tips(&self.store(machine)), hub, "{machine}");
            self.sandbox.git(&self.store(machine), &["fsck", "--strict", "--no-dangling"]);
        }
        self.sandbox.git(&self.path("hub.git"), &["fsck", "--strict", "--no-dangling"]);
    }

    /// Tries to sync when that cannot work. Asserts that it fails and says why, and that the local realm is unchanged
    /// and usable.
    #[track_caller]
    pub fn fails(&self, machine: &str, words: &[&str]) -> Run {
        let before = self.tips(&self.store(machine));
        let run = self.blue(machine, &["sync"]);
        assert_eq!(run.code, 128, "{run:?}");
        for word in words {
            assert!(run.stderr.contains(word), "{word}: {run:?}");
        }
        assert!(run.stderr.lines().count() < 12, "{run:?}");
        assert_eq!(self.tips(&self.store(machine)), before);
        let status = self.ok(machine, &["status"]);
        assert!(status.stdout.contains("not in sync"), "{status:?}");
        run
    }
}

impl Run {
    pub fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code().unwrap_or(-1),
        }
    }
}
