//! Setting a realm up: `init`, and `realm_admin_*`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ContractDetail, RemoteSync, Role};
use crate::model::name::{DomainName, RealmName, RepoName};

/// The answer of `init`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Init {
    /// The realm.
    pub realm: RealmName,
    /// The name of this repository in the realm.
    pub current_repo: RepoName,
    /// The absolute path of the store.
    pub path: String,
    /// Whether this call created the realm.
    pub created_realm: bool,
    /// Whether this call fetched the realm from its URL, since this machine did not have it.
    #[serde(default)]
    pub fetched_realm: bool,
    /// Whether this call joined the clone to the realm.
    pub joined: bool,
    /// The URL of the repository in the realm that this call replaced with the one of this clone's origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_url: Option<String>,
    /// Whether this call wrote `.blue/config.yaml`.
    pub wrote_config: bool,
    /// The result of the sync with each remote, if a URL was given.
    pub remotes: Vec<RemoteSync>,
    /// The reason that the realm was not pushed to the URL; null if it was, or if no URL was given.
    #[serde(default)]
    pub push_problem: Option<String>,
    /// Whether changes are pushed and fetched automatically; null if nobody has chosen, or if the realm has no remote.
    pub auto_sync: Option<bool>,
    /// The hooks that are installed and that git runs.
    pub hooks: Vec<String>,
}

/// The answer of `realm_admin_init`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmInit {
    /// The realm.
    pub realm: RealmName,
    /// The absolute path of the store.
    pub path: String,
    /// The URL of the realm's remote.
    pub url: Option<String>,
    /// Whether this call created the realm, rather than only recording it.
    pub created: bool,
}

/// The answer of `realm_admin_join`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmJoin {
    /// The realm.
    pub realm: RealmName,
    /// The name of this repository in the realm.
    pub current_repo: RepoName,
    /// Whether this call joined the clone. Joining twice does nothing.
    pub joined: bool,
    /// The URL of the repository in the realm that this call replaced with the one of this clone's origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_url: Option<String>,
    /// Whether this call wrote `.blue/config.yaml`.
    pub wrote_config: bool,
    /// The result of the sync with each remote, if a URL was given.
    pub remotes: Vec<RemoteSync>,
    /// The reason that the realm was not pushed to the URL; null if it was, or if no URL was given.
    #[serde(default)]
    pub push_problem: Option<String>,
}

/// The answer of `realm_admin_leave`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmLeave {
    /// The realm.
    pub realm: RealmName,
    /// The repository that left.
    pub repo: RepoName,
    /// The domains that the repository was a member of.
    pub domains: Vec<DomainName>,
    /// The parts of the setup that were undone in the repository.
    pub undone: Vec<String>,
}

/// The answer of `realm_admin_reclaim`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmReclaim {
    /// The realm.
    pub realm: RealmName,
    /// The repository that has its name back.
    pub repo: RepoName,
    /// Whether the realm had recorded another repository under this name.
    pub identity_changed: bool,
    /// Whether the realm had recorded that two repositories joined under this name.
    pub settled_conflict: bool,
    /// The domains that somebody else published to under this name.
    pub domains: Vec<DomainName>,
}

/// The answer of `realm_admin_domain`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DomainSet {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// Whether this call created the domain.
    pub created: bool,
    /// Whether this call changed anything, such as the description.
    #[serde(default)]
    pub changed: bool,
    /// The members of the domain.
    pub members: Vec<RepoName>,
    /// The members that this call added.
    pub added: Vec<RepoName>,
}

/// The answer of `realm_admin_contract`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractAdded {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractDetail,
}

/// The answer of `realm_admin_binding`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BindingSet {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The repository.
    pub repo: RepoName,
    /// Its role in the domain.
    pub role: Role,
    /// The number of contracts that the repository exports.
    pub exports: usize,
    /// The number of contracts that the repository imports.
    pub imports: usize,
    /// Whether anything changed.
    pub changed: bool,
    /// Dependency cycles between repositories that this change created.
    pub cycles: Vec<String>,
}

/// The answer of `realm_admin_bootstrap`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmBootstrap {
    /// The realm.
    pub realm: RealmName,
    /// Whether this was a dry run, which writes nothing.
    pub dry_run: bool,
    /// The repositories that this call added to the realm.
    pub repos: Vec<RepoName>,
    /// The domains that were incomplete.
    pub domains: Vec<BootstrappedDomain>,
    /// Whether the rules of the realm changed.
    pub rules_changed: bool,
    /// Dependency cycles between repositories that this change created.
    pub cycles: Vec<String>,
}

/// The missing parts of one domain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BootstrappedDomain {
    /// The domain.
    pub domain: DomainName,
    /// Whether the whole domain was missing and was created.
    pub created: bool,
    /// The members that this call added.
    pub added: Vec<RepoName>,
    /// The repositories whose binding was written. Existing bindings are left unchanged.
    pub bound: Vec<RepoName>,
}

/// The answer of `realm_admin_rename`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmRename {
    /// The realm.
    pub realm: RealmName,
    /// The old name of the repository.
    pub old_name: RepoName,
    /// The new name of the repository.
    pub name: RepoName,
    /// Whether anything changed in the realm.
    pub changed: bool,
    /// The domains that the repository is a member of.
    pub domains: Vec<DomainName>,
    /// The files of this working tree that now contain the new name and need to be committed.
    pub files: Vec<String>,
}

/// The answer of `realm_admin_remove_member`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemberRemoved {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The repository that was removed from the domain.
    pub repo: RepoName,
}

/// The answer of `realm_admin_remove_domain`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DomainRemoved {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The repositories that were members of the domain.
    pub members: Vec<RepoName>,
}

/// The answer of `realm_admin_remove_realm`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmRemoved {
    /// The realm.
    pub realm: RealmName,
    /// The absolute path of the deleted store.
    pub path: String,
    /// The URL of the realm's remote, which is left unchanged.
    pub url: Option<String>,
}
