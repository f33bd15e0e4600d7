//! `git blue daemon …`, and what the daemon says of itself.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `daemon start`, `stop` and `status` answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Daemon {
    /// What happened, or how it is, in a sentence.
    pub message: String,
    /// Whether it runs now.
    pub running: bool,
    /// Where it is, or was.
    pub url: Option<String>,
    /// Its process.
    pub pid: Option<u32>,
    /// Its version.
    pub version: Option<String>,
}

/// What `daemon token` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonToken {
    /// What requests show.
    pub token: String,
}

/// What `daemon open` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonOpen {
    /// A link that lets one browser in, once, within a minute.
    pub url: String,
}

/// That the daemon is there, and whose it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// What serves: `git-blue`.
    pub server: Cow<'static, str>,
    /// Its version.
    pub version: Cow<'static, str>,
    /// What tells the homes of two users apart.
    pub home: String,
}

/// A link that lets one browser in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// The link: it leads in once, within a minute.
    pub url: String,
}
