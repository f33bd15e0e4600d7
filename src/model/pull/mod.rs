//! The pull requests of an RFC in several repositories: what their merges require, and their links to each other.

pub mod links;
pub mod order;
pub mod plan;
