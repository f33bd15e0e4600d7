//! Deletes a store, excluding concurrent writers.

use std::path::Path;

use super::{GitStore, packing};
use crate::store::StoreError;

/// The start of the names of folders that hold a store while it is deleted.
pub(super) const PREFIX: &str = ".deleted-realm-";

impl GitStore {
    /// Deletes the store, if `check` allows it. From the check on, no writer of this program can interfere. Those that
    /// waited find no store afterwards.
    ///
    /// The store is moved out of its path first, so that an interrupted deletion leaves no partial store there.
    ///
    /// # Errors
    /// Returns the error of `check`, or an error if a writer does not finish or the files cannot be removed.
    pub fn delete<E: From<StoreError>>(self, check: impl FnOnce(&Self) -> Result<(), E>) -> Result<(), E> {
        let path = self.path();
        // Every writer shares this lock, whichever ref it writes.
        let alone = self.locks.acquire(packing::OBJECTS)?;
        check(&self)?;
        drop(self);
        let parent = path.parent().unwrap_or(Path::new("."));
        let temporary = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent);
        let temporary = temporary.map_err(StoreError::io("create a directory in", parent))?;
        let moved = || std::fs::rename(&path, temporary.path().join("store"));
        if moved().is_err() {
            // Windows does not move a folder while a file in it is open.
            drop(alone);
            moved().map_err(StoreError::io("delete", &path))?;
        }
        temporary.close().map_err(StoreError::io("delete", &path))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        store::{
            Store as _, StoreRef,
            git::{Options, create},
            layout,
            write::write,
        },
        testing::make,
    };

    fn join(store: &GitStore, repo: &str) -> Result<(), StoreError> {
        let path = layout::repo(&repo.parse().unwrap());
        let change = make::change("join", [make::put(path, "{}".to_owned())]);
        write(store, &StoreRef::Realm, |tip| {
            assert!(tip.is_some(), "there is no realm to join");
            Ok(Some(change.clone()))
        })
        .map(drop)
    }

    #[test]
    fn a_writer_that_waits_for_the_deletion_fails_and_recreates_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.git");
        let store = create(&path, &make::realm("r".parse().unwrap()), make::options()).unwrap();
        let other = GitStore::open(&path, make::options()).unwrap();
        std::thread::scope(|scope| {
            let mut writer = None;
            let deleted = store.delete(|_| {
                writer = Some(scope.spawn(move || join(&other, "late")));
                std::thread::sleep(Duration::from_millis(100));
                Ok::<_, StoreError>(())
            });
            deleted.unwrap();
            assert!(writer.unwrap().join().unwrap().is_err());
        });
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn a_writer_that_was_first_is_seen_by_the_check() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.git");
        let realm = make::realm("r".parse().unwrap());
        let store = create(&path, &realm, make::options()).unwrap();
        let hasty = Options { lock_timeout: Duration::ZERO, ..make::options() };
        let lease = store.lock(&StoreRef::Realm).unwrap();
        let refused = GitStore::open(&path, hasty).unwrap().delete(|_| Ok::<_, StoreError>(()));
        assert!(matches!(refused, Err(StoreError::Locked { .. })));
        drop(lease);

        let before = store.tip(&StoreRef::Realm).unwrap();
        let deleting = GitStore::open(&path, hasty).unwrap();
        join(&store, "first").unwrap();
        let refused = deleting.delete(|store| {
            assert_ne!(store.tip(&StoreRef::Realm)?, before);
            Err::<(), _>(StoreError::NotAStore { path: path.clone() })
        });
        assert!(refused.is_err() && path.is_dir());
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }
}
