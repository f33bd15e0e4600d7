//! The realm that an operation works in, and the repository that it acts for.

use crate::{
    model::name::{RealmName, RepoName},
    repo::CodeRepo,
    store::Store,
};

/// A realm, and the repository that asks, if there is one.
pub struct Here {
    /// The realm.
    pub realm: RealmName,
    /// Its store.
    pub store: Box<dyn Store>,
    /// The name of the repository around the folder; `None` outside of one.
    pub repo: Option<RepoName>,
    /// The url at which the repository says that the realm is shared, if this machine has not recorded it.
    pub unrecorded_url: Option<String>,
}

/// A realm and a repository of it on whose behalf an operation runs.
#[derive(Clone, Copy)]
pub struct Acting<'a> {
    /// The realm.
    pub realm: &'a RealmName,
    /// Its store.
    pub store: &'a dyn Store,
    /// The repository.
    pub repo: &'a RepoName,
    /// The repository's clone around the folder, if there is one.
    pub code: Option<&'a CodeRepo>,
}
