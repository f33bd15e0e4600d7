//! Contracts: `contract_get`, `contract_list`, `contract_log`, and the operations that mark contracts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Broken, LogEntry, Role, VersionOrigin, lenient};
use crate::model::{
    approval::Fingerprint,
    contract::{
        BrokenDirection, Compatibility, Contract, Deprecated, Evolution, Flow, Retirement, Validation, Values, Yanked,
        is_default,
    },
    json::Json,
    name::{ContractName, DomainName, RealmName, RepoName},
    range::Range,
    version::Version,
};

/// The answer of `contract_get`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractGet {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract, at the requested version.
    pub contract: ContractDetail,
    /// The origin of the shown version, if it was requested and the version was published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<VersionOrigin>,
    /// The repository that the owner offers the contract to, until it accepts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_to: Option<RepoName>,
    /// The repositories that export or import the contract.
    pub bindings: Vec<ContractBinding>,
    /// The repositories whose bindings cannot be read, so that it is unknown whether they import it. Only present if there
    /// are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable_bindings: Vec<RepoName>,
    /// All published versions, oldest first.
    pub versions: Vec<Version>,
    /// The current version; null if only pre-releases were published.
    pub current_version: Option<Version>,
    /// The current repository; null outside of a repository.
    pub current_repo: Option<RepoName>,
}

/// A whole contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractDetail {
    /// The name of the contract.
    pub name: ContractName,
    /// The version that is shown.
    pub version: Version,
    /// The owner: the only repository that may publish versions.
    pub owner: RepoName,
    /// The purpose of the contract.
    pub description: String,
    /// The owner's promise about changes.
    #[serde(deserialize_with = "lenient::one")]
    pub compatibility: Compatibility,
    /// The owner's promise about changes to the value.
    pub values: Values,
    /// The direction of the data that the schema describes.
    pub flow: Flow,
    /// The ranges of older versions that are still served.
    pub supported: Vec<Range>,
    /// The JSON Schema of the value.
    pub schema: Json,
    /// The agreed value.
    pub value: Json,
    /// The scripts that test the contract.
    #[serde(deserialize_with = "lenient::one")]
    pub validation: Validation,
    /// The changes in each version.
    #[serde(deserialize_with = "lenient::list")]
    pub evolution: Vec<Evolution>,
    /// The deprecation, if consumers should stop using the contract.
    #[serde(deserialize_with = "lenient::option")]
    pub deprecated: Option<Deprecated>,
    /// The SHA-256 of the canonical schema.
    pub schema_hash: Option<String>,
    /// The SHA-256 of the canonical schema, value and compatibility.
    pub content_hash: Option<String>,
    /// The retirement, if the contract is retired.
    #[serde(deserialize_with = "lenient::option")]
    pub retired: Option<Retirement>,
    /// The yanked versions, which should not be used.
    #[serde(deserialize_with = "lenient::list")]
    pub yanked: Vec<Yanked>,
}

impl From<Contract> for ContractDetail {
    fn from(contract: Contract) -> Self {
        Self {
            name: contract.name,
            version: contract.version,
            owner: contract.owner,
            description: contract.description,
            compatibility: contract.compatibility,
            values: contract.values,
            flow: contract.flow,
            supported: contract.supported,
            schema: contract.schema,
            value: contract.value,
            validation: contract.validation,
            evolution: contract.evolution,
            deprecated: contract.deprecated,
            schema_hash: contract.schema_hash,
            content_hash: contract.content_hash,
            retired: contract.retired,
            yanked: contract.yanked,
        }
    }
}

impl ContractDetail {
    /// Returns the document as its owner wrote it, without the fields that the realm adds.
    pub fn typed(&self) -> Contract {
        Contract {
            version: self.version.clone(),
            description: self.description.clone(),
            compatibility: self.compatibility,
            values: self.values,
            flow: self.flow,
            supported: self.supported.clone(),
            schema: self.schema.clone(),
            value: self.value.clone(),
            validation: self.validation.clone(),
            evolution: self.evolution.clone(),
            deprecated: self.deprecated.clone(),
            ..Contract::new(self.name.clone(), self.owner.clone())
        }
    }
}

