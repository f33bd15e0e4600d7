//! Talks to a remote through the user's git, with its credentials, proxies and ssh. git moves no ref of the store: it
//! only transfers objects, and a killed git process leaves nothing behind that blocks another one.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io::Read as _,
    path::{Path, PathBuf},
    process::{ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use super::{create::lost_part, git_command, incoming::Incoming};
use crate::{
    model::oid::Oid,
    platform::process::{self, Group, RUNNING},
    store::{
        StoreError, StoreRef,
        remote::{Listing, Pushed, Refusal, Remote},
    },
};

mod messages;

/// The settings of every git command: no program from the user's configuration is run, now or later, and received
/// objects are checked, and flushed before a ref points to them.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "fetch.fsckObjects=true",
    // Always keep a pack. Then invalid objects are not stored, whereas unpacking would leave loose objects. Also, a
    // pack is flushed once rather than object by object.
    "fetch.unpackLimit=1",
    // `git fsck --strict` would warn about these for as long as they are in the store.
    "fetch.fsck.badFilemode=error",
    "transfer.hideRefs=refs/blue/local",
    "core.fsync=all",
    "gc.auto=0",
    "maintenance.auto=false",
    "push.followTags=false",
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    // A remote that sends nothing for a minute is considered unreachable.
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
];
/// The maximum number of bytes of git's output that are read. 20,000 refs need less.
const MAX_OUTPUT: u64 = 16 << 20;
/// The maximum number of refs of a realm.
const MAX_REFS: usize = 20_000;
/// The maximum number of refs in one call of git.
const MAX_PUSHED: usize = 500;

/// The default size limit of one fetch, in bytes.
pub const MAX_BYTES: u64 = 1 << 30;
/// The configuration key for the size limit of a fetch.
pub const MAX_BYTES_KEY: &str = "blue.maxFetchSize";
/// Runs git with a limit on the size of files, in blocks of 512 bytes. git fails as soon as it would exceed the limit.
/// The kernel enforces it for all of git's processes.
const LIMITED: &str = r#"trap '' XFSZ; ulimit -f "$1" || exit 125; shift; exec git "$@""#;
/// The message that git prints if it exceeds the limit.
const TOO_MUCH: &str = "File too large";
/// The problem of a web server that runs no git. git fetches single objects from it, without checking them.
const DUMB: &str = "its web server offers the files of the repository only (dumb HTTP), which is not supported: it has to \
    run git's own server (smart HTTP)";

/// The options for calls to remotes: prompts and limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransportOptions {
    /// Whether there is a terminal on which git may ask for a password and show progress.
    pub is_terminal: bool,
    /// True for calls from hooks and other background work. No program may then open a window to ask for a password.
    pub is_automatic: bool,
    /// The size limit of one fetch, in bytes.
    pub max_bytes: u64,
    /// The time limit of one call of git; `None` for no limit.
    pub max_time: Option<Duration>,
}

/// The connection from a store to a remote.
#[derive(Debug)]
pub struct RemoteConnection<'a> {
    store: PathBuf,
    remote: &'a Remote,
    vars: BTreeMap<OsString, OsString>,
    transport_options: TransportOptions,
}

/// The outcome of one call of git.
struct Outcome {
    stdout: String,
    words: String,
    /// The messages that the server sent, in one line.
    from_server: String,
    status: ExitStatus,
}

impl<'a> RemoteConnection<'a> {
    /// Creates the connection from the store in a folder to a remote.
    pub fn new(
        store: &Path,
        remote: &'a Remote,
        vars: &BTreeMap<OsString, OsString>,
        transport_options: TransportOptions,
    ) -> Self {
        Self { store: store.to_owned(), remote, vars: git_command::vars_of_store(vars), transport_options }
    }

    /// Lists the refs of the remote, the realm's own first.
    ///
    /// # Errors
    /// Returns an error if the remote cannot be reached, or has more refs than a realm can have.
    pub fn list(&self) -> Result<Listing, StoreError> {
        let prefix = self.remote.mapping.prefix();
        let mut patterns = ["realm", "domains/*", "sessions/*"].map(|name| format!("{prefix}{name}")).to_vec();
        let elsewhere = self.remote.mapping.other().there(&StoreRef::Realm);
        patterns.push(elsewhere.clone());
        // Without `--refs`, an annotated tag is listed a second time, as `NAME^{}`.
        let args = ["ls-remote", "--quiet", "--refs"];
        let outcome = self.talk(self.command(&args), &args, &patterns, None)?;
        if !outcome.status.success() {
            return Err(self.failed(&outcome));
        }
        let mut listing = Listing::default();
        for line in outcome.stdout.lines() {
            listing.is_elsewhere |= line.split_once('\t').is_some_and(|(_, name)| name == elsewhere);
            let Some((id, name)) = line.split_once('\t').filter(|(_, name)| name.starts_with(prefix)) else { continue };
            match (id.parse::<Oid>(), self.remote.mapping.here(name)) {
                (Ok(id), Some(name)) => listing.refs.push((name, id)),
                _ => listing.ignored.push(name.to_owned()),
            }
        }
        if listing.refs.len() > MAX_REFS {
            let problem = format!("it has {} refs, more than {MAX_REFS}", listing.refs.len());
            return Err(StoreError::Remote { url: self.shown_url(), problem });
        }
        listing.refs.sort();
        Ok(listing)
    }

