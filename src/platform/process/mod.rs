//! Processes: groups that end together, work that outlives who started it, the shell.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::{
    io,
    path::Path,
    process::{Child, Command, ExitStatus},
    time::Duration,
};

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// Whether a shell can keep the files of a command from growing beyond a size (`ulimit -f`).
pub const LIMITS_FILES: bool = cfg!(unix);

/// The exit code of a process that was killed, as a shell reports it.
pub const KILLED: i32 = 128 + 9;

/// Returns the exit code of a process as a shell reports it: where a signal ended it, 128 and the signal's number.
pub fn code(status: ExitStatus) -> i32 {
    system::code(status)
}

/// Has a command lead a process group of its own: keys in the terminal that end its starter do not reach it. On
/// Windows it opens no window either.
pub fn apart(command: &mut Command) -> &mut Command {
    system::apart(command)
}

/// Returns a command that starts a program which outlives whoever called us, and keeps none of the files open that
/// the caller opened beyond the usual three: otherwise the caller may wait for it. On Windows those stay open.
pub fn detached(program: &Path) -> Command {
    system::detached(program)
}

/// Leaves the session of whoever started us: closing their terminal ends its processes, and not us. On Windows
/// [`detached`] did so already.
pub fn leave_session() {
    system::leave_session();
}

/// Raises the limit of open files of this process to `wanted`, where it is lower and the system allows more. Returns how
/// many may be open, at most `wanted`.
pub fn allow_open_files(wanted: usize) -> usize {
    system::allow_open_files(wanted)
}

/// Tells a process of this user's to end. Windows has no such word for a process without a window: there, it is ended.
///
/// # Errors
/// Returns an error if there is none, or it is another user's.
pub fn stop(pid: u32) -> io::Result<()> {
    system::stop(pid)
}

/// Returns a command that runs a shell, as git finds one: on Windows the one that comes with git.
pub fn shell() -> Command {
    system::shell()
}

/// A child and what it starts: a process group on Unix, a job object on Windows.
#[derive(Debug)]
pub struct Group(system::Group);

impl Group {
    /// Starts a command as the first of a group. On Windows, what it starts before it is put into its job object is no
    /// part of the group.
    ///
    /// # Errors
    /// Returns an error if it cannot be started.
    pub fn start(command: &mut Command) -> io::Result<(Child, Self)> {
        let (child, group) = system::Group::start(command)?;
        Ok((child, Self(group)))
    }

    /// Asks all of the group to end; on Windows they are killed. The child must not have been waited for: its number
    /// could be another's.
    pub fn ask_to_end(self) {
        self.0.ask_to_end();
    }

    /// Kills all of the group. The child must not have been waited for.
    pub fn kill(self) {
        self.0.kill();
    }
}

/// Everything that this process starts, and what that starts in turn, whatever group it is in.
///
/// Linux hands a process whose parent ended to us. Windows keeps all of them in a job object, and ends them if this
/// process is killed. On other systems what left the child's group stays.
#[derive(Debug)]
pub struct Offspring(system::Offspring);

impl Offspring {
    /// Takes charge of what this process starts from now on.
    pub fn adopt() -> Self {
        Self(system::Offspring::adopt())
    }

    /// Kills a group and all others, and waits until they have ended, for a time.
    pub fn end(&self, group: Group, patience: Duration) {
        self.0.end(group.0, patience);
    }
}
