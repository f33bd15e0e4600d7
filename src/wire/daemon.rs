//! `git blue daemon …`, and the daemon's health check.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer of `daemon start`, `stop` and `status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Daemon {
    /// The result or the state, in one sentence.
    pub message: String,
    /// Whether the daemon is running.
    pub running: bool,
    /// The URL that the daemon listens on, or listened on.
    pub url: Option<String>,
    /// The process id of the daemon.
    pub pid: Option<u32>,
    /// The version of the daemon.
    pub version: Option<String>,
}

/// The answer of `daemon token`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonToken {
    /// The token that requests send to authenticate.
    pub token: String,
}

/// The answer of `daemon open`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonOpen {
    /// A link that logs in one browser. It can be used once, within one minute.
    pub url: String,
}

/// The answer of a health check: the server and the home directory it serves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// The name of the server: `git-blue`.
    pub server: Cow<'static, str>,
    /// The version of the server.
    pub version: Cow<'static, str>,
    /// A hash of the home directory's path, which differs between users.
    pub home: String,
}
