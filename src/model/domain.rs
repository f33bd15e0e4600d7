//! A domain: a set of repositories that coordinate, and the unit of atomicity.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::name::DomainName;
use super::{name::RepoName, oid::Oid};

/// The maximum number of members.
pub const MAX_MEMBERS: usize = 20_000;

/// The content of `domain.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    /// Its name.
    pub name: DomainName,
    /// Its purpose, in a sentence.
    #[serde(default)]
    pub description: String,
    /// The members.
    #[serde(default)]
    pub members: BTreeSet<RepoName>,
    /// Whether it was removed. It is no longer shown, but its history is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
}

impl Domain {
    /// Returns whether `repo` is a member.
    pub fn has_member(&self, repo: &RepoName) -> bool {
        self.members.contains(repo)
    }
}

/// The last published commit of a repository: the content of `sources/<repo>.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The commit, in the repository's own object format.
    pub commit: Oid,
}
