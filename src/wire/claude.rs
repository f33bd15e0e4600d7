//! Claude Code's files: `install_claude` and `uninstall_claude`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer of `install_claude` and `uninstall_claude`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaudeSetup {
    /// The scope of the setup.
    pub scope: ClaudeScope,
    /// Whether this was a dry run, which writes nothing.
    pub dry_run: bool,
    /// The files that belong to the setup.
    pub files: Vec<ClaudeFile>,
}

/// The scope of a setup.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum ClaudeScope {
    /// All users of this repository.
    #[default]
    #[cfg_attr(feature = "cli", value(help = "In files of this repository, for everyone who clones it"))]
    Project,
    /// All repositories of this user.
    #[cfg_attr(feature = "cli", value(help = "In your own settings, for all repositories"))]
    User,
}

/// A file of the setup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaudeFile {
    /// The absolute path of the file.
    pub path: String,
    /// The change to the file.
    pub change: FileChange,
    /// The changed lines, in the format of `diff -u`.
    pub diff: String,
}

/// A change to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileChange {
    /// The file was created.
    Created,
    /// The file existed and was changed.
    Changed,
    /// The file had no other content and was removed.
    Removed,
    /// The file needs no change.
    None,
}
