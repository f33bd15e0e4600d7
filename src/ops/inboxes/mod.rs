//! Notifies readers of changes: what is pending, what was delivered, and when to check again.

pub mod arrival;
mod change_decoder;
pub mod change_watch;
pub mod deliver;
pub mod fingerprint;
pub mod first_baselines;
pub mod found;
pub mod import_effects;
pub mod inbox;
mod notification;
mod own_publications;
pub mod pending;
pub mod realm_changes;
pub mod renamed;
mod writer;
