//! `contract_timeline`: when each realm of this machine got each version of a contract.

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
    /// The time at which the version reached the realm, according to the commit.
    pub time: jiff::Timestamp,
    /// Whether that time is more than a day ahead of this machine's clock; such a time is not used for sorting.
    pub in_future: bool,
    /// The author, as `Name <email>`.
    pub author: String,
    /// The realm.
    pub realm: RealmName,
    /// The version.
    pub version: Version,
    /// Whether this is the current version in that realm.
    pub is_current: bool,
    /// Whether the version is yanked in that realm.
    pub is_yanked: bool,
    /// The commit in the store of that realm.
    pub commit: Oid,
    /// The repository that it was published from.
    pub repo: Option<String>,
    /// The commit of that repository that it was published from.
    pub source_commit: Option<String>,
    /// The web page of that commit, if the URL of the repository belongs to a known forge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_url: Option<String>,
}
