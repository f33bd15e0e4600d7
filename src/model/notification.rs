//! Notifications: the net difference between a reader's baseline of a domain and the current domain. Nothing is stored
//! when a change happens; notifications are computed from the difference.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::model::{
    binding::Binding,
    contract::{Contract, Deprecated},
    domain::Source,
    domain_summary::DomainSummary,
    hash,
    name::{ContractName, DomainName, RepoName},
    oid::Oid,
    range::Range,
    transfer::{Transfer, Transfers},
    version::Version,
};

/// The kind of a change that another repository made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum), value(rename_all = "snake_case"))]
pub enum ChangeType {
    /// A contract was added.
    ContractAdded,
    /// The current version of a contract changed.
    #[cfg_attr(feature = "cli", value(name = "contract_updated"))]
    VersionChanged,
    /// A contract was retired.
    ContractRetired,
    /// A contract was deprecated, the day of its sunset changed, or the deprecation was withdrawn.
    ContractDeprecated,
    /// A version of a contract was yanked.
    VersionYanked,
    /// The older versions that the owner supports changed.
    SupportChanged,
    /// Another repository became the owner of a contract.
    OwnerChanged,
    /// The owner offered a contract to another repository; only that repository is notified.
    ContractOffered,
    /// A repository added or changed its binding.
    BindingAdded,
    /// A repository removed its binding.
    BindingRemoved,
    /// A repository left the domain although contracts there still belong to it. Otherwise, nobody is notified.
    RepoLeft,
}

impl ChangeType {
    /// All kinds.
    pub const ALL: [Self; 11] = [
        Self::ContractAdded,
        Self::VersionChanged,
        Self::ContractRetired,
        Self::ContractDeprecated,
        Self::VersionYanked,
        Self::SupportChanged,
        Self::OwnerChanged,
        Self::ContractOffered,
        Self::BindingAdded,
        Self::BindingRemoved,
        Self::RepoLeft,
    ];
    /// The names of all kinds, in the order of [`Self::ALL`].
    pub const WORDS: &[&str] = &[
        "contract_added",
        "contract_updated",
        "contract_retired",
        "contract_deprecated",
        "version_yanked",
        "support_changed",
        "owner_changed",
        "contract_offered",
        "binding_added",
        "binding_removed",
        "repo_left",
    ];

    /// Returns the `type` of this kind in responses.
    pub fn type_word(self) -> &'static str {
        Self::WORDS[self as usize]
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

/// The maximum number of begun and ceased imports that a change lists.
const MAX_IMPORTS: usize = 20;

/// An import that a repository began or ceased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportChange {
    /// The contract.
    pub contract: ContractName,
    /// The version range of the import; null if the repository no longer imports the contract.
    pub version_req: Option<Range>,
}

/// A change to one path of a domain that is new to a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its id, which is the same on every machine.
    pub id: String,
    /// Its kind.
    pub kind: ChangeType,
    /// The other kinds of change at the same path.
    pub also: Vec<ChangeType>,
    /// The domain.
    pub domain: DomainName,
    /// The contract; `None` for bindings.
    pub contract: Option<ContractName>,
    /// The contract's owner, or the binding's repository.
    pub from: RepoName,
    /// The version in the baseline; for a yank, the yanked version.
    pub old_version: Option<Version>,
    /// The current version.
    pub new_version: Option<Version>,
    /// Whether the version went down.
    pub rollback: bool,
    /// The number of published versions that this notification covers; for a yank, the number of yanked versions.
    pub version_count: usize,
    /// The versions that were yanked.
    pub yanked: Vec<Version>,
    /// The new deprecation, if the contract was deprecated.
    pub deprecated: Option<Deprecated>,
    /// Whether the contract was already deprecated before.
    pub was_deprecated: bool,
    /// For a binding: the imports of the reader's contracts, or of anyone's, that the repository began or ceased.
    pub imports: Vec<ImportChange>,
    /// The number of further such imports.
    pub more_imports: usize,
    /// True if the new owner also created the contract, and therefore did not take it over.
    pub also_created: bool,
    /// Whether the contract or binding is the reader's own. The change is only of interest if someone else made it.
    pub is_mine: bool,
}

