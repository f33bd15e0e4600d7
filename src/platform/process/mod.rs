//! Processes: groups that end together, processes that outlive their parent, and the shell.

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

/// Whether a shell can limit the size of files that a command writes (`ulimit -f`).
pub const LIMITS_FILES: bool = cfg!(unix);

/// The exit code of a process that was killed, as a shell reports it.
pub const KILLED: i32 = 128 + 9;

/// Returns the exit code of a process as a shell reports it: 128 plus the signal's number if a signal ended the
/// process.
pub fn code(status: ExitStatus) -> i32 {
    system::code(status)
}

/// Makes a command the leader of its own process group, so that keys in the terminal that end its parent do not reach
/// it. On Windows, this also keeps it from opening a window.
pub fn own_process_group(command: &mut Command) -> &mut Command {
    system::own_process_group(command)
}

/// Returns a command that starts a program that outlives our caller, and closes all files that the caller opened
/// except the standard streams. Otherwise the caller might wait for it. On Windows those files stay open.
pub fn detached(program: &Path) -> Command {
    system::detached(program)
}

/// Returns the CPU time of this process so far. On Windows, returns the time since the first call.
pub fn cpu_time() -> Duration {
    system::cpu_time()
}

/// Leaves the session of our caller, so that closing its terminal does not end this process. On Windows, [`detached`]
/// already does so.
pub fn leave_session() {
    system::leave_session();
}

/// Raises this process's limit on open files to `wanted`, if it is lower and the system allows it. Returns the
/// resulting limit, at most `wanted`.
pub fn raise_open_file_limit(wanted: usize) -> usize {
    system::raise_open_file_limit(wanted)
}

/// Asks a process of the current user to end. On Windows, a process without a window cannot be asked, so it is killed.
///
/// # Errors
/// Returns an error if there is no such process, or it belongs to another user.
pub fn stop(pid: u32) -> io::Result<()> {
    system::stop(pid)
}

/// Returns a command that runs a shell in the same way as git. On Windows it is the shell that comes with git.
pub fn shell() -> Command {
    system::shell()
}

/// A child and its descendants: a process group on Unix, a job object on Windows.
#[derive(Debug)]
pub struct Group(system::Group);

impl Group {
    /// Starts a command as the first process of a group. On Windows, processes that it starts before it is added to
    /// its job object are not part of the group.
    ///
    /// # Errors
    /// Returns an error if it cannot be started.
    pub fn start(command: &mut Command) -> io::Result<(Child, Self)> {
        let (child, group) = system::Group::start(command)?;
        Ok((child, Self(group)))
    }

    /// Asks all processes of the group to end; on Windows they are killed. The child must not have been waited for,
    /// because its process id could have been reused.
    pub fn ask_to_end(self) {
        self.0.ask_to_end();
    }

    /// Kills all processes of the group. The child must not have been waited for.
    pub fn kill(self) {
        self.0.kill();
    }
}

/// All descendants of this process, regardless of their process group.
///
/// On Linux, this process becomes the parent of orphaned descendants. On Windows, all of them are in a job object, and
/// end if this process is killed. On other systems, processes that have left the child's group are not included.
#[derive(Debug)]
pub struct Descendants(system::Descendants);

impl Descendants {
    /// Starts to track the descendants of this process.
    pub fn adopt() -> Self {
        Self(system::Descendants::adopt())
    }

    /// Kills a group and all other descendants, and waits until they have ended, up to a time limit.
    pub fn end(&self, group: Group, patience: Duration) {
        self.0.end(group.0, patience);
    }
}
