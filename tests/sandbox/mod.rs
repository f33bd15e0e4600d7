//! A folder in which the scripts of `tests/fixtures/` run against the binary, sealed from the
//! user's own configuration. What the environment is, `sealed.sh` says.

#![allow(dead_code, reason = "not every test uses every helper")]

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Where the fixture scripts lie.
pub const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");

/// A sealed folder, gone when dropped.
pub struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    /// Makes an empty one.
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// Makes one that holds what `make_realm.sh` makes.
    pub fn realm() -> Self {
        let sandbox = Self::new();
        let here = sandbox.path().to_str().unwrap().to_owned();
        sandbox.fixture("make_realm.sh", &[&here]);
        sandbox
    }

    /// Returns its folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file below it.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Runs a fixture script, which must succeed. Returns what it wrote to standard output.
    pub fn fixture(&self, name: &str, arguments: &[&str]) -> String {
        let mut command = Command::new("sh");
        command.arg(Path::new(FIXTURES).join(name)).args(arguments).env("PATH", path_variable());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a shell command line in a folder below it. Returns the exit code, and everything that
    /// was written, in the order in which it was.
    pub fn shell(&self, folder: &str, line: &str) -> (i32, String) {
        let script =
            format!(". {FIXTURES}/sealed.sh; seal \"$1\"; now 2026-01-22T09:00:00Z; cd \"$2\"; exec 2>&1; {line}");
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]).arg(self.path()).arg(self.path().join(folder));
        let output = command.env("PATH", path_variable()).output().unwrap();
        (output.status.code().unwrap_or(-1), String::from_utf8(output.stdout).unwrap())
    }

    /// Runs git in a folder below it.
    pub fn run(&self, folder: &str, arguments: &[&str]) -> (i32, String) {
        let quoted: Vec<_> =
            arguments.iter().map(|argument| format!("'{}'", argument.replace('\'', r"'\''"))).collect();
        self.shell(folder, &format!("git {}", quoted.join(" ")))
    }

    /// Runs git, which must succeed.
    pub fn ok(&self, folder: &str, arguments: &[&str]) -> String {
        let (code, output) = self.run(folder, arguments);
        assert_eq!(code, 0, "git {arguments:?}: {output}");
        output
    }
}

/// The binary under test comes before any that is installed.
#[expect(clippy::disallowed_methods, reason = "git has to be found")]
fn path_variable() -> std::ffi::OsString {
    let binary = Path::new(env!("CARGO_BIN_EXE_git-blue")).parent().unwrap().to_owned();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths([binary].into_iter().chain(std::env::split_paths(&rest))).unwrap()
}

/// Returns a path below the root of the sources.
pub fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
