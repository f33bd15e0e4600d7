//! Processes, as POSIX has them.

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
    process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, setsid, wait},
};

/// Closes what callers of git may have opened for themselves beyond the usual three: the standard library has no safe
/// way to do it.
const CLOSING: &str = r#"exec "$0" "$@" 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-"#;
/// How often is looked whether processes that were killed have ended.
const STEP: Duration = Duration::from_millis(2);

pub fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| status.signal().unwrap_or_default() + 128)
}

pub fn apart(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

pub fn detached(program: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", CLOSING]).arg(program);
    command
}

pub fn leave_session() {
    // It fails where we lead a group of our own already, which does as well.
    let _ = setsid();
}

pub fn stop(pid: u32) -> io::Result<()> {
    let pid = of(pid).ok_or(Errno::SRCH)?;
    Ok(kill_process(pid, Signal::TERM)?)
}

pub fn shell() -> Command {
    Command::new("sh")
}

fn of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

#[derive(Debug)]
pub struct Group(Option<Pid>);

impl Group {
    pub fn start(command: &mut Command) -> io::Result<(Child, Self)> {
        let child = apart(command).spawn()?;
        let group = Self(of(child.id()));
        Ok((child, group))
    }

    pub fn ask_to_end(self) {
        self.signal(Signal::TERM);
    }

    pub fn kill(self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        // There may be nobody left in it.
        let _ = self.0.map(|group| kill_process_group(group, signal));
    }
}

#[derive(Debug)]
pub struct Offspring;

impl Offspring {
    pub fn adopt() -> Self {
        #[cfg(target_os = "linux")]
        linux::adopt_orphans();
        Self
    }

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
                    // No child is left, and so no orphan.
                    Err(_) => return,
                }
            }
            thread::sleep(STEP);
        }
    }
}
