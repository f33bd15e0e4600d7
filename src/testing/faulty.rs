//! A store whose n-th call fails; all others work.

use std::{cell::Cell, rc::Rc, sync::Arc};

use crate::{
    model::oid::Oid,
    store::{
        Change, CommitInfo, Entry, FileCache, Lease, Objects, RefListing, Store, StoreError, StoreRef, remote::Remote,
    },
};

/// A store with a single failure.
pub struct FaultyStore {
    inner: Rc<dyn Store>,
    calls: Rc<Cell<u32>>,
    fault: Fault,
}

/// The call that fails, and its failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No call fails.
    Never,
    /// The n-th call, counted from 1, fails before it does anything.
    Before(u32),
    /// The n-th call, counted from 1, fails after it has taken effect, which the caller cannot know.
    After(u32),
}

impl FaultyStore {
    /// Wraps a store.
    pub fn new(inner: Rc<dyn Store>, fault: Fault) -> Self {
        Self { inner, calls: Rc::default(), fault }
    }

    /// Returns the counter of calls, which outlives the store.
    pub fn counter(&self) -> Rc<Cell<u32>> {
        self.calls.clone()
    }

    fn call<T>(&self, call: impl FnOnce(&dyn Store) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let number = self.calls.get() + 1;
        self.calls.set(number);
        if self.fault == Fault::Before(number) {
            return Err(no_space());
        }
        let result = call(&*self.inner);
        if self.fault == Fault::After(number) { result.and(Err(no_space())) } else { result }
    }
}

fn no_space() -> StoreError {
    let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
    StoreError::Io { doing: "write", path: "objects".into(), source: Arc::new(full) }
}

impl Objects for FaultyStore {
    fn entries(&self, id: &Oid) -> Result<Vec<Entry>, StoreError> {
        self.call(|store| store.entries(id))
    }

    fn blob(&self, id: &Oid) -> Result<Vec<u8>, StoreError> {
        self.call(|store| store.blob(id))
    }

    fn size(&self, id: &Oid) -> Result<u64, StoreError> {
        self.call(|store| store.size(id))
    }

    fn commit(&self, id: &Oid) -> Result<CommitInfo, StoreError> {
        self.call(|store| store.commit(id))
    }
}

impl Store for FaultyStore {
    fn blob_id(&self, content: &[u8]) -> Result<Oid, StoreError> {
        self.inner.blob_id(content)
    }

    fn tip(&self, name: &StoreRef) -> Result<Option<Oid>, StoreError> {
        self.call(|store| store.tip(name))
    }

    fn refs(&self, prefix: &str) -> Result<RefListing, StoreError> {
        self.call(|store| store.refs(prefix))
    }

    fn caches_in_memory(&self) -> bool {
        self.inner.caches_in_memory()
    }

    fn cache(&self) -> Option<&FileCache> {
        // The cache has no errors to simulate.
        self.inner.cache()
    }

    fn forget(&self, name: &StoreRef, expected: Oid) -> Result<(), StoreError> {
        self.call(|store| store.forget(name, expected))
    }

    fn lock(&self, name: &StoreRef) -> Result<Box<dyn Lease + '_>, StoreError> {
        let number = self.calls.get() + 1;
        self.calls.set(number);
        if self.fault == Fault::Before(number) {
            return Err(no_space());
        }
        let lease = self.inner.lock(name)?;
        if self.fault == Fault::After(number) { Err(no_space()) } else { Ok(lease) }
    }

    fn advance(&self, name: &StoreRef, expected: Option<Oid>, to: Oid) -> Result<(), StoreError> {
        self.call(|store| store.advance(name, expected, to))
    }

    fn remotes(&self) -> Vec<Remote> {
        self.inner.remotes()
    }

    fn commit_change(&self, name: &StoreRef, expected: Option<Oid>, change: &Change) -> Result<Oid, StoreError> {
        self.call(|store| store.commit_change(name, expected, change))
    }
}
