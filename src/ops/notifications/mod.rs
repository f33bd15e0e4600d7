//! Operations on notifications: list, acknowledge, watch.

pub mod ack;
pub mod list;
pub mod relevance;
pub mod watch;

use super::Operation;

pub(super) const TABLE: &[Operation] = &[list::OPERATION, ack::OPERATION, watch::OPERATION];
