//! Hostile repositories and remotes: about three hundred `.blue/` folders and thirty-five remotes, each with a
//! payload of some kind in some place. Nothing is executed, nothing is written outside, no control character reaches
//! the output, every command ends in time with one of the program's exit codes, and none takes more than 256 MB.

#![allow(clippy::print_stdout, reason = "a failure is printed below the name of its case")]

#[path = "../testutils/hub.rs"]
mod hub;

#[path = "../testutils/world.rs"]
#[allow(dead_code, reason = "not every helper of the command line's tests is needed here")]
mod world;

/// The tests of the command line validate answers against their schemas.
mod schemas {
    pub fn hold(_: &[&str], _: &str) {}
}

mod folders;
mod payloads;
mod remotes;
mod server;
mod watch;
