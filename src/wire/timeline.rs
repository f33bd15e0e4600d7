//! `contract_timeline`: the times at which the realms of this machine got each version of a contract.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    name::{ContractName, DomainName, RealmName},
    oid::Oid,
    version::Version,
};

/// The answer of `contract_timeline`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractTimeline {
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The realms that have it, and those that cannot be read, by name.
    pub realms: Vec<TimelineRealm>,
    /// The versions of this page that reached a realm, newest first.
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
    /// The reason it cannot be read, if so.
    pub problem: Option<String>,
}

/// A version that reached a realm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineEntry {
    /// The time it reached the realm, according to the commit.
    pub time: jiff::Timestamp,
    /// Whether that time is more than a day ahead of this machine's clock; such a time is not used for sorting.
    pub ahead_of_clock: bool,
    /// The author, as `Name <email>`.
    pub author: String,
    /// The realm.
    pub realm: RealmName,
    /// The version.
    pub version: Version,
    /// Whether it is the current one there.
    pub is_current: bool,
    /// Whether it is yanked there.
    pub is_yanked: bool,
    /// The commit of that realm's store.
    pub commit: Oid,
    /// The repository it was published from.
    pub repo: Option<String>,
    /// The commit of that repository it was published from.
    pub source_commit: Option<String>,
    /// The page of that commit, if the url of the repository names a known forge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_url: Option<String>,
}
