//! Runs one of the user's programs with an input, within a time limit.

use std::{
    io::{self, Read as _, Write as _},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{
    env::Env,
    platform::process::{self, Group},
};

/// The interval at which the output is polled.
const STEP: Duration = Duration::from_millis(10);
/// The maximum number of bytes of output that are kept.
const MAX_SAID: u64 = 300;

/// Runs a program until it ends. After the time limit it is killed with its process group.
///
/// # Errors
/// Returns the reason why the program failed.
pub fn run(env: &Env, program: Command, args: &[&str], input: &str, limit: Duration) -> Result<(), String> {
    let name = program.get_program().to_owned();
    let cannot = |error: io::Error| format!("cannot run {}: {error}", name.display());
    let mut program = env.child(program);
    program.args(args).current_dir("/").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let (mut child, group) = Group::start(&mut program).map_err(cannot)?;
    let (stdin, stderr, input) = (child.stdin.take(), child.stderr.take(), input.to_owned());
    // A program may ignore its input, so writing may block.
    thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
    let said = thread::spawn(move || {
        let mut said = Vec::new();
        let mut stderr = stderr?;
        stderr.by_ref().take(MAX_SAID).read_to_end(&mut said).ok()?;
        let _ = io::copy(&mut stderr, &mut io::sink());
        Some(said)
    });
    let begun = Instant::now();
    match process::wait_at_most(&mut child, limit).map_err(cannot)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => {
            // Its child processes may keep the output open.
            while !said.is_finished() && begun.elapsed() < limit {
                thread::sleep(STEP);
            }
            let said = if said.is_finished() { said.join().ok().flatten() } else { None };
            let line = said.and_then(|said| Some(String::from_utf8_lossy(&said).lines().next()?.to_owned()));
            Err(format!("it failed: {status}{}", line.map(|line| format!(": {line}")).unwrap_or_default()))
        }
        None => {
            group.kill();
            let _ = child.wait();
            Err(format!("it took more than {} s", limit.as_secs_f32()))
        }
    }
}
