//! Runs git in a user's repository as the user would, with the user's identity, hooks, configuration and credentials.
//! All changes to such a repository are made by this module.
//!
//! Paths and names are passed after `--`, or consist of parsed names, so that none of them is read as an option.

mod change;
mod credential;
mod worktree_status;
mod worktrees;

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

pub use change::{Uncommitted, clone};
pub use credential::{MAX_PASSWORD_TIME, password};
pub use worktree_status::{TriedMerge, WorkStatus};
pub use worktrees::{Start, Worktree};

use super::origin::{ORIGIN, at_remote};
use crate::store::{StoreError, git::git_command};

/// Runs git in one folder of a repository. It can be sent to other threads.
#[derive(Debug, Clone)]
pub struct Work {
    folder: PathBuf,
    vars: BTreeMap<OsString, OsString>,
    /// The remote that branches are fetched from and pushed to.
    remote: String,
    /// Whether git may prompt the user.
    may_ask: bool,
}

impl Work {
    /// Creates a runner for this folder. `vars` must not refer to another repository.
    pub fn new(folder: impl Into<PathBuf>, vars: BTreeMap<OsString, OsString>) -> Self {
        Self { folder: folder.into(), vars, remote: ORIGIN.to_owned(), may_ask: false }
    }

    /// Returns a runner for a repository that fetches from and pushes to this remote.
    #[must_use]
    pub fn with_remote(self, remote: impl Into<String>) -> Self {
        Self { remote: remote.into(), ..self }
    }

    /// Returns a runner for another folder.
    #[must_use]
    pub fn at(&self, folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), ..self.clone() }
    }

    /// Allows git to ask for a password, if there is a terminal.
    #[must_use]
    pub fn asking(self, is_terminal: bool) -> Self {
        Self { may_ask: is_terminal, ..self }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn output<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Output, StoreError> {
        self.output_with(args, Stdio::null(), &[])
    }

    fn output_with<S: AsRef<OsStr>>(
        &self,
        args: &[S],
        input: Stdio,
        more: &[(&str, &OsStr)],
    ) -> Result<Output, StoreError> {
        let mut command = Command::new("git");
        git_command::set_vars(&mut command, &self.vars);
        command.args(args).current_dir(&self.folder).envs(more.iter().copied()).stdin(input);
        if !self.may_ask {
            command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_ASKPASS", "").env("GCM_INTERACTIVE", "never");
        }
        let output = command.output().map_err(|error| StoreError::git(doing(args))(error))?;
        let verb = args.first().map(|verb| verb.as_ref().to_string_lossy().into_owned());
        tracing::debug!(command = verb, status = output.status.code(), "ran git");
        Ok(output)
    }

    /// Runs git and returns its output.
    fn text<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<String, StoreError> {
        succeeded(args, &self.output(args)?)
    }

    /// Runs a git command that talks to a remote.
    fn talk<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<(), StoreError> {
        let config = |key: &str| self.config(key).ok().flatten();
        let ssh = (!self.may_ask).then(|| git_command::quiet_ssh(&self.vars, config)).flatten();
        let ssh: Vec<_> = ssh.iter().map(|ssh| ("GIT_SSH_COMMAND", ssh.as_os_str())).collect();
        succeeded(args, &self.output_with(args, Stdio::null(), &ssh)?).map(drop)
    }

    /// Runs git and returns the first line of its output, or `None` if the exit code means no.
    fn line(&self, args: &[&str]) -> Result<Option<String>, StoreError> {
        let output = self.output(args)?;
        match output.status.code() {
            Some(0) => Ok(String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned)),
            Some(1) => Ok(None),
            _ => Err(failed(args, &output)),
        }
    }

    fn number(&self, args: &[&str]) -> Result<usize, StoreError> {
        let text = self.text(args)?;
        text.trim().parse().map_err(|error| StoreError::git(doing(args))(error))
    }

    /// Returns whether a ref with this full name exists.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn has_ref(&self, name: &str) -> Result<bool, StoreError> {
        Ok(self.line(&["rev-parse", "--verify", "--quiet", "--end-of-options", name])?.is_some())
    }

    /// Returns a value of git's configuration.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn config(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.line(&["config", "--get", key])
    }

    /// Returns all values of a key in git's configuration.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn configs(&self, key: &str) -> Result<Vec<String>, StoreError> {
        let output = self.output(&["config", "--get-all", key])?;
        match output.status.code() {
            Some(0 | 1) => Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()),
            _ => Err(failed(&["config"], &output)),
        }
    }

    /// Sets a value in the repository's own configuration.
    ///
    /// # Errors
    /// Returns an error if git cannot write it.
    pub fn set_config(&self, key: &str, value: &str) -> Result<(), StoreError> {
        self.text(&["config", "--local", key, value]).map(drop)
    }

    /// Returns the full name of the ref of a branch at the remote.
    pub fn at_origin(&self, branch: &str) -> String {
        at_remote(&self.remote, branch)
    }

    /// Fetches from the remote.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn fetch(&self) -> Result<(), StoreError> {
        self.talk(&["fetch", "--quiet", "--no-auto-maintenance", &self.remote])
    }

    /// Returns whether there is a remote.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn has_remote(&self) -> Result<bool, StoreError> {
        Ok(self.config(&format!("remote.{}.url", self.remote))?.is_some())
    }
}

fn doing<S: AsRef<OsStr>>(args: &[S]) -> String {
    let verb = args.iter().map(|word| word.as_ref().to_string_lossy()).find(|word| !word.starts_with('-'));
    format!("run git {}", verb.unwrap_or_default())
}

/// Returns the output of a command, or its error.
fn succeeded<S: AsRef<OsStr>>(args: &[S], output: &Output) -> Result<String, StoreError> {
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(failed(args, output))
    }
}

fn failed<S: AsRef<OsStr>>(args: &[S], output: &Output) -> StoreError {
    // git commit says on standard output why there is nothing to commit.
    let said = if output.stderr.is_empty() { &output.stdout } else { &output.stderr };
    let problem = without_secrets(String::from_utf8_lossy(said).trim());
    let problem = if problem.is_empty() { output.status.to_string() } else { problem };
    StoreError::Git { doing: doing(args), problem }
}

/// Returns the text without the user names and passwords in its URLs.
fn without_secrets(text: &str) -> String {
    let word = |word: &str| match word.split_once("://") {
        Some((before, rest)) => match rest.rsplit_once('@').filter(|(user, _)| !user.contains('/')) {
            Some((_, host)) => format!("{before}://{host}"),
            None => word.to_owned(),
        },
        None => word.to_owned(),
    };
    text.split_inclusive(char::is_whitespace).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_git_contain_no_password() {
        let said = "fatal: unable to access 'https://me:secret@host/x.git/': no\nhint: see https://host/a@b";
        let kept = "fatal: unable to access 'https://host/x.git/': no\nhint: see https://host/a@b";
        assert_eq!(without_secrets(said), kept);
    }
}