    /// Fetches the objects of these refs into the store. No ref of the store moves.
    ///
    /// # Errors
    /// Returns an error if the remote cannot be reached, or sends an invalid object.
    pub fn fetch(&self, names: &[StoreRef], depth: Option<u32>) -> Result<(), StoreError> {
        self.fetch_lines(names.iter().map(|name| self.remote.mapping.there(name) + "\n").collect(), depth)
    }

    /// Fetches commits that the remote lists, with their objects. In contrast to [`Self::fetch`], the time that git takes
    /// does not grow with the square of their number, but the remote may not have a commit any more.
    ///
    /// # Errors
    /// Returns the errors of [`Self::fetch`].
    pub fn fetch_commits(&self, tips: &BTreeSet<Oid>, depth: Option<u32>) -> Result<(), StoreError> {
        self.fetch_lines(tips.iter().map(|tip| format!("{tip}\n")).collect(), depth)
    }

    /// Fetches what the lines name.
    fn fetch_lines(&self, mut wanted: String, depth: Option<u32>) -> Result<(), StoreError> {
        if wanted.is_empty() {
            wanted.push('\n');
        }
        let mut args = vec!["fetch", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"];
        args.extend(["--no-recurse-submodules", "--stdin", self.progress()]);
        let depth = depth.map(|depth| format!("--depth={depth}"));
        args.extend(depth.as_deref());
        let incoming = Incoming::new(&self.store)?;
        let mut command = if process::LIMITS_FILES { self.limited(&args) } else { self.command(&args) };
        command.envs(incoming.vars());
        let outcome = self.talk(command, &args, &[], Some(wanted))?;
        // If the system cannot limit file sizes, check the size of the received files before accepting them.
        if outcome.status.success() && incoming.has_loose_objects() {
            return Err(StoreError::Remote { url: self.shown_url(), problem: DUMB.into() });
        }
        if outcome.status.success()
            && (process::LIMITS_FILES || !incoming.has_file_of(self.transport_options.max_bytes))
        {
            return incoming.take();
        }
        // At a terminal, git prints its messages there and they are not captured.
        if outcome.words.contains(TOO_MUCH) || incoming.has_file_of(self.transport_options.max_bytes) {
            let url = self.shown_url();
            return Err(StoreError::FetchTooLarge { url, bytes: self.transport_options.max_bytes });
        }
        Err(self.failed(&outcome))
    }

    /// Pushes commits, never with force. Returns the remote's answer for each ref.
    ///
    /// # Errors
    /// Returns an error if the remote cannot be reached.
    pub fn push(&self, moves: &[(StoreRef, Oid)]) -> Result<Vec<Pushed>, StoreError> {
        self.update(moves, |there, tip| (format!("{tip}:{there}"), None))
    }

    /// Deletes refs at the remote if they still point to the given commits. Returns the remote's answer for each ref.
    ///
    /// # Errors
    /// Returns an error if the remote cannot be reached.
    pub fn delete(&self, refs: &[(StoreRef, Oid)]) -> Result<Vec<Pushed>, StoreError> {
        self.update(refs, |there, tip| (format!(":{there}"), Some(format!("--force-with-lease={there}:{tip}"))))
    }

    /// Updates refs at the remote. `spec` returns the refspec and the option for a name at the remote and a commit.
    fn update(
        &self,
        refs: &[(StoreRef, Oid)],
        spec: impl Fn(&str, &Oid) -> (String, Option<String>),
    ) -> Result<Vec<Pushed>, StoreError> {
        let mut answers = Vec::new();
        for refs in refs.chunks(MAX_PUSHED) {
            let specs = refs.iter().map(|(name, tip)| spec(&self.remote.mapping.there(name), tip));
            let (specs, options): (Vec<_>, Vec<_>) = specs.unzip();
            let mut args = vec!["push", "--porcelain", "--no-verify", "--no-recurse-submodules", self.progress()];
            args.extend(options.iter().flatten().map(String::as_str));
            let outcome = self.talk(self.command(&args), &args, &specs, None)?;
            let before = answers.len();
            answers.extend(outcome.stdout.lines().filter_map(|line| self.parse_push_line(line, &outcome.from_server)));
            // git fails if any ref was refused. If it lists no ref, nothing was updated.
            if !outcome.status.success() && answers.len() == before {
                return Err(self.failed(&outcome));
            }
        }
        Ok(answers)
    }

    /// Parses a line of `git push --porcelain`: a flag, the refs, and the outcome. A refusal by the server gets the
    /// server's own messages, which say why.
    fn parse_push_line(&self, line: &str, from_server: &str) -> Option<Pushed> {
        let mut parts = line.split('\t');
        let (flag, refs, summary) = (parts.next()?, parts.next()?, parts.next()?);
        let name = self.remote.mapping.here(refs.split_once(':')?.1)?;
        let server = if summary.starts_with("[remote rejected]") { from_server.to_owned() } else { String::new() };
        let refused = (flag == "!").then(|| Refusal { reason: summary.to_owned(), server });
        Some(Pushed { name, refused })
    }

    fn progress(&self) -> &'static str {
        if self.transport_options.is_terminal { "--progress" } else { "--quiet" }
    }

