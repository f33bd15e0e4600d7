//! Changes to a domain, as data: rules decide on them, and the store applies them in one commit.

use super::{
    approval::Approval,
    binding::Binding,
    contract::{Contract, Validation},
    domain::{Domain, Source},
    name::{ContractName, RepoName},
    transfer::Transfers,
    version::Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One change to a domain.
#[derive(Debug, Clone, PartialEq)]
pub enum DomainChange {
    /// Writes the domain's name, description and members.
    Domain(Domain),
    /// Replaces the current document of a contract.
    Contract(Box<Contract>),
    /// Adds a published version, which never changes after that.
    Version(Box<Contract>),
    /// Writes the binding of a repository.
    Binding(RepoName, Binding),
    /// Removes the binding of a repository.
    RemoveBinding(RepoName),
    /// Removes the losing side of a conflict about a binding, which its repository has written again.
    SettleBinding(RepoName),
    /// Records the last published commit of a repository.
    Source(RepoName, Source),
    /// Removes the last published commit of a repository.
    RemoveSource(RepoName),
    /// Writes the transfers of a contract.
    Transfers(Transfers),
    /// Records the approval of a breaking change.
    Approval(Box<Approval>),
}

/// A field of a contract that changed under the same version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldChange {
    /// Its name, such as `supported`.
    pub field: &'static str,
    /// Whether it was removed.
    pub removed: bool,
}

impl FieldChange {
    /// Returns the fields of a contract that may change without a new version, and did.
    pub fn between(before: &Contract, after: &Contract) -> Vec<Self> {
        let fields = [
            ("description", before.description != after.description, after.description.is_empty()),
            ("supported", before.supported != after.supported, after.supported.is_empty()),
            ("validation", before.validation != after.validation, after.validation == Validation::default()),
            ("evolution", before.evolution != after.evolution, after.evolution.is_empty()),
            ("deprecated", before.deprecated != after.deprecated, after.deprecated.is_none()),
            ("retired", before.retired != after.retired, after.retired.is_none()),
        ];
        let changed = fields.into_iter().filter(|(_, is_changed, _)| *is_changed);
        changed.map(|(field, _, removed)| Self { field, removed }).collect()
    }

    fn phrase(&self) -> String {
        phrase_of_field(self.field, self.removed)
    }
}

/// An event in a domain, for commit subjects and responses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A contract's first version.
    Added(ContractName, Version),
    /// A new current version.
    Updated(ContractName, Version, Version),
    /// A rollback to a lower version.
    RolledBack(ContractName, Version, Version),
    /// A version that does not become current.
    Prerelease(ContractName, Version),
    /// New descriptive text under the same version, in these fields.
    Described(ContractName, Version, Vec<FieldChange>),
    /// A new owner, with the version before and after.
    TakenOver(ContractName, Version, Version),
    /// A binding was written.
    Bound(RepoName),
    /// A binding was removed.
    Unbound(RepoName),
}

/// The kind of an [`Event`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// A contract's first version.
    Added,
    /// A new current version.
    Updated,
    /// A rollback to a lower version.
    RolledBack,
    /// A version that does not become current.
    PreRelease,
    /// New fields under the same version.
    Described,
    /// A new owner.
    TakenOver,
    /// A binding was written.
    Bound,
    /// A binding was removed.
    Unbound,
}

impl ChangeKind {
    /// Returns its word in JSON and in texts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Updated => "updated",
            Self::RolledBack => "rolled-back",
            Self::PreRelease => "pre-release",
            Self::Described => "described",
            Self::TakenOver => "taken-over",
            Self::Bound => "bound",
            Self::Unbound => "unbound",
        }
    }
}

impl Event {
    /// Returns the kind of this event.
    pub fn kind(&self) -> ChangeKind {
        match self {
            Self::Added(..) => ChangeKind::Added,
            Self::Updated(..) => ChangeKind::Updated,
            Self::RolledBack(..) => ChangeKind::RolledBack,
            Self::Prerelease(..) => ChangeKind::PreRelease,
            Self::Described(..) => ChangeKind::Described,
            Self::TakenOver(..) => ChangeKind::TakenOver,
            Self::Bound(_) => ChangeKind::Bound,
            Self::Unbound(_) => ChangeKind::Unbound,
        }
    }

    fn phrase(&self) -> String {
        match self {
            Self::Added(name, version) => format!("add {name} {version}"),
            Self::Updated(name, from, to) => format!("{name} {from} -> {to}"),
            Self::RolledBack(name, from, to) => format!("roll back {name} {from} -> {to}"),
            Self::Prerelease(name, version) => format!("pre-release {name} {version}"),
            Self::Described(name, version, fields) => {
                let fields: Vec<_> = fields.iter().map(FieldChange::phrase).collect();
                let fields = if fields.is_empty() { String::new() } else { format!(" ({})", fields.join(", ")) };
                format!("describe {name} {version}{fields}")
            }
            Self::TakenOver(name, _, version) => format!("take over {name} {version}"),
            Self::Bound(repo) => format!("bind {repo}"),
            Self::Unbound(repo) => format!("unbind {repo}"),
        }
    }
}

/// Returns the name of a changed field, and whether it was removed: `supported removed`, or `no longer deprecated`.
pub fn phrase_of_field(field: &str, removed: bool) -> String {
    match (field, removed) {
        ("deprecated" | "retired", true) => format!("no longer {field}"),
        (_, true) => format!("{field} removed"),
        (_, false) => field.to_owned(),
    }
}

/// Returns a commit subject for the events, short enough for `git log --oneline`.
pub fn subject(events: &[Event]) -> String {
    const SHOWN: usize = 3;
    let mut phrases: Vec<_> = events.iter().take(SHOWN).map(Event::phrase).collect();
    if events.len() > SHOWN {
        phrases.push(format!("and {} more", events.len() - SHOWN));
    }
    if phrases.is_empty() { "record the published commit".into() } else { phrases.join(", ") }
}
