//! `realm_check`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Notification, Unpublished};
use crate::model::{
    check::{Finding, SchemaHash},
    name::{RealmName, RepoName, RfcName},
    oid::Oid,
};

/// What `realm_check` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmCheck {
    /// The realm.
    pub realm: RealmName,
    /// The repository whose files were laid over the realm; none where it was looked at alone.
    pub current_repo: Option<RepoName>,
    /// Why this clone only reads, and what to do about it; none where it may write, and in CI.
    pub read_only: Option<String>,
    /// What was judged.
    pub judged: Judged,
    /// The RFC whose branches were laid over the realm together; none where only one repository was judged.
    pub rfc: Option<RfcName>,
    /// Those branches, but for the files of the repository that asks.
    pub branches: Vec<RfcBranch>,
    /// How many contract and binding files the repository has; none where the realm was looked at alone.
    pub files: Option<usize>,
    /// The commit that the judged one was compared with: what was wrong there is a warning.
    pub base: Option<Oid>,
    /// Whether nothing is wrong: no error, and with `--strict` no warning.
    pub valid: bool,
    /// What does not work.
    pub errors: Vec<Finding>,
    /// What smells.
    pub warnings: Vec<Finding>,
    /// What is wrong in the realm and is not this repository's to mend. It fails nothing.
    pub elsewhere: Elsewhere,
    /// What the publishing branch says that the realm does not hold; none where it holds it all.
    pub unpublished: Option<Unpublished>,
    /// How many contracts were looked at.
    pub contracts: usize,
    /// How many imports were judged by their version range alone: no schema says anything, or the version that
    /// their code was written against is not known.
    pub imports_by_range: usize,
    /// Each of them, with what its schema hashes to; none where only their number was wanted.
    pub schema_hashes: Vec<SchemaHash>,
    /// What this reader has not been told yet, oldest first; reading it here does not tell it.
    pub notifications: Vec<Notification>,
}

/// What a check judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Judged {
    /// What one repository does, exports and imports.
    Repository,
    /// The whole realm with that repository's files.
    Everything,
    /// What the branches of an RFC do together.
    Rfc,
    /// The realm as it was published.
    Realm,
}

/// A branch of an RFC in one repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RfcBranch {
    /// The repository.
    pub repo: RepoName,
    /// The branch, as git names it in full: here, or as it was last fetched.
    pub branch: String,
    /// Its commit.
    pub commit: Oid,
}

/// What is wrong in the realm and is not the business of the repository that was judged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Elsewhere {
    /// How many errors.
    pub errors: usize,
    /// How many warnings.
    pub warnings: usize,
    /// The first of them, errors before warnings; `--all` lists every one.
    pub findings: Vec<Finding>,
}
