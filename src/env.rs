//! The only access to process state: time, randomness, working directory, variables and terminal. Tests can set all of
//! it.

use std::{
    cell::{Cell, OnceCell},
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    io::IsTerminal as _,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use jiff::{Timestamp, Zoned, civil::Date, tz::TimeZone};

use crate::platform::{paths, process};

/// Sets the time (RFC 3339) in place of the clock, for tests and reproducible runs.
pub const NOW: &str = "GIT_BLUE_NOW";
/// Sets the random seed in place of the system's source, for tests.
pub const SEED: &str = "GIT_BLUE_SEED";
/// The git variable that sets the delay before progress is shown, in seconds.
pub const PROGRESS_DELAY: &str = "GIT_PROGRESS_DELAY";
/// Sets how long writers wait for a lock, in milliseconds.
pub const LOCK_TIMEOUT: &str = "GIT_BLUE_LOCK_TIMEOUT_MS";
/// Sets how long one command waits for a forge in total, in milliseconds.
pub const FORGE_TIMEOUT: &str = "GIT_BLUE_FORGE_TIMEOUT_MS";
/// Sets how long one request may spend on validating the values of contracts, in milliseconds.
pub const CHECK_TIMEOUT: &str = "GIT_BLUE_CHECK_TIMEOUT_MS";

/// Overrides the realm in the repository's configuration.
pub const REALM: &str = "GIT_BLUE_REALM";
/// Overrides the repository name in its configuration.
pub const REPO: &str = "GIT_BLUE_REPO";

/// The maximum time that a hook, and therefore the commit, waits for a lock, in milliseconds.
const HOOK_TIMEOUT: u64 = 50;
/// The maximum time that a hook spends on validating the values of contracts, in milliseconds.
const HOOK_CHECK_TIMEOUT: u64 = 1_000;
/// The maximum time that a request to a server spends on validating the values of contracts, in milliseconds. Other
/// requests wait for it.
const SERVER_CHECK_TIMEOUT: u64 = 5_000;

/// Variables that git sets for hooks. Elsewhere, they would select the wrong repository or identity
/// (`git rev-parse --local-env-vars`, and those in git-commit(1)).
const LEAKED: [&str; 23] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REFLOG_ACTION",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Variables that refer to a repository or a part of one.
const REPOSITORY: [&str; 8] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_WORK_TREE",
];

/// The process state that the program uses.
#[derive(Debug, Clone)]
pub struct Env {
    arguments: Vec<OsString>,
    vars: BTreeMap<OsString, OsString>,
    cwd: PathBuf,
    exe: PathBuf,
    /// The user's time zone, or `None` for the system's.
    zone: Option<TimeZone>,
    terminal: bool,
    error_terminal: bool,
    in_hook: bool,
    cache: bool,
    is_long_running: bool,
    on_wait: Option<LockWaitCallback>,
    /// The words of the command that runs; empty outside of the command line.
    command: &'static [&'static str],
}

/// Called when a write waits for a lock, with the lock file and its holder, if known.
pub type LockWaitCallback = fn(&Path, Option<&str>);

impl Env {
    /// Reads the state of the process.
    ///
    /// # Errors
    /// Returns an error if the working directory does not exist.
    #[expect(clippy::disallowed_methods, reason = "the one reader of process state")]
    pub fn from_process() -> std::io::Result<Self> {
        let vars = std::env::vars_os().map(|(name, value)| (paths::variable(name), value));
        Ok(Self {
            arguments: std::env::args_os().collect(),
            exe: std::env::current_exe().unwrap_or_else(|_| "git-blue".into()),
            zone: None,
            terminal: std::io::stdout().is_terminal(),
            error_terminal: std::io::stderr().is_terminal(),
            ..Self::isolated(std::env::current_dir()?, vars)
        })
    }

    /// Creates an environment with only this working directory and these variables.
    pub fn isolated(cwd: impl Into<PathBuf>, vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self {
            arguments: Vec::new(),
            vars: vars.into_iter().collect(),
            cwd: cwd.into(),
            exe: "git-blue".into(),
            zone: Some(TimeZone::UTC),
            terminal: false,
            error_terminal: false,
            in_hook: false,
            cache: true,
            is_long_running: false,
            on_wait: None,
            command: &[],
        }
    }

    /// Returns the environment as seen from `folder`, like `git -C`.
    #[must_use]
    pub fn at(mut self, folder: &Path) -> Self {
        self.cwd = self.cwd.join(folder);
        self
    }