impl Change {
    /// Returns whether an earlier state of the contract already had this change, apart from the other kinds of change.
    pub fn was_made_in(&self, earlier: &Contract, new: &Contract) -> bool {
        match self.kind {
            ChangeType::ContractAdded | ChangeType::VersionChanged => {
                earlier.version == new.version && earlier.has_same_content(new)
            }
            ChangeType::ContractRetired => earlier.retired.is_some(),
            ChangeType::ContractDeprecated => earlier.deprecated == new.deprecated,
            ChangeType::VersionYanked => self.yanked.iter().all(|one| earlier.yanked_reason(one).is_some()),
            ChangeType::SupportChanged => earlier.supported == new.supported,
            ChangeType::OwnerChanged => earlier.owner == new.owner,
            _ => false,
        }
    }
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

    /// Returns the change to a path of a domain, which belongs to the repository `from`.
    fn change(&self, domain: &DomainName, path: &str, kind: ChangeType, from: &RepoName) -> Change {
        let oid = |side: &Option<(Oid, T)>| side.as_ref().map(|(oid, _)| oid.to_string()).unwrap_or_default();
        Change {
            id: id(domain, path, [oid(&self.old), oid(&self.new)]),
            kind,
            also: Vec::new(),
            domain: domain.clone(),
            contract: None,
            from: from.clone(),
            old_version: None,
            new_version: None,
            rollback: false,
            version_count: 1,
            yanked: Vec::new(),
            deprecated: None,
            was_deprecated: false,
            imports: Vec::new(),
            more_imports: 0,
            also_created: false,
            is_mine: false,
        }
    }
}

/// Returns the id of the change of a path between two states.
fn id(domain: &DomainName, path: &str, [old, new]: [String; 2]) -> String {
    format!("notif-{}", hash::short_id(&[domain.as_str(), path, &old, &new]))
}

/// Returns what a notification may be about, as text. Descriptive text is left out, so that correcting it does not make
/// another notification of a pending one.
fn fingerprint(contract: &Contract) -> String {
    let Contract { version, content_hash, owner, retired, yanked, deprecated, supported, .. } = contract;
    let yanked: Vec<_> = yanked.iter().map(|one| &one.version).collect();
    serde_json::json!([version, content_hash, owner, retired.is_some(), yanked, deprecated, supported]).to_string()
}

/// Returns whether two states of a contract differ at most in descriptive text.
pub fn is_same(one: &Contract, other: &Contract) -> bool {
    fingerprint(one) == fingerprint(other)
}

/// Returns the change of a contract as seen by `me`, or by anyone. Returns `None` if only descriptive text changed.
/// `published` are the contract's versions.
pub fn contract_change(
    domain: &DomainName,
    published: &BTreeSet<Version>,
    me: Option<&RepoName>,
    path: &str,
    delta: &Delta<Contract>,
) -> Option<Change> {
    let mut kinds = contract_kinds(delta);
    if kinds.first() == Some(&ChangeType::ContractRetired)
        && delta.documents().1.is_some_and(|new| me == Some(&new.owner))
    {
        // The reader's repository knows that it took the contract over.
        kinds.retain(|kind| *kind != ChangeType::OwnerChanged);
    }
    let (kind, also) = kinds.split_first().map(|(first, others)| (*first, others.to_vec()))?;
    let (old, new) = delta.documents();
    let known = new.or(old)?;
    let new_version = new.map(|new| new.version.clone());
    let yanked: Vec<_> = newly_yanked(old, new).into_iter().cloned().collect();
    let (old_version, version_count) = if kind == ChangeType::VersionYanked {
        (yanked.iter().max().cloned(), yanked.len())
    } else {
        let old_version = old.map(|old| old.version.clone());
        let count = versions_between(published, old_version.as_ref(), new_version.as_ref());
        (old_version, count)
    };
    let is_deprecated = kinds.contains(&ChangeType::ContractDeprecated);
    let deprecated = new.filter(|_| is_deprecated).and_then(|new| new.deprecated.clone());
    let versions = old_version.as_ref().zip(new_version.as_ref());
    let rollback = kind == ChangeType::VersionChanged && versions.is_some_and(|(old, new)| new < old);
    Some(Change {
        also,
        contract: Some(known.name.clone()),
        version_count,
        old_version,
        new_version,
        rollback,
        yanked: if kinds.contains(&ChangeType::VersionYanked) { yanked } else { Vec::new() },
        id: id(domain, path, [old, new].map(|contract| contract.map(fingerprint).unwrap_or_default())),
        was_deprecated: deprecated.is_some() && old.is_some_and(|old| old.deprecated.is_some()),
        deprecated,
        is_mine: me == Some(&known.owner),
        ..delta.change(domain, path, kind, &known.owner)
    })
}

