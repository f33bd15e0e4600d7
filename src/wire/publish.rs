//! `contract_publish`, `contract_edit` and `contract_add`.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    binding::UsedIn,
    change::Event,
    domain_view::DomainView,
    effects,
    name::{ContractName, DomainName, RealmName, RepoName},
    oid::Oid,
    range::Range,
    verdict::{Judge, Verdict},
    version::Version,
};

/// The answer of `contract_publish`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractPublish {
    /// The realm.
    pub realm: RealmName,
    /// The repository whose files were published.
    pub current_repo: RepoName,
    /// The commit they were read from; none for an edit straight in the realm.
    pub commit: Option<Oid>,
    /// Whether this only says what would happen.
    pub dry_run: bool,
    /// The changes in the realm.
    pub published: Vec<Published>,
    /// Contract files that the commit removed; their contracts stay until they are retired.
    pub removed_files: Vec<String>,
    /// Circles of repositories that rely on each other, which this closed.
    pub cycles: Vec<String>,
    /// Whether other machines do not have it yet, and nothing brings it there by itself.
    #[serde(default)]
    pub unshared: bool,
}

/// One change of the realm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// The domain.
    pub domain: DomainName,
    /// The contract; none for a binding.
    pub contract: Option<ContractName>,
    /// `added`, `updated`, `rolled-back`, `pre-release`, `described`, `taken-over`, `bound` or `unbound`.
    #[schemars(extend("enum" = ["added", "updated", "rolled-back", "pre-release", "described", "taken-over", "bound", "unbound"]))]
    pub change: Cow<'static, str>,
    /// The version before.
    pub old_version: Option<Version>,
    /// The version now.
    pub new_version: Option<Version>,
    /// Whom it breaks: imports that held before, and whose range refuses the version, or whose code was
    /// written against a version that refuses what this one sends. The first of them.
    pub breaks: Vec<Broken>,
    /// How many imports it breaks.
    pub broken: usize,
    /// Notes for its author.
    pub remarks: Vec<Remark>,
}

/// An import that a change breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Broken {
    /// The importing repository.
    pub repo: RepoName,
    /// The versions it works with.
    pub version_req: Range,
    /// The file of that repository that relies on the contract, or a list of them.
    pub binding: UsedIn,
    /// What breaks it, with a value that shows it; none where its range refuses the version, and no more is
    /// known.
    pub verdict: Option<Verdict>,
}

/// Something that does not stop a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remark {
    /// Its stable code, as in `realm_check`.
    pub code: Cow<'static, str>,
    /// The contract that it is about.
    pub contract: ContractName,
    /// The name that was meant, where one is nearly the same.
    pub nearest: Option<ContractName>,
    /// The remark, as the end of a sentence.
    pub message: String,
}

/// Most imports that are listed of those that a change breaks.
const MAX_BREAKS: usize = 20;

impl Published {
    /// Returns the change of a domain that `event` stands for, from `before` to `after`.
    pub fn new((before, after): (&DomainView, &DomainView), event: &Event, judge: &Judge<'_>) -> Self {
        let (contract, old, new) = match event {
            Event::Added(name, new) | Event::Prerelease(name, new) => (Some(name), None, Some(new)),
            Event::Updated(name, old, new) | Event::RolledBack(name, old, new) | Event::TakenOver(name, old, new) => {
                (Some(name), Some(old), Some(new))
            }
            Event::Described(name, version) => (Some(name), Some(version), Some(version)),
            Event::Bound(_) | Event::Unbound(_) => (None, None, None),
        };
        let breaks = contract.map(|name| effects::breaks(before, after, name, judge)).unwrap_or_default();
        let remarks = match event {
            Event::Bound(repo) => after.bindings.get(repo).map(|binding| effects::of_binding(after, binding, judge)),
            Event::Unbound(_) => None,
            _ => contract
                .zip(new)
                .and_then(|(name, new)| Some(effects::of_contract(before, after.document(name, new)?, judge))),
        };
        Self {
            domain: after.info.name.clone(),
            contract: contract.cloned(),
            change: event.kind().into(),
            old_version: old.cloned(),
            new_version: new.cloned(),
            broken: breaks.len(),
            breaks: breaks.into_iter().take(MAX_BREAKS).map(Broken::from).collect(),
            remarks: remarks.unwrap_or_default().into_iter().map(Remark::from).collect(),
        }
    }
}

impl From<effects::Break> for Broken {
    fn from(one: effects::Break) -> Self {
        Self { repo: one.repo, version_req: one.requirement, binding: one.binding, verdict: one.verdict }
    }
}

impl From<effects::Remark> for Remark {
    fn from(one: effects::Remark) -> Self {
        Self { code: one.code.into(), contract: one.contract, nearest: one.nearest, message: one.message }
    }
}
