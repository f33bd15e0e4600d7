//! Reads the documents of one ref. A document that cannot be read is recorded as damage under its name.

use std::{collections::BTreeMap, str::FromStr};

use serde::de::DeserializeOwned;

use super::{decode, file, lookup};
use crate::{
    model::{
        domain::Domain,
        domain_view::{Damage, Subject},
        name::DomainName,
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

/// Starts to read a domain with its `domain.json`.
pub(super) fn begin<'a>(
    store: &'a dyn Store,
    name: &DomainName,
    tree: &Oid,
) -> Result<(Reader<'a>, Domain), StoreError> {
    let within = StoreRef::Domain(name.clone());
    let damaged = |problem: String| StoreError::Damaged { what: within.to_string(), problem };
    let info: Domain =
        file(store, &within, tree, &layout::domain())?.ok_or_else(|| damaged("there is no domain.json".into()))?;
    if info.name != *name {
        return Err(damaged(format!("domain.json names {}", info.name)));
    }
    Ok((Reader { store, within, damage: Vec::new() }, info))
}

impl Reader<'_> {
    pub(super) fn damaged(&mut self, folder: &str, entry: &Entry, subject: Subject, problem: String) {
        self.damage.push(Damage { file: format!("{}:{folder}/{}", self.within, entry.name), subject, problem });
    }

    /// Returns the entries of a folder. Anything else in its place is an error, because otherwise it would look as if
    /// everything in the folder had been deleted.
    pub(super) fn folder(&self, tree: &Oid, folder: &str) -> Result<Vec<Entry>, StoreError> {
        self.find(tree, folder)?.map_or(Ok(Vec::new()), |id| self.store.entries(&id))
    }

    /// Returns the entry with this name in a folder.
    pub(super) fn entry(&self, tree: &Oid, folder: &str, name: &str) -> Result<Option<Entry>, StoreError> {
        self.find(tree, folder)?.map_or(Ok(None), |id| self.store.entry(&id, name))
    }

    fn find(&self, tree: &Oid, folder: &str) -> Result<Option<Oid>, StoreError> {
        let found = lookup(self.store, tree, folder)?;
        if found.as_ref().is_some_and(|entry| entry.kind != EntryKind::Tree) {
            let problem = "it is not a directory".into();
            return Err(StoreError::Damaged { what: format!("{}:{folder}", self.within), problem });
        }
        Ok(found.map(|entry| entry.id))
    }

    /// Returns the entries of a folder named `<name>.json`. All others are recorded as damage.
    pub(super) fn named<N: FromStr>(&mut self, tree: &Oid, folder: &str) -> Result<Vec<(N, Entry)>, StoreError> {
        let mut named = Vec::new();
        for entry in self.folder(tree, folder)? {
            match layout::stem(&entry.name) {
                Some(name) => named.push((name, entry)),
                None => self.damaged(folder, &entry, Subject::Other, "its name is not NAME.json".into()),
            }
        }
        Ok(named)
    }

    /// Returns all documents of a folder, by name.
    pub(super) fn all<N: FromStr + Ord, T: DeserializeOwned>(
        &mut self,
        tree: &Oid,
        folder: &str,
        subject: impl Fn(&N) -> Subject,
    ) -> Result<BTreeMap<N, T>, StoreError> {
        let mut all = BTreeMap::new();
        for (name, entry) in self.named(tree, folder)? {
            if let Some(document) = self.document(folder, &entry, subject(&name))? {
                all.insert(name, document);
            }
        }
        Ok(all)
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
