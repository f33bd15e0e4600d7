//! The entry point of the process: reads its environment, opens output and log, and returns the exit code.

use std::io::Write as _;

use super::Output;
use crate::{env::Env, error::Kind, surface::log};

/// Runs the process. Returns the exit code.
pub fn main() -> u8 {
    // The streams are not locked, because a server writes from a thread of its runtime.
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    let env = match Env::from_process() {
        Ok(env) => env,
        Err(error) => {
            let _ = writeln!(err, "fatal: cannot read the current directory: {error}");
            return Kind::Cannot.exit_code();
        }
    };
    if let Err(error) = log::start(&env) {
        let _ = writeln!(err, "warning: cannot write the log: {}: {error}", log::VARIABLE);
    }
    for remark in env.ignored() {
        let _ = writeln!(err, "warning: {remark}");
    }
    let arguments: Vec<_> = env.arguments().to_vec();
    let mut output = Output::new(&env, &mut out, &mut err);
    super::run::run(env, &arguments, &mut output)
}
