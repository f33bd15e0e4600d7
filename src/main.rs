//! The binary: the exit code, and nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(git_blue::surface::cli::main())
}
