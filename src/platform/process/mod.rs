//! Processes: groups that end together, processes that outlive their parent, and the shell.

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

/// Whether a shell can limit the size of files that a command writes (`ulimit -f`).
pub const LIMITS_FILES: bool = cfg!(unix);

/// The exit code of a process that was killed, as a shell reports it.
pub const KILLED: i32 = 128 + 9;
