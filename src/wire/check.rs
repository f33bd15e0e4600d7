//! `realm_check`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Notification, Published};
use crate::model::{
    check::{Finding, SchemaHash},
    name::{RealmName, RepoName},
};

/// What `realm_check` answers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RealmCheck {
    /// The realm.
    pub realm: RealmName,
    /// The repository whose files were laid over the realm; none where it was looked at alone.
    pub current_repo: Option<RepoName>,
    /// Whether nothing is wrong: no error, and with `--strict` no warning.
    pub valid: bool,
    /// What this call itself published, because no hook had done so.
    pub published: Vec<Published>,
    /// What does not work.
    pub errors: Vec<Finding>,
    /// What smells.
    pub warnings: Vec<Finding>,
    /// How many contracts were looked at.
    pub contracts: usize,
    /// Each of them, with what its schema hashes to; none where only their number was wanted.
    pub schema_hashes: Vec<SchemaHash>,
    /// What this reader has not been told yet, oldest first; reading it here does not tell it.
    pub notifications: Vec<Notification>,
}
