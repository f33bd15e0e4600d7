//! Operations on the binding of this repository, in its own file: one verb a file.

pub mod edit;
pub mod export;
pub mod import;
pub mod unexport;
pub mod unimport;