/// Returns the kinds of change to a contract, the main one first. There are none if only descriptive text changed.
pub fn contract_kinds(delta: &Delta<Contract>) -> Vec<ChangeType> {
    let (old, new) = delta.documents();
    let was_retired = old.is_some_and(|old| old.retired.is_some());
    let Some(new) = new else {
        return if old.is_some() && !was_retired { vec![ChangeType::ContractRetired] } else { Vec::new() };
    };
    match old {
        Some(old) if new.retired.is_some() && was_retired => {
            if old.owner == new.owner {
                Vec::new()
            } else {
                vec![ChangeType::OwnerChanged]
            }
        }
        _ if new.retired.is_some() => {
            let moved = old.filter(|old| old.version != new.version).map(|_| ChangeType::VersionChanged);
            let more = old.into_iter().flat_map(|old| same_version_kinds(old, new));
            std::iter::once(ChangeType::ContractRetired).chain(moved).chain(more).collect()
        }
        Some(old) if !was_retired && old.version != new.version => {
            // A new version usually supports other versions, so that is not a change of its own.
            let more = same_version_kinds(old, new).filter(|kind| *kind != ChangeType::SupportChanged);
            std::iter::once(ChangeType::VersionChanged).chain(more).collect()
        }
        Some(old) if !was_retired => same_version_kinds(old, new).collect(),
        Some(old) => {
            let more = same_version_kinds(old, new).filter(|kind| *kind != ChangeType::SupportChanged);
            std::iter::once(ChangeType::ContractAdded).chain(more).collect()
        }
        None => {
            let is_yanked = new.yanked_reason(&new.version).is_some();
            let yanked = is_yanked.then_some(ChangeType::VersionYanked);
            let deprecated = new.deprecated.is_some().then_some(ChangeType::ContractDeprecated);
            std::iter::once(ChangeType::ContractAdded).chain(yanked).chain(deprecated).collect()
        }
    }
}

/// Returns the kinds of change to a contract, apart from its version. Its owner may have accepted a commit that changed
/// the content of the version.
fn same_version_kinds(old: &Contract, new: &Contract) -> impl Iterator<Item = ChangeType> {
    let is_same = || old.version != new.version || old.has_same_content(new);
    let kinds = [
        (ChangeType::VersionChanged, !is_same()),
        (ChangeType::OwnerChanged, old.owner != new.owner),
        (ChangeType::VersionYanked, !newly_yanked(Some(old), Some(new)).is_empty()),
        (ChangeType::ContractDeprecated, old.deprecated != new.deprecated),
        (ChangeType::SupportChanged, old.supported != new.supported),
    ];
    kinds.into_iter().filter(|(_, is_so)| *is_so).map(|(kind, _)| kind)
}

/// Returns the versions that were yanked between two states of a contract.
fn newly_yanked<'c>(old: Option<&Contract>, new: Option<&'c Contract>) -> Vec<&'c Version> {
    let known = |version: &Version| old.is_some_and(|old| old.yanked.iter().any(|one| one.version == *version));
    let yanked = new.into_iter().flat_map(|new| &new.yanked).map(|one| &one.version);
    yanked.filter(|version| !known(version)).collect()
}

/// Returns the new offer of a contract, if there is one, even if it has been accepted since.
pub fn new_offer(delta: &Delta<Transfers>) -> Option<&Transfer> {
    let (old, new) = delta.documents();
    let transfers = &new?.transfers;
    let offer = transfers.last()?;
    let known = old.and_then(|old| old.transfers.get(transfers.len() - 1));
    (known != Some(offer)).then_some(offer)
}

