//! The repository that an operation acts for.

use crate::{
    model::name::{RealmName, RepoName},
    repo::CodeRepo,
    store::Store,
};

/// A realm and a repository of it on whose behalf an operation runs.
#[derive(Clone, Copy)]
pub struct ActingRepo<'a> {
    /// The realm.
    pub realm: &'a RealmName,
    /// Its store.
    pub store: &'a dyn Store,
    /// The repository.
    pub repo: &'a RepoName,
    /// The clone of the repository that contains the current folder, if there is one.
    pub code: Option<&'a CodeRepo>,
}
