//! The program under `strace`: every writing system call fails once with each error, or the process is killed at it.
//! The order of these calls in a trace proves that a ref never points to data that a power failure can lose.
//!
//! Short writes are made by a small preloaded library: strace can report fewer bytes than were written, which no
//! kernel does.
//!
//! Needs strace and a C compiler: `make test-peers`.

#![expect(clippy::print_stdout, reason = "how much was walked")]

mod durability;
mod failing_calls;
mod short_writes;
mod trace;
#[path = "../testutils/whole.rs"]
mod whole;
mod world;
