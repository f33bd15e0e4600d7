//! The settings of the server, read once when it starts.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    env::{Env, LOCK_TIMEOUT, REALM},
    model::{
        hash,
        name::{ReaderName, RealmName},
    },
    ops::tools::{self, declared::Declared},
};

/// The environment variable with the project, if `-C` is not given.
pub const FOLDER: &str = "GIT_BLUE_DIR";
/// The environment variable in which Claude Code passes the project.
pub const PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";
/// The environment variable with the session of Claude Code, which is the name of the reader.
pub const SESSION: &str = "CLAUDE_CODE_SESSION_ID";

/// The default time that an answer waits for a lock.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time limit of a call over HTTP, whose client could otherwise wait forever.
const LIMIT: Duration = Duration::from_secs(120);
/// The maximum time that one attempt waits for a lock, during which all other requests wait.
const STRETCH: Duration = Duration::from_millis(50);

/// The options of the server.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The folder of `-C`.
    pub folder: Option<PathBuf>,
    /// The realm of `--realm`.
    pub realm: Option<RealmName>,
    /// Whether the server refuses to write anything that others see.
    pub read_only: bool,
    /// Whether every tool takes the name of a realm.
    pub all_realms: bool,
    /// Whether the server writes a log.
    pub debug: bool,
}

/// The settings of the server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The environment, without the variables that name a repository.
    pub env: Env,
    /// The time that an answer waits for a lock. Other requests are answered between the attempts.
    pub patience: Duration,
    /// The time limit of a call; `None` leaves it to the client.
    pub limit: Option<Duration>,
    /// The environment of commands that the user declared as tools.
    pub commands: Env,
    /// The project that the user named, and the option or variable that named it.
    pub folder: Option<(&'static str, PathBuf)>,
    /// The project that Claude Code named.
    pub project_dir: Option<PathBuf>,
    /// The realm that the user named.
    pub realm: Option<RealmName>,
    /// The reader, unless requests name their own.
    pub reader: ReaderName,
    /// Whether notifications are recorded as seen.
    pub marks: bool,
    /// Whether the server refuses to write anything that others see.
    pub read_only: bool,
    /// Whether every tool takes the name of a realm.
    pub all_realms: bool,
    /// Whether the server serves all projects of this machine, without a default project.
    pub is_shared: bool,
    /// Commands that the user declared as tools.
    pub declared: Declared,
}

impl Settings {
    /// Reads the settings from the environment and the options.
    pub fn new(env: &Env, options: &Options) -> Self {
        let commands = env.clone().without_repository();
        let patience = commands.var(LOCK_TIMEOUT).map_or(PATIENCE, |_| commands.lock_timeout());
        let env = commands.clone().of_server().with(LOCK_TIMEOUT, patience.min(STRETCH).as_millis().to_string());
        let absolute = |name| env.var(name).map(|folder| env.cwd().join(folder));
        let named = options.folder.clone().map(|folder| ("-C", env.cwd().join(folder)));
        Self {
            folder: named.or_else(|| Some((FOLDER, absolute(FOLDER)?))),
            project_dir: absolute(PROJECT_DIR),
            realm: options.realm.clone().or_else(|| env.text(REALM)?.parse().ok()),
            reader: reader(&env),
            marks: true,
            read_only: options.read_only,
            all_realms: options.all_realms,
            is_shared: false,
            limit: None,
            declared: declared(&env, options.read_only),
            patience,
            commands,
            env,
        }
    }

    /// Reads the settings of a server for all projects of this machine. The folder, project and session with which it
    /// was started are ignored.
    pub fn shared(env: &Env, options: &Options) -> Self {
        let env = env.clone().without_selection().at(Path::new("/"));
        Self { folder: None, project_dir: None, is_shared: true, limit: Some(LIMIT), ..Self::new(&env, options) }
    }
}

/// Reads the declared tools. If the configuration cannot be read, the server still offers the other tools.
fn declared(env: &Env, read_only: bool) -> Declared {
    let mut declared =
        tools::declared::of(env).unwrap_or_else(|error| Declared { tools: Vec::new(), problems: vec![error.message] });
    declared.tools.retain(|tool| tool.is_read_only || !read_only);
    declared
}

/// Returns the name of the reader: the client session, or this process if the session has no name.
pub fn reader(env: &Env) -> ReaderName {
    let text = match env.text(SESSION) {
        Some(session) if session.parse::<ReaderName>().is_ok() => session.to_owned(),
        Some(session) => format!("session-{}", &hash::canonical(&session)[..32]),
        None => format!("mcp-{:016x}", env.seed()),
    };
    text.parse().unwrap_or_else(|_| unreachable!("it is a name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(vars: &[(&str, &str)]) -> Settings {
        let vars = vars.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        Settings::new(&Env::isolated("/work", vars), &Options::default())
    }

    #[test]
    fn a_client_session_is_a_reader() {
        let id = "0b0f4a9e-6d3f-4a6b-9a60-1f6f6f0a7b11";
        assert_eq!(of(&[(SESSION, id)]).reader.as_str(), id);
        let odd = of(&[(SESSION, "../../x")]).reader;
        assert!(odd.as_str().starts_with("session-") && odd != of(&[(SESSION, "../y")]).reader);
        assert_eq!(of(&[("GIT_BLUE_SEED", "1")]).reader.as_str(), "mcp-0000000000000001");
    }

    #[test]
    fn a_repository_that_git_named_for_another_command_is_ignored() {
        let settings = of(&[("GIT_DIR", "/elsewhere/.git"), (FOLDER, "sub"), (PROJECT_DIR, "/project")]);
        assert_eq!(settings.env.var("GIT_DIR"), None);
        assert_eq!(settings.folder, Some((FOLDER, "/work/sub".into())));
        assert_eq!(settings.project_dir, Some("/project".into()));
    }

    #[test]
    fn each_wait_for_a_lock_is_at_most_as_long_as_the_user_allows() {
        for (said, stretch, patience) in [(None, 50, 5_000), (Some("30"), 30, 30), (Some("60000"), 50, 60_000)] {
            let vars: Vec<_> = said.into_iter().map(|said| (LOCK_TIMEOUT, said)).collect();
            let settings = of(&vars);
            assert_eq!(settings.env.lock_timeout().as_millis(), stretch);
            assert_eq!(settings.patience.as_millis(), patience);
            assert_eq!(settings.commands.text(LOCK_TIMEOUT), said);
        }
    }
}
