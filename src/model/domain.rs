//! A domain: the coordination context between repositories, and the unit of atomicity.

use serde::{Deserialize, Serialize};

use super::name::DomainName;
use super::{name::RepoName, oid::Oid};

/// The content of `domain.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    /// Its name.
    pub name: DomainName,
    /// Its purpose, in a sentence.
    #[serde(default)]
    pub description: String,
    /// The repositories that take part, sorted.
    #[serde(default)]
    pub members: Vec<RepoName>,
    /// Whether it was removed: it is not shown any more, and its history stays.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
}

impl Domain {
    /// Returns whether `repo` takes part.
    pub fn has_member(&self, repo: &RepoName) -> bool {
        self.members.contains(repo)
    }
}

/// The commit of a repository that was published last: the content of `sources/<repo>.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The commit, in the repository's own object format.
    pub commit: Oid,
}
