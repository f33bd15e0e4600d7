//! Hooks: `hooks_install`, `hooks_uninstall` and `hooks_status`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer of all three operations: the state of the hooks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HooksAnswer {
    /// The absolute path of the directory in which git looks for hooks.
    pub directory: String,
    /// Whether `core.hooksPath` is set for every repository of the user or machine, so that these hooks run in each of
    /// them.
    pub is_shared: bool,
    /// All hooks that git blue can install.
    pub hooks: Vec<HookState>,
}

/// One hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookState {
    /// The name of the hook in git.
    pub name: String,
    /// The absolute path of the hook's file.
    pub file: String,
    /// Whether the hook runs git blue.
    pub installed: bool,
    /// Whether it runs git blue through a block in that file.
    pub in_file: bool,
    /// Whether the hook is installed only on request.
    pub optional: bool,
    /// Whether the file also has other lines.
    pub has_other_lines: bool,
    /// Whether this call changed the hook.
    pub changed: bool,
    /// The reason that the hook does not work as it should; null if it does.
    pub problem: Option<String>,
    /// An additional note about the hook.
    pub note: Option<String>,
}

impl HookState {
    /// Returns whether the hook is installed, and git runs it.
    pub fn works(&self) -> bool {
        self.installed && self.problem.is_none()
    }
}
