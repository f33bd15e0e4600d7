//! The realm that an operation works in, and the repository that it acts for.

use crate::{
    model::{
        name::{RealmName, RepoName},
        oid::Oid,
    },
    repo::CodeRepo,
    store::{Store, StoreRef},
};

/// A realm and, if there is one, the repository that an operation acts for.
pub struct RealmContext {
    /// The realm.
    pub realm: RealmName,
    /// Its store.
    pub store: Box<dyn Store>,
    /// The name of the repository that contains the current folder; `None` outside of one.
    pub repo: Option<RepoName>,
    /// The realm's URL in the repository's configuration, if this machine has not recorded it.
    pub unrecorded_url: Option<String>,
    /// The URL to which this machine moved the realm, if the repository's configuration still has the former one.
    pub moved_url: Option<String>,
}

impl RealmContext {
    /// Returns the commit of the realm's own ref; `None` if it cannot be read.
    pub fn tip(&self) -> Option<Oid> {
        self.store.tip(&StoreRef::Realm).ok().flatten()
    }
}

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
