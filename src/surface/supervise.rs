//! Runs one command for the MCP server, and kills everything that the command started when it ends.
//!
//! A separate process between the two takes charge of [all that the command starts](Descendants). On Linux, it finds
//! even programs that leave their process group and session (`setsid`).

use std::{
    ffi::OsString,
    io::{self, BufRead as _, Read as _, Write as _},
    process::{ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Sender},
    thread,
    time::Duration,
};

use crate::{
    error::OpError,
    platform::process::{self, Descendants, Group},
};

/// The maximum time to wait for killed processes to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs a program with the first line of standard input as its input, until the program ends or standard input is
/// closed, which means that the server is gone or no longer waits. Returns the exit code; if a signal ended the
/// program, returns the code that a shell would.
///
/// # Errors
/// Returns an error if the program cannot be started.
pub fn run(program: &OsString, arguments: &[OsString]) -> Result<u8, OpError> {
    let descendants = Descendants::adopt();
    let mut line = Vec::new();
    let read = io::stdin().lock().read_until(b'\n', &mut line);
    if read.is_err() || !line.ends_with(b"\n") {
        return Ok(0);
    }
    let mut command = Command::new(program);
    let started = Group::start(command.args(arguments).stdin(Stdio::piped()));
    let (mut child, group) = started.map_err(OpError::io("run", program))?;
    let (ended, outcome) = mpsc::channel();
    let input = child.stdin.take();
    thread::spawn(move || feed(input, &line));
    let abandoned = ended.clone();
    thread::spawn(move || until_closed(&abandoned));
    thread::spawn(move || ended.send(child.wait().ok()));
    let status = outcome.recv().ok().flatten();
    descendants.end(group, PATIENCE);
    Ok(status.map_or(process::KILLED, process::code).try_into().unwrap_or(u8::MAX))
}

/// Writes the line. Errors are ignored, because a program may ignore its input.
fn feed(input: Option<ChildStdin>, line: &[u8]) {
    if let Some(mut input) = input {
        let _ = input.write_all(line);
    }
}

/// Sends a message once the other end of standard input is closed.
fn until_closed(abandoned: &Sender<Option<ExitStatus>>) {
    let mut rest = [0; 64];
    while let Ok(1..) = io::stdin().read(&mut rest) {}
    let _ = abandoned.send(None);
}
