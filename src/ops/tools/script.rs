//! Runs one program to its end, within a time limit, and keeps the end of its output.

use std::{
    io::{self, Read, Write as _},
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use super::environment;
use crate::{env::Env, platform::process};

/// The maximum number of bytes of output that are kept, counted from its end.
const MAX_OUTPUT: usize = 2 << 10;
/// The interval at which the output is polled.
const STEP: Duration = Duration::from_millis(10);
/// The maximum time to wait for remaining output once the program has ended.
const PATIENCE: Duration = Duration::from_secs(1);

/// The result of running a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The exit code, as a shell reports it; `None` if the time limit was reached.
    pub code: Option<i32>,
    /// The end of its output.
    pub output: String,
}

/// Runs a program in a folder with a line as its input, without variables that hold secrets. A supervising process
/// kills the program and all of its descendants once it has ended or its time is over.
///
/// # Errors
/// Returns an error if the program cannot be started.
pub fn run(env: &Env, program: &Path, folder: &Path, line: &str, timeout: Duration) -> io::Result<Ended> {
    let mut command = Command::new(env.exe());
    command.args(["supervise", "--"]).arg(program).current_dir(folder);
    command.env_clear().envs(environment::variables(env, &[]));
    // One pipe for both streams keeps the order in which the program writes.
    let (output, writer) = io::pipe()?;
    command.stdin(Stdio::piped()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // The command holds the writing end: while it is open, the output does not end.
    drop(command);
    let kept = Arc::new(Mutex::new(Vec::new()));
    let reader = read_tail(output, Arc::clone(&kept));
    // Keep the input open until the end: closing it makes the supervisor kill everything.
    let mut input = child.stdin.take();
    if let Some(mut stream) = input.as_ref() {
        // If the input cannot be written, the exit status says why.
        let _ = stream.write_all(format!("{line}\n").as_bytes());
    }
    let status = process::wait_at_most(&mut child, timeout)?;
    if status.is_none() {
        drop(input.take());
        child.wait()?;
    }
    let ended = Instant::now();
    while !reader.is_finished() && ended.elapsed() < PATIENCE {
        thread::sleep(STEP);
    }
    let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Ended { code: status.map(process::code), output: String::from_utf8_lossy(&kept).trim().to_owned() })
}

/// Keeps the end of a stream.
fn read_tail(mut stream: impl Read + Send + 'static, kept: Arc<Mutex<Vec<u8>>>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut part = [0; 8 << 10];
        // A read error counts as the end.
        while let Ok(count @ 1..) = stream.read(&mut part) {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&part[..count]);
            let over = kept.len().saturating_sub(MAX_OUTPUT);
            kept.drain(..over);
        }
    })
}