    /// Returns the environment of a hook, without the variables that git set for its own command.
    #[must_use]
    pub fn of_hook(mut self) -> Self {
        self.vars.retain(|name, _| {
            let name = name.to_string_lossy();
            // GIT_CONFIG_COUNT comes with GIT_CONFIG_KEY_<n> and GIT_CONFIG_VALUE_<n>.
            !LEAKED.contains(&&*name) && !name.starts_with("GIT_CONFIG_KEY_") && !name.starts_with("GIT_CONFIG_VALUE_")
        });
        self.in_hook = true;
        self
    }

    /// Returns the environment of a server, which has little time to validate values and no user to prompt.
    #[must_use]
    pub fn of_server(self) -> Self {
        let limit = Duration::from_millis(SERVER_CHECK_TIMEOUT);
        let limit = self.check_timeout().map_or(limit, |set| set.min(limit));
        let env = self.with(CHECK_TIMEOUT, limit.as_millis().to_string());
        // Nobody at the server's terminal asked for the request, so never prompt for a password there.
        Self { terminal: false, error_terminal: false, is_long_running: true, ..env }
    }

    /// Returns the variables for a git command in another repository: all except those that refer to a repository, so
    /// that the user's identity is kept.
    pub fn vars_for_other_repo(&self) -> BTreeMap<OsString, OsString> {
        let stays = ["GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_CONFIG"];
        let is_users = |name: &str| stays.iter().any(|start| name.starts_with(start));
        let names_one = |name: &str| REPOSITORY.contains(&name) || (LEAKED.contains(&name) && !is_users(name));
        let vars = self.vars.iter().filter(|(name, _)| !names_one(&name.to_string_lossy()));
        vars.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Returns the environment without variables that refer to a repository, because another program set them for its
    /// own command.
    #[must_use]
    pub fn without_repository(mut self) -> Self {
        self.vars.retain(|name, _| !REPOSITORY.iter().any(|known| name == known));
        self
    }

    /// Returns the environment without variables that select a realm and a repository.
    #[must_use]
    pub fn without_selection(mut self) -> Self {
        self.vars.retain(|name, _| name != REALM && name != REPO);
        self
    }

    /// Returns the environment with an additional variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// Returns the environment of a program that shows no progress and never prompts.
    #[must_use]
    pub fn without_terminal(self) -> Self {
        Self { terminal: false, error_terminal: false, ..self }
    }

    /// Returns whether git started this program as a hook.
    pub fn in_hook(&self) -> bool {
        self.in_hook
    }

    /// Returns whether this program was started by a git process that this program started.
    pub fn is_own_git(&self) -> bool {
        self.var(process::RUNNING).is_some()
    }

    /// Returns the environment of a command that reports the lock that a write waits for.
    #[must_use]
    pub fn with_on_wait(self, on_wait: LockWaitCallback) -> Self {
        Self { on_wait: Some(on_wait), ..self }
    }

    /// Returns the function to call when a write waits for a lock.
    pub fn on_wait(&self) -> Option<LockWaitCallback> {
        self.on_wait
    }

    /// Returns the environment of the command with these words after `git blue`.
    #[must_use]
    pub fn with_command(self, command: &'static [&'static str]) -> Self {
        Self { command, ..self }
    }

