//! The binary, which only sets the exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(git_blue::surface::cli::main())
}
