//! Sync through real servers: OpenSSH's sshd with keys of its own, and git's own `http-backend` behind a
//! small server on a loopback port, with a real credential helper. Nothing of the user's is read.
//!
//! Behind the feature `peers`, because it needs sshd: `make test-peers`.

mod backend;
mod http;
mod ssh;
mod sshd;
mod world;
