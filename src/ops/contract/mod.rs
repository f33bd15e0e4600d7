//! Operations on contracts: one verb a file.

pub mod adapted;
pub mod diff;
pub mod draft;
pub mod edit;
pub mod get;
pub mod impact;
pub mod list;
pub mod log;
pub mod publish;
pub mod retire;
pub mod timeline;
pub mod transfer;
pub mod yank;
