//! Moves the inboxes of this machine's readers to the new name of a repository.

use super::inbox;
use crate::{
    error::OpError,
    locate::renamed,
    model::{
        name::{DomainName, RepoName},
        oid::Oid,
    },
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
    if let Some(told) = read::lookup(store, &tree, layout::told().as_str())? {
        edits.push((layout::told(), Edit::Link(EntryKind::Blob, told.id)));
    }
    Ok(edits)
}
