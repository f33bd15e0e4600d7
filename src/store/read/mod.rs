//! Reads a realm into views. A stored file that cannot be read is recorded as damage under its name, and does not hide
//! the others.

mod domain;
mod one_contract;
mod published;
mod reader;
mod roles;

pub use domain::{
    CurrentContracts, conflicts_in, contracts_at, domain, domain_at, load_version, load_versions, summary_of,
    summary_with,
};
pub use one_contract::OneContract;
pub use published::Published;
pub use roles::{ContractRole, ContractRoles};

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use reader::Reader;

use super::{DomainRefs, Entry, EntryKind, Objects, Store, StoreError, StoreRef, TreePath, codec, layout};
use crate::model::{
    domain_summary::RealmSummary,
    domain_view::{Damage, Subject},
    merge::ConflictId,
    name::RepoName,
    oid::Oid,
    realm::{self, Realm, Repo},
    set_aside::SetAside,
};

/// Returns the tree of the commit that a ref names, or `None` if the ref does not exist.
///
/// # Errors
/// Returns an error if the ref or its commit cannot be read.
pub fn tip_tree(store: &dyn Store, name: &StoreRef) -> Result<Option<Oid>, StoreError> {
    store.tip(name)?.map(|tip| Ok(store.commit(&tip)?.tree)).transpose()
}

