//! `realm_topology`: contracts with their providers and consumers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lenient;
use crate::model::{
    binding::UsedIn,
    contract::Deprecated,
    domain_view::ImportStanding,
    name::{ContractName, DomainName, RealmName, RepoName},
    range::Range,
    verdict::{Outcome, Verdict},
    version::Version,
};

/// The answer of `realm_topology`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmTopology {
    /// The realm.
    pub realm: RealmName,
    /// The current repository; null outside of a repository.
    pub current_repo: Option<RepoName>,
    /// All repositories that joined the realm, and those that are only members of a domain; on the first page.
    pub repos: Vec<RepoName>,
    /// The domains on this page, with their contracts.
    pub domains: Vec<DomainTopology>,
    /// The number of contracts in the realm, or in the domain if only one is shown.
    #[serde(default)]
    pub total: usize,
    /// The cursor of the next page of contracts; null on the last page.
    pub next_cursor: Option<String>,
    /// The number of broken imports, including those of contracts on other pages.
    pub broken: usize,
    /// The dependency cycles, as `a -(s3/paths)-> b -(jobs/events)-> a`; on the first page, and empty if only one
    /// domain is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycles: Vec<String>,
    /// The stored files that cannot be read; on the first page. Their content is missing from this answer.
    pub unreadable: Vec<String>,
}

/// A domain and its contracts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DomainTopology {
    /// The name of the domain.
    pub name: DomainName,
    /// The members of the domain.
    pub members: Vec<RepoName>,
    /// The contracts of the domain that are on this page, including those that are imported but not provided.
    pub contracts: Vec<ContractTopology>,
}

/// A contract with its providers and consumers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractTopology {
    /// The name of the contract.
    pub name: ContractName,
    /// The current version; null if there is none.
    pub version: Option<Version>,
    /// The owner; null if there is no such contract.
    pub owner: Option<RepoName>,
    /// The repositories whose bindings export the contract.
    pub exporters: Vec<RepoName>,
    /// The repositories that import the contract.
    pub importers: Vec<ImportTopology>,
    /// The end of the contract's support, and its replacement, if it is deprecated.
    #[serde(default, deserialize_with = "lenient::option", skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<Deprecated>,
    /// Whether the contract is retired; `contract_get` has the reason.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retired: bool,
    /// Whether the current version was yanked; `contract_get` has the reason.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub yanked: bool,
}

/// An import and its state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportTopology {
    /// The repository that imports the contract.
    pub repo: RepoName,
    /// The version range of the import.
    pub version_req: Range,
    /// `current`, `behind` (an older version is still served), `broken`, or `unknown` (the contract cannot be read).
    pub state: ImportStanding,
    /// The files of that repository that rely on the contract: a path, or a list of paths.
    pub binding: UsedIn,
    /// The effect of the version on the code of that repository, unless the import holds or there is no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

impl ImportTopology {
    /// Returns its state, considering whether the version may break its code.
    pub fn health(&self) -> ImportHealth {
        let is_unknown = self.verdict.as_ref().is_some_and(|verdict| verdict.verdict == Outcome::Unknown);
        match self.state {
            ImportStanding::Current if is_unknown => ImportHealth::Unknown,
            ImportStanding::Current => ImportHealth::Current,
            ImportStanding::Behind => ImportHealth::Behind,
            ImportStanding::Broken => ImportHealth::Broken,
            ImportStanding::Unknown => ImportHealth::Unknown,
        }
    }
}

/// The state of an import, from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ImportHealth {
    /// Its range accepts the current version.
    Current,
    /// Its range accepts an older version, which is still served.
    Behind,
    /// Its range accepts a version that may break its code.
    Unknown,
    /// Its range accepts no version that is served, or the version breaks its code.
    Broken,
}

impl ImportHealth {
    /// Returns its word in texts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Behind => "behind",
            Self::Unknown => "unknown",
            Self::Broken => "broken",
        }
    }
}

impl ContractTopology {
    /// Returns the providers: the owner, and other repositories that export the contract.
    pub fn providers(&self) -> Vec<&RepoName> {
        let others = self.exporters.iter().filter(|repo| Some(*repo) != self.owner.as_ref());
        self.owner.iter().chain(others).collect()
    }
}
