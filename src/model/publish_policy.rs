//! When commits are published automatically, and who decided it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When commits are published automatically.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// Every commit of the publishing branch.
    #[default]
    Commit,
    /// Commits that the upstream of the branch has.
    Pushed,
    /// None on this machine: CI publishes.
    Ci,
    /// None.
    Off,
}

impl Policy {
    /// All policies.
    pub const ALL: [Self; 4] = [Self::Commit, Self::Pushed, Self::Ci, Self::Off];

    /// Returns the policy's value in the configuration.
    pub fn word(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Pushed => "pushed",
            Self::Ci => "ci",
            Self::Off => "off",
        }
    }
}

/// The source of the policy of a clone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PolicySource {
    /// Nobody chose it.
    #[default]
    Default,
    /// `publish` of `.blue/config.yaml` on the publishing branch, for every clone.
    ConfigFile,
    /// `blue.publish` of git's configuration.
    GitConfig,
}
