//! Sync through real servers: OpenSSH's sshd with its own keys, and git's own `http-backend` behind a small server on a
//! loopback port, with a real credential helper. Nothing of the user's configuration is read.
//!
//! It needs the feature `peers`, because it requires sshd: `make test-peers`.

mod backend;
mod http;
mod ssh;
mod sshd;
mod world;
