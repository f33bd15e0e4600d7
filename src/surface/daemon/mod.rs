//! The daemon as a process: one for each user, that serves [`http`](super::http) until it is told
//! to stop. Nothing else needs it: it reads and writes what everybody else does.

mod ask;
pub mod feed;
pub mod secret;
mod start;
mod state;
mod unit;

use std::path::PathBuf;

use secret::Token;
pub use start::{start, stop};
pub use state::{Running, State};
pub use unit::Manager;

use crate::{
    env::Env,
    error::{ErrorCode, OpError},
    locate,
    surface::http,
};

/// The port, unless the user says otherwise.
pub const PORT: u16 = 7865;

/// What the user asked for.
#[derive(Debug, Clone)]
pub struct Options {
    /// The port; any that is free where it is 0.
    pub port: u16,
    /// How often MCP may be asked in a minute; without limit where it is 0.
    pub rate_limit: u32,
    /// How often it looks for commits that no hook published, in seconds; never where it is 0.
    pub catch_up: u32,
    /// How often it syncs the realms whose user wants that, in seconds; never where it is 0.
    pub sync_interval: u32,
}

impl Options {
    /// Returns the arguments of the command that serves so, after its program.
    fn arguments(&self) -> Vec<String> {
        let numbers = [
            ("--port", self.port.into()),
            ("--rate-limit", self.rate_limit),
            ("--catch-up", self.catch_up),
            ("--sync-interval", self.sync_interval),
        ];
        let command = ["daemon", "start", "--foreground"].map(String::from);
        command
            .into_iter()
            .chain(numbers.into_iter().flat_map(|(name, number)| [name.into(), number.to_string()]))
            .collect()
    }
}

/// Serves until the process is told to stop. `ready` hears where, once requests are answered.
///
/// # Errors
/// Returns an error if another daemon runs, the port is taken, or the user's folder cannot be written.
pub fn serve(env: &Env, options: &Options, ready: impl FnOnce(&Running)) -> Result<(), OpError> {
    let home = locate::home(env)?;
    let Some(held) = state::Held::take(home.folder())? else {
        return Err(already(&state::of(home.folder())?));
    };
    let token = secret::token(home.folder())?.text;
    let Options { port, rate_limit, catch_up, sync_interval } = *options;
    let settings = http::Settings { port, token, rate_limit, catch_up, sync_interval };
    let mut said = Ok(());
    let served = http::serve(env, &settings, |port| {
        let running = Running { pid: std::process::id(), port, version: env!("CARGO_PKG_VERSION").into() };
        said = held.say(&running);
        ready(&running);
    });
    said?;
    served.map_err(|error| match error.code {
        ErrorCode::PortTaken => taken(options.port, error),
        _ => error,
    })
}

fn already(state: &State) -> OpError {
    let message = match state {
        State::Running(Running { pid, port, .. }) => {
            format!("the daemon runs already: process {pid}, at http://127.0.0.1:{port}/")
        }
        State::Changing | State::Stopped => "the daemon is just starting, or stopping".to_owned(),
    };
    OpError::no(ErrorCode::AlreadyRunning, message).next("git blue daemon stop")
}

/// Says who has the port.
fn taken(port: u16, error: OpError) -> OpError {
    let health = ask::ask(port, "GET", "/health", None).unwrap_or_default();
    let who = match (health["server"].as_str(), health["home"].as_str()) {
        (Some("git-blue"), Some(_)) => "the daemon of another home",
        _ => "another program",
    };
    let message = format!("{}: {who} has it", error.message);
    OpError { message, ..error }.next("git blue daemon start --port PORT  # choose another one")
}

/// Returns what is known of the daemon.
///
/// # Errors
/// Returns an error if its file cannot be read.
pub fn status(env: &Env) -> Result<State, OpError> {
    state::of(locate::home(env)?.folder())
}

/// Returns the token that requests show. There is one before the daemon is started for the first time.
///
/// # Errors
/// Returns an error if it can be neither read nor written.
pub fn token(env: &Env) -> Result<Token, OpError> {
    secret::token(locate::home(env)?.folder())
}

/// Returns a link that lets one browser in.
///
/// # Errors
/// Returns an error if the daemon does not run.
pub fn open(env: &Env) -> Result<String, OpError> {
    let State::Running(running) = status(env)? else {
        return Err(OpError::no(ErrorCode::NotRunning, "the daemon does not run").next("git blue daemon start"));
    };
    // Whoever holds the file is the daemon of this home: nobody else is shown the token.
    let answer = ask::ask(running.port, "POST", "/links", Some(&token(env)?.text));
    let answer =
        answer.map_err(|error| OpError::cannot(ErrorCode::Io, format!("cannot ask {}: {error}", running.url())))?;
    match answer["url"].as_str() {
        Some(url) => Ok(url.to_owned()),
        None => {
            let message = answer["message"].as_str().unwrap_or("it does not say why");
            Err(OpError::cannot(ErrorCode::Refused, format!("{} refuses: {message}", running.url()))
                .next("git blue daemon stop"))
        }
    }
}

/// Writes the file that starts the daemon with the user's session. Returns it, and the command that
/// makes it count.
///
/// # Errors
/// Returns an error if it cannot be written.
pub fn install(env: &Env, manager: Manager, options: &Options) -> Result<(PathBuf, String), OpError> {
    let home = locate::home(env)?;
    let (file, command) = manager.place(env)?;
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(OpError::io("create", folder))?;
    }
    std::fs::write(&file, manager.text(env, home.folder(), options)).map_err(OpError::io("write", &file))?;
    Ok((file, command))
}
