//! Reads which versions of a contract are published.

use std::{
    cell::{Cell, OnceCell},
    collections::{BTreeMap, BTreeSet},
};

use super::{MAX_LOOKUPS, folder as read_folder, lookup};
use crate::{
    model::{name::ContractName, oid::Oid, version::Version},
    store::{Entry, EntryKind, Store, StoreError, layout},
};

/// The published versions of a domain's contracts. If many contracts are requested, their folders are listed once.
pub struct Published<'a> {
    store: &'a dyn Store,
    tree: &'a Oid,
    lookups: Cell<usize>,
    folders: OnceCell<BTreeMap<String, Oid>>,
}

impl<'a> Published<'a> {
    /// Creates an accessor for the published versions in the tree of a domain.
    pub fn in_tree(store: &'a dyn Store, tree: &'a Oid) -> Self {
        Self { store, tree, lookups: Cell::new(0), folders: OnceCell::new() }
    }

    /// Returns the id of a version's document, or `None` if it was not published.
    ///
    /// # Errors
    /// Returns an error if a folder on the way cannot be read.
    pub fn document(&self, contract: &ContractName, version: &Version) -> Result<Option<Oid>, StoreError> {
        Ok(self.entry(contract, version)?.map(|entry| entry.id))
    }

    pub(super) fn entry(&self, contract: &ContractName, version: &Version) -> Result<Option<Entry>, StoreError> {
        let Some(folder) = self.folder(contract)? else { return Ok(None) };
        self.store.entry(&folder, &format!("{version}.json"))
    }

    /// Returns the published versions of a contract.
    ///
    /// # Errors
    /// Returns an error if a folder on the way cannot be read.
    pub fn of(&self, contract: &ContractName) -> Result<BTreeSet<Version>, StoreError> {
        let Some(folder) = self.folder(contract)? else { return Ok(BTreeSet::new()) };
        Ok(self.store.entries(&folder)?.iter().filter_map(|entry| layout::stem(&entry.name)).collect())
    }

    fn folder(&self, contract: &ContractName) -> Result<Option<Oid>, StoreError> {
        if let Some(folders) = self.folders.get() {
            return Ok(folders.get(contract.as_str()).copied());
        }
        if self.lookups.replace(self.lookups.get() + 1) < MAX_LOOKUPS {
            let folder = lookup(self.store, self.tree, layout::versions(contract).as_str())?;
            return Ok(folder.filter(|entry| entry.kind == EntryKind::Tree).map(|entry| entry.id));
        }
        let folders = read_folder(self.store, self.tree, layout::VERSIONS)?.into_iter();
        let folders = folders.filter(|entry| entry.kind == EntryKind::Tree).map(|entry| (entry.name, entry.id));
        let folders = self.folders.get_or_init(|| folders.collect());
        Ok(folders.get(contract.as_str()).copied())
    }
}
