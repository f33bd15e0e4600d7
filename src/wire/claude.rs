//! Claude Code's files: `install_claude`, `uninstall_claude`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What both of them answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaudeSetup {
    /// For whom it is set up.
    pub scope: ClaudeScope,
    /// Whether it was only shown what would change.
    pub dry_run: bool,
    /// Each file that has a part in it.
    pub files: Vec<ClaudeFile>,
}

/// For whom something is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClaudeScope {
    /// For everybody who works in this repository.
    Project,
    /// For this user, in every repository.
    User,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaudeFile {
    /// Its path, absolute.
    pub path: String,
    /// What happens to it.
    pub change: FileChange,
    /// The lines that change, as `diff -u` shows them.
    pub diff: String,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileChange {
    /// It is new.
    Created,
    /// It was there.
    Changed,
    /// Nothing else was in it.
    Removed,
    /// Nothing: it is as it should be.
    None,
}
