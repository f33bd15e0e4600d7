//! `realm_admin_cache_clear`: clears the cache of the store, which is filled again on demand.

use crate::ops::{Operation, ctx::Ctx};
use crate::{
    error::OpError,
    wire::{Answer, CacheCleared},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::write::<CacheCleared>(
    "realm_admin_cache_clear",
    &["realm", "admin", "cache", "clear"],
    "Clear the realm's cache",
);

/// Removes the cache. An empty cache is not an error.
///
/// # Errors
/// Returns an error if the cache cannot be removed.
pub fn run(ctx: &Ctx) -> Result<Answer<CacheCleared>, OpError> {
    let here = ctx.realm()?;
    let freed_bytes = here.store.cache().map(|cache| cache.clear()).transpose()?.unwrap_or_default();
    Ok(Answer::new(CacheCleared { realm: here.realm.clone(), freed_bytes }))
}
