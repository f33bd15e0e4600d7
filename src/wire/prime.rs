//! `prime`: what a session should know from its start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::name::{RealmName, RepoName};

/// What `prime` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Prime {
    /// The realm.
    pub realm: RealmName,
    /// The repository that asked.
    pub current_repo: RepoName,
    /// What stands, the most urgent first: sentences that the program made, of names and numbers.
    pub facts: Vec<String>,
}
