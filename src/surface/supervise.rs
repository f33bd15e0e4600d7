//! Runs one command for the MCP server, and kills everything that it started when it ends.
//!
//! A supervising process runs between the two. On Linux it adopts every orphan below it, so that a program that leaves
//! its process group and session (setsid(2)) is still found. On other systems only the process group is killed, and
//! what has left it stays.

use std::{
    ffi::OsString,
    io::{self, BufRead as _, Read as _, Write as _},
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    process::{ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Sender},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, wait};

use crate::error::OpError;

/// The longest time to wait for killed processes to end.
const PATIENCE: Duration = Duration::from_secs(5);
/// The interval of polling.
const STEP: Duration = Duration::from_millis(2);

/// Runs a program with the first line of standard input as its input, until it ends or standard input is closed, which
/// means that the server is gone or no longer waits. Returns the exit code; if a signal ended the program, the code
/// that a shell would return.
///
/// # Errors
/// Returns an error if the program cannot be started.
pub fn run(program: &OsString, arguments: &[OsString]) -> Result<u8, OpError> {
    adopt_orphans();
    let mut line = Vec::new();
    let read = io::stdin().lock().read_until(b'\n', &mut line);
    if read.is_err() || !line.ends_with(b"\n") {
        return Ok(0);
    }
    let mut command = Command::new(program);
    let child = command.args(arguments).stdin(Stdio::piped()).process_group(0).spawn();
    let mut child = child.map_err(OpError::io("run", program))?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (ended, outcome) = mpsc::channel();
    let input = child.stdin.take();
    thread::spawn(move || feed(input, &line));
    let abandoned = ended.clone();
    thread::spawn(move || until_closed(&abandoned));
    thread::spawn(move || ended.send(child.wait().ok()));
    let status = outcome.recv().ok().flatten();
    end(group);
    Ok(status.map_or(Signal::KILL.as_raw() + 128, code).try_into().unwrap_or(u8::MAX))
}

fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| status.signal().unwrap_or_default() + 128)
}

/// Writes the line. Errors are ignored, because a program need not read its input.
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

/// Kills the process group and everything below this process, and waits for its end.
fn end(group: Option<Pid>) {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        // Most groups are empty by now.
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        for pid in below() {
            let _ = kill_process(pid, Signal::KILL);
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => break,
                // No child is left, and therefore no orphan.
                Err(_) => return,
            }
        }
        thread::sleep(STEP);
    }
}

#[cfg(target_os = "linux")]
fn adopt_orphans() {
    // Available since Linux 3.4. If it is forbidden, only the group is killed, as on other systems.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}

/// Returns the processes below this one.
#[cfg(target_os = "linux")]
fn below() -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    // A process may end before it is read.
    let parents: std::collections::BTreeMap<i32, i32> = processes
        .filter_map(|pid| Some((pid, parent(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?)))
        .collect();
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let is_below = |pid: &i32| {
        let line = std::iter::successors(parents.get(pid), |parent| parents.get(parent));
        line.take(parents.len()).any(|parent| *parent == own)
    };
    parents.keys().filter(|pid| is_below(pid)).filter_map(|pid| Pid::from_raw(*pid)).collect()
}

/// Returns the parent in `/proc/<pid>/stat`: the second field behind the program's name, which may contain any
/// character.
#[cfg(target_os = "linux")]
fn parent(stat: &str) -> Option<i32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(not(target_os = "linux"))]
fn below() -> Vec<Pid> {
    Vec::new()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_found_whatever_the_program_is_called() {
        assert_eq!(parent("12 (sh) S 7 12 12 0"), Some(7));
        assert_eq!(parent("12 (a) b (c) Z 1 12 12 0"), Some(1));
        assert_eq!(parent("12 (sh"), None);
    }
}
