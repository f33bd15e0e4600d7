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

/// What a repository published last in a domain: the content of `sources/<repo>.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Commits")]
pub struct Source {
    /// The last published commit, in the repository's own object format. If machines have published others
    /// concurrently since, it is the last one that all of them knew; none if there was none before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<Oid>,
    /// The commits that machines published concurrently. The next commit that is published contains all of them.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub concurrent: BTreeSet<Oid>,
}

/// A [`Source`] as it is stored, which may name no commit.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Commits {
    commit: Option<Oid>,
    #[serde(default)]
    concurrent: BTreeSet<Oid>,
}

impl TryFrom<Commits> for Source {
    type Error = &'static str;

    fn try_from(Commits { commit, concurrent }: Commits) -> Result<Self, Self::Error> {
        if commit.is_none() && concurrent.is_empty() {
            return Err("it names no commit");
        }
        Ok(Self { commit, concurrent })
    }
}

impl Source {
    /// Returns the record of a published commit.
    pub fn of(commit: Oid) -> Self {
        Self { commit: Some(commit), concurrent: BTreeSet::new() }
    }

    /// Returns all commits of the record.
    pub fn commits(&self) -> impl Iterator<Item = Oid> + '_ {
        self.commit.into_iter().chain(self.concurrent.iter().copied())
    }

    /// Returns the commits that were published last: one, unless some were published concurrently.
    pub fn latest(&self) -> BTreeSet<Oid> {
        if self.concurrent.is_empty() { self.commit.into_iter().collect() } else { self.concurrent.clone() }
    }
}
