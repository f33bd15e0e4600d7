//! Compares two trees of a domain path by path, for contracts, bindings, transfers and repositories that left.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use crate::{
    error::OpError,
    model::{
        name::{ContractName, RepoName},
        notification::{self, ChangeType, Delta},
        oid::Oid,
    },
    store::{Entry, EntryKind, Store, TreePath, layout, read},
};

/// The folders that are compared.
pub const FOLDERS: [&str; 4] = [layout::CONTRACTS, layout::BINDINGS, layout::TRANSFERS, layout::SOURCES];

/// A path that differs.
#[derive(Debug)]
pub struct Difference {
    /// The path in the domain's tree.
    pub path: TreePath,
    /// The blob in the older tree.
    pub old: Option<Oid>,
    /// The blob in the newer tree.
    pub new: Option<Oid>,
    /// The content of the path.
    pub of: PathContent,
}

/// The content of a path of a domain.
#[derive(Debug)]
pub enum PathContent {
    /// A contract.
    Contract(ContractName),
    /// The binding of a repository.
    Binding(RepoName),
    /// The transfers of a contract.
    Transfers(ContractName),
    /// The last published commit of a repository that left.
    Source(RepoName),
}

impl Difference {
    /// Returns the kinds of the change, the main one first. There are none if only descriptive text of a contract
    /// changed, or a document cannot be read.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn kinds(&self, store: &dyn Store) -> Result<Vec<ChangeType>, OpError> {
        Ok(match &self.of {
            PathContent::Contract(_) => {
                self.delta(store)?.map(|delta| notification::contract_kinds(&delta)).unwrap_or_default()
            }
            PathContent::Binding(_) => {
                self.delta(store)?.and_then(|delta| notification::binding_kind(&delta)).into_iter().collect()
            }
            PathContent::Transfers(_) => {
                let delta = self.delta(store)?;
                let offer =
                    delta.and_then(|delta| notification::new_offer(&delta).map(|_| ChangeType::ContractOffered));
                offer.into_iter().collect()
            }
            PathContent::Source(_) => vec![ChangeType::RepoLeft],
        })
    }

    /// Reads both sides. Returns `None` if the newer one is damaged. A damaged older one counts as missing.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn delta<T: DeserializeOwned>(&self, store: &dyn Store) -> Result<Option<Delta<T>>, OpError> {
        let old = self.old.map(|id| side(store, id)).transpose()?.flatten();
        Ok(match self.new {
            Some(id) => side(store, id)?.map(|new| Delta { old, new: Some(new) }),
            None => Some(Delta { old, new: None }),
        })
    }
}

fn side<T: DeserializeOwned>(store: &dyn Store, id: Oid) -> Result<Option<(Oid, T)>, OpError> {
    Ok(read::readable(store, Some(id))?.map(|document| (id, document)))
}

/// Returns the contracts, bindings and transfers that differ between two trees of a domain, and the repositories that
/// left. Without an older tree, all are new.
///
/// # Errors
/// Returns an error if a tree cannot be read.
pub fn differences(store: &dyn Store, older: Option<&Oid>, newer: &Oid) -> Result<Vec<Difference>, OpError> {
    let mut found = Vec::new();
    if older == Some(newer) {
        return Ok(found);
    }
    for folder in FOLDERS {
        let entry = |root: &Oid| Ok::<_, OpError>(read::lookup(store, root, folder)?.map(|entry| entry.id));
        if older.map(entry).transpose()?.flatten() == entry(newer)? {
            continue;
        }
        let old = older.map(|older| blobs(store, older, folder)).transpose()?.unwrap_or_default();
        let new = blobs(store, newer, folder)?;
        if folder == layout::SOURCES {
            found.extend(left(&old, &new));
            continue;
        }
        let changed = old.keys().chain(new.keys().filter(|name| !old.contains_key(*name)));
        for file in changed.filter(|file| old.get(*file) != new.get(*file)) {
            let contract = || layout::stem::<ContractName>(file);
            let place = match folder {
                layout::CONTRACTS => contract().map(|name| (layout::contract(&name), PathContent::Contract(name))),
                layout::TRANSFERS => contract().map(|name| (layout::transfers(&name), PathContent::Transfers(name))),
                _ => layout::stem::<RepoName>(file).map(|repo| (layout::binding(&repo), PathContent::Binding(repo))),
            };
            if let Some((path, of)) = place {
                found.push(Difference { path, old: old.get(file).copied(), new: new.get(file).copied(), of });
            }
        }
    }
    Ok(found)
}

/// Returns the repositories that left, by their last published commits. A renamed one keeps it under its new name.
fn left(old: &BTreeMap<String, Oid>, new: &BTreeMap<String, Oid>) -> Vec<Difference> {
    let is_renamed = |known: &Oid| new.iter().any(|(file, id)| id == known && !old.contains_key(file));
    let gone = old.iter().filter(|(file, known)| !new.contains_key(*file) && !is_renamed(known));
    let difference = |(file, known): (&String, &Oid)| {
        let repo: RepoName = layout::stem(file)?;
        Some(Difference { path: layout::source(&repo), old: Some(*known), new: None, of: PathContent::Source(repo) })
    };
    gone.filter_map(difference).collect()
}

/// Returns the blobs in a folder of a tree, by name.
///
/// # Errors
/// Returns an error if the tree cannot be read.
pub fn blobs(store: &dyn Store, root: &Oid, folder: &str) -> Result<BTreeMap<String, Oid>, OpError> {
    let entries = read::folder(store, root, folder)?.into_iter();
    Ok(entries.filter(|entry| entry.kind == EntryKind::Blob).map(|Entry { name, id, .. }| (name, id)).collect())
}
