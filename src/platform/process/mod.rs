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

#[cfg(all(test, unix))]
mod tests {
    use std::{
        io::{BufRead as _, BufReader, Read as _},
        process::Stdio,
        time::Instant,
    };

    use super::*;

    /// Returns a command that starts another one, prints its number, and waits.
    fn parent() -> Command {
        let mut command = shell();
        command.args(["-c", "sleep 60 & echo $!; wait"]).stdout(Stdio::piped());
        command
    }

    /// Waits until nothing holds the output of a command open any more.
    fn wait_until_closed(child: &mut Child) {
        let begun = Instant::now();
        child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_group_ends_with_all_that_the_child_started() {
        for end in [Group::kill, Group::ask_to_end] {
            let (mut child, group) = Group::start(&mut parent()).unwrap();
            // The one that it starts is there once its number is.
            BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
            end(&group);
            wait_until_closed(&mut child);
            assert!(code(child.wait().unwrap()) > 128);
        }
    }

    #[test]
    fn a_code_is_that_of_a_shell() {
        let of = |script: &str| code(shell().args(["-c", script]).status().unwrap());
        assert_eq!([of("exit 3"), of("kill -9 $$"), of("kill -15 $$")], [3, KILLED, 143]);
    }

    #[test]
    fn a_process_is_told_to_stop() {
        let mut child = shell().args(["-c", "exec sleep 60"]).spawn().unwrap();
        stop(child.id()).unwrap();
        assert_eq!(code(child.wait().unwrap()), 143);
        assert!(stop(u32::MAX).is_err());
    }

    #[test]
    fn a_detached_command_keeps_no_file_of_its_callers_open() {
        let script = "\"$0\" \"$@\" 5>&1 >/dev/null &";
        let command = detached(Path::new("/bin/sleep"));
        let mut caller = shell();
        caller.arg("-c").arg(script).arg(command.get_program()).args(command.get_args()).arg("20");
        let mut child = caller.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        wait_until_closed(&mut child);
        child.wait().unwrap();
    }
}
