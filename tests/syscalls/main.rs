//! The real process under `strace`: every system call that writes fails once with each error, or
//! the process is killed at it. And the order of these calls, from a recorded trace, proves that a
//! ref never points to what a power failure can take.
//!
//! Short writes come from a small library before the system's: strace can make a call report fewer
//! bytes than it wrote, which no kernel does, and the file would hold bytes twice.
//!
//! Behind the feature `peers`, because it needs strace and a C compiler: `make test-peers`.

#![expect(clippy::print_stdout, reason = "how much was walked")]

mod order;
mod short;
mod trace;
mod walk;
mod world;
