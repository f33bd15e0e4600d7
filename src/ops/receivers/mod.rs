//! Operations on receivers: list, test, send, retry; and issues at consumers.

pub mod forge;
mod issue;
pub mod list;
pub mod retry;
pub mod send;
pub mod test;

use super::Operation;

/// The operations, in the order of the documentation.
pub(super) const TABLE: &[Operation] =
    &[list::OPERATION, test::OPERATION, send::OPERATION, retry::OPERATION, forge::OPERATION];
