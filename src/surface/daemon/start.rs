//! Starting the daemon in the background, and telling it to stop.

use std::{
    fs,
    path::Path,
    process::Stdio,
    thread::sleep,
    time::{Duration, Instant},
};

use super::{
    Options, ask,
    state::{self, Running, State},
};
use crate::{
    env::Env,
    error::{ErrorCode, OpError},
    locate,
    platform::process,
    surface::http,
};

/// How long it may take to start.
const START_TIME: Duration = Duration::from_secs(20);
/// How long it may take to say goodbye to everybody.
const STOP_TIME: Duration = Duration::from_secs(15);
/// How often is looked.
const STEP: Duration = Duration::from_millis(20);

/// Starts the daemon, and returns once it answers. Returns its address, and whether it was started just
/// now.
///
/// # Errors
/// Returns an error if it does not start, with its output.
pub fn start(env: &Env, options: &Options) -> Result<(Running, bool), OpError> {
    let home = locate::home(env)?;
    if let Some(running) = answering(env, home.folder())? {
        return Ok((running, false));
    }
    let log = state::folder(home.folder())?.join("log");
    let file = state::open(&log)?;
    file.set_len(0).map_err(OpError::io("write", &log))?;
    let mut child = process::detached(env.exe())
        .args(options.arguments())
        .arg("--detached")
        .current_dir("/")
        .env_clear()
        .envs(env.vars())
        .env("GIT_BLUE_HOME", home.folder())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file)
        .spawn()
        .map_err(OpError::io("start", env.exe()))?;
    let started = Instant::now();
    while started.elapsed() < START_TIME {
        if let Some(running) = answering(env, home.folder())? {
            let ours = running.pid == child.id();
            return Ok((running, ours));
        }
        if child.try_wait().map_err(OpError::io("wait for", env.exe()))?.is_some() {
            // Another one may have been faster.
            return match answering(env, home.folder())? {
                Some(running) => Ok((running, false)),
                None => Err(failed(&log)),
            };
        }
        sleep(STEP);
    }
    Err(OpError::cannot(ErrorCode::NotStarted, format!("the daemon does not answer; see {}", log.display())))
}

/// Returns the daemon that answers, if one does.
fn answering(env: &Env, home: &Path) -> Result<Option<Running>, OpError> {
    let State::Running(running) = state::of(home)? else { return Ok(None) };
    let health = ask::ask(running.port, "GET", "/health", None).unwrap_or_default();
    Ok((health["home"] == *http::home_id(env)?).then_some(running))
}

/// What the process said last is why it did not start.
fn failed(log: &Path) -> OpError {
    let said = fs::read_to_string(log).unwrap_or_default();
    let line = said.lines().find(|line| line.contains("fatal:")).or_else(|| said.lines().last()).unwrap_or_default();
    let line = line.trim_start_matches("fatal:").trim();
    let line = if line.is_empty() { "the daemon ended without a word" } else { line };
    OpError::cannot(ErrorCode::NotStarted, line).next(format!("see {}", log.display()))
}

/// Tells the daemon to stop, and returns once its port is free. Returns whether there was one.
///
/// # Errors
/// Returns an error if it does not stop.
pub fn stop(env: &Env) -> Result<Option<Running>, OpError> {
    let home = locate::home(env)?;
    let start = Instant::now();
    let mut told = None;
    while start.elapsed() < STOP_TIME {
        match state::of(home.folder())? {
            State::Stopped => {
                if told.as_ref().is_none_or(|running: &Running| ask::is_free(running.port)) {
                    return Ok(told);
                }
            }
            State::Running(running) if told.is_none() => {
                // It holds its file, so the number is still its own.
                if let Err(error) = process::stop(running.pid) {
                    let message = format!("cannot tell the process {} to stop: {error}", running.pid);
                    return Err(OpError::cannot(ErrorCode::NotStopped, message));
                }
                told = Some(running);
            }
            State::Changing | State::Running(_) => {}
        }
        sleep(STEP);
    }
    Err(OpError::cannot(ErrorCode::NotStopped, "the daemon does not stop").next("git blue daemon status"))
}
