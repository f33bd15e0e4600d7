//! Changes to a domain, as data: what a rule decided and storage carries out in one commit.

use super::{
    approval::Approval,
    binding::Binding,
    contract::Contract,
    domain::{Domain, Source},
    name::{ContractName, RepoName},
    transfer::Transfers,
    version::Version,
};

/// One change to a domain.
#[derive(Debug, Clone, PartialEq)]
pub enum DomainChange {
    /// Writes what the domain says of itself.
    Domain(Domain),
    /// Replaces the current document of a contract.
    Contract(Box<Contract>),
    /// Keeps this document for good as one published version.
    Version(Box<Contract>),
    /// Writes the part a repository plays.
    Binding(RepoName, Binding),
    /// Takes a repository's part away.
    RemoveBinding(RepoName),
    /// Forgets what lost to the part of a repository: it has written anew what is meant.
    SettleBinding(RepoName),
    /// Records which commit of a repository was published last.
    Source(RepoName, Source),
    /// Forgets which commit of a repository was published last.
    RemoveSource(RepoName),
    /// Writes to whom a contract was handed over.
    Transfers(Transfers),
    /// Records that a break of a promise is approved.
    Approval(Box<Approval>),
}

/// The meaning of a change to people, for commit subjects and answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A contract's first version.
    Added(ContractName, Version),
    /// A new current version.
    Updated(ContractName, Version, Version),
    /// The current version went down on purpose.
    RolledBack(ContractName, Version, Version),
    /// A version that does not become current.
    Prerelease(ContractName, Version),
    /// The same version, other words around it.
    Described(ContractName, Version),
    /// The contract has another owner; its version before and now.
    TakenOver(ContractName, Version, Version),
    /// A repository's part was written.
    Bound(RepoName),
    /// A repository's part was taken away.
    Unbound(RepoName),
}

impl Event {
    /// Returns the word for it, the same in text and JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Added(..) => "added",
            Self::Updated(..) => "updated",
            Self::RolledBack(..) => "rolled-back",
            Self::Prerelease(..) => "pre-release",
            Self::Described(..) => "described",
            Self::TakenOver(..) => "taken-over",
            Self::Bound(_) => "bound",
            Self::Unbound(_) => "unbound",
        }
    }

    fn phrase(&self) -> String {
        match self {
            Self::Added(name, version) => format!("add {name} {version}"),
            Self::Updated(name, from, to) => format!("{name} {from} -> {to}"),
            Self::RolledBack(name, from, to) => format!("roll back {name} {from} -> {to}"),
            Self::Prerelease(name, version) => format!("pre-release {name} {version}"),
            Self::Described(name, version) => format!("describe {name} {version}"),
            Self::TakenOver(name, _, version) => format!("take over {name} {version}"),
            Self::Bound(repo) => format!("bind {repo}"),
            Self::Unbound(repo) => format!("unbind {repo}"),
        }
    }
}

/// Returns a commit subject that says what happened, short enough for `git log --oneline`.
pub fn subject(events: &[Event]) -> String {
    const SHOWN: usize = 3;
    let mut phrases: Vec<_> = events.iter().take(SHOWN).map(Event::phrase).collect();
    if events.len() > SHOWN {
        phrases.push(format!("and {} more", events.len() - SHOWN));
    }
    if phrases.is_empty() { "record the published commit".into() } else { phrases.join(", ") }
}
