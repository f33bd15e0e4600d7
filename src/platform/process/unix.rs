//! Processes on POSIX systems.

#[cfg(target_os = "linux")]
mod linux;

use std::{
    io,
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    path::Path,
    process::{Child, Command, ExitStatus},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    process::{
        Pid, Resource, Rlimit, Signal, WaitOptions, getrlimit, kill_process, kill_process_group, setrlimit, setsid,
        wait,
    },
    time::{ClockId, clock_gettime},
};

/// Closes files other than the standard streams that callers of git may have opened. The standard library has no safe
/// way to do this.
const CLOSING: &str = r#"exec "$0" "$@" 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-"#;
/// The interval at which killed processes are checked.
const STEP: Duration = Duration::from_millis(2);

/// Returns the CPU time of this thread so far. On Windows, returns the time since the first call.
pub fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Returns the exit code of a process as a shell reports it: 128 plus the signal's number if a signal ended the
/// process.
pub fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| status.signal().unwrap_or_default() + 128)
}

/// Makes a command the leader of its own process group, so that keys in the terminal that end its parent do not reach
/// it. On Windows, this also keeps it from opening a window.
pub fn own_process_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Returns a command that starts a program that outlives our caller, and closes all files that the caller opened
/// except the standard streams. Otherwise the caller might wait for it. On Windows those files stay open.
pub fn detached(program: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", CLOSING]).arg(program);
    command
}

/// Leaves the session of our caller, so that closing its terminal does not end this process. On Windows, [`detached`]
/// already does so.
pub fn leave_session() {
    // This fails if we already lead a group of our own, which is fine.
    let _ = setsid();
}

/// Raises this process's limit on open files to `wanted`, if it is lower and the system allows it. Returns the
/// resulting limit, at most `wanted`.
pub fn raise_open_file_limit(wanted: usize) -> usize {
    let wanted = wanted as u64;
    let limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum.map_or(wanted, |most| wanted.min(most));
    if limit.current.is_some_and(|now| now < allowed)
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(allowed), ..limit })
    {
        tracing::warn!(%error, "cannot raise the limit of open files");
    }
    getrlimit(Resource::Nofile).current.map_or(wanted, |now| wanted.min(now)) as usize
}

/// Asks a process of the current user to end. On Windows, a process without a window cannot be asked, so it is killed.
///
/// # Errors
/// Returns an error if there is no such process, or it belongs to another user.
pub fn stop(pid: u32) -> io::Result<()> {
    let pid = of(pid).ok_or(Errno::SRCH)?;
    Ok(kill_process(pid, Signal::TERM)?)
}

/// Returns a command that runs a shell in the same way as git. On Windows it is the shell that comes with git.
pub fn shell() -> Command {
    Command::new("sh")
}

fn of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// A child and its descendants: a process group on Unix, a job object on Windows.
#[derive(Debug)]
pub struct Group(Option<Pid>);

impl Group {
    /// Starts a command as the first process of a group. On Windows, processes that it starts before it is added to
    /// its job object are not part of the group.
    ///
    /// # Errors
    /// Returns an error if it cannot be started.
    pub fn start(command: &mut Command) -> io::Result<(Child, Self)> {
        let child = own_process_group(command).spawn()?;
        let group = Self(of(child.id()));
        Ok((child, group))
    }

    /// Asks all processes of the group to end; on Windows they are killed. The child must not have been waited for,
    /// because its process id could have been reused.
    pub fn ask_to_end(self) {
        self.signal(Signal::TERM);
    }

    /// Kills all processes of the group. The child must not have been waited for.
    pub fn kill(self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        // The group may be empty already.
        let _ = self.0.map(|group| kill_process_group(group, signal));
    }
}

/// All descendants of this process, regardless of their process group.
///
/// On Linux, this process becomes the parent of orphaned descendants. On Windows, all of them are in a job object, and
/// end if this process is killed. On other systems, processes that have left the child's group are not included.
#[derive(Debug)]
pub struct Descendants;

impl Descendants {
    /// Starts to track the descendants of this process.
    pub fn adopt() -> Self {
        #[cfg(target_os = "linux")]
        linux::adopt_orphans();
        Self
    }

    /// Kills a group and all other descendants, and waits until they have ended, up to a time limit.
    pub fn end(&self, group: Group, patience: Duration) {
        let start = Instant::now();
        while start.elapsed() < patience {
            group.signal(Signal::KILL);
            #[cfg(target_os = "linux")]
            linux::kill_below();
            loop {
                match wait(WaitOptions::NOHANG) {
                    Ok(Some(_)) | Err(Errno::INTR) => {}
                    Ok(None) => break,
                    // There are no children left, and therefore no orphans.
                    Err(_) => return,
                }
            }
            thread::sleep(STEP);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead as _, BufReader, Read as _},
        process::Stdio,
    };

    use super::*;
    use crate::platform::process::KILLED;

    /// Returns a command that starts another process, prints its id, and waits.
    fn parent() -> Command {
        let mut command = shell();
        command.args(["-c", "sleep 60 & echo $!; wait"]).stdout(Stdio::piped());
        command
    }

    /// Waits until no process holds the output of a command open.
    fn wait_until_closed(child: &mut Child) {
        let begun = Instant::now();
        child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_group_ends_with_all_descendants() {
        for (end, signal) in [(Group::kill as fn(Group), 9), (Group::ask_to_end, 15)] {
            let (mut child, group) = Group::start(&mut parent()).unwrap();
            // The descendant is running once its id is printed.
            BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
            end(group);
            wait_until_closed(&mut child);
            assert_eq!(code(child.wait().unwrap()), 128 + signal);
        }
    }

    #[test]
    fn exit_codes_are_those_of_a_shell() {
        let of = |script: &str| code(shell().args(["-c", script]).status().unwrap());
        assert_eq!([of("exit 3"), of("kill -9 $$"), of("kill -15 $$")], [3, KILLED, 143]);
    }

    #[test]
    fn stop_ends_a_process() {
        let mut child = shell().args(["-c", "exec sleep 60"]).spawn().unwrap();
        stop(child.id()).unwrap();
        assert_eq!(code(child.wait().unwrap()), 143);
        assert!(stop(u32::MAX).is_err());
    }

    #[test]
    fn a_detached_command_closes_files_of_its_caller() {
        let script = "\"$0\" \"$@\" 5>&1 >/dev/null &";
        let command = detached(Path::new("/bin/sleep"));
        let mut caller = shell();
        caller.arg("-c").arg(script).arg(command.get_program()).args(command.get_args()).arg("20");
        let mut child = caller.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        wait_until_closed(&mut child);
        child.wait().unwrap();
    }
}
