//! The daemon process. Each user has one, which serves [`http`](super::http) until it is stopped. Nothing else needs
//! it: it reads and writes the same files as every other command.

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
    surface::http::{self, Settings},
};

/// Returns the command line that starts a daemon with these settings, without the program.
fn arguments(settings: &Settings) -> impl Iterator<Item = String> {
    let numbers = [
        ("--port", settings.port.into()),
        ("--rate-limit", settings.rate_limit),
        ("--catch-up", settings.catch_up),
        ("--sync-interval", settings.sync_interval),
    ];
    let command = ["daemon", "start", "--foreground"].map(String::from);
    command.into_iter().chain(numbers.into_iter().flat_map(|(name, number)| [name.into(), number.to_string()]))
}

/// Serves until the process is asked to stop. Calls `ready` with the address once it can answer.
///
/// # Errors
/// Returns an error if another daemon runs, the port is taken, or the user's folder cannot be written.
pub fn serve(env: &Env, settings: &Settings, ready: impl FnOnce(&Running)) -> Result<(), OpError> {
    let home = locate::home(env)?;
    let Some(held) = state::DaemonLock::take(home.folder())? else {
        return Err(already(&state::of(home.folder())?));
    };
    let token = secret::token(home.folder())?.text;
    let served = http::serve(env, settings, token, |port| {
        let running = Running { pid: std::process::id(), port, version: env!("CARGO_PKG_VERSION").into() };
        // Nobody could find or stop a daemon that is not recorded.
        held.record(&running)?;
        ready(&running);
        Ok(())
    });
    served.map_err(|error| match error.code {
        ErrorCode::PortTaken => taken(env, settings.port, error),
        _ => error,
    })
}

fn already(state: &State) -> OpError {
    let message = match state {
        State::Running(Running { pid, port, .. }) => {
            format!("the daemon is already running: process {pid}, at http://127.0.0.1:{port}/")
        }
        State::Changing | State::Stopped => "the daemon is starting or stopping".to_owned(),
    };
    OpError::no(ErrorCode::AlreadyRunning, message).next("git blue daemon stop")
}

/// Refuses options for a daemon that is already running: it keeps its own, which are not recorded.
///
/// # Errors
/// Returns an error unless the port is that of the daemon or the default, and the other options are the defaults.
pub fn require_default(settings: &Settings, running: &Running) -> Result<(), OpError> {
    let default = Settings::default();
    let port = if [0, running.port].contains(&settings.port) { default.port } else { settings.port };
    if (Settings { port, ..*settings }) == default {
        return Ok(());
    }
    let options: Vec<_> = arguments(settings).skip(3).collect();
    let message = format!("the daemon is already running at {}, and keeps its options", running.url());
    Err(OpError::no(ErrorCode::AlreadyRunning, message)
        .next(format!("git blue daemon stop && git blue daemon start {}", options.join(" "))))
}

/// Returns the error for a port that is in use, saying whether a daemon uses it, and of which home.
fn taken(env: &Env, port: u16, error: OpError) -> OpError {
    let health = ask::ask(port, "GET", "/health", None).unwrap_or_default();
    let who = match (health["server"].as_str(), health["home"].as_str()) {
        (Some("git-blue"), Some(home)) if http::home_id(env).is_ok_and(|own| own == home) => {
            "the daemon of this GIT_BLUE_HOME, whose files were removed: end its process"
        }
        (Some("git-blue"), Some(_)) => "the daemon of another GIT_BLUE_HOME",
        _ => "another program",
    };
    let message = format!("{}: it is in use by {who}", error.message);
    OpError { message, ..error }.next("git blue daemon start --port 0  # use any free port")
}

/// Returns the state of the daemon.
///
/// # Errors
/// Returns an error if its file cannot be read.
pub fn status(env: &Env) -> Result<State, OpError> {
    state::of(locate::home(env)?.folder())
}

/// Returns the token that requests must carry. It is created if the daemon was never started.
///
/// # Errors
/// Returns an error if it can be neither read nor written.
pub fn token(env: &Env) -> Result<Token, OpError> {
    secret::token(locate::home(env)?.folder())
}

/// Returns a link that admits one browser.
///
/// # Errors
/// Returns an error if the daemon is not running.
pub fn open(env: &Env) -> Result<String, OpError> {
    let State::Running(running) = status(env)? else {
        return Err(OpError::no(ErrorCode::NotRunning, "the daemon is not running").next("git blue daemon start"));
    };
    // The process that holds the lock file is the daemon of this user, so it is safe to send it the token.
    let answer = ask::ask(running.port, "POST", "/links", Some(&token(env)?.text));
    let answer = answer.map_err(|error| silent(&running, &error))?;
    match answer["url"].as_str() {
        Some(url) => Ok(url.to_owned()),
        None => {
            let message = answer["message"].as_str().unwrap_or("no reason given");
            Err(OpError::cannot(ErrorCode::Refused, format!("{} refused: {message}", running.url()))
                .next("git blue daemon stop"))
        }
    }
}

/// Returns the error for a daemon that does not answer.
fn silent(running: &Running, error: &std::io::Error) -> OpError {
    let message = format!("cannot ask the daemon, process {} at {}: {error}", running.pid, running.url());
    OpError::cannot(ErrorCode::Io, message).next("git blue daemon stop")
}

/// Writes the unit file that starts the daemon when the user logs in. Returns its path and the command that activates
/// it.
///
/// # Errors
/// Returns an error if it cannot be written.
pub fn install(env: &Env, manager: Manager, settings: &Settings) -> Result<(PathBuf, String), OpError> {
    let home = locate::home(env)?;
    let (file, command) = manager.place(env)?;
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(OpError::io("create", folder))?;
    }
    std::fs::write(&file, manager.text(env, home.folder(), settings)).map_err(OpError::io("write", &file))?;
    Ok((file, command))
}
