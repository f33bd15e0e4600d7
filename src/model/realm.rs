//! A realm: one shared space of contracts and repositories.

use serde::{Deserialize, Serialize};

use super::{
    contract::is_default,
    name::{RealmName, RepoName},
    oid::Oid,
    repo_url::RepoUrl,
};

/// The storage format that this program reads and writes.
pub const FORMAT: u32 = 1;

/// The content of `realm.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Realm {
    /// The storage format. A realm in a newer format than [`FORMAT`] is refused and never rewritten.
    pub format: u32,
    /// Its name.
    pub name: RealmName,
    /// The policy for repositories that depend on each other in a cycle.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cycles: Cycles,
}

/// A repository of the realm: the content of `repos/<repo>.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repo {
    /// Its name.
    pub name: RepoName,
    /// The URL that it is fetched from, without credentials.
    pub url: Option<String>,
    /// Its root commits, which distinguish it from another repository with the same name.
    #[serde(default)]
    pub roots: Vec<Oid>,
}

/// A former name of a repository: the content of `renames/<name>.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rename {
    /// The old name.
    pub from: RepoName,
    /// The new name.
    pub to: RepoName,
}

/// The relation of a repository to an entry of the realm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepoMatch {
    /// The URLs refer to the same location, and no root commit contradicts that.
    Same,
    /// They share a root commit, and the URLs cannot be compared. Forks and repositories created from the same
    /// template share one too.
    SharedRoot,
    /// They have no known fact in common to compare.
    Unknown,
    /// The URLs refer to different locations, or both have known root commits and share none.
    Different,
}

impl RepoMatch {
    /// Compares two repositories by their URLs and by whether they share a root commit, which is `None` if either has
    /// no known roots. Different URLs outweigh a shared root, unless they differ only in the port.
    pub fn of(urls: [Option<&str>; 2], shares_root: Option<bool>) -> Self {
        let urls = match urls.map(|url| url.map(RepoUrl::of)) {
            [Some(one), Some(other)] if one == other => Some(true),
            [Some(one), Some(other)] if shares_root == Some(true) && one.differs_only_in_port(&other) => Some(true),
            [Some(one), Some(other)] if one.is_comparable_with(&other) => Some(false),
            _ => None,
        };
        match (urls, shares_root) {
            (Some(false), _) | (_, Some(false)) => Self::Different,
            (Some(true), _) => Self::Same,
            (None, Some(true)) => Self::SharedRoot,
            (None, None) => Self::Unknown,
        }
    }
}

impl Repo {
    /// Returns whether both entries may be of the same repository: they have the same URL, or share a root commit and
    /// have no URLs to compare.
    pub fn is_same_repository(&self, other: &Self) -> bool {
        let knows_roots = !self.roots.is_empty() && !other.roots.is_empty();
        let shares = knows_roots.then(|| self.roots.iter().any(|root| other.roots.contains(root)));
        let relation = RepoMatch::of([self.url.as_deref(), other.url.as_deref()], shares);
        matches!(relation, RepoMatch::Same | RepoMatch::SharedRoot)
    }
}

/// The policy for cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cycles {
    /// `check` warns of cycles, and so does the operation that creates one.
    #[default]
    Warn,
    /// Bindings that create a cycle are refused, and `check` fails if there is one.
    Refuse,
}
