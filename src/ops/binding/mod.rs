//! Operations on this repository's binding, one per file.

pub mod edit;
pub mod export;
pub mod import;
pub mod unexport;
pub mod unimport;

use super::Operation;

pub(super) const TABLE: &[Operation] =
    &[import::OPERATION, export::OPERATION, unimport::OPERATION, unexport::OPERATION];
