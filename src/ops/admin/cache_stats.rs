//! `realm_admin_cache_stats`: the size and state of the store's cache.

use crate::ops::{Operation, ctx::Ctx};
use crate::{
    error::OpError,
    store::{FileCache, overview::CacheState},
    wire::{Answer, CacheStats},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::read::<CacheStats>(
    "realm_admin_cache_stats",
    &["realm", "admin", "cache", "stats"],
    "Show the size and state of the realm's cache",
);

/// Returns the size and state of the cache. It does not create one.
///
/// # Errors
/// Returns an error if there is no realm.
pub fn run(ctx: &Ctx) -> Result<Answer<CacheStats>, OpError> {
    let here = ctx.realm()?;
    let kept = CacheState::of(&*here.store);
    let cache = here.store.cache();
    let answer = Answer::new(CacheStats {
        realm: here.realm.clone(),
        file: cache.map(|cache| cache.file().display().to_string()),
        bytes: cache.and_then(FileCache::size),
        usable: kept.is_some(),
        current: kept.as_ref().is_some_and(|kept| kept.is_current),
        domains: kept.as_ref().map_or(0, |kept| kept.domains),
        examined: kept.as_ref().map_or(0, |kept| kept.examined),
        contracts: kept.as_ref().map_or(0, |kept| kept.contracts),
    });
    Ok(if kept.is_some() { answer } else { answer.next("git blue status  # rebuild the cache") })
}
