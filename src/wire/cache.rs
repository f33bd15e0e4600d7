//! The store's cache: its statistics, and clearing it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::name::RealmName;

/// The answer of `realm_admin_cache_stats`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheStats {
    /// The realm.
    pub realm: RealmName,
    /// The path of the file, absolute; null with `--no-cache`.
    pub file: Option<String>,
    /// The file's size in bytes; null if there is no file.
    pub bytes: Option<u64>,
    /// Whether the file exists, is undamaged and is of this version's format.
    pub usable: bool,
    /// Whether no ref has changed since it was written, so that the refs need not be listed.
    pub current: bool,
    /// The number of domains in it.
    pub domains: usize,
    /// The number of these domains that `check` examined without a finding.
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
