//! Finds the current name of a renamed repository, for clones that still use the old one.

use std::collections::BTreeSet;

use crate::{
    error::{ErrorCode, OpError},
    model::{
        name::{RealmName, RepoName},
        oid::Oid,
        realm::{Rename, Repo},
    },
    store::{Store, StoreError, StoreRef, history, layout, read},
};

/// The maximum number of commits that are searched for a rename.
const MAX_HISTORY: usize = 1_000;

/// Returns the current name of a repository that used to be called `name`, following multiple renames. Returns `None`
/// if it was not renamed.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn newer(store: &dyn Store, name: &RepoName) -> Result<Option<RepoName>, StoreError> {
    let Some(root) = read::tip_tree(store, &StoreRef::Realm)? else { return Ok(None) };
    let mut seen = BTreeSet::from([name.clone()]);
    let mut found: Option<RepoName> = None;
    loop {
        let last = found.as_ref().unwrap_or(name);
        if read::lookup(store, &root, layout::rename(last).as_str())?.is_none()
            || read::lookup(store, &root, layout::repo(last).as_str())?.is_some()
        {
            return Ok(found);
        }
        match read::file::<Rename>(store, &StoreRef::Realm, &root, &layout::rename(last))? {
            // The renames of several machines may lead in a circle.
            Some(rename) if seen.insert(rename.to.clone()) => found = Some(rename.to),
            _ => return Ok(found),
        }
    }
}

/// Returns the name that the realm has for a repository that is, or used to be, called `name`. Returns `None` if the
/// realm does not have it.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn current(store: &dyn Store, name: &RepoName) -> Result<Option<RepoName>, StoreError> {
    let Some(root) = read::tip_tree(store, &StoreRef::Realm)? else { return Ok(None) };
    let current = newer(store, name)?.unwrap_or_else(|| name.clone());
    let is_there = read::lookup(store, &root, layout::repo(&current).as_str())?.is_some();
    Ok(is_there.then_some(current))
}

/// Returns the current name of a repository and its former ones.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn names(store: &dyn Store, current: &RepoName) -> Result<Vec<RepoName>, StoreError> {
    let mut found = vec![current.clone()];
    let Some(root) = read::tip_tree(store, &StoreRef::Realm)? else { return Ok(found) };
    for entry in read::folder(store, &root, layout::RENAMES)? {
        let Some(Ok(name)) = entry.name.strip_suffix(".json").map(str::parse) else { continue };
        if newer(store, &name)?.as_ref() == Some(current) {
            found.push(name);
        }
    }
    Ok(found)
}

/// Refuses a name that its repository no longer has.
///
/// # Errors
/// Returns an error if the repository was renamed, or the realm cannot be read.
pub fn refuse(store: &dyn Store, realm: &RealmName, name: &RepoName) -> Result<(), OpError> {
    let Some(newer) = newer(store, name)? else { return Ok(()) };
    let mut error = error(name, &newer);
    error.message += &author(store, name)?.map(|author| format!(", by {author}")).unwrap_or_default();
    if !store.remotes().is_empty() {
        // The repository may have taken its former name back.
        let sync = format!("git blue --realm {realm} sync  # if .blue/config.yaml is newer than the realm here");
        error.next_steps.insert(0, sync.into());
    }
    Err(error)
}

/// Returns the author of the commit that renamed a repository, because anybody who can push can rename it. Returns
/// `None` if the commit is more than [`MAX_HISTORY`] commits back.
fn author(store: &dyn Store, name: &RepoName) -> Result<Option<String>, StoreError> {
    let Some(tip) = store.tip(&StoreRef::Realm)? else { return Ok(None) };
    let path = layout::rename(name);
    let is_recorded = |commit: &Oid| -> Result<bool, StoreError> {
        Ok(read::lookup(store, &store.commit(commit)?.tree, path.as_str())?.is_some())
    };
    for commit in history::since(store, &tip, &[], MAX_HISTORY)? {
        let info = store.commit(&commit)?;
        let is_made_before = info.parents.iter().map(is_recorded).collect::<Result<Vec<_>, _>>()?.contains(&true);
        if !is_made_before && is_recorded(&commit)? {
            return Ok(Some(info.author));
        }
    }
    Ok(None)
}

/// Refuses the former name of a repository in the configuration of a commit that is checked or published.
///
/// # Errors
/// Returns an error if the repository was renamed, or the realm cannot be read.
pub fn refuse_in_commit(store: &dyn Store, name: &RepoName) -> Result<(), OpError> {
    let Some(newer) = newer(store, name)? else { return Ok(()) };
    Err(was_renamed(name, &newer)
        .next(format!("merge the branch whose .blue/config.yaml has the name {newer}, or rebase onto it")))
}

/// Refuses to let a repository rejoin under its former name.
///
/// # Errors
/// Returns the errors of [`refuse`].
pub fn refuse_entry(store: &dyn Store, entry: &Repo) -> Result<(), OpError> {
    let Some(newer) = newer(store, &entry.name)? else { return Ok(()) };
    let is_same = read::repos(store)?.repos.get(&newer).is_some_and(|held| held.is_same_repository(entry));
    if is_same { Err(error(&entry.name, &newer)) } else { Ok(()) }
}

/// Returns the command that moves what was published under a former name to the current one.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn moving(store: &dyn Store, name: &RepoName) -> Result<Option<String>, StoreError> {
    let newer = newer(store, name)?;
    Ok(newer.map(|newer| {
        format!(
            "git blue realm admin rename {name} {newer}  # in {newer}: rename what has since been published as \
            {name}"
        )
    }))
}

fn error(name: &RepoName, newer: &RepoName) -> OpError {
    was_renamed(name, newer)
        .next("git pull  # if .blue/config.yaml was committed with the new name")
        .next(format!("git blue realm admin rename {name} {newer}  # otherwise: write it here"))
}

/// Returns the error for a name that its repository no longer has.
pub fn was_renamed(name: &RepoName, newer: &RepoName) -> OpError {
    OpError::cannot(ErrorCode::Renamed, format!("{name} was renamed to {newer} in the realm"))
}
