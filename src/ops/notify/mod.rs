//! Operations on receivers: list, test, send and retry; and issues and pull requests at consumers.

pub mod forge;
mod former;
mod importers;
mod issue;
pub mod list;
mod proposal;
mod pulls;
pub mod retry;
pub mod send;
pub mod test;

use super::Operation;

pub(super) const TABLE: &[Operation] =
    &[list::OPERATION, test::OPERATION, send::OPERATION, retry::OPERATION, forge::OPERATION];
