//! `contract_timeline`: when the realms of this machine got each version of a contract.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    name::{ContractName, DomainName, RealmName},
    oid::Oid,
    version::Version,
};

/// What `contract_timeline` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractTimeline {
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The realms that hold it, and those that cannot be read, by name.
    pub realms: Vec<TimelineRealm>,
    /// Every version that came to a realm, newest first; those of this page.
    pub entries: Vec<TimelineEntry>,
    /// How many there are.
    pub total: usize,
    /// Where the next page starts.
    pub next_cursor: Option<String>,
}

/// Where a realm stands with a contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineRealm {
    /// The realm.
    pub realm: RealmName,
    /// The current version; none where only pre-releases were published.
    pub current_version: Option<Version>,
    /// Why it cannot be read.
    pub problem: Option<String>,
}

/// A version that came to a realm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineEntry {
    /// When, as the commit says.
    pub time: jiff::Timestamp,
    /// Whether that is more than a day ahead of this clock: such a date orders nothing.
    pub ahead_of_clock: bool,
    /// Who, as `Name <email>`.
    pub author: String,
    /// Which realm.
    pub realm: RealmName,
    /// Which version.
    pub version: Version,
    /// Whether it is the current one there.
    pub is_current: bool,
    /// Whether it must not be picked there any more.
    pub is_yanked: bool,
    /// The commit of that realm's store.
    pub commit: Oid,
    /// From which repository it was published.
    pub repo: Option<String>,
    /// From which commit of that repository.
    pub source_commit: Option<String>,
}
