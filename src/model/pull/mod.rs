//! The pull requests of an RFC in several repositories: what their merges require, and their links to each other.

pub mod links;
pub mod order;
pub mod plan;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum PullState {
    /// The pull request is open.
    Open,
    /// The pull request was closed without a merge.
    Closed,
    /// The pull request was merged.
    Merged,
}

/// The number of checks by result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PullChecks {
    /// Checks that passed.
    pub passed: usize,
    /// Checks that failed.
    pub failed: usize,
    /// Checks that have not finished.
    pub pending: usize,
}
