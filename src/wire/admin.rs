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
    /// The repository's name in it.
    pub current_repo: RepoName,
    /// The store, absolute.
    pub path: String,
    /// Whether the realm was made by this call.
    pub created_realm: bool,
    /// Whether this call added the repository to the realm.
    pub joined: bool,
    /// Whether `.blue/config.yaml` was written by this call.
    pub wrote_config: bool,
    /// The result of the sync with each remote, if a URL was given.
    pub remotes: Vec<RemoteSync>,
    /// Whether changes are pushed and fetched automatically; null if nobody chose, or the realm has no remote.
    #[serde(default)]
    pub auto_sync: Option<bool>,
    /// The hooks that are in place.
    pub hooks: Vec<String>,
}

/// The answer of `realm_admin_init`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmInit {
    /// The realm.
    pub realm: RealmName,
    /// The store, absolute.
    pub path: String,
    /// The URL of its remote.
    pub url: Option<String>,
    /// Whether it was made by this call, and not merely recorded.
    pub created: bool,
}

/// The answer of `realm_admin_join`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmJoin {
    /// The realm.
    pub realm: RealmName,
    /// The repository's name in it.
    pub current_repo: RepoName,
    /// Whether this call added the repository; joining twice does nothing.
    pub joined: bool,
    /// Whether `.blue/config.yaml` was written by this call.
    pub wrote_config: bool,
    /// The result of the sync with each remote, if a URL was given.
    pub remotes: Vec<RemoteSync>,
}

/// The answer of `realm_admin_leave`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmLeave {
    /// The realm.
    pub realm: RealmName,
    /// The repository that left.
    pub repo: RepoName,
    /// The domains it was a member of.
    pub domains: Vec<DomainName>,
    /// The steps that were undone in the repository.
    pub undone: Vec<String>,
}

/// The answer of `realm_admin_reclaim`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmReclaim {
    /// The realm.
    pub realm: RealmName,
    /// The repository that has its name back.
    pub repo: RepoName,
    /// Whether the realm knew another repository by the name.
    pub identity_changed: bool,
    /// The domains that somebody else published to under the name.
    pub domains: Vec<DomainName>,
}

/// The answer of `realm_admin_domain`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DomainSet {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// Whether it was made by this call.
    pub created: bool,
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
    /// The number of contracts that it exports.
    pub exports: usize,
    /// The number of contracts that it imports.
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
    /// The domains in which something was missing.
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
    /// Repositories whose part was written. Parts that are there stay as they are.
    pub bound: Vec<RepoName>,
}

/// The answer of `realm_admin_rename`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmRename {
    /// The realm.
    pub realm: RealmName,
    /// The name that the repository had.
    pub old_name: RepoName,
    /// The name that it has.
    pub name: RepoName,
    /// Whether anything changed in the realm.
    pub changed: bool,
    /// The domains it is a member of.
    pub domains: Vec<DomainName>,
    /// Files of this work tree that have the new name now, to be committed.
    pub files: Vec<String>,
}

/// The answer of `realm_admin_remove_member`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemberRemoved {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The repository that was removed from it.
    pub repo: RepoName,
}

/// The answer of `realm_admin_remove_domain`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DomainRemoved {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The repositories that were members.
    pub members: Vec<RepoName>,
}

/// The answer of `realm_admin_remove_realm`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmRemoved {
    /// The realm.
    pub realm: RealmName,
    /// The store that was deleted, absolute.
    pub path: String,
    /// The URL of its remote, which is left unchanged.
    pub url: Option<String>,
}
