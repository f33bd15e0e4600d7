//! Talking to a remote, by the user's own git: with its credentials, its proxies, its ssh. Git moves
//! no ref of the store: it brings objects and takes objects, and a git that is killed on the way
//! leaves nothing behind that another one would wait for.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use super::{git_command::GUARD, incoming::Incoming};
use crate::{
    model::oid::Oid,
    platform::process::{self, Group},
    store::{
        StoreError, StoreRef,
        remote::{Listing, Pushed, Remote},
    },
};

/// What git is called with, whatever it does: nothing of the user's runs or is left to run later,
/// what comes is examined, and lies on disk before a ref leads to it.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "fetch.fsckObjects=true",
    // Always as a pack: what is not sound is not kept then, where git would leave single objects. And a
    // pack is flushed at once, not object by object.
    "fetch.unpackLimit=1",
    // What `git fsck --strict` would warn of for as long as it is here.
    "fetch.fsck.badFilemode=error",
    "transfer.hideRefs=refs/blue/local",
    "core.fsync=all",
    "gc.auto=0",
    "maintenance.auto=false",
    "push.followTags=false",
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    // A remote that says nothing for a minute is as good as down.
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
];
/// Variables that lead git elsewhere than into the store.
const ELSEWHERE: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_QUARANTINE_PATH",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];
/// Most bytes that git prints of which anything is read: 20,000 refs are fewer.
const MAX_OUTPUT: u64 = 16 << 20;
/// Most refs of a realm.
const MAX_REFS: usize = 20_000;
/// Most refs in one call of git.
const MAX_PUSHED: usize = 500;
/// Most of what git said that an error repeats.
const MAX_WORDS: usize = 2_000;

/// Most bytes that a remote sends at once, unless its user says otherwise.
pub const MAX_BYTES: u64 = 1 << 30;
/// The setting by which he does.
pub const MAX_BYTES_KEY: &str = "blue.maxFetchSize";
/// Runs git with no file larger than a number of blocks of 512 bytes: what is beyond that is not written, so that git
/// fails at once. The kernel sees to it, however git's processes share the work.
const LIMITED: &str = r#"trap '' XFSZ; ulimit -f "$1" || exit 125; shift; exec git "$@""#;
/// What git says where it was not allowed to write on.
const TOO_MUCH: &str = "File too large";

/// How to talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manners {
    /// Whether somebody is there who can be asked for a password, and sees how far it got.
    pub is_terminal: bool,
    /// Most bytes that are fetched at once.
    pub max_bytes: u64,
    /// How long one call of git may take; as long as it needs where nothing is said.
    pub max_time: Option<Duration>,
}

/// The way from a store to a remote.
#[derive(Debug)]
pub struct Link<'a> {
    store: PathBuf,
    remote: &'a Remote,
    vars: BTreeMap<OsString, OsString>,
    manners: Manners,
}

/// What git did.
struct Outcome {
    stdout: String,
    words: String,
    success: bool,
}

impl<'a> Link<'a> {
    /// Returns the way from the store in a folder to a remote.
    pub fn new(store: &Path, remote: &'a Remote, vars: &BTreeMap<OsString, OsString>, manners: Manners) -> Self {
        let mut vars = vars.clone();
        vars.retain(|name, _| !ELSEWHERE.iter().any(|elsewhere| OsStr::new(elsewhere) == name));
        Self { store: store.to_owned(), remote, vars, manners }
    }

