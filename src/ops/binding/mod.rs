//! Operations on the binding of this repository, in its own file: one verb a file.

pub mod edit;
pub mod export;
pub mod import;
pub mod unexport;
pub mod unimport;

use super::Operation;

/// Its operations, in the order of the docs.
pub(super) const TABLE: &[Operation] =
    &[import::OPERATION, export::OPERATION, unimport::OPERATION, unexport::OPERATION];
