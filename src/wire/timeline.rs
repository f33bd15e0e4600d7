//! `contract_timeline`: when each realm of this machine got each version of a contract.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::VersionOrigin;
use crate::model::{
    name::{ContractName, DomainName, RealmName},
    version::Version,
};

/// The answer of `contract_timeline`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractTimeline {
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The realms that have the contract, and those that cannot be read, by name.
    pub realms: Vec<TimelineRealm>,
    /// The entries on this page, newest first.
    pub entries: Vec<TimelineEntry>,
    /// The total number of entries.
    pub total: usize,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

/// The state of a contract in one realm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineRealm {
    /// The realm.
    pub realm: RealmName,
    /// The current version; null if only pre-releases were published.
    pub current_version: Option<Version>,
    /// The reason that the realm cannot be read; null if it can.
    pub problem: Option<String>,
}

/// The arrival of a version in a realm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineEntry {
    /// The realm.
    pub realm: RealmName,
    /// Whether this is the current version in that realm.
    pub is_current: bool,
    /// Whether the version is yanked in that realm.
    pub is_yanked: bool,
    /// The version, and who published it.
    #[serde(flatten)]
    pub origin: VersionOrigin,
}
