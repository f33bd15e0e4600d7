//! `prime`: a summary for the start of a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::name::{RealmName, RepoName};

/// The answer of `prime`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Prime {
    /// The realm.
    pub realm: RealmName,
    /// The current repository.
    pub current_repo: RepoName,
    /// The current state as generated sentences, most urgent first.
    pub facts: Vec<String>,
}
