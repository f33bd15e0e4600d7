//! A sealed git environment with its own home, identity, configuration and clock, so that tests have the same result
//! on every machine.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use crate::env::Env;

/// The author date and committer date of every commit.
const DATE: &str = "2026-01-24T12:00:00Z";

/// The content of the global git configuration, without background jobs, which would write into a removed folder.
const CONFIG: &str = "\
[user]
\tname = Ada
\temail = ada@example.org
[init]
\tdefaultBranch = main
[gc]
\tauto = 0
[maintenance]
\tauto = false
";

/// A temporary folder, and an environment in which git sees nothing else. The folder is removed on drop.
#[derive(Debug)]
pub struct Sandbox {
    folder: tempfile::TempDir,
    vars: BTreeMap<OsString, OsString>,
}

impl Sandbox {
    /// Creates an empty sandbox.
    ///
    /// # Panics
    /// Panics if the temporary folder cannot be written.
    #[expect(clippy::new_without_default, reason = "it makes a folder, which no default value should")]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("the temporary folder can be written");
        // With a symbolic link in the path, git and gix would use different names for the folder.
        let top = folder.path().canonicalize().expect("the new folder is there");
        let (home, config) = (top.join("home"), top.join("gitconfig"));
        std::fs::create_dir(&home).expect("the sandbox can be written");
        std::fs::write(&config, CONFIG).expect("the sandbox can be written");
        let vars = [
            ("GIT_AUTHOR_DATE", DATE.into()),
            ("GIT_COMMITTER_DATE", DATE.into()),
            ("GIT_CONFIG_GLOBAL", config.into_os_string()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("HOME", home.into_os_string()),
            ("LC_ALL", "C".into()),
            ("PATH", path()),
        ];
        Self { folder, vars: vars.map(|(name, value): (_, OsString)| (name.into(), value)).into() }
    }

    /// Returns the folder, with symbolic links resolved.
    ///
    /// # Panics
    /// Panics if the folder was removed.
    pub fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("the sandbox is there")
    }

    /// Returns the environment of processes in the sandbox.
    pub fn vars(&self) -> &BTreeMap<OsString, OsString> {
        &self.vars
    }

    /// Sets an additional variable.
    pub fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.vars.insert(name.into(), value.into());
    }

    /// Returns the program's environment for a folder of the sandbox.
    pub fn env(&self, cwd: impl Into<PathBuf>) -> Env {
        Env::isolated(cwd, self.vars.clone())
    }

    /// Returns a command that runs `program` in `dir` with only the sandbox's environment.
    pub fn command(&self, program: &str, dir: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(dir).env_clear().envs(&self.vars).stdin(Stdio::null());
        command
    }

    /// Runs git in `dir` and returns its output without the final newline.
    ///
    /// # Panics
    /// Panics with git's message if git fails.
    pub fn git(&self, dir: &Path, args: &[&str]) -> String {
        let output = self.try_git(dir, args);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?} in {}: {complaint}", dir.display());
        String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned()
    }

    /// Returns whether git is at least this version, for tests of features that older versions lack.
    ///
    /// # Panics
    /// Panics if git does not print its version.
    pub fn has_git(&self, major: u32, minor: u32) -> bool {
        let said = self.git(&self.path(), &["--version"]);
        let numbers = said.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok());
        let version: Vec<u32> = numbers.take(2).collect();
        assert_eq!(version.len(), 2, "{said}");
        version >= vec![major, minor]
    }

    /// Runs git in `dir` and returns the result.
    ///
    /// # Panics
    /// Panics if git is not installed.
    pub fn try_git(&self, dir: &Path, args: &[&str]) -> Output {
        self.command("git", dir).args(args).output().expect("git can be started")
    }
}

fn path() -> OsString {
    let env = Env::from_process().expect("there is a current folder");
    env.var("PATH").map(OsString::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_sees_only_the_sandbox() {
        let sandbox = Sandbox::new();
        let top = sandbox.path();
        let config = sandbox.git(&top, &["config", "--list", "--name-only"]);
        assert_eq!(config, "user.name\nuser.email\ninit.defaultbranch\ngc.auto\nmaintenance.auto");
        sandbox.git(&top, &["init", "-q", "code"]);
        let code = top.join("code");
        sandbox.git(&code, &["commit", "-q", "--allow-empty", "-m", "First"]);
        let shown = sandbox.git(&code, &["log", "--format=%an <%ae> %aI %cI %D"]);
        let date = "2026-01-24T12:00:00+00:00";
        assert_eq!(shown.replace('Z', "+00:00"), format!("Ada <ada@example.org> {date} {date} HEAD -> main"));
    }

    #[test]
    #[should_panic(expected = "not a git command")]
    fn a_failing_git_panics() {
        let sandbox = Sandbox::new();
        sandbox.git(&sandbox.path(), &["surely-not"]);
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        let sandbox = Sandbox::new();
        assert!(sandbox.has_git(1, 99) && sandbox.has_git(2, 9));
        assert!(!sandbox.has_git(2, 1000) && !sandbox.has_git(20, 0));
    }

    #[test]
    fn the_program_sees_the_same_environment_as_git() {
        let mut sandbox = Sandbox::new();
        sandbox.set("GIT_BLUE_NOW", "2026-01-24T12:00:00Z");
        let env = sandbox.env(sandbox.path());
        assert_eq!(env.cwd(), sandbox.path());
        assert_eq!(env.home(), Some(sandbox.path().join("home")));
        assert_eq!(env.now().to_string(), "2026-01-24T12:00:00Z");
    }
}
