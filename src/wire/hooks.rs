//! Hooks: `hooks_install`, `hooks_uninstall`, `hooks_status`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the three of them answer: how the hooks are now.
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
    /// Its name, as git calls it.
    pub name: String,
    /// Its file, absolute.
    pub file: String,
    /// Whether it runs git blue.
    pub installed: bool,
    /// Whether it does so by our block in that file.
    pub in_file: bool,
    /// Whether it is there only where somebody asked for it.
    pub optional: bool,
    /// Whether other lines are in it too.
    pub has_other_lines: bool,
    /// Whether this call changed it.
    pub changed: bool,
    /// Why it does not work as it should, if it does not.
    pub problem: Option<String>,
    /// What else there is to know of it.
    pub note: Option<String>,
}
