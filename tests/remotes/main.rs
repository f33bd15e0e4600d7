//! Sync through real servers: OpenSSH's sshd with its own keys, and git's `http-backend` behind a small server on a
//! loopback port, with a real credential helper. The user's files are not read.
//!
//! Needs sshd: `make test-peers`.

mod backend;
mod http;
mod ssh;
mod sshd;
mod world;
