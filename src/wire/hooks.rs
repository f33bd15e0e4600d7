//! Hooks: `hooks_install`, `hooks_uninstall`, `hooks_status`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer of all three operations: the state of the hooks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HooksAnswer {
    /// The folder where git looks for hooks, absolute.
    pub folder: String,
    /// Each hook that git blue knows.
    pub hooks: Vec<HookState>,
}

/// One hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookState {
    /// Its name in git.
    pub name: String,
    /// Its file, absolute.
    pub file: String,
    /// Whether it runs git blue.
    pub installed: bool,
    /// Whether it does so by a block in that file.
    pub in_file: bool,
    /// Whether it is installed only on request.
    pub optional: bool,
    /// Whether the file has other lines too.
    pub has_other_lines: bool,
    /// Whether this call changed it.
    pub changed: bool,
    /// The reason it does not work as it should, if so.
    pub problem: Option<String>,
    /// A further note about it.
    pub note: Option<String>,
}
