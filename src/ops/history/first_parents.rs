//! Walks the history of a ref along first parents, newest first.

use crate::{
    error::OpError,
    model::oid::Oid,
    store::{CommitInfo, Store},
};

/// Iterates over a ref's commits, from `tip` along first parents.
pub struct History<'a> {
    store: &'a dyn Store,
    next: Option<Oid>,
}

impl<'a> History<'a> {
    /// Returns the history that ends in `tip`.
    pub fn of(store: &'a dyn Store, tip: Option<Oid>) -> Self {
        Self { store, next: tip }
    }
}

impl Iterator for History<'_> {
    type Item = Result<(Oid, CommitInfo), OpError>;

    fn next(&mut self) -> Option<Self::Item> {
        let id = self.next.take()?;
        match self.store.commit(&id) {
            Ok(commit) => {
                self.next = commit.parents.first().copied();
                Some(Ok((id, commit)))
            }
            Err(error) => Some(Err(error.into())),
        }
    }
}
