//! A realm: one shared space of state, and the repositories in it.

use serde::{Deserialize, Serialize};

use super::{
    cycle::Cycles,
    name::{RealmName, RepoName},
    oid::Oid,
};

/// The storage format this program reads and writes.
pub const FORMAT: u32 = 1;

/// What `realm.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Realm {
    /// The storage format; a newer one than [`FORMAT`] is refused, never rewritten.
    pub format: u32,
    /// Its name.
    pub name: RealmName,
    /// What is done about repositories that rely on each other in a circle.
    #[serde(default, skip_serializing_if = "Cycles::is_default")]
    pub cycles: Cycles,
}

/// A repository that joined: what `repos/<repo>.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repo {
    /// Its name.
    pub name: RepoName,
    /// Where it is fetched from, without credentials.
    #[serde(default)]
    pub url: Option<String>,
    /// Its root commits: they tell it from another repository of that name.
    #[serde(default)]
    pub roots: Vec<Oid>,
}

/// A name that a repository had before: what `renames/<name>.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rename {
    /// The name that it had.
    pub from: RepoName,
    /// The name that it took.
    pub to: RepoName,
}

impl Repo {
    /// Returns whether both entries are the same repository: a shared root commit or the same url.
    pub fn is_same_repository(&self, other: &Self) -> bool {
        let same_url = self.url.is_some() && self.url == other.url;
        same_url || self.roots.iter().any(|root| other.roots.contains(root))
    }
}