/// Returns the entry at `path` below the tree `root`, or `None` if there is none.
///
/// # Errors
/// Returns an error if a tree on the way cannot be read.
pub fn lookup<O: Objects + ?Sized>(store: &O, root: &Oid, path: &str) -> Result<Option<Entry>, StoreError> {
    let mut found = Entry { name: String::new(), kind: EntryKind::Tree, id: *root };
    for part in path.split('/') {
        if found.kind != EntryKind::Tree {
            return Ok(None);
        }
        match store.entry(&found.id, part)? {
            Some(entry) => found = entry,
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// The number of entries of one folder that are looked up one by one. Listing a large folder takes as long as about six
/// of them.
const MAX_LOOKUPS: usize = 6;

/// Returns the ids at `paths` below the tree `root`, in the same order. A folder with many of them is listed once.
///
/// # Errors
/// Returns an error if a tree on the way cannot be read.
pub fn lookup_all<O: Objects + ?Sized>(store: &O, root: &Oid, paths: &[&str]) -> Result<Vec<Option<Oid>>, StoreError> {
    let mut lookups = BTreeMap::<&str, usize>::new();
    for path in paths {
        *lookups.entry(folder_and_name(path).0).or_default() += 1;
    }
    let mut listed = BTreeMap::new();
    for (path, _) in lookups.into_iter().filter(|(_, lookups)| *lookups > MAX_LOOKUPS) {
        let entries = if path.is_empty() { store.entries(root)? } else { folder(store, root, path)? };
        listed.insert(path, entries.into_iter().map(|entry| (entry.name, entry.id)).collect::<BTreeMap<_, _>>());
    }
    let id = |path: &&str| {
        let (folder, name) = folder_and_name(path);
        match listed.get(folder) {
            Some(entries) => Ok(entries.get(name).copied()),
            None => Ok(lookup(store, root, path)?.map(|entry| entry.id)),
        }
    };
    paths.iter().map(id).collect()
}

fn folder_and_name(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Returns the entries of the folder at `path` below the tree `root`; empty if there is no such folder.
///
/// # Errors
/// Returns an error if a tree on the way cannot be read.
pub fn folder<O: Objects + ?Sized>(store: &O, root: &Oid, path: &str) -> Result<Vec<Entry>, StoreError> {
    match lookup(store, root, path)? {
        Some(entry) if entry.kind == EntryKind::Tree => store.entries(&entry.id),
        _ => Ok(Vec::new()),
    }
}

/// Returns the document at `path` below the tree `root`, or `None` if there is none.
///
/// # Errors
/// Returns [`StoreError::Damaged`] with the file as `<within>:<path>`.
pub fn file<T: DeserializeOwned>(
    store: &dyn Store,
    within: &StoreRef,
    root: &Oid,
    path: &TreePath,
) -> Result<Option<T>, StoreError> {
    match lookup(store, root, path.as_str())? {
        None => Ok(None),
        Some(entry) => decode(store, &entry)?
            .map(Some)
            .map_err(|problem| StoreError::Damaged { what: format!("{within}:{path}"), problem }),
    }
}

/// Returns the document, or the problem of the stored file.
pub(super) fn decode<T: DeserializeOwned>(store: &dyn Store, entry: &Entry) -> Result<Result<T, String>, StoreError> {
    if entry.kind != EntryKind::Blob {
        return Ok(Err("it is not a file".into()));
    }
    match store.blob(&entry.id) {
        Ok(bytes) => Ok(codec::decode(&bytes).map_err(|problem| problem.to_string())),
        Err(error) if error.is_damage() => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}

/// Returns the document in a blob, or `None` if there is no blob or it cannot be read because it is damaged.
///
/// # Errors
/// Returns an error if reading fails for another reason.
pub fn readable<T: DeserializeOwned>(store: &dyn Store, blob: Option<Oid>) -> Result<Option<T>, StoreError> {
    let Some(blob) = blob else { return Ok(None) };
    match store.blob(&blob) {
        Ok(bytes) => Ok(codec::decode(&bytes).ok()),
        Err(error) if error.is_damage() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the content of `realm.json`.
///
/// # Errors
/// Returns [`StoreError::NewerFormat`] if a newer program wrote the realm, and [`StoreError::Damaged`] if `realm.json`
/// is missing or cannot be read.
pub fn realm(store: &dyn Store) -> Result<Realm, StoreError> {
    let at = StoreRef::Realm;
    let damaged = |problem: &str| StoreError::Damaged { what: at.to_string(), problem: problem.into() };
    let tip = store.tip(&at)?.ok_or_else(|| damaged("the ref does not exist"))?;
    let tree = store.commit(&tip)?.tree;
    let read = file::<Realm>(store, &at, &tree, &layout::realm());
    if let Ok(Some(realm)) = &read
        && realm.format <= realm::FORMAT
    {
        return Ok(realm.clone());
    }
    if let Some(entry) = lookup(store, &tree, layout::realm().as_str())? {
        require_known_format(&store.blob(&entry.id)?)?;
    }
    read?.ok_or_else(|| damaged("there is no realm.json"))
}

/// Refuses a `realm.json` that a newer program wrote. It may have other fields, so only the format itself is read.
///
/// # Errors
/// Returns [`StoreError::NewerFormat`] if the format is newer.
pub fn require_known_format(realm: &[u8]) -> Result<(), StoreError> {
    #[derive(serde::Deserialize)]
    struct Format {
        format: u32,
    }
    match codec::decode::<Format>(realm) {
        Ok(Format { format }) if format > realm::FORMAT => {
            Err(StoreError::NewerFormat { found: format, known: realm::FORMAT })
        }
        _ => Ok(()),
    }
}

/// Returns the names that two repositories claim, because the repository that lost its name in a merge has not joined
/// under another name.
///
/// # Errors
/// Returns an error if the realm's tree cannot be read.
pub fn names_taken_twice(store: &dyn Store, repos: &BTreeMap<RepoName, Repo>) -> Result<Vec<RepoName>, StoreError> {
    let lost = lost_names(store, repos)?.into_iter();
    let mut twice: Vec<_> = lost.filter(|(_, newer)| newer.is_none()).map(|(name, _)| name).collect();
    twice.dedup();
    Ok(twice)
}

/// Returns the names that repositories lost to others in a merge, each with the name under which that repository has
/// joined, if it has.
///
/// # Errors
/// Returns an error if the realm's tree cannot be read.
pub fn lost_names(
    store: &dyn Store,
    repos: &BTreeMap<RepoName, Repo>,
) -> Result<Vec<(RepoName, Option<RepoName>)>, StoreError> {
    let Some(tree) = tip_tree(store, &StoreRef::Realm)? else { return Ok(Vec::new()) };
    let mut names = Vec::new();
    let lost = format!("{}/{}", layout::CONFLICTS, layout::REPOS);
    for entry in folder(store, &tree, &lost)?.into_iter().filter(|entry| entry.kind == EntryKind::Tree) {
        let Ok(name) = entry.name.parse::<RepoName>() else { continue };
        for entry in store.entries(&entry.id)? {
            let Ok(lost) = decode::<Repo>(store, &entry)? else { continue };
            let newer = repos.values().find(|repo| repo.is_same_repository(&lost));
            names.push((name.clone(), newer.map(|repo| repo.name.clone())));
        }
    }
    Ok(names)
}

/// Returns the undecided commits that broke a rule of the realm itself.
///
/// # Errors
/// Returns an error if the realm's tree cannot be read.
pub fn set_aside(store: &dyn Store) -> Result<Vec<SetAside>, StoreError> {
    let Some(tree) = tip_tree(store, &StoreRef::Realm)? else { return Ok(Vec::new()) };
    let records = set_aside_in(store, &tree)?;
    Ok(records.into_values().filter(SetAside::is_open).collect())
}

/// Reads everything in the realm, and returns its summaries with all damage.
///
/// # Errors
/// Returns an error if the realm itself, or its list of domains, cannot be read.
pub fn view(store: &dyn Store) -> Result<RealmSummary, StoreError> {
    let mut view = repos(store)?;
    let DomainRefs { tips, broken } = store.domain_refs()?;
    let broken = broken.into_iter().map(|(file, problem)| Damage { file, subject: Subject::Domains, problem });
    view.damage.extend(broken);
    for (name, tip) in tips {
        let domain = store.commit(&tip).and_then(|commit| summary_with(store, &name, &commit.tree, |_, _, _| {}));
        match domain {
            Ok(domain) => {
                view.domains.insert(name, domain);
            }
            Err(error) if error.is_damage() => view.damage.push(Damage {
                file: StoreRef::Domain(name.clone()).to_string(),
                subject: Subject::Domain(name),
                problem: error.to_string(),
            }),
            Err(error) => return Err(error),
        }
    }
    Ok(view)
}

/// Returns the realm with only its repositories.
///
/// # Errors
/// Returns an error if the realm itself cannot be read.
pub fn repos(store: &dyn Store) -> Result<RealmSummary, StoreError> {
    let mut view = RealmSummary::default();
    let Some(tree) = tip_tree(store, &StoreRef::Realm)? else { return Ok(view) };
    let mut reader = Reader { store, within: StoreRef::Realm, damage: Vec::new() };
    view.repos = reader.all(&tree, layout::REPOS, |_| Subject::Other)?;
    view.damage = reader.damage;
    Ok(view)
}

/// Returns the records of commits that broke a rule in a tree. Records that cannot be read are left out.
///
/// # Errors
/// Returns an error if a folder on the way cannot be read.
pub fn set_aside_in(store: &dyn Store, tree: &Oid) -> Result<BTreeMap<ConflictId, SetAside>, StoreError> {
    let mut records = BTreeMap::new();
    for entry in folder(store, tree, &format!("{}/{}", layout::CONFLICTS, layout::SET_ASIDE))? {
        if let (Some(id), Some(record)) = (layout::stem::<ConflictId>(&entry.name), readable(store, Some(entry.id))?) {
            records.insert(id, record);
        }
    }
    Ok(records)
}
