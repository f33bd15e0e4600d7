//! Runs git itself, for the few questions that only git can answer.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _},
    iter,
    path::{Path, PathBuf},
    process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use crate::{platform::process::RUNNING, store::StoreError};

/// The maximum length of the text that is kept of git's standard error, in bytes.
const MAX_SAID: usize = 8_000;
/// How long git's standard error is read after git has ended.
const MAX_LEFT_OPEN: Duration = Duration::from_secs(1);

/// Variables that change what a pathspec means.
const PATHSPECS: &[&str] =
    &["GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"];

/// Variables of another repository, which would make git work outside the store, or refuse to.
const ELSEWHERE: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Returns the variables for git in a store.
pub(super) fn vars_of_store(vars: &BTreeMap<OsString, OsString>) -> BTreeMap<OsString, OsString> {
    let of_store = vars.iter().filter(|(name, _)| !ELSEWHERE.iter().any(|elsewhere| *name == *elsewhere));
    of_store.map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[derive(Debug)]
pub(crate) struct Git {
    pub(crate) git_dir: PathBuf,
    /// The working directory of git. Relative paths start there.
    pub(crate) top: PathBuf,
    pub(crate) vars: BTreeMap<OsString, OsString>,
}

impl Git {
    /// Runs git in the repository and returns the first line of its output.
    pub(crate) fn line(&self, args: &[&str]) -> Result<String, StoreError> {
        self.text(args).map(|text| text.lines().next().unwrap_or_default().to_owned())
    }

    /// Runs git in the repository and returns the first line of its output, or `None` if it exits with 1. Whatever it
    /// writes to standard error, such as a warning or a trace, says nothing about that.
    pub(crate) fn line_if_any(&self, args: &[&str]) -> Result<Option<String>, StoreError> {
        let output = self.command(args).output().map_err(StoreError::git(doing(args)))?;
        match output.status.code() {
            Some(1) => Ok(None),
            _ => read(args, output).map(|text| text.lines().next().map(str::to_owned)),
        }
    }

    /// Runs git in the repository and returns its output.
    pub(crate) fn text(&self, args: &[&str]) -> Result<String, StoreError> {
        self.text_and_killed(args).0
    }

    /// Does the same as [`Self::text`], and also returns whether a signal ended git, which then could not clean up.
    pub(crate) fn text_and_killed(&self, args: &[&str]) -> (Result<String, StoreError>, bool) {
        let output = match self.command(args).output() {
            Ok(output) => output,
            Err(error) => return (Err(StoreError::git(doing(args))(error)), false),
        };
        let is_killed = output.status.code().is_none();
        (read(args, output), is_killed)
    }

    /// Runs git in the repository. Returns its standard output and error, and whether it succeeded.
    pub(crate) fn output_and_errors(&self, args: &[&str]) -> Result<(String, bool), StoreError> {
        let output = self.command(args).output().map_err(StoreError::git(doing(args)))?;
        let said = [output.stdout, output.stderr].concat();
        Ok((String::from_utf8_lossy(&said).into_owned(), output.status.success()))
    }

    /// Runs git in the repository with `input` on its standard input, and passes each line of its output to `each`,
    /// because the output may not fit into memory.
    pub(crate) fn each_line(&self, args: &[&str], input: String, mut each: impl FnMut(&str)) -> Result<(), StoreError> {
        let failed = |error| StoreError::git(doing(args))(error);
        let mut command = self.command(args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
        let (read, said) = converse(&mut child, Some(input), |stdout| {
            let mut lines = stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines());
            lines.try_for_each(|line| line.map(|line| each(&line)))
        });
        let status = child.wait().map_err(failed)?;
        if !status.success() {
            let problem = String::from_utf8_lossy(&said.text()).trim().to_owned();
            return Err(StoreError::Git { doing: doing(args), problem });
        }
        read.map_err(failed)
    }

    /// Returns a command that runs git in the repository.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = command(&self.vars);
        command.arg("--git-dir").arg(&self.git_dir).args(args).current_dir(&self.top);
        // The path may be relative to the folder in which this program was started.
        command.env_remove("GIT_WORK_TREE");
        command
    }
}

/// Returns the output of git, or its complaint if it failed.
fn read(args: &[&str], output: Output) -> Result<String, StoreError> {
    tracing::debug!(command = args.first(), status = output.status.code(), "ran git");
    if !output.status.success() {
        let problem = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let problem = if problem.is_empty() { output.status.to_string() } else { problem };
        return Err(StoreError::Git { doing: doing(args), problem });
    }
    String::from_utf8(output.stdout).map_err(|error| StoreError::git(doing(args))(error))
}

fn doing(args: &[&str]) -> String {
    format!("run git {}", args.join(" "))
}

/// The standard error of a child, read by a thread so that the child does not block.
pub(super) struct ErrorOutput(Receiver<Vec<u8>>);

