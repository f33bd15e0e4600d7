//! `realm_topology`: contracts with their providers and consumers.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Deprecation;
use crate::model::{
    binding::UsedIn,
    name::{ContractName, DomainName, RealmName, RepoName},
    range::Range,
    verdict::Verdict,
    version::Version,
};

/// The answer of `realm_topology`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmTopology {
    /// The realm.
    pub realm: RealmName,
    /// The repository that asked; null outside of one.
    pub current_repo: Option<RepoName>,
    /// All repositories that joined, and those that are only members of a domain.
    pub repos: Vec<RepoName>,
    /// The domains with their contracts.
    pub domains: Vec<DomainTopology>,
    /// The number of broken imports.
    pub broken: usize,
    /// Its dependency cycles, as `a -(s3/paths)-> b -(jobs/events)-> a`; empty where only one domain is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycles: Vec<String>,
    /// Stored files that cannot be read: what they would add is missing here.
    pub unreadable: Vec<String>,
}

/// A domain and its contracts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DomainTopology {
    /// Its name.
    pub name: DomainName,
    /// The members of the domain.
    pub members: Vec<RepoName>,
    /// Its contracts, including those that are imported but not provided.
    pub contracts: Vec<ContractTopology>,
}

/// A contract with its providers and consumers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractTopology {
    /// Its name.
    pub name: ContractName,
    /// Its current version; null if there is none.
    pub version: Option<Version>,
    /// The owner; null if there is no such contract.
    pub owner: Option<RepoName>,
    /// The repositories whose bindings export it.
    pub exporters: Vec<RepoName>,
    /// The repositories that import it.
    pub importers: Vec<ImportTopology>,
    /// Until when it is served, and what takes its place, where it is deprecated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<Deprecation>,
}

/// An import and its state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportTopology {
    /// The repository that imports.
    pub repo: RepoName,
    /// The version range of the import.
    pub version_req: Range,
    /// `current`, `stale` (an older version is still served) or `broken`.
    #[schemars(extend("enum" = ["current", "stale", "broken"]))]
    pub state: Cow<'static, str>,
    /// The file of that repository that relies on the contract, or a list of them.
    pub binding: UsedIn,
    /// The effect of the version on its code, if the import is broken and that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

impl ContractTopology {
    /// Returns its providers: the owner, and others that export it.
    pub fn providers(&self) -> Vec<&RepoName> {
        let others = self.exporters.iter().filter(|repo| Some(*repo) != self.owner.as_ref());
        self.owner.iter().chain(others).collect()
    }
}
