//! `realm_compare`: the differences between two realms of this machine.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    name::{ContractName, DomainName, RealmName, RepoName},
    version::Version,
};

/// The answer of `realm_compare`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmCompare {
    /// The realm that is compared.
    pub realm: RealmName,
    /// The realm that it is compared with.
    pub other_realm: RealmName,
    /// Repositories that are only in `realm`.
    pub repos_only_here: Vec<RepoName>,
    /// Repositories that are only in `other_realm`.
    pub repos_only_there: Vec<RepoName>,
    /// The contracts of this page that differ, or that only one of the realms has.
    pub differences: Vec<ContractComparison>,
    /// The total number of such contracts.
    pub total: usize,
    /// The number of contracts that are the same in both.
    pub same: usize,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
    /// The stored files of either realm that cannot be read. Their content was not compared.
    pub unreadable: Vec<String>,
}

/// A contract that differs between the realms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractComparison {
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// `only-here`, `only-there`, `version` (another version), `content` (the same version with another schema, value
    /// or compatibility), `owner` (another owner) or `state` (it is retired, or its version yanked, in only one realm).
    #[schemars(extend("enum" = ["only-here", "only-there", "version", "content", "owner", "state"]))]
    pub difference: Cow<'static, str>,
    /// The contract in `realm`; null if it has none.
    pub here: Option<ContractSide>,
    /// The contract in `other_realm`; null if it has none.
    pub there: Option<ContractSide>,
}

/// A contract in one of the realms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContractSide {
    /// The current version, or the newest pre-release if there is no release.
    pub version: Version,
    /// The owner: the only repository that may publish versions.
    pub owner: RepoName,
    /// The SHA-256 of the canonical schema, value and compatibility. It is computed from them and not read from the
    /// file.
    pub content_hash: String,
    /// Whether it is retired.
    pub retired: bool,
    /// Whether the current version was yanked.
    pub yanked: bool,
}
