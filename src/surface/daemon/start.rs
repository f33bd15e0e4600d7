//! Starts the daemon in the background, and stops it.

use std::{
    fs,
    io::{self, ErrorKind},
    path::Path,
    process::Stdio,
    thread::sleep,
    time::{Duration, Instant},
};

use super::{
    arguments, ask,
    state::{self, Running, State},
};
use crate::{
    env::Env,
    error::{ErrorCode, OpError},
    locate,
    platform::process,
    surface::http::{self, Settings},
};

/// The maximum time to wait for the daemon to start.
const START_TIME: Duration = Duration::from_secs(20);
/// The maximum time to wait for the daemon to stop.
const STOP_TIME: Duration = Duration::from_secs(15);
/// The interval of polling.
const STEP: Duration = Duration::from_millis(20);

/// Starts the daemon, and returns once it answers. Returns its address, and whether this call started it.
///
/// # Errors
/// Returns an error with the daemon's output if it does not start.
pub fn start(env: &Env, settings: &Settings) -> Result<(Running, bool), OpError> {
    start_within(START_TIME, env, settings)
}

fn start_within(time: Duration, env: &Env, settings: &Settings) -> Result<(Running, bool), OpError> {
    let home = locate::home(env)?;
    let log = state::folder(home.folder())?.join("log");
    if let State::Running(running) = state::of(home.folder())? {
        match answers(env, &running) {
            Ok(true) => return Ok((running, false)),
            // Its log, which may say why, is kept.
            Err(error) if error.kind() == ErrorKind::TimedOut => return Err(silent(&running, &log)),
            Ok(false) | Err(_) => {}
        }
    }
    let file = state::open(&log)?;
    file.set_len(0).map_err(OpError::io("write", &log))?;
    let mut child = env
        .clone()
        .without_repository()
        .child(process::detached(env.exe()))
        .args(arguments(settings))
        .arg("--detached")
        .current_dir("/")
        .env("GIT_BLUE_HOME", home.folder())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file)
        .spawn()
        .map_err(OpError::io("start", env.exe()))?;
    let started = Instant::now();
    while started.elapsed() < time {
        if let Some(running) = answering(env, home.folder())? {
            let ours = running.pid == child.id();
            return Ok((running, ours));
        }
        if child.try_wait().map_err(OpError::io("wait for", env.exe()))?.is_some() {
            // Another process may have started it first.
            return match answering(env, home.folder())? {
                Some(running) => Ok((running, false)),
                None => Err(failed(&log)),
            };
        }
        sleep(STEP);
    }
    Err(OpError::cannot(ErrorCode::NotStarted, format!("the daemon is not responding; see {}", log.display())))
}

/// Returns the daemon of this user if it answers.
fn answering(env: &Env, home: &Path) -> Result<Option<Running>, OpError> {
    let State::Running(running) = state::of(home)? else { return Ok(None) };
    Ok(answers(env, &running).unwrap_or_default().then_some(running))
}

/// Returns whether a daemon answers as that of this user.
fn answers(env: &Env, running: &Running) -> io::Result<bool> {
    let health = ask::ask(running.port, "GET", "/health", None)?;
    Ok(http::home_id(env).is_ok_and(|home| health["home"] == *home))
}

/// Returns the error for a daemon that runs but does not answer.
fn silent(running: &Running, log: &Path) -> OpError {
    let message = format!("the daemon is already running as process {}, but does not answer", running.pid);
    let error = OpError::cannot(ErrorCode::NotStarted, message).next("git blue daemon stop");
    error.next(format!("see {}", log.display()))
}

/// Returns an error with the last output of the process: its error, and its next steps.
fn failed(log: &Path) -> OpError {
    let said = fs::read_to_string(log).unwrap_or_default();
    let is_error = |line: &&str| ["fatal:", "error:"].iter().any(|word| line.contains(word));
    let last = || said.lines().rfind(|line| !line.starts_with("hint:"));
    let line = said.lines().find(is_error).or_else(last).unwrap_or_default();
    let line = line.trim_start_matches("fatal:").trim_start_matches("error:").trim();
    let steps = said.lines().filter_map(|line| line.strip_prefix("hint:")).map(str::trim);
    let line = if line.is_empty() { "the daemon exited without a message" } else { line };
    let error = OpError::cannot(ErrorCode::NotStarted, line).next_all(steps);
    error.next(format!("see {}", log.display()))
}

/// Stops the daemon, and returns once its port is free. Returns `None` if none was running.
///
/// # Errors
/// Returns an error if it does not stop in time.
pub fn stop(env: &Env) -> Result<Option<Running>, OpError> {
    stop_within(STOP_TIME, env)
}

fn stop_within(time: Duration, env: &Env) -> Result<Option<Running>, OpError> {
    let home = locate::home(env)?;
    let start = Instant::now();
    let mut told = None;
    while start.elapsed() < time {
        match state::of(home.folder())? {
            State::Stopped => {
                if told.as_ref().is_none_or(|running: &Running| ask::is_free(running.port)) {
                    return Ok(told);
                }
            }
            State::Running(running) if told.is_none() => {
                // The daemon holds its lock file, so the process id is still its own.
                if let Err(error) = process::stop(running.pid) {
                    let message = format!("cannot signal the process {} to stop: {error}", running.pid);
                    return Err(OpError::cannot(ErrorCode::NotStopped, message));
                }
                told = Some(running);
            }
            State::Changing | State::Running(_) => {}
        }
        sleep(STEP);
    }
    Err(match told {
        Some(Running { pid, .. }) => {
            OpError::cannot(ErrorCode::NotStopped, format!("the daemon did not stop: it is the process {pid}"))
                .next(format!("kill -9 {pid}  # end the process"))
        }
        None => OpError::cannot(ErrorCode::NotStopped, "the daemon did not stop").next("git blue daemon status"),
    })
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::PermissionsExt as _, process::Command};

    use super::*;

    /// Long enough to start a process.
    const SHORT: Duration = Duration::from_millis(300);

    fn env(home: &Path) -> Env {
        let vars = [("GIT_BLUE_HOME", home), ("PATH", home)];
        Env::isolated(home, vars.map(|(name, path)| (name.into(), path.into())))
    }

    #[test]
    fn daemon_that_does_not_stop_is_named() {
        let home = tempfile::tempdir().unwrap();
        let mut process = Command::new("sleep").arg("60").spawn().unwrap();
        let held = state::DaemonLock::take(home.path()).unwrap().unwrap();
        held.record(&Running { pid: process.id(), port: 1, version: "1".into() }).unwrap();
        let error = stop_within(SHORT, &env(home.path())).unwrap_err();
        let (pid, was_told) = (process.id(), process.wait().unwrap());
        assert!(was_told.code().is_none(), "{was_told}");
        assert_eq!(error.code, ErrorCode::NotStopped);
        assert_eq!(error.message, format!("the daemon did not stop: it is the process {pid}"));
        assert_eq!(error.next_steps[0].to_string(), format!("kill -9 {pid}  # end the process"));
    }

    #[test]
    fn daemon_that_does_not_begin_to_answer_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        let program = home.path().join("git-blue");
        fs::write(&program, "#!/bin/sh\nexec /bin/sleep 2\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let error = start_within(SHORT, &env(home.path()), &Settings::default()).unwrap_err();
        let log = home.path().join("daemon/log");
        assert_eq!(error.code, ErrorCode::NotStarted);
        assert_eq!(error.message, format!("the daemon is not responding; see {}", log.display()));
    }
}
