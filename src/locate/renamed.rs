//! Repositories that were renamed: reports the new name to a clone that does not know it yet.

use crate::{
    error::{ErrorCode, OpError},
    model::{
        name::RepoName,
        realm::{Rename, Repo},
    },
    store::{Store, StoreError, StoreRef, layout, read},
};

/// Returns the name that a repository took instead of `name`, be it after several renames.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn newer(store: &dyn Store, name: &RepoName) -> Result<Option<RepoName>, StoreError> {
    let Some(tip) = store.tip(&StoreRef::Realm)? else { return Ok(None) };
    let root = store.commit(&tip)?.tree;
    let mut found: Option<RepoName> = None;
    loop {
        let last = found.as_ref().unwrap_or(name);
        if read::lookup(store, &root, layout::rename(last).as_str())?.is_none()
            || read::lookup(store, &root, layout::repo(last).as_str())?.is_some()
        {
            return Ok(found);
        }
        match read::file::<Rename>(store, &StoreRef::Realm, &root, &layout::rename(last))? {
            Some(rename) if rename.to != *name && Some(&rename.to) != found.as_ref() => found = Some(rename.to),
            _ => return Ok(found),
        }
    }
}

/// Refuses a name that the repository has no more.
///
/// # Errors
/// Returns an error if it took another one, or the realm cannot be read.
pub fn refuse(store: &dyn Store, name: &RepoName) -> Result<(), OpError> {
    newer(store, name)?.map_or(Ok(()), |newer| Err(error(name, &newer)))
}

/// Refuses to let the same repository join once more under a name that it has no more.
///
/// # Errors
/// Fails as [`refuse`].
pub fn refuse_entry(store: &dyn Store, entry: &Repo) -> Result<(), OpError> {
    let Some(newer) = newer(store, &entry.name)? else { return Ok(()) };
    let is_same = read::repos(store)?.repos.get(&newer).is_some_and(|held| held.is_same_repository(entry));
    if is_same { Err(error(&entry.name, &newer)) } else { Ok(()) }
}

fn error(name: &RepoName, newer: &RepoName) -> OpError {
    OpError::cannot(ErrorCode::Renamed, format!("{name} is called {newer} in the realm now"))
        .next("git pull  # where .blue/config.yaml was committed with the new name")
        .next(format!("git blue realm admin rename {name} {newer}  # else: writes it here"))
}
