//! Content that strangers may put in a repository, and that a remote may send: some three hundred `.blue/` folders and
//! thirty-five remotes, each made of a kind of payload in a place where it may occur. None of it is executed, nothing
//! is written outside, no control character reaches the output, every command ends in time with an exit code of the
//! program, and none uses more than 256 MB.

#![allow(clippy::print_stdout, reason = "a failure is printed below the name of its case")]

#[path = "../cli/world.rs"]
#[allow(dead_code, reason = "not every helper of the command line's tests is needed here")]
mod world;

/// The suite of the command line validates answers against their schemas.
mod schemas {
    pub fn hold(_: &[&str], _: &str) {}
}

mod folders;
mod payloads;
mod remotes;
mod server;
mod watch;
