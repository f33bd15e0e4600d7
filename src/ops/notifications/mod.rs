//! Operations on notifications: list, acknowledge, watch.

pub mod ack;
pub mod list;
pub mod watch;