    /// Returns the words of the command that runs; empty outside of the command line.
    pub fn command(&self) -> &'static [&'static str] {
        self.command
    }

    /// Returns the environment of a command that must not use the cache.
    #[must_use]
    pub fn without_cache(self) -> Self {
        Self { cache: false, ..self }
    }

    /// Returns whether the cache may be used.
    pub fn cache(&self) -> bool {
        self.cache
    }

    /// Returns whether this process serves many requests.
    pub fn is_long_running(&self) -> bool {
        self.is_long_running
    }

    /// Returns the value of a variable, if it is set and not empty.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// Returns the program of this name in `PATH`. Relative folders are ignored, since they lead elsewhere from each folder.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let folders = self.var("PATH").map(std::env::split_paths).into_iter().flatten();
        folders.filter_map(|folder| paths::program(&folder, name.as_ref())).find(|path| path.is_absolute())
    }

    /// Returns the value of a variable, if it is set, not empty and UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.var(name)?.to_str()
    }

    /// Returns all variables, for child processes.
    pub fn vars(&self) -> &BTreeMap<OsString, OsString> {
        &self.vars
    }

    /// Returns a command that runs in the working directory, with these variables and no others.
    pub fn child(&self, mut command: Command) -> Command {
        command.current_dir(&self.cwd).env_clear().envs(&self.vars);
        command
    }

    /// Returns the command line, starting with the program's name.
    pub fn arguments(&self) -> &[OsString] {
        &self.arguments
    }

    /// Returns the working directory.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Returns the path of this program.
    pub fn exe(&self) -> &Path {
        &self.exe
    }

    /// Returns whether standard output is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Returns whether standard error is a terminal.
    pub fn is_error_terminal(&self) -> bool {
        self.error_terminal
    }

    /// Returns the time after which progress is reported.
    pub fn progress_delay(&self) -> Duration {
        let seconds = self.text(PROGRESS_DELAY).and_then(|text| text.parse().ok());
        Duration::from_secs(seconds.unwrap_or(1))
    }

    /// Returns the current time in whole seconds, as in git.
    #[expect(clippy::disallowed_methods, reason = "the one reader of the clock")]
    pub fn now(&self) -> Timestamp {
        let set = self.text(NOW).and_then(|text| text.parse::<Timestamp>().ok());
        let now = set.unwrap_or_else(Timestamp::now);
        Timestamp::from_second(now.as_second()).unwrap_or(now)
    }

    /// Returns the current day in UTC, with which days in contracts are compared, so that it is the same on all machines.
    pub fn today(&self) -> Date {
        self.now().to_zoned(TimeZone::UTC).date()
    }

    /// Returns the current time in the user's time zone.
    pub fn now_here(&self) -> Zoned {
        self.now().to_zoned(self.user_zone().get())
    }

    /// Returns the current time in the zone for times that are given without one: the user's, or
    /// UTC in a server, whose clients may be in other zones.
    pub fn now_of_client(&self) -> Zoned {
        if self.is_long_running { self.now().to_zoned(TimeZone::UTC) } else { self.now_here() }
    }

    /// Returns the user's time zone.
    pub fn user_zone(&self) -> UserZone {
        let found = self.zone.clone().map(OnceCell::from).unwrap_or_default();
        UserZone { variable: self.var("TZ").map(ToOwned::to_owned), found }
    }

    /// Returns a clock that measures the time since this call.
    pub fn stopwatch(&self) -> impl Fn() -> Duration + Sync + use<> {
        let start = std::time::Instant::now();
        move || start.elapsed()
    }

    /// Returns a clock that measures the CPU time of the threads that call it, each from its first call. A limit on
    /// this time, unlike one on elapsed time, does not depend on other programs, or on other requests to a server.
    pub fn cpu_stopwatch(&self) -> impl Fn() -> Duration + Send + Sync + use<> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        thread_local! {
            /// The last stopwatch that this thread called, and when.
            static LAST: Cell<(u64, Duration)> = const { Cell::new((0, Duration::ZERO)) };
        }
        let id = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
        let total = AtomicU64::new(0);
        move || {
            let now = process::thread_cpu_time();
            let (last, then) = LAST.replace((id, now));
            let passed = if last == id { now.saturating_sub(then) } else { Duration::ZERO };
            let passed = u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX);
            Duration::from_nanos(total.fetch_add(passed, Ordering::Relaxed).saturating_add(passed))
        }
    }

    /// Returns a number that differs between processes.
    #[expect(clippy::disallowed_methods, reason = "the one reader of the clock")]
    pub fn seed(&self) -> u64 {
        let set = self.text(SEED).and_then(|text| text.parse().ok());
        set.unwrap_or_else(|| Timestamp::now().as_nanosecond() as u64 ^ (u64::from(std::process::id()) << 32))
    }

    /// Returns a remark for each variable that is ignored, because its value cannot be read.
    pub fn ignored(&self) -> impl Iterator<Item = String> {
        let set = |name: &'static str| Some((name, self.var(name)?.to_string_lossy()));
        let limits = [LOCK_TIMEOUT, FORGE_TIMEOUT, CHECK_TIMEOUT].into_iter().filter_map(set);
        let limits = limits.filter(|(_, value)| value.parse::<u64>().is_err());
        let time = set(NOW).filter(|(_, value)| value.parse::<Timestamp>().is_err());
        let limits =
            limits.map(|(name, value)| format!("{name} is ignored: {value:?} is not a number of milliseconds"));
        limits.chain(time.map(|(name, value)| format!("{name} is ignored: {value:?} is not a time in RFC 3339")))
    }

    /// Returns how long a writer waits for a lock. In a hook this is short, because the commit waits too.
    pub fn lock_timeout(&self) -> Duration {
        let set = self.text(LOCK_TIMEOUT).and_then(|text| text.parse().ok());
        Duration::from_millis(set.unwrap_or(if self.in_hook { HOOK_TIMEOUT } else { 30_000 }))
    }

    /// Returns the folder for temporary files.
    pub fn temporary_folder(&self) -> PathBuf {
        paths::temporary_folder(|name| self.var(name).map(OsStr::to_owned))
    }

    /// Returns how long one command waits for a forge in total, if the user has set it.
    pub fn forge_timeout(&self) -> Option<Duration> {
        self.text(FORGE_TIMEOUT).and_then(|text| text.parse().ok()).map(Duration::from_millis)
    }

    /// Returns how long one request may spend on validating the values of contracts. Outside of hooks there is
    /// no limit by default, because the user can interrupt the command.
    pub fn check_timeout(&self) -> Option<Duration> {
        let set = self.text(CHECK_TIMEOUT).and_then(|text| text.parse().ok());
        set.or(self.in_hook.then_some(HOOK_CHECK_TIMEOUT)).map(Duration::from_millis)
    }

    /// Returns the user's home folder.
    pub fn home(&self) -> Option<PathBuf> {
        paths::home(|name| self.var(name).map(OsStr::to_owned))
    }
}

