//! `contract_publish`, `contract_edit` and `contract_add`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{
    change::Event,
    name::{ContractName, DomainName, RealmName, RepoName},
    oid::Oid,
    version::Version,
};

/// What `contract_publish` answers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ContractPublish {
    /// The realm.
    pub realm: RealmName,
    /// The repository whose files were published.
    pub current_repo: RepoName,
    /// The commit they were read from; none for an edit straight in the realm.
    pub commit: Option<Oid>,
    /// Whether this only says what would happen.
    pub dry_run: bool,
    /// What changed in the realm.
    pub published: Vec<Published>,
    /// Contract files that the commit removed; their contracts stay until they are retired.
    pub removed_files: Vec<String>,
    /// Circles of repositories that rely on each other, which this closed.
    pub cycles: Vec<String>,
}

/// One change of the realm.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Published {
    /// The domain.
    pub domain: DomainName,
    /// The contract; none for a binding.
    pub contract: Option<ContractName>,
    /// `added`, `updated`, `rolled-back`, `pre-release`, `described`, `taken-over`, `bound` or `unbound`.
    #[schemars(extend("enum" = ["added", "updated", "rolled-back", "pre-release", "described", "taken-over", "bound", "unbound"]))]
    pub change: &'static str,
    /// The version before.
    pub old_version: Option<Version>,
    /// The version now.
    pub new_version: Option<Version>,
}

impl Published {
    /// Returns the change of `domain` that `event` stands for.
    pub fn new(domain: &DomainName, event: &Event) -> Self {
        let (contract, old, new) = match event {
            Event::Added(name, new) | Event::Prerelease(name, new) => (Some(name), None, Some(new)),
            Event::Updated(name, old, new) | Event::RolledBack(name, old, new) | Event::TakenOver(name, old, new) => {
                (Some(name), Some(old), Some(new))
            }
            Event::Described(name, version) => (Some(name), Some(version), Some(version)),
            Event::Bound(_) | Event::Unbound(_) => (None, None, None),
        };
        Self {
            domain: domain.clone(),
            contract: contract.cloned(),
            change: event.kind(),
            old_version: old.cloned(),
            new_version: new.cloned(),
        }
    }
}
