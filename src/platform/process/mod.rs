//! Processes: groups that end together, processes that outlive their parent, and the shell.

use std::{
    io::{self, Read as _},
    process::{Child, ExitStatus},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use system::{
    Descendants, Group, code, detached, leave_session, own_process_group, raise_open_file_limit, shell, stop,
    thread_cpu_time,
};

/// The variable that is set for git processes of this program whose hooks should do nothing: all but those that change
/// the user's repositories.
pub const RUNNING: &str = "GIT_BLUE_RUNNING";

/// The interval at which a process is polled.
const STEP: Duration = Duration::from_millis(10);

/// Waits until a process ends. Returns `None` if it still runs at the end of the time limit.
///
/// # Errors
/// Returns an error if the system cannot say whether it runs.
pub fn wait_at_most(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        match child.try_wait()? {
            None if begun.elapsed() < limit => thread::sleep(STEP),
            status => return Ok(status),
        }
    }
}

/// Waits for a process and reads its output, if its standard output is a pipe. Returns `None` if it had to be killed at
/// the end of the time limit, or if a process that it started still holds the pipe.
///
/// # Errors
/// Returns an error if the output cannot be read.
pub fn output_at_most(mut child: Child, limit: Duration) -> io::Result<Option<(ExitStatus, Vec<u8>)>> {
    let begun = Instant::now();
    let (sender, receiver) = mpsc::channel();
    let pipe = child.stdout.take();
    thread::spawn(move || {
        let mut output = Vec::new();
        let read = pipe.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut output));
        sender.send(read.map(|_| output))
    });
    let status = wait_at_most(&mut child, limit)?;
    let output = receiver.recv_timeout(limit.saturating_sub(begun.elapsed()));
    match (status, output) {
        (Some(status), Ok(output)) => Ok(Some((status, output?))),
        _ => {
            let _ = child.kill();
            let _ = child.wait();
            Ok(None)
        }
    }
}

/// Whether a shell can limit the size of files that a command writes (`ulimit -f`).
pub const LIMITS_FILES: bool = cfg!(unix);

/// The exit code of a process that was killed, as a shell reports it.
pub const KILLED: i32 = 128 + 9;

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    #[test]
    fn a_process_that_waits_is_killed() {
        let output = |script: &str, limit: u64| {
            let child = shell().args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
            output_at_most(child, Duration::from_millis(limit)).unwrap()
        };
        let (status, text) = output("echo secret", 60_000).unwrap();
        assert_eq!((status.success(), &text[..]), (true, &b"secret\n"[..]));
        let begun = Instant::now();
        assert_eq!(output("echo secret; exec sleep 600", 50), None);
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}
