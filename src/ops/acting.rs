//! The realm, and the repository that asks.

use crate::{
    model::name::{RealmName, RepoName},
    repo::CodeRepo,
    store::Store,
};

/// A realm, and who asks.
pub struct Here {
    /// The realm.
    pub realm: RealmName,
    /// Its store.
    pub store: Box<dyn Store>,
    /// The name of the repository around the folder; none outside of one.
    pub repo: Option<RepoName>,
    /// Where the repository says that the realm is shared, where this machine has recorded nothing.
    pub unrecorded_url: Option<String>,
}

/// A realm, and the repository that asks.
#[derive(Clone, Copy)]
pub struct Acting<'a> {
    /// The realm.
    pub realm: &'a RealmName,
    /// Its store.
    pub store: &'a dyn Store,
    /// The repository.
    pub repo: &'a RepoName,
    /// The clone of it around the folder, if there is one.
    pub code: Option<&'a CodeRepo>,
}
