//! Operations on notifications: list, acknowledge, watch.

pub mod ack;
pub mod list;
pub mod watch;

use super::Operation;

/// Its operations, in the order of the docs.
pub(super) const TABLE: &[Operation] = &[list::OPERATION, ack::OPERATION, watch::OPERATION];
