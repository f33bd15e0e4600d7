//! Setting a realm up: `init`, and `realm_admin_*`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ContractDetail, RemoteSync, Role};
use crate::model::name::{DomainName, RealmName, RepoName};

/// What `init` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Init {
    /// The realm.
    pub realm: RealmName,
    /// The repository's name in it.
    pub current_repo: RepoName,
    /// The store, absolute.
    pub path: String,
    /// Whether the realm was made just now.
    pub created_realm: bool,
    /// Whether the repository joined just now.
    pub joined: bool,
    /// Whether `.blue/config.yaml` was written just now.
    pub wrote_config: bool,
    /// What came and went, where a url was given.
    pub remotes: Vec<RemoteSync>,
    /// Whether changes are shared and fetched automatically; none where nobody chose, or the realm is shared
    /// nowhere.
    #[serde(default)]
    pub auto_sync: Option<bool>,
    /// The hooks that are in place.
    pub hooks: Vec<String>,
}

/// What `realm_admin_init` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmInit {
    /// The realm.
    pub realm: RealmName,
    /// The store, absolute.
    pub path: String,
    /// Where it is shared.
    pub url: Option<String>,
    /// Whether it was made just now, and not merely recorded.
    pub created: bool,
}

/// What `realm_admin_join` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmJoin {
    /// The realm.
    pub realm: RealmName,
    /// The repository's name in it.
    pub current_repo: RepoName,
    /// Whether it joined just now; joining twice does nothing.
    pub joined: bool,
    /// Whether `.blue/config.yaml` was written just now.
    pub wrote_config: bool,
    /// What came and went, where a url was given.
    pub remotes: Vec<RemoteSync>,
}

/// What `realm_admin_leave` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmLeave {
    /// The realm.
    pub realm: RealmName,
    /// The repository that left.
    pub repo: RepoName,
    /// The domains it took part in.
    pub domains: Vec<DomainName>,
    /// What was undone in the repository.
    pub undone: Vec<String>,
}

/// What `realm_admin_reclaim` answers.
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

/// What `realm_admin_domain` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DomainSet {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// Whether it was made just now.
    pub created: bool,
    /// The repositories that take part.
    pub members: Vec<RepoName>,
    /// Those that were added just now.
    pub added: Vec<RepoName>,
}

/// What `realm_admin_contract` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractAdded {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractDetail,
}

/// What `realm_admin_binding` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BindingSet {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The repository.
    pub repo: RepoName,
    /// Which sides it is on.
    pub role: Role,
    /// How many contracts it exports.
    pub exports: usize,
    /// How many contracts it imports.
    pub imports: usize,
    /// Whether anything changed.
    pub changed: bool,
    /// Circles of repositories that rely on each other, which this closed.
    pub cycles: Vec<String>,
}

/// What `realm_admin_bootstrap` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmBootstrap {
    /// The realm.
    pub realm: RealmName,
    /// Whether it was only looked at what is missing.
    pub dry_run: bool,
    /// Repositories that are in the realm from now on.
    pub repos: Vec<RepoName>,
    /// Domains of which something was missing.
    pub domains: Vec<BootstrappedDomain>,
    /// Whether the rules of the realm changed.
    pub rules_changed: bool,
    /// Circles of repositories that rely on each other, which this closed.
    pub cycles: Vec<String>,
}

/// What was missing of one domain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BootstrappedDomain {
    /// The domain.
    pub domain: DomainName,
    /// Whether all of it was.
    pub created: bool,
    /// Repositories that take part from now on.
    pub added: Vec<RepoName>,
    /// Repositories whose part was written. Parts that are there stay as they are.
    pub bound: Vec<RepoName>,
}

/// What `realm_admin_rename` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmRename {
    /// The realm.
    pub realm: RealmName,
    /// The name that the repository had.
    pub old_name: RepoName,
    /// The name that it has.
    pub name: RepoName,
    /// Whether anything changed in the realm: asking twice does nothing there.
    pub changed: bool,
    /// The domains that it takes part in.
    pub domains: Vec<DomainName>,
    /// Files of this work tree that have the new name now, to be committed.
    pub files: Vec<String>,
}

/// What `realm_admin_remove_member` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemberRemoved {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The repository that takes no part in it any more.
    pub repo: RepoName,
}

/// What `realm_admin_remove_domain` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DomainRemoved {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The repositories that were members.
    pub members: Vec<RepoName>,
}

/// What `realm_admin_remove_realm` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmRemoved {
    /// The realm.
    pub realm: RealmName,
    /// The store that was deleted, absolute.
    pub path: String,
    /// Where it was shared; what is there stays.
    pub url: Option<String>,
}