    fn shown_url(&self) -> String {
        crate::model::repo_url::without_credentials(&self.remote.url)
    }

    fn failed(&self, outcome: &Outcome) -> StoreError {
        // Then git does not recognize the store, and its message seems to be about the remote.
        if let Some(lost) = lost_part(&self.store) {
            return lost;
        }
        let problem = match outcome.words.as_str() {
            "" if outcome.status.code().is_none() => {
                format!("git was stopped by signal {}", process::code(outcome.status) - 128)
            }
            "" if self.transport_options.is_terminal => "see git's message above".to_owned(),
            "" => format!("git failed with exit status {} and no message", process::code(outcome.status)),
            words if words.contains("dumb http transport") => DUMB.to_owned(),
            words => words.to_owned(),
        };
        StoreError::Remote { url: self.shown_url(), problem }
    }

    fn talk(
        &self,
        mut command: Command,
        args: &[&str],
        below: &[String],
        input: Option<String>,
    ) -> Result<Outcome, StoreError> {
        let doing = || format!("run git {}", args.first().copied().unwrap_or_default());
        let cannot = |error| StoreError::git(doing())(error);
        command.arg("--").arg(&self.remote.url).args(below);
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped());
        // Show git's progress and prompts to the user at the terminal.
        let is_shown = self.transport_options.is_terminal && args.first() != Some(&"ls-remote");
        command.stderr(if is_shown { Stdio::inherit() } else { Stdio::piped() });
        let (mut child, time_limit) = match self.transport_options.max_time {
            Some(time) => {
                let (child, group) = Group::start(&mut command).map_err(cannot)?;
                (child, Some(TimeLimit::start(group, time)))
            }
            None => (command.spawn().map_err(cannot)?, None),
        };
        let (stdout, said) = git_command::converse(&mut child, input, read_output);
        let stdout = stdout.map_err(cannot)?;
        drop(time_limit);
        let status = child.wait().map_err(cannot)?;
        tracing::debug!(command = args.first(), status = status.code(), "ran git");
        if stdout.len() as u64 > MAX_OUTPUT {
            let problem = format!("it lists more than {} MiB", MAX_OUTPUT >> 20);
            return Err(StoreError::Remote { url: self.shown_url(), problem });
        }
        let stdout = String::from_utf8_lossy(&stdout).into_owned();
        let words = said.text();
        let words = String::from_utf8_lossy(&words);
        let from_server = messages::of_server(&words);
        Ok(Outcome { stdout, words: messages::in_one_line(&words), from_server, status })
    }

    fn command(&self, args: &[&str]) -> Command {
        self.prepared(Command::new("git"), args)
    }

    /// Returns a command with a limit on the size of files.
    fn limited(&self, args: &[&str]) -> Command {
        let mut command = process::shell();
        command.args(["-c", LIMITED, "sh"]).arg(self.transport_options.max_bytes.div_ceil(512).max(1).to_string());
        self.prepared(command, args)
    }

    fn prepared(&self, mut command: Command, args: &[&str]) -> Command {
        command.env_clear().envs(&self.vars).env(RUNNING, "1").current_dir(&self.store);
        // git's messages are matched in English.
        command.env("LC_ALL", "C");
        if !self.transport_options.is_terminal {
            // The program in `GIT_ASKPASS` or `SSH_ASKPASS` may still run: in CI, it often knows the password.
            command.env("GIT_TERMINAL_PROMPT", "0").env("GCM_INTERACTIVE", "never");
            if let Some(ssh) = self.is_by_ssh().then(|| self.quiet_ssh()).flatten() {
                command.env("GIT_SSH_COMMAND", ssh);
            }
        }
        if self.transport_options.is_automatic {
            // An empty variable also overrides `core.askPass`.
            command.env("GIT_ASKPASS", "").env("SSH_ASKPASS", "").env("SSH_ASKPASS_REQUIRE", "never");
        }
        command.arg("--git-dir").arg(&self.store);
        command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        if self.transport_options.is_automatic {
            // Credential helpers must not ask either.
            command.args(["-c", "credential.interactive=false"]);
        }
        command.args(args);
        command
    }

    /// Returns whether git may use ssh. It does not for a local path, unless the user's configuration rewrites that to
    /// another URL.
    fn is_by_ssh(&self) -> bool {
        !self.remote.url.starts_with('/') && !self.remote.url.starts_with("file://")
    }

    fn quiet_ssh(&self) -> Option<OsString> {
        git_command::quiet_ssh(&self.vars, |key| git_command::store_config(&self.vars, &self.store, key))
    }
}

