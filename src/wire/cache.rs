//! What the store keeps at hand.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::name::RealmName;

/// What `realm_admin_cache_stats` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheStats {
    /// The realm.
    pub realm: RealmName,
    /// The file, absolute; none where nothing is kept, because `--no-cache` was given.
    pub file: Option<String>,
    /// Its size; none where there is no file.
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

/// What `realm_admin_cache_clear` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheCleared {
    /// The realm.
    pub realm: RealmName,
    /// How large the file was, in bytes; 0 where there was none.
    pub freed_bytes: u64,
}
