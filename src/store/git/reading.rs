//! Reopens a store's repository after many reads, to free memory.

use std::cell::{Cell, Ref, RefCell};

use super::OBJECT_CACHE;
use crate::store::StoreError;

/// The number of reads after which the repository is reopened. Packs are mapped into memory and every page that was
/// read stays resident, so a command that reads everything would keep all of them in memory. Reopening takes as long
/// as reading a few dozen objects.
const MAX_READS: u32 = 4096;

/// A repository that is reopened after [`MAX_READS`] reads.
#[derive(Debug)]
pub(super) struct Reading {
    repo: RefCell<gix::Repository>,
    /// The number of objects read since it was opened.
    reads: Cell<u32>,
}

impl Reading {
    pub(super) fn new(repo: gix::Repository) -> Self {
        Self { repo: RefCell::new(repo), reads: Cell::new(0) }
    }

    /// Returns the repository, for everything except reading many objects.
    pub(super) fn repo(&self) -> Ref<'_, gix::Repository> {
        self.repo.borrow()
    }

    /// Reads an object.
    pub(super) fn object<T>(
        &self,
        read: impl FnOnce(&gix::Repository) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let object = read(&self.repo.borrow());
        self.reads.set(self.reads.get() + 1);
        if self.reads.get() >= MAX_READS {
            self.reopen();
        }
        object
    }

    /// Reopens the repository. If that fails, the current one stays in use.
    fn reopen(&self) {
        self.reads.set(0);
        if let Ok(mut repo) = self.repo.try_borrow_mut()
            && repo.reload().is_ok()
        {
            repo.object_cache_size_if_unset(OBJECT_CACHE);
        }
    }
}
