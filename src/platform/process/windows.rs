//! Processes on Windows.

#![expect(missing_docs, reason = "`unix` documents the functions of both systems")]

use std::{
    io,
    os::windows::{io::AsRawHandle as _, process::CommandExt as _},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::LazyLock,
    time::{Duration, Instant},
};

use win32job::{ExtendedLimitInfo, Job};

/// Process creation flags: without a console, with a console that has no window, and without receiving Ctrl-C.
const DETACHED_PROCESS: u32 = 0x0000_0008;
const CREATE_NO_WINDOW: u32 = 0x0800_0000;
const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;

pub fn thread_cpu_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

pub fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or(super::KILLED)
}

pub fn own_process_group(command: &mut Command) -> &mut Command {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW)
}

pub fn detached(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.creation_flags(CREATE_NEW_PROCESS_GROUP | DETACHED_PROCESS);
    command
}

pub fn leave_session() {}

// Windows has no such limit on sockets.
pub fn raise_open_file_limit(wanted: usize) -> usize {
    wanted
}

pub fn stop(pid: u32) -> io::Result<()> {
    let mut command = Command::new("taskkill");
    command.args(["/F", "/PID", &pid.to_string()]);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("taskkill failed: {status}"))) }
}

pub fn shell() -> Command {
    gix_path::env::shell_command()
}

#[derive(Debug)]
pub struct Group(Job);

impl Group {
    pub fn start(command: &mut Command) -> io::Result<(Child, Self)> {
        let job = Job::create()?;
        let mut child = own_process_group(command).spawn()?;
        if let Err(error) = job.assign_process(child.as_raw_handle() as isize) {
            // A process that has already ended needs no group, and cannot be added to one.
            if child.try_wait()?.is_none() {
                child.kill()?;
                child.wait()?;
                return Err(error.into());
            }
        }
        Ok((child, Self(job)))
    }

    pub fn ask_to_end(self) {
        self.kill();
    }

    pub fn kill(self) {
        // The processes in the job end when its last handle is closed, which is this one, when it is dropped.
        let _ = self.0.set_extended_limit_info(ExtendedLimitInfo::new().limit_kill_on_job_close());
    }
}

#[derive(Debug)]
pub struct Descendants(#[expect(dead_code, reason = "the job ends when it is dropped")] Option<Job>);

impl Descendants {
    pub fn adopt() -> Self {
        let job = Job::create_with_limit_info(ExtendedLimitInfo::new().limit_kill_on_job_close());
        // If this is forbidden, only the child's own job ends.
        Self(job.and_then(|job| job.assign_current_process().map(|()| job)).ok())
    }

    pub fn end(&self, group: Group, _: Duration) {
        group.kill();
    }
}
