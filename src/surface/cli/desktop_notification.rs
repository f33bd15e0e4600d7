//! Announces changes outside of the terminal: with a command that the user configured, or as a desktop notification.

use std::{
    ffi::OsStr,
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
};

use crate::{
    env::Env,
    error::{ErrorCode, OpError},
    platform::{SYSTEM, System, process},
    surface::escape::escape_in_xml,
    wire::Notification,
};

/// The AppleScript that shows a notification. Title and text are passed as arguments, never inserted into the script.
const SCRIPT: [&str; 3] =
    ["on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run"];

/// Runs the user's command with the change as JSON on its standard input, and waits for it. No part of the change is
/// put on the command line. Its standard output is `output`.
///
/// # Errors
/// Returns an error if the command cannot be started or exits with a failure.
pub fn run(env: &Env, command: &OsStr, one: &Notification, output: Stdio) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("cannot run {}: {error}", command.display());
    let json = serde_json::to_vec(one).unwrap_or_else(|error| unreachable!("notifications have a JSON form: {error}"));
    let mut shell = env.child(process::shell());
    let mut child = shell.arg("-c").arg(command).stdin(Stdio::piped()).stdout(output).spawn().map_err(cannot)?;
    if let Some(mut input) = child.stdin.take() {
        // A command may ignore its input.
        let _ = input.write_all(&json).and_then(|()| input.write_all(b"\n"));
    }
    let status = child.wait().map_err(cannot)?;
    if status.success() { Ok(()) } else { Err(format!("{} failed: {status}", command.display())) }
}

/// The program that shows desktop notifications.
#[derive(Debug)]
pub struct Desktop {
    program: PathBuf,
}

impl Desktop {
    /// Finds the program in `PATH`.
    ///
    /// # Errors
    /// Returns an error if no such program is installed.
    pub fn find(env: &Env) -> Result<Self, OpError> {
        let name = if SYSTEM == System::MacOs { "osascript" } else { "notify-send" };
        let program = env.program(name).ok_or_else(|| {
            OpError::cannot(
                ErrorCode::NotStarted,
                format!("{name} is not installed, so no desktop notification can be shown"),
            )
            .next("git blue notifications watch --bell  # ring the terminal's bell instead")
        })?;
        Ok(Self { program })
    }

    /// Shows a notification.
    ///
    /// # Errors
    /// Returns an error if the program cannot be started or exits with a failure.
    pub fn show(&self, env: &Env, text: &str) -> Result<(), String> {
        let mut command = env.child(Command::new(&self.program));
        if SYSTEM == System::MacOs {
            command.args(SCRIPT.iter().flat_map(|line| ["-e", line])).args(["git blue", text]);
        } else {
            // Desktops read the text as markup.
            command.args(["--app-name=git blue", "--", "git blue", &escape_in_xml(text)]);
        }
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{} failed: {status}", self.program.display())),
            Err(error) => Err(format!("cannot run {}: {error}", self.program.display())),
        }
    }
}
