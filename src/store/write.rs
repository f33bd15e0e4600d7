//! Changes a realm. This is the only way to do so: take the lock, read, decide, commit, and retry after a lost race.
//! Nothing is ever overwritten.

use super::{Change, Edit, Store, StoreError, StoreRef, codec::MAX_BLOB};
use crate::model::oid::Oid;

/// The maximum number of lost races before giving up. While the lock is held, only other programs can race.
const MAX_RACES: u32 = 16;

/// Applies to `name` the change that `decide` returns for its tip. Returns the new commit, or `None` if there is no
/// change.
///
/// # Errors
/// Returns the error of `decide`, or an error if the store cannot be written.
pub fn write<E: From<StoreError>>(
    store: &dyn Store,
    name: &StoreRef,
    mut decide: impl FnMut(Option<Oid>) -> Result<Option<Change>, E>,
) -> Result<Option<Oid>, E> {
    until_won(store, name, &mut decide)
}

/// Implements [`write`]. Compiled once rather than for each of its many callers.
fn until_won<E: From<StoreError>>(
    store: &dyn Store,
    name: &StoreRef,
    decide: &mut dyn FnMut(Option<Oid>) -> Result<Option<Change>, E>,
) -> Result<Option<Oid>, E> {
    let _lease = store.lock(name)?;
    let mut races = 0;
    loop {
        let tip = store.tip(name)?;
        let Some(change) = decide(tip)? else {
            tracing::debug!(%name, "nothing to write");
            return Ok(None);
        };
        readable(&change)?;
        match store.commit_change(name, tip, &change) {
            Err(StoreError::Conflict { .. }) if races < MAX_RACES => {
                races += 1;
                tracing::debug!(%name, races, "lost a race, retrying");
            }
            result => {
                let commit = result?;
                tracing::debug!(%name, %commit, files = change.edits.len(), "wrote");
                return Ok(Some(commit));
            }
        }
    }
}

/// Checks that no file of a change exceeds the size limit.
fn readable(change: &Change) -> Result<(), StoreError> {
    for (path, edit) in &change.edits {
        if let Edit::Put(bytes) = edit
            && bytes.len() > MAX_BLOB
        {
            return Err(StoreError::TooLargeToWrite { path: path.to_string(), size: bytes.len() });
        }
    }
    Ok(())
}
