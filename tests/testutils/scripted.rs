//! A folder in which the scripts of `tests/fixtures/` and shell lines run against the binary. `sealed.sh` sets their
//! environment, so that people can run the same scripts by hand.

#![allow(dead_code, reason = "not every test uses every helper")]

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use git_blue::env::Env;

#[path = "peers.rs"]
mod peers;

#[allow(unused_imports, reason = "only peer suites have some")]
pub use peers::peers;

/// The folder of the fixture scripts.
pub const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");

/// A sealed folder, deleted when dropped.
pub struct Scripted {
    folder: tempfile::TempDir,
}

impl Scripted {
    /// Creates an empty one.
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// Creates one with the realm of `make_realm.sh`.
    pub fn realm() -> Self {
        let new = Self::new();
        new.fixture("make_realm.sh", &[new.path().to_str().unwrap()]);
        new
    }

    /// Returns its path without symbolic links.
    pub fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Writes a file below the folder.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Runs a fixture script, and asserts success. Returns its standard output.
    pub fn fixture(&self, name: &str, arguments: &[&str]) -> String {
        let output = sh().arg(Path::new(FIXTURES).join(name)).args(arguments).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        text(&output)
    }

    /// Runs shell lines in its folder. Returns the exit code, and all output in order.
    pub fn shell(&self, lines: &str) -> (i32, String) {
        let script = format!(". '{FIXTURES}/sealed.sh'\nexec 2>&1\nseal \"$1\"\nnow 2026-01-22T09:00:00Z\n{lines}");
        let path = self.path();
        let output = sh().args(["-c", &script, "sh"]).arg(&path).current_dir(&path).output().unwrap();
        (output.status.code().unwrap_or(-1), text(&output))
    }

    /// Runs git in a subfolder.
    pub fn run(&self, folder: &str, arguments: &[&str]) -> (i32, String) {
        let quoted: Vec<_> =
            arguments.iter().map(|argument| format!("'{}'", argument.replace('\'', r"'\''"))).collect();
        self.shell(&format!("cd '{folder}' && git {}", quoted.join(" ")))
    }

    /// Runs git, and asserts success.
    pub fn ok(&self, folder: &str, arguments: &[&str]) -> String {
        let (code, output) = self.run(folder, arguments);
        assert_eq!(code, 0, "git {arguments:?}: {output}");
        output
    }
}

/// Returns a shell that finds the binary under test first.
fn sh() -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_git-blue")).parent().unwrap().to_owned();
    let rest = variable("PATH").unwrap_or_default();
    let path = std::env::join_paths([binary].into_iter().chain(std::env::split_paths(&rest))).unwrap();
    let mut command = Command::new("sh");
    command.env("PATH", path);
    command
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns a variable of the test's own process.
pub fn variable(name: &str) -> Option<OsString> {
    Env::from_process().unwrap().var(name).map(ToOwned::to_owned)
}