    /// Returns what the remote holds, the realm's own ref first.
    ///
    /// # Errors
    /// Returns an error if it cannot be reached, or holds more than any realm.
    pub fn list(&self) -> Result<Listing, StoreError> {
        let prefix = self.remote.mapping.prefix();
        let patterns = ["realm", "domains/*", "sessions/*"].map(|name| format!("{prefix}{name}"));
        let outcome = self.run(&["ls-remote", "--quiet"], &patterns, None)?;
        let mut listing = Listing::default();
        for line in outcome.stdout.lines() {
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

    /// Brings what these refs lead to into the store. No ref of the store moves.
    ///
    /// # Errors
    /// Returns an error if the remote cannot be reached, or what it sends is no sound git object.
    pub fn fetch(&self, names: &[StoreRef], depth: Option<u32>) -> Result<(), StoreError> {
        let mut wanted: String = names.iter().map(|name| self.remote.mapping.there(name) + "\n").collect();
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
        // Where the system stops no file from growing, what came is measured before it is taken in.
        if outcome.success && (process::LIMITS_FILES || !incoming.has_file_of(self.manners.max_bytes)) {
            return incoming.take();
        }
        // At a terminal git's words go there.
        if outcome.words.contains(TOO_MUCH) || incoming.has_file_of(self.manners.max_bytes) {
            let url = self.shown_url();
            return Err(StoreError::TooMuch { url, bytes: self.manners.max_bytes });
        }
        Err(self.failed(&outcome))
    }

    /// Offers commits to the remote, never by force. Returns what it said to each.
    ///
    /// # Errors
    /// Returns an error if the remote cannot be reached.
    pub fn push(&self, moves: &[(StoreRef, Oid)]) -> Result<Vec<Pushed>, StoreError> {
        let mut pushed = Vec::new();
        for moves in moves.chunks(MAX_PUSHED) {
            let specs: Vec<_> =
                moves.iter().map(|(name, tip)| format!("{tip}:{}", self.remote.mapping.there(name))).collect();
            let args = ["push", "--porcelain", "--no-verify", "--no-recurse-submodules", self.progress()];
            let outcome = self.try_run(&args, &specs, None)?;
            let before = pushed.len();
            pushed.extend(outcome.stdout.lines().filter_map(|line| self.answered(line)));
            // Git fails where a single ref was refused; where it tells of none, nothing was offered.
            if !outcome.success && pushed.len() == before {
                return Err(self.failed(&outcome));
            }
        }
        Ok(pushed)
    }

    /// Deletes refs at the remote, each if it still is at that commit. Returns what it said to each.
    ///
    /// # Errors
    /// Returns an error if the remote cannot be reached.
    pub fn delete(&self, refs: &[(StoreRef, Oid)]) -> Result<Vec<Pushed>, StoreError> {
        let mut deleted = Vec::new();
        for refs in refs.chunks(MAX_PUSHED) {
            let there: Vec<_> = refs.iter().map(|(name, tip)| (self.remote.mapping.there(name), tip)).collect();
            let leases: Vec<_> = there.iter().map(|(name, tip)| format!("--force-with-lease={name}:{tip}")).collect();
            let specs: Vec<_> = there.iter().map(|(name, _)| format!(":{name}")).collect();
            let mut args = vec!["push", "--porcelain", "--no-verify", "--no-recurse-submodules", self.progress()];
            args.extend(leases.iter().map(String::as_str));
            let outcome = self.try_run(&args, &specs, None)?;
            let before = deleted.len();
            deleted.extend(outcome.stdout.lines().filter_map(|line| self.answered(line)));
            if !outcome.success && deleted.len() == before {
                return Err(self.failed(&outcome));
            }
        }
        Ok(deleted)
    }

    /// Reads a line of `git push --porcelain`: a flag, the refs, what became of it.
    fn answered(&self, line: &str) -> Option<Pushed> {
        let mut parts = line.split('\t');
        let (flag, refs, summary) = (parts.next()?, parts.next()?, parts.next()?);
        let name = self.remote.mapping.here(refs.split_once(':')?.1)?;
        Some(Pushed { name, refused: (flag == "!").then(|| summary.to_owned()) })
    }

    fn progress(&self) -> &'static str {
        if self.manners.is_terminal { "--progress" } else { "--quiet" }
    }

    fn shown_url(&self) -> String {
        crate::model::repo_url::without_credentials(&self.remote.url)
    }

    fn failed(&self, outcome: &Outcome) -> StoreError {
        let problem = if outcome.words.is_empty() { "git says above why".to_owned() } else { outcome.words.clone() };
        StoreError::Remote { url: self.shown_url(), problem }
    }

    fn run(&self, args: &[&str], below: &[String], input: Option<String>) -> Result<Outcome, StoreError> {
        let outcome = self.try_run(args, below, input)?;
        if outcome.success { Ok(outcome) } else { Err(self.failed(&outcome)) }
    }

    fn try_run(&self, args: &[&str], below: &[String], input: Option<String>) -> Result<Outcome, StoreError> {
        self.talk(self.command(args), args, below, input)
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
        // Git's own progress, and what it asks, is for who sits there.
        let is_shown = self.manners.is_terminal && args.first() != Some(&"ls-remote");
        command.stderr(if is_shown { Stdio::inherit() } else { Stdio::piped() });
        let (mut child, watch) = match self.manners.max_time {
            Some(time) => {
                let (child, group) = Group::start(&mut command).map_err(cannot)?;
                (child, Some(Watch::over(group, time)))
            }
            None => (command.spawn().map_err(cannot)?, None),
        };
        let (stdout, words) = converse(&mut child, input).map_err(cannot)?;
        drop(watch);
        let status = child.wait().map_err(cannot)?;
        tracing::debug!(command = args.first(), status = status.code(), "ran git");
        if stdout.len() as u64 > MAX_OUTPUT {
            let problem = format!("it lists more than {} MiB", MAX_OUTPUT >> 20);
            return Err(StoreError::Remote { url: self.shown_url(), problem });
        }
        let words = in_one_line(&String::from_utf8_lossy(&words));
        Ok(Outcome { stdout: String::from_utf8_lossy(&stdout).into_owned(), words, success: status.success() })
    }

    fn command(&self, args: &[&str]) -> Command {
        self.prepared(Command::new("git"), args)
    }

    /// Returns a command whose files do not grow beyond what may be fetched.
    fn limited(&self, args: &[&str]) -> Command {
        let mut command = process::shell();
        command.args(["-c", LIMITED, "sh"]).arg(self.manners.max_bytes.div_ceil(512).max(1).to_string());
        self.prepared(command, args)
    }

    fn prepared(&self, mut command: Command, args: &[&str]) -> Command {
        command.env_clear().envs(&self.vars).env(GUARD, "1").current_dir(&self.store);
        // What git says is told apart by its words.
        command.env("LC_ALL", "C");
        if !self.manners.is_terminal {
            command.env("GIT_TERMINAL_PROMPT", "0").env("GCM_INTERACTIVE", "never");
            if let Some(ssh) = self.is_by_ssh().then(|| self.quiet_ssh()).flatten() {
                command.env("GIT_SSH_COMMAND", ssh);
            }
        }
        command.arg("--git-dir").arg(&self.store);
        command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        command.args(args);
        command
    }

    /// Whether git may take ssh to get there. What is a path here is none of it, unless the user's
    /// configuration makes another url of it.
    fn is_by_ssh(&self) -> bool {
        !self.remote.url.starts_with('/') && !self.remote.url.starts_with("file://")
    }

    /// Returns the user's ssh, told that nobody is there to be asked. One that is no OpenSSH is left
    /// as it is.
    fn quiet_ssh(&self) -> Option<OsString> {
        let var = |name: &str| self.vars.get(OsStr::new(name)).filter(|value| !value.is_empty()).cloned();
        let configured = || super::git_command::global_config(&self.vars, "core.sshCommand").map(OsString::from);
        if var("GIT_SSH").is_some() || var("GIT_SSH_VARIANT").is_some() {
            return None;
        }
        let mut ssh = var("GIT_SSH_COMMAND").or_else(configured).unwrap_or_else(|| "ssh".into());
        let program = ssh.to_string_lossy();
        let program = program.split(' ').next().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned();
        (program == "ssh").then(|| {
            ssh.push(" -o BatchMode=yes");
            // A server that is not there, or is there no more, is noticed within a minute.
            ssh.push(" -o ConnectTimeout=30 -o ServerAliveInterval=15 -o ServerAliveCountMax=3");
            ssh
        })
    }
}

/// Returns what git said as one line: without what it says every time, and not a whole page that a
/// server answered instead.
fn in_one_line(words: &str) -> String {
    let says_nothing = |line: &&str| {
        line.is_empty()
            || line.starts_with("Please make sure you have the correct access rights")
            || line.starts_with("and the repository exists")
    };
    let lines: Vec<_> = words.lines().map(str::trim).filter(|line| !says_nothing(line)).take(6).collect();
    let line = lines.join("; ");
    line.strip_prefix("fatal: ").unwrap_or(&line).chars().take(MAX_WORDS).collect()
}

/// Ends a child with all that it started once its time is over; dropped before, it does nothing. The child is not
/// waited for before the drop, so that its id is no other's.
struct Watch {
    done: Option<mpsc::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Watch {
    fn over(group: Group, time: Duration) -> Self {
        let (done, ended) = mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            if let Err(mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(time) {
                group.ask_to_end();
            }
        });
        Self { done: Some(done), thread: Some(thread) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.done.take());
        let _ = self.thread.take().map(thread::JoinHandle::join);
    }
}

/// Feeds a child and reads what it prints, up to a bound, without either waiting for the other.
fn converse(child: &mut Child, input: Option<String>) -> std::io::Result<(Vec<u8>, Vec<u8>)> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let fed = scope.spawn(move || {
            if let (Some(mut stdin), Some(input)) = (stdin, input) {
                // A git that has failed reads no further; it says why itself.
                let _ = stdin.write_all(input.as_bytes());
            }
        });
        let said = scope.spawn(move || {
            let mut words = Vec::new();
            if let Some(mut stderr) = stderr {
                let _ = stderr.by_ref().take(MAX_WORDS as u64 * 4).read_to_end(&mut words);
                // What is more than that is read, so that it does not wait, and forgotten.
                let _ = std::io::copy(&mut stderr, &mut std::io::sink());
            }
            words
        });
        let mut text = Vec::new();
        if let Some(mut stdout) = stdout {
            stdout.by_ref().take(MAX_OUTPUT + 1).read_to_end(&mut text)?;
            std::io::copy(&mut stdout, &mut std::io::sink())?;
        }
        let _ = fed.join();
        Ok((text, said.join().unwrap_or_default()))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::store::remote::Mapping;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "git is found as whoever runs the tests finds it")]
    fn a_server_that_does_not_answer_is_waited_for_no_longer_than_was_said() {
        let name = "origin".parse().unwrap();
        let remote = Remote { name, url: "ssh://nowhere.example/realm.git".into(), mapping: Mapping::Plain };
        let vars = BTreeMap::from([
            ("PATH".into(), std::env::var_os("PATH").unwrap_or_default()),
            ("GIT_SSH_COMMAND".into(), "sleep 60 #".into()),
        ]);
        let max_time = Some(Duration::from_millis(200));
        let manners = Manners { is_terminal: false, max_bytes: MAX_BYTES, max_time };
        let begun = Instant::now();
        Link::new(Path::new("/"), &remote, &vars, manners).list().unwrap_err();
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    }
}
