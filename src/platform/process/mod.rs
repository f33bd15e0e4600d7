//! Processes: groups that end together, processes that outlive their parent, and the shell.

use std::{
    io,
    process::{Child, ExitStatus},
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

/// Whether a shell can limit the size of files that a command writes (`ulimit -f`).
pub const LIMITS_FILES: bool = cfg!(unix);

/// The exit code of a process that was killed, as a shell reports it.
pub const KILLED: i32 = 128 + 9;
