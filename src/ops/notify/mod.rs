//! Notifies readers of changes: what is pending, what was delivered, and when to look again.

pub mod arrival;
pub mod change_watch;
pub mod deliver;
pub mod fingerprint;
pub mod inbox;
pub mod judged;
pub mod news;
pub mod pending;
pub mod pending_cache;
