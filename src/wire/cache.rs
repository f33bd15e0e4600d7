//! The store's cache: its statistics, and clearing it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::name::RealmName;

/// The answer of `realm_admin_cache_stats`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheStats {
    /// The realm.
    pub realm: RealmName,
    /// The file, absolute; null if nothing is kept, because `--no-cache` was given.
    pub file: Option<String>,
    /// The file's size in bytes; null if there is no file.
    pub bytes: Option<u64>,
    /// Whether it is there, undamaged and of this version.
    pub usable: bool,
    /// Whether the refs have been at rest since, so that they are not even listed.
    pub current: bool,
    /// How many domains it holds.
    pub domains: usize,
    /// How many of these `check` has examined and found nothing in.
    pub examined: usize,
    /// How many contracts they have.
    pub contracts: usize,
}

/// The answer of `realm_admin_cache_clear`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheCleared {
    /// The realm.
    pub realm: RealmName,
    /// The size of the deleted file in bytes; 0 if there was none.
    pub freed_bytes: u64,
}