impl ErrorOutput {
    fn by(stderr: Option<ChildStderr>) -> Self {
        let (send, receive) = mpsc::channel();
        thread::spawn(move || {
            let (mut buffer, mut left) = ([0; 4096], MAX_SAID);
            let Some(mut stderr) = stderr else { return };
            loop {
                match stderr.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(read) => {
                        let kept = read.min(left);
                        left -= kept;
                        // The rest is read only so that git does not block.
                        if kept > 0 {
                            let _ = send.send(buffer[..kept].to_vec());
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        });
        Self(receive)
    }

    /// Returns the beginning of the child's standard error. Call this when the child has ended. A process that the
    /// child left behind, such as a persistent ssh connection, may keep the pipe open; this does not wait for it.
    pub(super) fn text(self) -> Vec<u8> {
        let end = Instant::now() + MAX_LEFT_OPEN;
        let chunks = iter::from_fn(|| self.0.recv_timeout(end.saturating_duration_since(Instant::now())).ok());
        chunks.flatten().collect()
    }
}

/// Feeds a child and passes its output to `read`, without a deadlock between the two. Also returns its standard error.
pub(super) fn converse<T>(
    child: &mut Child,
    input: Option<String>,
    read: impl FnOnce(Option<ChildStdout>) -> T,
) -> (T, ErrorOutput) {
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let said = ErrorOutput::by(child.stderr.take());
    thread::scope(|scope| {
        scope.spawn(move || {
            if let (Some(mut stdin), Some(input)) = (stdin, input) {
                // A git process that has failed stops reading, and reports the reason itself.
                let _ = stdin.write_all(input.as_bytes());
            }
        });
        (read(stdout), said)
    })
}

/// Returns a command that runs git with these variables, in the current folder.
pub(crate) fn command(vars: &BTreeMap<OsString, OsString>) -> Command {
    let mut command = Command::new("git");
    set_vars(&mut command, vars);
    command.env(RUNNING, "1").env("GIT_OPTIONAL_LOCKS", "0").stdin(Stdio::null());
    command
}

/// Sets the variables of a git command, except those that a caller such as Magit sets for its own pathspecs.
pub(crate) fn set_vars(command: &mut Command, vars: &BTreeMap<OsString, OsString>) {
    command.env_clear().envs(vars.iter().filter(|(name, _)| !PATHSPECS.iter().any(|pathspecs| *name == *pathspecs)));
}

/// Returns the user's ssh command with options that disable prompts. A program other than OpenSSH gets no options.
/// `config` reads git's configuration.
pub(crate) fn quiet_ssh(
    vars: &BTreeMap<OsString, OsString>,
    config: impl Fn(&str) -> Option<String>,
) -> Option<OsString> {
    let var = |name: &str| vars.get(OsStr::new(name)).filter(|value| !value.is_empty()).cloned();
    if var("GIT_SSH").is_some() || var("GIT_SSH_VARIANT").is_some() {
        return None;
    }
    let configured = || config("core.sshCommand").map(OsString::from);
    let mut ssh = var("GIT_SSH_COMMAND").or_else(configured).unwrap_or_else(|| "ssh".into());
    let program = ssh.to_string_lossy();
    let program = program.split(' ').next().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned();
    (program == "ssh").then(|| {
        ssh.push(" -o BatchMode=yes");
        // Detect an unreachable or vanished server within a minute.
        ssh.push(" -o ConnectTimeout=30 -o ServerAliveInterval=15 -o ServerAliveCountMax=3");
        ssh
    })
}

/// Returns whether git accepts the repository at a folder. Reads as little of the repository as possible.
pub(crate) fn accepts_repository(folder: &Path, vars: &BTreeMap<OsString, OsString>) -> bool {
    let output = command(vars).current_dir(folder).args(["rev-parse", "--git-dir"]).output();
    output.is_ok_and(|output| output.status.success())
}

/// Returns the output of `git --version`, or `None` if there is no git.
pub fn git_version(vars: &BTreeMap<OsString, OsString>) -> Option<String> {
    let output = command(vars).arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns the first two numbers in the output of `git --version`.
pub fn numbers(said: &str) -> (u32, u32) {
    let mut numbers = said.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok());
    (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default())
}

/// Returns the value of a key in the system's and the user's configuration.
pub(crate) fn global_config(vars: &BTreeMap<OsString, OsString>, key: &str) -> Option<String> {
    // Run in a folder without a repository.
    value(command(vars).current_dir("/").args(["config", "--get", key]))
}

/// Returns the value of a key in the configuration that git uses in a store, which need not exist yet.
pub(super) fn store_config(vars: &BTreeMap<OsString, OsString>, store: &Path, key: &str) -> Option<String> {
    if !store.is_dir() {
        return global_config(vars, key);
    }
    value(command(vars).arg("--git-dir").arg(store).args(["config", "--get", key]))
}

fn value(config: &mut Command) -> Option<String> {
    let output = config.output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim_end_matches('\n').to_owned()).filter(|text| output.status.success() && !text.is_empty())
}

/// Returns the keys that match a regular expression and their values, in the system's and the user's configuration.
pub(crate) fn global_values(vars: &BTreeMap<OsString, OsString>, pattern: &str) -> Vec<(String, String)> {
    let output = command(vars).current_dir("/").args(["config", "--null", "--get-regexp", pattern]).output();
    let bytes = output.map(|output| output.stdout).unwrap_or_default();
    let entry = |entry: &[u8]| {
        let (key, value) = std::str::from_utf8(entry).ok()?.split_once('\n')?;
        Some((key.to_owned(), value.to_owned()))
    };
    bytes.split(|byte| *byte == 0).filter_map(entry).collect()
}
