//! Claude Code's files: `install_claude`, `uninstall_claude`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer of `install_claude` and `uninstall_claude`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaudeSetup {
    /// The scope of the setup.
    pub scope: ClaudeScope,
    /// Whether this was a dry run, which writes nothing.
    pub dry_run: bool,
    /// Each file that has a part in it.
    pub files: Vec<ClaudeFile>,
}

/// The scope of a setup.
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
    /// The action on it.
    pub change: FileChange,
    /// The lines that change, as `diff -u` shows them.
    pub diff: String,
}

/// An action on a file.
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
