//! The one way to change a realm: take the lock, read, decide, commit, and on a lost race decide
//! anew. Nothing is ever overwritten.

use super::{Change, Store, StoreError, StoreRef};
use crate::model::oid::Oid;

/// How often a race may be lost before giving up. With the lock held only foreign writers race.
const MAX_RACES: u32 = 16;

/// Changes `name` by what `decide` makes of its tip. Returns the new commit, or `None` where
/// `decide` found nothing to do.
///
/// # Errors
/// Whatever `decide` refuses with, or why the store could not be written.
pub fn write<E: From<StoreError>>(
    store: &dyn Store,
    name: &StoreRef,
    mut decide: impl FnMut(Option<Oid>) -> Result<Option<Change>, E>,
) -> Result<Option<Oid>, E> {
    let _lease = store.lock(name)?;
    let mut races = 0;
    loop {
        let tip = store.tip(name)?;
        let Some(change) = decide(tip)? else {
            return Ok(None);
        };
        match store.commit_change(name, tip, &change) {
            Err(StoreError::Conflict { .. }) if races < MAX_RACES => races += 1,
            result => return Ok(Some(result?)),
        }
    }
}
