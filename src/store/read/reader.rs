//! Reads the documents of one ref. A document that cannot be read is recorded as damage under its name.

use serde::de::DeserializeOwned;

use super::{decode, lookup};
use crate::{
    model::{
        domain_view::{Damage, Subject},
        oid::Oid,
    },
    store::{Entry, EntryKind, Store, StoreError, StoreRef, layout},
};

/// A reader of the documents of one ref.
pub(super) struct Reader<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) within: StoreRef,
    pub(super) damage: Vec<Damage>,
}

impl Reader<'_> {
    pub(super) fn damaged(&mut self, folder: &str, entry: &Entry, subject: Subject, problem: String) {
        self.damage.push(Damage { file: format!("{}:{folder}/{}", self.within, entry.name), subject, problem });
    }

    /// Returns the entries of a folder. Anything else in its place is an error, because otherwise it would look as if
    /// everything in the folder had been deleted.
    pub(super) fn folder(&self, tree: &Oid, folder: &str) -> Result<Vec<Entry>, StoreError> {
        match lookup(self.store, tree, folder)? {
            Some(entry) if entry.kind != EntryKind::Tree => Err(self.no_folder(folder)),
            Some(entry) => self.store.entries(&entry.id),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the entry with this name in a folder.
    pub(super) fn entry(&self, tree: &Oid, folder: &str, name: &str) -> Result<Option<Entry>, StoreError> {
        match lookup(self.store, tree, folder)? {
            Some(entry) if entry.kind != EntryKind::Tree => Err(self.no_folder(folder)),
            Some(entry) => self.store.entry(&entry.id, name),
            None => Ok(None),
        }
    }

    fn no_folder(&self, folder: &str) -> StoreError {
        StoreError::Damaged { what: format!("{}:{folder}", self.within), problem: "it is not a directory".into() }
    }

    /// Returns the entries of a folder named `<name>.json`. All others are recorded as damage.
    pub(super) fn named<N: std::str::FromStr>(
        &mut self,
        tree: &Oid,
        folder: &str,
    ) -> Result<Vec<(N, Entry)>, StoreError> {
        let mut named = Vec::new();
        for entry in self.folder(tree, folder)? {
            match layout::stem(&entry.name) {
                Some(name) => named.push((name, entry)),
                None => self.damaged(folder, &entry, Subject::Other, "its name is not NAME.json".into()),
            }
        }
        Ok(named)
    }

    pub(super) fn document<T: DeserializeOwned>(
        &mut self,
        folder: &str,
        entry: &Entry,
        subject: Subject,
    ) -> Result<Option<T>, StoreError> {
        match decode(self.store, entry)? {
            Ok(document) => Ok(Some(document)),
            Err(problem) => {
                self.damaged(folder, entry, subject, problem);
                Ok(None)
            }
        }
    }
}
