//! Notifications: the net difference between a reader's baseline of a domain and the current domain. Nothing is stored
//! when a change happens; notifications are computed from the difference.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::model::{
    binding::Binding,
    contract::Contract,
    hash,
    name::{ContractName, DomainName, RepoName},
    oid::Oid,
    version::Version,
};

/// The kind of a change that another repository made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum ChangeType {
    /// A contract was added.
    #[cfg_attr(feature = "cli", value(name = "contract_added"))]
    ContractAdded,
    /// The current version of a contract changed.
    #[cfg_attr(feature = "cli", value(name = "contract_updated"))]
    VersionChanged,
    /// A contract was retired.
    #[cfg_attr(feature = "cli", value(name = "contract_retired"))]
    ContractRetired,
    /// A repository added or changed its binding.
    #[cfg_attr(feature = "cli", value(name = "binding_added"))]
    BindingAdded,
    /// A repository removed its binding.
    #[cfg_attr(feature = "cli", value(name = "binding_removed"))]
    BindingRemoved,
}

impl ChangeType {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::ContractAdded, Self::VersionChanged, Self::ContractRetired, Self::BindingAdded, Self::BindingRemoved];
    /// The names of all kinds, as in [`Self::type_word`].
    pub const WORDS: &[&str] =
        &["contract_added", "contract_updated", "contract_retired", "binding_added", "binding_removed"];

    /// Returns the `type` of this kind in responses.
    pub fn type_word(self) -> &'static str {
        match self {
            Self::ContractAdded => "contract_added",
            Self::VersionChanged => "contract_updated",
            Self::ContractRetired => "contract_retired",
            Self::BindingAdded => "binding_added",
            Self::BindingRemoved => "binding_removed",
        }
    }
}

/// Parses a kind from its name in a request.
///
/// # Errors
/// Returns an error if there is no such kind.
pub fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ChangeType>, D::Error> {
    super::text::deserialize(deserializer).map(Some)
}

/// Returns the JSON Schema of the names.
pub fn words(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "string", "enum": ChangeType::WORDS})
}

impl std::str::FromStr for ChangeType {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|kind| kind.type_word() == word);
        known.ok_or_else(|| format!("{word:?} is not a kind of change: expected one of {}", Self::WORDS.join(", ")))
    }
}

/// A change to one path of a domain that is new to a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its id, which is the same on every machine.
    pub id: String,
    /// Its kind.
    pub kind: ChangeType,
    /// The domain.
    pub domain: DomainName,
    /// The contract; `None` for bindings.
    pub contract: Option<ContractName>,
    /// The contract's owner, or the binding's repository.
    pub from: RepoName,
    /// The version in the baseline.
    pub old_version: Option<Version>,
    /// The current version.
    pub new_version: Option<Version>,
    /// Whether the version went down.
    pub rollback: bool,
    /// The number of published versions that this notification covers.
    pub coalesced: usize,
    /// Whether the contract or binding is the reader's own. The change is only of interest if someone else made it.
    pub is_mine: bool,
}

/// A document before and after a change, each with the id of its blob.
#[derive(Debug, Clone)]
pub struct Delta<T> {
    /// The document in the baseline.
    pub old: Option<(Oid, T)>,
    /// The current document.
    pub new: Option<(Oid, T)>,
}

impl<T> Delta<T> {
    fn documents(&self) -> (Option<&T>, Option<&T>) {
        (self.old.as_ref().map(|(_, old)| old), self.new.as_ref().map(|(_, new)| new))
    }

    fn id(&self, domain: &DomainName, path: &str) -> String {
        let oid = |side: &Option<(Oid, T)>| side.as_ref().map(|(oid, _)| oid.to_string()).unwrap_or_default();
        format!("notif-{}", hash::short_id(&[domain.as_str(), path, &oid(&self.old), &oid(&self.new)]))
    }
}

/// Returns the change of a contract as seen by `me`. Returns `None` if only descriptive text changed. `published` are
/// the contract's versions.
pub fn contract_change(
    domain: &DomainName,
    published: &BTreeSet<Version>,
    me: &RepoName,
    path: &str,
    delta: &Delta<Contract>,
) -> Option<Change> {
    let kind = contract_kind(delta)?;
    let (old, new) = delta.documents();
    let known = new.or(old)?;
    let old_version = old.map(|old| old.version.clone());
    let new_version = new.map(|new| new.version.clone());
    let rollback = old_version.as_ref().zip(new_version.as_ref()).is_some_and(|(old, new)| new < old);
    Some(Change {
        id: delta.id(domain, path),
        kind,
        domain: domain.clone(),
        contract: Some(known.name.clone()),
        from: known.owner.clone(),
        coalesced: versions_between(published, old_version.as_ref(), new_version.as_ref()),
        old_version,
        new_version,
        rollback,
        is_mine: known.owner == *me,
    })
}

/// Returns the kind of change to a contract. Returns `None` if only descriptive text changed.
pub fn contract_kind(delta: &Delta<Contract>) -> Option<ChangeType> {
    let (old, new) = delta.documents();
    let was_retired = old.is_some_and(|old| old.retired.is_some());
    Some(match (old, new) {
        (Some(_), None) if !was_retired => ChangeType::ContractRetired,
        (Some(_), Some(new)) if new.retired.is_some() && !was_retired => ChangeType::ContractRetired,
        (None, Some(new)) if new.retired.is_none() => ChangeType::ContractAdded,
        (Some(old), Some(new)) if old.version != new.version => ChangeType::VersionChanged,
        (Some(_), Some(new)) if was_retired && new.retired.is_none() => ChangeType::ContractAdded,
        _ => return None,
    })
}

/// Counts the releases after `old` up to `new`, at least one.
fn versions_between(published: &BTreeSet<Version>, old: Option<&Version>, new: Option<&Version>) -> usize {
    let between = published.iter().filter(|version| {
        !version.is_prerelease() && old.is_none_or(|old| *version > old) && new.is_some_and(|new| *version <= new)
    });
    between.count().max(1)
}

/// Returns the kind of change to a binding. Returns `None` if only the resolved versions of its imports changed.
pub fn binding_kind(delta: &Delta<Binding>) -> Option<ChangeType> {
    let (old, new) = delta.documents();
    if old.map(Binding::typed) == new.map(Binding::typed) {
        return None;
    }
    Some(if new.is_some() { ChangeType::BindingAdded } else { ChangeType::BindingRemoved })
}

/// Returns the change of a binding as seen by `me`. Returns `None` if only the resolved versions of its imports
/// changed.
pub fn binding_change(
    domain: &DomainName,
    me: &RepoName,
    repo: &RepoName,
    path: &str,
    delta: &Delta<Binding>,
) -> Option<Change> {
    Some(Change {
        id: delta.id(domain, path),
        kind: binding_kind(delta)?,
        domain: domain.clone(),
        contract: None,
        from: repo.clone(),
        old_version: None,
        new_version: None,
        rollback: false,
        coalesced: 1,
        is_mine: repo == me,
    })
}
