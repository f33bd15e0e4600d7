//! Renamed repositories: their inboxes on this machine move to the new name, and other readers are not notified.

use super::inbox;
use crate::{
    error::OpError,
    locate::renamed,
    model::{
        contract::Contract,
        name::{DomainName, RepoName},
        notification::Delta,
        oid::Oid,
        transfer::Transfers,
    },
    ops::history::difference::{Difference, PathContent},
    store::{Edit, EntryKind, Store, StoreError, StoreRef, TreePath, layout, read, write::write},
};

/// Moves the inboxes of each of these repositories that was renamed, for example by another machine.
///
/// # Errors
/// Returns an error if the store cannot be read or written.
pub fn follow(store: &dyn Store, repos: &[RepoName], now: impl Fn() -> jiff::Zoned) -> Result<(), OpError> {
    for old in repos {
        if let Some(new) = renamed::newer(store, old)? {
            take_over(store, old, &new, &now)?;
        }
    }
    Ok(())
}

/// Moves the inboxes of `old` to `new`. The rename is not a notification to the repository itself.
///
/// # Errors
/// Returns an error if the store cannot be read or written.
pub fn take_over(
    store: &dyn Store,
    old: &RepoName,
    new: &RepoName,
    now: impl Fn() -> jiff::Zoned,
) -> Result<(), OpError> {
    for (name, tip) in store.inboxes()? {
        let StoreRef::Inbox(repo, reader) = &name else { continue };
        if repo != old {
            continue;
        }
        let edits = edits(store, &tip, old, new)?;
        write(store, &StoreRef::Inbox(new.clone(), reader.clone()), |_| {
            Ok::<_, OpError>(Some(inbox::local_change(edits.clone(), &now())))
        })?;
        let _lease = store.lock(&name)?;
        store.forget(&name, tip)?;
    }
    Ok(())
}

/// Pairs the binding that was removed under a former name with the one that was added under the current name, since a
/// rename is no change of a binding.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn pair_bindings(store: &dyn Store, mut differences: Vec<Difference>) -> Result<Vec<Difference>, StoreError> {
    let mut moved = Vec::new();
    for (at, difference) in differences.iter().enumerate() {
        if let (PathContent::Binding(old), Some(known), None) = (&difference.of, difference.old, difference.new)
            && let Some(new) = renamed::newer(store, old)?
        {
            moved.push((at, known, new));
        }
    }
    for (at, known, new) in moved.into_iter().rev() {
        let is_added =
            |one: &&mut Difference| one.old.is_none() && matches!(&one.of, PathContent::Binding(repo) if *repo == new);
        if let Some(added) = differences.iter_mut().find(is_added) {
            added.old = Some(known);
            differences.remove(at);
        }
    }
    Ok(differences)
}

/// Replaces the former name of the owner in the older document by the current one, since a rename is no change of owner.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn with_current_owner(store: &dyn Store, mut delta: Delta<Contract>) -> Result<Delta<Contract>, StoreError> {
    if let (Some((_, old)), Some((_, new))) = (&mut delta.old, &delta.new)
        && old.owner != new.owner
        && renamed::newer(store, &old.owner)?.as_ref() == Some(&new.owner)
    {
        old.owner = new.owner.clone();
    }
    Ok(delta)
}

/// Replaces the former names in both records of transfers by the current ones, since a rename is no offer.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn with_current_parties(store: &dyn Store, mut delta: Delta<Transfers>) -> Result<Delta<Transfers>, StoreError> {
    for (_, record) in [&mut delta.old, &mut delta.new].into_iter().flatten() {
        *record = record.with_newer_names(|repo| renamed::newer(store, repo))?;
    }
    Ok(delta)
}

/// Returns the content of an inbox under the new name.
fn edits(store: &dyn Store, tip: &Oid, old: &RepoName, new: &RepoName) -> Result<Vec<(TreePath, Edit)>, StoreError> {
    let tree = store.commit(tip)?.tree;
    let mut edits = Vec::new();
    for (folder, path) in [(layout::BASELINES, layout::baseline as fn(&_) -> _), (layout::JOINED, layout::joined)] {
        for entry in read::folder(store, &tree, folder)? {
            let Ok(domain) = entry.name.parse::<DomainName>() else { continue };
            let path = path(&domain);
            edits.push((path.clone(), Edit::Link(EntryKind::Tree, entry.id)));
            if let Some(known) = read::lookup(store, &entry.id, layout::binding(old).as_str())? {
                edits.push((layout::binding(old).below(&path), Edit::Remove));
                edits.push((layout::binding(new).below(&path), Edit::Link(EntryKind::Blob, known.id)));
            }
        }
    }
    for path in [layout::delivered(), layout::dropped()] {
        if let Some(held) = read::lookup(store, &tree, path.as_str())? {
            edits.push((path, Edit::Link(EntryKind::Blob, held.id)));
        }
    }
    Ok(edits)
}