/// The user's time zone. The system's time zone is only determined when a time is printed.
#[derive(Debug, Clone)]
pub struct UserZone {
    /// The value of `TZ`.
    variable: Option<OsString>,
    found: OnceCell<TimeZone>,
}

impl UserZone {
    /// Returns the zone.
    pub fn get(&self) -> TimeZone {
        self.found.get_or_init(|| self.system()).clone()
    }

    /// Returns the system's time zone. `TimeZone::system` lists all zones, which takes a millisecond; reading the file
    /// of the zone in `TZ`, or `/etc/localtime`, is enough.
    fn system(&self) -> TimeZone {
        let (name, file) = match &self.variable {
            None => ("Local", PathBuf::from("/etc/localtime")),
            Some(name) => match name.to_str().filter(|name| is_zone(name)) {
                Some(name) => (name, Path::new("/usr/share/zoneinfo").join(name)),
                None => return TimeZone::system(),
            },
        };
        let read = || TimeZone::tzif(name, &std::fs::read(file).ok()?).ok();
        read().unwrap_or_else(TimeZone::system)
    }
}

/// Returns whether the value of `TZ` can only be the name of a zone. It may also contain rules or a path.
fn is_zone(text: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-+".contains(&byte))
    };
    text.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_does_not_see_variables_leaked_by_git() {
        let set = ["GIT_DIR", "GIT_CONFIG_KEY_0", "GIT_AUTHOR_NAME", "GIT_EXEC_PATH", "PATH"];
        let env = Env::isolated("/", set.map(|name| (name.into(), "x".into()))).of_hook();
        let left: Vec<_> = env.vars().keys().map(|name| name.to_string_lossy()).collect();
        assert_eq!(left, ["GIT_EXEC_PATH", "PATH"]);
    }

    #[test]
    fn zones_are_found_by_name() {
        for name in ["UTC", "Europe/Berlin", "America/Argentina/Ushuaia", "Etc/GMT+3", "EST5EDT"] {
            assert!(is_zone(name), "{name}");
            let vars = [("TZ", name), (NOW, "2026-07-01T12:00:00Z")].map(|(name, value)| (name.into(), value.into()));
            let env = Env { zone: None, ..Env::isolated("/", vars) };
            // Not every machine has every zone.
            if let Ok(zone) = TimeZone::get(name) {
                assert_eq!(env.now_here().offset(), zone.to_offset(env.now()), "{name}");
            }
        }
        for text in ["", ":UTC", "../UTC", "/etc/localtime", "Europe/", "<-03>3", "EST5EDT,M3.2.0,M11.1.0", "a b"] {
            assert!(!is_zone(text), "{text}");
        }
    }

    #[test]
    fn variables_for_another_repository_keep_the_user() {
        let set = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_CONFIG_COUNT", "GIT_AUTHOR_NAME", "PATH"];
        let vars = Env::isolated("/", set.map(|name| (name.into(), "x".into()))).vars_for_other_repo();
        let left: Vec<_> = vars.keys().map(|name| name.to_string_lossy()).collect();
        assert_eq!(left, ["GIT_AUTHOR_NAME", "GIT_CONFIG_COUNT", "PATH"]);
    }
}
