//! Operations on the pull requests of an RFC, and the order in which they can be merged.

pub mod comment;
pub mod create;
mod finish;
mod main_folder;
pub mod merge_steps;
pub mod prepare;
pub(crate) mod progress;
pub mod rfc;
mod rfc_work;
pub mod status;
mod unmergeable;
mod unpublished_merges;

use super::Operation;

pub(super) const TABLE: &[Operation] = &[status::OPERATION, prepare::OPERATION, create::OPERATION, comment::OPERATION];
