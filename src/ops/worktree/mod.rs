//! Operations on the worktrees of an RFC, one per repository.

pub mod create;
pub mod list;
pub mod remove;
pub mod rfc_worktrees;

use super::Operation;

pub(super) const TABLE: &[Operation] = &[create::OPERATION, list::OPERATION, remove::OPERATION];