/// Returns the change if `me`, or anyone, was offered a contract, which is at `version`.
pub fn offer_change(
    domain: &DomainName,
    (contract, version): (&ContractName, &Version),
    me: Option<&RepoName>,
    path: &str,
    delta: &Delta<Transfers>,
) -> Option<Change> {
    let offer = new_offer(delta).filter(|offer| me.is_none_or(|me| offer.to == *me))?;
    Some(Change {
        contract: Some(contract.clone()),
        old_version: Some(version.clone()),
        new_version: Some(version.clone()),
        ..delta.change(domain, path, ChangeType::ContractOffered, &offer.from)
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
    if old.map(Binding::as_written) == new.map(Binding::as_written) {
        return None;
    }
    Some(if new.is_some() { ChangeType::BindingAdded } else { ChangeType::BindingRemoved })
}

/// Returns the change of a binding as seen by `me`, or by anyone. Returns `None` if only the resolved versions of its
/// imports changed.
pub fn binding_change(
    domain: &DomainName,
    me: Option<&RepoName>,
    repo: &RepoName,
    path: &str,
    delta: &Delta<Binding>,
) -> Option<Change> {
    Some(Change { is_mine: me == Some(repo), ..delta.change(domain, path, binding_kind(delta)?, repo) })
}

/// Returns the first imports of contracts that `concerns` accepts, which a binding has and did not have, or no longer has, and
/// the number of the others. A new range alone is no such change.
pub fn import_changes(delta: &Delta<Binding>, concerns: impl Fn(&ContractName) -> bool) -> (Vec<ImportChange>, usize) {
    let (old, new) = delta.documents();
    let [old, new] = [old, new].map(|binding| binding.map(Binding::by_contract).unwrap_or_default());
    let change = |contract: &ContractName, version_req| ImportChange { contract: contract.clone(), version_req };
    let begun = new.iter().filter(|(name, _)| !old.contains_key(**name));
    let begun = begun.map(|(name, import)| change(name, Some(import.version.clone())));
    let ceased = old.keys().filter(|name| !new.contains_key(**name)).map(|name| change(name, None));
    let mut changes = begun.chain(ceased).filter(|one| concerns(&one.contract));
    (changes.by_ref().take(MAX_IMPORTS).collect(), changes.count())
}

/// Returns the change if a repository left the domain, although contracts there still belong to it.
pub fn left_change(domain: &DomainSummary, repo: &RepoName, path: &str, delta: &Delta<Source>) -> Option<Change> {
    let has_left = delta.new.is_none() && !domain.takes_part(repo) && domain.served_by(repo).next().is_some();
    has_left.then(|| delta.change(&domain.info.name, path, ChangeType::RepoLeft, repo))
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use clap::ValueEnum as _;

    use super::*;
    use crate::model::binding::{Import, Role, UsedIn};

    #[test]
    fn few_changed_imports_are_listed() {
        let oid = Oid::from_bytes(&[1; 20]).unwrap();
        let import = |number: usize| {
            Import::new(format!("c{number:02}").parse().unwrap(), "^1".parse().unwrap(), UsedIn::default())
        };
        let binding =
            |imports: Vec<Import>| Some((oid, Binding { role: Role::Consumer, exports: Vec::new(), imports }));
        let delta = Delta { old: binding(vec![import(0), import(99)]), new: binding((0..30).map(import).collect()) };
        let (listed, more) = import_changes(&delta, |contract| contract.as_str() != "c01");
        assert_eq!((listed.len(), more), (20, 9));
        assert_eq!(
            listed[0],
            ImportChange { contract: "c02".parse().unwrap(), version_req: Some("^1".parse().unwrap()) }
        );
        let (gone, _) = import_changes(&delta, |contract| contract.as_str() == "c99");
        assert_eq!(gone, [ImportChange { contract: "c99".parse().unwrap(), version_req: None }]);
    }

    #[test]
    fn every_kind_has_one_name() {
        for (at, kind) in ChangeType::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, at);
            assert_eq!(kind.to_possible_value().unwrap().get_name(), kind.type_word());
        }
        assert_eq!(ChangeType::WORDS.len(), ChangeType::ALL.len());
    }
}
