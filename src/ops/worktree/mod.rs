//! Operations on the worktrees of an RFC, one per repository.

pub mod create;
pub mod list;
pub mod remove;
pub mod rfc_worktrees;