/// Ends a child and all its descendants once its time is up, unless this is dropped before. The child must not be
/// reaped before the drop, so that its id cannot be reused.
struct TimeLimit {
    done: Option<mpsc::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl TimeLimit {
    fn start(group: Group, time: Duration) -> Self {
        let (done, ended) = mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            if let Err(mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(time) {
                group.ask_to_end();
            }
        });
        Self { done: Some(done), thread: Some(thread) }
    }
}

impl Drop for TimeLimit {
    fn drop(&mut self) {
        drop(self.done.take());
        let _ = self.thread.take().map(thread::JoinHandle::join);
    }
}

/// Reads the output of a child up to a limit, and discards the rest, so that the child does not block.
fn read_output(stdout: Option<ChildStdout>) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    if let Some(mut stdout) = stdout {
        stdout.by_ref().take(MAX_OUTPUT + 1).read_to_end(&mut text)?;
        std::io::copy(&mut stdout, &mut std::io::sink())?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::store::remote::Mapping;

    #[test]
    fn an_automatic_call_starts_no_program_that_asks() {
        let remote = Remote { name: "origin".parse().unwrap(), url: "/hub.git".into(), mapping: Mapping::Plain };
        let vars = BTreeMap::from([("GIT_ASKPASS".into(), "window".into()), ("SSH_ASKPASS".into(), "window".into())]);
        for is_automatic in [false, true] {
            let options = TransportOptions { is_terminal: false, is_automatic, max_bytes: MAX_BYTES, max_time: None };
            let command = RemoteConnection::new(Path::new("/"), &remote, &vars, options).command(&["fetch"]);
            let var =
                |name: &str| command.get_envs().find(|(key, _)| *key == name).and_then(|(_, value)| value).unwrap();
            let asks = if is_automatic { "" } else { "window" };
            assert_eq!((var("GIT_ASKPASS"), var("SSH_ASKPASS")), (asks.as_ref(), asks.as_ref()));
            assert_eq!(var("GIT_TERMINAL_PROMPT"), "0");
            assert_eq!(command.get_args().any(|arg| arg == "credential.interactive=false"), is_automatic);
        }
    }

    /// Returns the error of listing a server that is reached with this command instead of ssh.
    #[expect(clippy::disallowed_methods, reason = "git is found as whoever runs the tests finds it")]
    fn error_by_ssh(command: &str, max_time: Duration) -> String {
        let name = "origin".parse().unwrap();
        let remote = Remote { name, url: "ssh://nowhere.example/realm.git".into(), mapping: Mapping::Plain };
        let vars = BTreeMap::from([
            ("PATH".into(), std::env::var_os("PATH").unwrap_or_default()),
            ("GIT_SSH_COMMAND".into(), command.into()),
        ]);
        let max_time = Some(max_time);
        let transport_options =
            TransportOptions { is_terminal: false, is_automatic: false, max_bytes: MAX_BYTES, max_time };
        RemoteConnection::new(Path::new("/"), &remote, &vars, transport_options).list().unwrap_err().to_string()
    }

    #[test]
    fn an_unresponsive_server_times_out() {
        let begun = Instant::now();
        error_by_ssh("sleep 60 #", Duration::from_millis(200));
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    }

    #[test]
    fn process_that_git_leaves_behind_is_not_waited_for() {
        let begun = Instant::now();
        error_by_ssh("sleep 15 >/dev/null </dev/null & false #", Duration::from_secs(20));
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }

    #[test]
    fn a_signal_that_stops_git_is_named() {
        // Windows has no signals.
        if !process::LIMITS_FILES {
            return;
        }
        let error = error_by_ssh("kill -TERM $PPID; sleep 1 #", Duration::from_secs(20));
        assert_eq!(error, "ssh://nowhere.example/realm.git: git was stopped by signal 15");
    }
}
