//! Operations on notifications: list, acknowledge, watch.

pub mod ack;
pub mod list;
pub mod watch;

use super::Operation;

/// The operations, in the order of the documentation.
pub(super) const TABLE: &[Operation] = &[list::OPERATION, ack::OPERATION, watch::OPERATION];
