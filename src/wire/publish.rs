//! `contract_publish`, `contract_edit` and `contract_add`.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::model::effects::{Broken, Remark};
use crate::model::{
    change::Event,
    contract::Contract,
    domain_view::DomainView,
    effects,
    name::{ContractName, DomainName, RealmName, RepoName},
    oid::Oid,
    verdict::Judge,
    version::Version,
};

/// The answer of `contract_publish`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractPublish {
    /// The realm.
    pub realm: RealmName,
    /// The repository whose files were published.
    pub current_repo: RepoName,
    /// The commit that they were read from; null for an edit directly in the realm.
    pub commit: Option<Oid>,
    /// Whether this was a dry run, which publishes nothing.
    pub dry_run: bool,
    /// The changes in the realm.
    pub published: Vec<Published>,
    /// The contract files that the commit removed. Their contracts remain until they are retired.
    pub removed_files: Vec<String>,
    /// The dependency cycles between repositories that this change created.
    pub cycles: Vec<String>,
    /// Whether other machines do not have the changes yet and they are not pushed automatically.
    #[serde(default)]
    pub not_pushed: bool,
}

/// A change to the realm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// The domain.
    pub domain: DomainName,
    /// The contract; null for a binding.
    pub contract: Option<ContractName>,
    /// `added`, `updated`, `rolled-back`, `pre-release`, `described`, `taken-over`, `bound` or `unbound`.
    #[schemars(extend("enum" = ["added", "updated", "rolled-back", "pre-release", "described", "taken-over", "bound", "unbound"]))]
    pub change: Cow<'static, str>,
    /// The old version.
    pub old_version: Option<Version>,
    /// The new version.
    pub new_version: Option<Version>,
    /// The fields that changed under the same version, such as `supported`; absent for a new version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Cow<'static, str>>,
    /// The first imports that the change breaks: they held before, but now their range refuses the version, or their
    /// code was written against a version that refuses the data of this one.
    pub breaks: Vec<Broken>,
    /// The number of imports that the change breaks.
    pub broken: usize,
    /// Remarks for the author of the change.
    pub remarks: Vec<Remark>,
}

/// The maximum number of broken imports that are listed per change.
const MAX_BREAKS: usize = 20;

impl Published {
    /// Returns the change to a domain that `event` describes, from `before` to `after`.
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
            Event::Bound(repo) => {
                let old = before.bindings.get(repo);
                after.bindings.get(repo).map(|binding| effects::remarks_on_binding(after, old, binding, judge))
            }
            Event::Unbound(_) => None,
            _ => contract.zip(new).and_then(|(name, new)| {
                Some(effects::remarks_on_contract((before, after), after.document(name, new)?, judge))
            }),
        };
        Self {
            domain: after.info.name.clone(),
            contract: contract.cloned(),
            change: event.kind().into(),
            old_version: old.cloned(),
            new_version: new.cloned(),
            fields: match event {
                Event::Described(name, _) => described(before.contracts.get(name), after.contracts.get(name)),
                _ => Vec::new(),
            },
            broken: breaks.len(),
            breaks: breaks.into_iter().take(MAX_BREAKS).collect(),
            remarks: remarks.unwrap_or_default(),
        }
    }
}

/// Returns the fields of a contract that may change without a new version, and did.
fn described(before: Option<&Contract>, after: Option<&Contract>) -> Vec<Cow<'static, str>> {
    let Some((before, after)) = before.zip(after) else { return Vec::new() };
    let fields = [
        ("description", before.description != after.description),
        ("supported", before.supported != after.supported),
        ("validation", before.validation != after.validation),
        ("evolution", before.evolution != after.evolution),
        ("deprecated", before.deprecated != after.deprecated),
        ("retired", before.retired != after.retired),
    ];
    fields.into_iter().filter(|(_, is_changed)| *is_changed).map(|(field, _)| field.into()).collect()
}
