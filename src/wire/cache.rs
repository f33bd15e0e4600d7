//! The store's cache: its statistics, and clearing it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::name::RealmName;

/// The answer of `realm_admin_cache_stats`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheStats {
    /// The realm.
    pub realm: RealmName,
    /// The absolute path of the cache file; null with `--no-cache`.
    pub file: Option<String>,
    /// The size of the file in bytes; null if there is no file.
    pub bytes: Option<u64>,
    /// Whether the file exists, is undamaged and has the format of this version of git blue.
    pub usable: bool,
    /// Whether no ref has changed since the file was written, so that the refs need not be listed.
    pub current: bool,
    /// The number of domains in the file.
    pub domains: usize,
    /// The number of these domains in which `check` found nothing.
    pub examined: usize,
    /// The number of contracts in these domains.
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
