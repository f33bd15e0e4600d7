//! `realm_compare`: what two realms of this machine hold under the same names.

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
    /// Repositories that are in `realm` alone.
    pub repos_only_here: Vec<RepoName>,
    /// Repositories that are in `other_realm` alone.
    pub repos_only_there: Vec<RepoName>,
    /// Contracts that differ, or that only one of the two has; those of this page.
    pub differences: Vec<ContractComparison>,
    /// How many such contracts there are.
    pub total: usize,
    /// How many contracts are the same in both.
    pub same: usize,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
    /// Stored files of either that cannot be read: what they hold was not compared.
    pub unreadable: Vec<String>,
}

/// A contract that is not the same in both realms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractComparison {
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// `only-here`, `only-there`, `version` (another version), `content` (the same version with another
    /// schema, value or compatibility) or `owner` (another owner alone).
    #[schemars(extend("enum" = ["only-here", "only-there", "version", "content", "owner"]))]
    pub difference: Cow<'static, str>,
    /// What `realm` holds.
    pub here: Option<ContractSide>,
    /// What `other_realm` holds.
    pub there: Option<ContractSide>,
}

/// A contract as one of the realms holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContractSide {
    /// Its current version.
    pub version: Version,
    /// The owner: the only repository that may publish versions.
    pub owner: RepoName,
    /// SHA-256 of canonical schema, value and compatibility as they are, not as the file says.
    pub content_hash: String,
}