/// The relationship of a repository to a contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractBinding {
    /// The repository.
    pub repo: RepoName,
    /// The role of the repository in the domain.
    pub role: Role,
    /// Whether the repository exports or imports the contract.
    pub relationship: Relationship,
    /// The version range of an import; null for an export.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_req: Option<Range>,
}

/// Whether a repository exports or imports a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Relationship {
    /// The repository provides the contract.
    Exports,
    /// The repository relies on the contract.
    Imports,
}

/// The answer of `contract_list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractList {
    /// The realm.
    pub realm: RealmName,
    /// The contracts on this page.
    pub contracts: Vec<ContractLine>,
    /// The number of contracts that match the request.
    pub total: usize,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
    /// The current repository; null outside of a repository.
    pub current_repo: Option<RepoName>,
    /// The domains that cannot be read, with the reason. Their contracts are not listed.
    #[serde(default)]
    pub unreadable_domains: Vec<String>,
}

/// A summary of a contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractLine {
    /// The domain.
    pub domain: DomainName,
    /// The name of the contract.
    pub name: ContractName,
    /// The current version; null if the contract cannot be read.
    pub version: Option<Version>,
    /// The owner; null if the contract cannot be read.
    pub owner: Option<RepoName>,
    /// The number of repositories that import the contract.
    pub importers: usize,
    /// The number of repositories whose bindings cannot be read, so that they may import it too.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unreadable_bindings: usize,
    /// The stage of its life.
    pub state: ContractState,
}

/// A stage in the life of a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContractState {
    /// It has a current version.
    Active,
    /// It is still served, but should be replaced.
    Deprecated,
    /// Its current version was withdrawn.
    Yanked,
    /// It is no longer served.
    Retired,
    /// It has only pre-releases.
    PreRelease,
    /// It cannot be read.
    Damaged,
}

impl ContractState {
    /// Returns its word in JSON and in texts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Deprecated => "deprecated",
            Self::Yanked => "yanked",
            Self::Retired => "retired",
            Self::PreRelease => "pre-release",
            Self::Damaged => "damaged",
        }
    }
}

/// The answer of `contract_log`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractLog {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The commits that changed the contract, newest first.
    pub entries: Vec<LogEntry>,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

/// The answer of `contract_transfer`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractTransfer {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The owner, until the other repository publishes the contract.
    pub owner: RepoName,
    /// The repository that the contract is offered to; null if the offer was withdrawn.
    pub offered_to: Option<RepoName>,
    /// Whether anything changed.
    pub changed: bool,
}

/// The answer of `contract_adapted`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractAdapted {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The repository that imports the contract.
    pub current_repo: RepoName,
    /// The version that its code was written against before this call; null if unknown.
    pub old_version: Option<Version>,
    /// The version that its code is now recorded as written against.
    pub adapted_version: Option<Version>,
    /// Whether anything changed.
    pub changed: bool,
}

/// The answer of `contract_approve`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractApproved {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// A hash that identifies the change: of both schemas, and of each broken direction with its rule.
    pub fingerprint: Fingerprint,
    /// The version before the change.
    pub old_version: Version,
    /// The directions that the change breaks.
    pub directions: Vec<BrokenDirection>,
    /// The rule that each of these directions breaks.
    pub rules: Vec<String>,
    /// The reason for the approval.
    pub reason: String,
    /// Whether anything changed.
    pub changed: bool,
}

/// The answer of `contract_retire` and `contract_yank`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractMarked {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The yanked version; null if the contract was retired.
    pub version: Option<Version>,
    /// The reason.
    pub reason: String,
    /// Whether anything changed.
    pub changed: bool,
    /// The repositories that still import the contract or version.
    pub importers: Vec<RepoName>,
    /// The imports that yanking the version breaks, because no other served version satisfies them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<Broken>,
}
