//! `git blue daemon …`.

use clap::{Args, Subcommand};

use super::{
    Verdict,
    output::Output,
    text::{Text, plain},
};
use crate::{
    env::Env,
    error::OpError,
    platform::{peer, process},
    surface::{
        background,
        daemon::{self, Manager, Running, State},
        http::Settings,
        log,
    },
    wire::{Answer, Daemon, DaemonOpen, DaemonToken, Installed},
};

/// The warning on systems that cannot tell which user's process sends a request.
const SHARED: &str = "this system cannot tell which user's process sends the browser's cookie: do not open pages \
    served by other users of this machine";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start the daemon
    Start(Start),
    /// Stop the daemon
    Stop,
    /// Show whether the daemon is running, and its address
    Status,
    /// Print the token that programs authenticate with
    Token,
    /// Open the page in a browser, with a one-time link
    Open(Open),
    /// Write a systemd or launchd file that starts the daemon at login
    Install(Install),
}

#[derive(Debug, Args)]
pub struct Start {
    #[command(flatten)]
    settings: Settings,
    /// Stay in the foreground
    #[arg(long)]
    foreground: bool,
    /// Detach from the caller's session
    #[arg(long, hide = true, requires = "foreground")]
    detached: bool,
}

#[derive(Debug, Args)]
pub struct Open {
    /// Print the link without opening it
    #[arg(long)]
    print: bool,
}

#[derive(Debug, Args)]
pub struct Install {
    #[command(flatten)]
    settings: Settings,
    /// The service manager to use [default: this system's]
    #[arg(long, value_enum)]
    manager: Option<Manager>,
}

impl Command {
    pub fn run(self, env: &Env, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        if let Self::Start(_) | Self::Stop | Self::Install(_) = self {
            output.hold_if_quiet();
        }
        match self {
            Self::Start(arguments) => arguments.run(env, output),
            Self::Stop => {
                let body = match daemon::stop(env)? {
                    Some(running) => Daemon { running: false, ..about(format!("stopped {}", running.url()), &running) },
                    None => nothing("the daemon was not running"),
                };
                render(output, Answer::new(body))
            }
            Self::Status => {
                let body = match daemon::status(env)? {
                    State::Running(running) => about(format!("running at {}", running.url()), &running),
                    State::Changing => nothing("the daemon is starting or stopping"),
                    State::Stopped => nothing("the daemon is not running"),
                };
                output.judged(&Answer::new(body), |body, text| line(text, &body.message), |body| body.running)
            }
            Self::Token => {
                let answer = Answer::new(DaemonToken { token: token(env, output)? });
                output.shown(&answer, |body, text| line(text, &body.token))
            }
            Self::Open(Open { print }) => {
                token(env, output)?;
                let url = daemon::open(env)?;
                if !peer::IS_KNOWN {
                    output.note(SHARED);
                }
                if !print && output.is_terminal() && !output.json {
                    background::browse(env, &url);
                }
                output.shown(&Answer::new(DaemonOpen { url }), |body, text| line(text, &body.url))
            }
            Self::Install(Install { settings, manager }) => {
                let manager = manager.map_or_else(|| Manager::of_system(env), Ok)?;
                let (file, command) = daemon::install(env, manager, &settings)?;
                let answer = Answer::new(Installed { files: vec![file.display().to_string()] }).next(command);
                output.shown(&answer, |body, text| {
                    for file in &body.files {
                        text.line(&[plain("wrote"), plain(file)]);
                    }
                })
            }
        }
    }
}

impl Start {
    fn run(self, env: &Env, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        token(env, output)?;
        if self.foreground {
            if self.detached {
                process::leave_session();
            }
            log::start_of_daemon(env);
            daemon::serve(env, &self.settings, |running| {
                if !output.quiet {
                    output.note(&format!("serving {}", running.url()));
                }
            })?;
            return Ok(Verdict::Yes);
        }
        let (running, is_new) = daemon::start(env, &self.settings)?;
        if !is_new {
            daemon::require_default(&self.settings, &running)?;
        }
        let doing = if is_new { "serving" } else { "already running at" };
        let answer = Answer::new(about(format!("{doing} {}", running.url()), &running));
        render(output, answer.next("git blue daemon open  # open it in a browser"))?;
        Ok(Verdict::Yes)
    }
}

/// Returns the token, and warns if other users could have read it.
fn token(env: &Env, output: &mut Output<'_>) -> Result<String, OpError> {
    let token = daemon::token(env)?;
    for warning in &token.warnings {
        output.note(&format!("warning: {warning}"));
    }
    Ok(token.text)
}

fn about(message: String, running: &Running) -> Daemon {
    Daemon {
        message,
        running: true,
        url: Some(running.url()),
        pid: Some(running.pid),
        version: Some(running.version.clone()),
    }
}

fn nothing(message: &str) -> Daemon {
    Daemon { message: message.into(), running: false, url: None, pid: None, version: None }
}

fn render(output: &mut Output<'_>, answer: Answer<Daemon>) -> Result<Verdict, OpError> {
    output.shown(&answer, |body, text| line(text, &body.message))
}

fn line(text: &mut Text, said: &str) {
    text.line(&[plain(said)]);
}
