//! The real process under `strace`: every system call that writes fails once with each error, or
//! the process is killed at it. And the order of these calls, from a recorded trace, proves that a
//! ref never points to what a power failure can take.
//!
//! A short write is not injected: strace can make a call report fewer bytes than it wrote, which no
//! kernel does, and the file would hold bytes twice. Every write goes through `write_all`, the same
//! code path as the one that survives EINTR.
//!
//! Behind the feature `peers`, because it needs strace: `make test-peers`.

#![expect(clippy::print_stdout, reason = "how much was walked")]

mod order;
mod trace;
mod walk;
mod world;
