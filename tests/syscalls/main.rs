//! Runs the real process under `strace`: every system call that writes fails once with each error, or the process is
//! killed at it. The order of these calls in a recorded trace proves that a ref never points to objects that a power
//! failure can destroy.
//!
//! Short writes come from a small preloaded library. strace can only make a call report fewer bytes than it wrote,
//! which no kernel does, and the file would contain bytes twice.
//!
//! It needs the feature `peers`, because it requires strace and a C compiler: `make test-peers`.

#![expect(clippy::print_stdout, reason = "how much was walked")]

mod order;
mod short;
mod trace;
mod walk;
mod world;
