//! Many concurrent processes, with git packing meanwhile, and processes that are killed at any time. `make torture`
//! runs the full version; without `GIT_BLUE_TORTURE=full` each test is a small one.

mod clones;
mod kills;
mod many;
mod pruners;
#[path = "../testutils/whole.rs"]
mod whole;

use std::{
    path::PathBuf,
    process::{Command, Output},
    sync::atomic::{AtomicBool, Ordering},
};

use git_blue::testing::sandbox::Sandbox;
use whole::is_full;

/// The program, and a realm `r` in which the repository `aperture` owns contracts.
struct World {
    sandbox: Sandbox,
}

impl World {
    fn new(domains: &[String]) -> Self {
        let mut sandbox = Sandbox::new();
        sandbox.set("GIT_BLUE_HOME", sandbox.path().join("blue-home"));
        let world = Self { sandbox };
        let code = world.code();
        world.sandbox.git(&world.sandbox.path(), &["init", "-q", "aperture"]);
        world.sandbox.git(&code, &["commit", "-q", "--allow-empty", "-m", "First"]);
        world.blue(&["init", "--realm", "r"]);
        world.blue(&["hooks", "uninstall"]);
        for domain in domains {
            world.blue(&["realm", "admin", "domain", "--name", domain, "--repos", "aperture"]);
        }
        world
    }

    fn code(&self) -> PathBuf {
        self.sandbox.path().join("aperture")
    }

    fn store(&self) -> PathBuf {
        self.sandbox.path().join("blue-home/realms/r.git")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.command(env!("CARGO_BIN_EXE_git-blue"), &self.code());
        command.args(args);
        command
    }

    fn try_blue(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn blue(&self, args: &[&str]) -> String {
        let output = self.try_blue(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git blue {args:?}: {}: {said}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns all contracts of the realm, as `domain/contract version`.
    fn contracts(&self) -> Vec<String> {
        let json: serde_json::Value =
            serde_json::from_str(&self.blue(&["contract", "list", "--all", "--json"])).unwrap();
        let lines = json["contracts"].as_array().unwrap().iter();
        lines.map(|one| format!("{}/{} {}", text(&one["domain"]), text(&one["name"]), text(&one["version"]))).collect()
    }

    fn fsck(&self) {
        self.sandbox.git(&self.store(), &["fsck", "--strict", "--no-dangling", "--no-progress"]);
    }

    /// Packs refs, fetches, and now and then packs everything, until stopped.
    fn pack_until(&self, done: &AtomicBool) {
        let code = self.code().display().to_string();
        for round in 0.. {
            if done.load(Ordering::Relaxed) {
                break;
            }
            // A packer may fail on a locked ref.
            self.sandbox.try_git(&self.store(), &["pack-refs", "--all"]);
            if round % 10 == 9 {
                let branch = format!("+refs/heads/main:refs/heads/by-hand-{}", round % 7);
                self.sandbox.try_git(&self.store(), &["fetch", "--quiet", &code, &branch]);
            }
            if round % 50 == 49 {
                self.sandbox.try_git(&self.store(), &["gc", "--quiet"]);
            }
        }
    }
}

fn text(value: &serde_json::Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the full number with `GIT_BLUE_TORTURE=full`, the small one otherwise.
fn scale(small: usize, full: usize) -> usize {
    if is_full() { full } else { small }
}
