//! `realm_admin_cache_clear`: clear the cache of the store. It is made again when it is
//! asked for.

use crate::ops::{Operation, ctx::Ctx};
use crate::{
    error::OpError,
    wire::{Answer, CacheCleared},
};

/// Its entry in the table.
pub const OPERATION: Operation = Operation::write::<CacheCleared>(
    "realm_admin_cache_clear",
    &["realm", "admin", "cache", "clear"],
    "Clear the realm's cache",
);

/// Forgets it. That there was nothing is no error.
///
/// # Errors
/// Where it cannot be removed.
pub fn run(ctx: &Ctx) -> Result<Answer<CacheCleared>, OpError> {
    let here = ctx.here()?;
    let freed_bytes = here.store.cache().map(|cache| cache.clear()).transpose()?.unwrap_or_default();
    Ok(Answer::new(CacheCleared { realm: here.realm.clone(), freed_bytes }))
}
