//! The reasons for refusing a change, and how to resolve them.

use crate::model::{
    candidate::write_file_of,
    domain_view::DomainView,
    error_code::ErrorCode,
    fault::Fault,
    name::{ContractName, DomainName, RepoName},
    next_version::Needed,
    verdict::Promise,
    version::Version,
};

/// The refusal of a change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{} {reason}", domain, contract.as_ref().map(|contract| format!("/{contract}")).unwrap_or_default())]
pub struct Refusal {
    /// The domain.
    pub domain: DomainName,
    /// The contract, if the refusal concerns one.
    pub contract: Option<ContractName>,
    /// The reason.
    pub reason: Box<Reason>,
    /// The file that the version is read from, unless it is the contract's own.
    pub version_in: Option<String>,
}

/// The reason of a [`Refusal`], with the way to resolve it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// Another repository owns the contract.
    #[error("belongs to {owner}{}; only {owner} can change it, not {acting}", given_up(*is_retired, *is_member))]
    NotOwner {
        /// The owner.
        owner: RepoName,
        /// The acting repository.
        acting: RepoName,
        /// Whether the acting repository owned it before, and transferred it.
        transferred: bool,
        /// Whether two repositories created it on two machines.
        also_created: bool,
        /// Whether the owner retired it.
        is_retired: bool,
        /// Whether the owner is still a member of the domain.
        is_member: bool,
    },
    /// The file names an owner other than the repository that it is in.
    #[error("names {owner} as its owner, but the file is in {acting}: write owner: {acting}")]
    OtherOwner {
        /// The owner in the file.
        owner: RepoName,
        /// The acting repository.
        acting: RepoName,
    },
    /// The repository is not a member of the domain.
    #[error("has no member {0}")]
    NotMember(RepoName),
    /// The name differs from an existing one only in case.
    #[error("differs from the existing {0} only in case; choose another name")]
    Collides(ContractName),
    /// The version was published with other content.
    #[error("{version} was already published with different content: {}{}", bumped(needed),
        if *is_retired { ", which publishes the retired contract again, or remove the file" } else { "" })]
    Republished {
        /// The version that was reused.
        version: Version,
        /// The version to use.
        needed: Needed,
        /// Whether the contract is retired.
        is_retired: bool,
    },
    /// The base, which is published first, has the version with other content.
    #[error("{version} is also in the base, with different content, and that is published first: {}", bumped(needed))]
    InBase {
        /// The version that both have.
        version: Version,
        /// The version to use.
        needed: Needed,
    },
    /// The document breaks the promise under a version that does not allow it.
    #[error("{current} -> {version} breaks its promise of {}: {}; this requires {bump}, not {version}",
        promise.directions(), promise.phrase())]
    BreaksPromise {
        /// The realm's version.
        current: Version,
        /// The candidate's version.
        version: Version,
        /// The version to use.
        bump: Version,
        /// The promise that the document breaks.
        promise: Box<Promise>,
    },
    /// The version would go down.
    #[error("would go back from {current} to {version}{}",
        if *is_supported && !is_published { "; `supported` can only list published versions" } else { "" })]
    Down {
        /// The realm's version.
        current: Version,
        /// The candidate's version.
        version: Version,
        /// Whether the candidate's version was published before.
        is_published: bool,
        /// Whether the candidate lists its version among the supported older ones.
        is_supported: bool,
        /// Whether publishing the commit as a rollback, which restores all of its contracts, would be accepted.
        rolls_back: bool,
    },
    /// The owner's version is newer than the one by which the repository would accept the owner's offer.
    #[error("is {version} here and {current} in the realm; take its content from the realm to accept it")]
    Overtaken {
        /// The realm's version.
        current: Version,
        /// The candidate's version.
        version: Version,
        /// The repository that the contract is offered to.
        to: RepoName,
    },
    /// The version to roll back to, or to yank, was never published.
    #[error("{version} was never published")]
    NotPublished {
        /// The version.
        version: Version,
        /// The realm's version, if it would have to go back.
        current: Option<Version>,
    },
    /// The version to roll back to is a pre-release.
    #[error("cannot be rolled back to {0}: a pre-release never becomes the current version")]
    PreRelease(Version),
    /// The version was yanked.
    #[error("{version} was yanked ({why}): bump to {bump}")]
    Yanked {
        /// The version.
        version: Version,
        /// The reason it was yanked.
        why: String,
        /// The version to use.
        bump: Version,
    },
    /// The document itself has problems: all of them, each with its place.
    #[error("is not valid: {}", joined(.0))]
    Invalid(Vec<Fault>),
    /// It is undecided whether the value satisfies the schema: all known problems, each with its place.
    #[error("cannot be validated within the limits: {}", joined(.0))]
    Undecided(Vec<Fault>),
    /// The version is `auto`, and it is undecided which one the change needs.
    #[error("has version: auto, but it is unknown whether it breaks consumers of {current}{}",
        why.as_ref().map(|why| format!(": {why}")).unwrap_or_default())]
    UndecidedVersion {
        /// The realm's version.
        current: Version,
        /// The version to use if the change breaks no promise.
        minor: Version,
        /// The version to use if the change may break a promise.
        major: Version,
        /// The reason it is undecided.
        why: Option<String>,
        /// Whether a hook reached its time limit. A command has more time, and may decide the comparison.
        ran_out_in_hook: bool,
    },
    /// The realm's own copy cannot be read, so there is no basis for a decision.
    #[error("is damaged in the realm and was not overwritten")]
    Damaged,
    /// The realm's own copy of the binding cannot be read, so it is unknown which versions the code is adapted to.
    #[error("has a binding of {0} that cannot be read; it was not overwritten")]
    DamagedBinding(RepoName),
}

impl Refusal {
    /// Returns the version that resolves it, if it is known.
    pub fn bump(&self) -> Option<&Version> {
        match &*self.reason {
            Reason::Republished { needed, .. } | Reason::InBase { needed, .. } => {
                Some(&needed.version).filter(|_| needed.if_breaking.is_none())
            }
            Reason::BreaksPromise { bump, .. } | Reason::Yanked { bump, .. } => Some(bump),
            _ => None,
        }
    }

    /// Returns the step that removes the contract's file, if it is left over from before a transfer.
    pub fn remove_file(&self, path: &str) -> Option<String> {
        match (&*self.reason, &self.contract) {
            (Reason::NotOwner { owner, transferred: true, .. }, Some(contract)) => Some(format!(
                "git rm :/{path} && git commit -m \"Leave {}/{contract} to {owner}\"  # {owner} owns it now: make the \
                    change there",
                self.domain
            )),
            _ => None,
        }
    }

    /// Returns the step that writes the owner's content into the file of an offered contract, if its version is older. `up`
    /// is the path to the root of the repository.
    pub fn rewrite_file(&self, up: &str) -> Option<String> {
        let (Reason::Overtaken { to, .. }, Some(contract)) = (&*self.reason, &self.contract) else { return None };
        let write = write_file_of(to, &self.domain, contract, up);
        Some(format!(
            "{write}  # the file lacks the owner's later changes; committing this version accepts the contract"
        ))
    }

    /// Returns the steps if the contract was given up: it is retired, or its owner left the domain.
    pub fn of_given_up(&self) -> Vec<String> {
        match &*self.reason {
            Reason::NotOwner { owner, is_retired, is_member, .. } => without_owner(owner, *is_retired, *is_member),
            Reason::Republished { needed, is_retired: true, .. } => {
                vec![revival(needed.if_breaking.as_ref().unwrap_or(&needed.version))]
            }
            _ => Vec::new(),
        }
    }

    /// Returns the field of the contract's file that it is about, if it is about one.
    pub fn field(&self) -> Option<&'static str> {
        match *self.reason {
            Reason::OtherOwner { .. } => Some("owner"),
            Reason::Republished { .. }
            | Reason::InBase { .. }
            | Reason::BreaksPromise { .. }
            | Reason::UndecidedVersion { .. }
            | Reason::Down { .. }
            | Reason::Overtaken { .. }
            | Reason::NotPublished { .. }
            | Reason::PreRelease(_)
            | Reason::Yanked { .. } => Some("version"),
            _ => None,
        }
    }

    /// Returns the stable code of this kind of refusal.
    pub fn code(&self) -> ErrorCode {
        match *self.reason {
            Reason::NotOwner { .. } | Reason::OtherOwner { .. } => ErrorCode::NotOwner,
            Reason::NotMember(_) => ErrorCode::NotMember,
            Reason::Collides(_) => ErrorCode::NameCollision,
            Reason::Republished { .. } | Reason::InBase { .. } => ErrorCode::VersionReused,
            Reason::BreaksPromise { .. } => ErrorCode::BreaksPromise,
            Reason::Down { .. } | Reason::Overtaken { .. } => ErrorCode::VersionDown,
            Reason::NotPublished { .. } | Reason::PreRelease(_) => ErrorCode::NotPublished,
            Reason::Yanked { .. } => ErrorCode::YankedVersion,
            Reason::Invalid(_) => ErrorCode::InvalidContract,
            Reason::Undecided(_) | Reason::UndecidedVersion { .. } => ErrorCode::Undecided,
            Reason::Damaged | Reason::DamagedBinding(_) => ErrorCode::Damaged,
        }
    }
}

/// Returns the steps of a repository that cannot change a contract, if `owner` retired it or left the domain.
pub fn without_owner(owner: &RepoName, is_retired: bool, is_member: bool) -> Vec<String> {
    let rename = is_retired.then(|| "choose another name: the name of a retired contract cannot be reused".to_owned());
    let reclaim = (!is_member).then(|| {
        format!(
            "git blue realm admin reclaim --help  # if {owner} no longer exists: take over its name in a new \
            repository"
        )
    });
    rename.into_iter().chain(reclaim).collect()
}

/// Returns the step for a file with other content than the retired contract.
pub fn revival(version: &Version) -> String {
    format!("remove the file, or raise its version to {version} to publish the retired contract again, and commit")
}

fn given_up(is_retired: bool, is_member: bool) -> &'static str {
    match (is_retired, is_member) {
        (true, true) => ", which retired it",
        (true, false) => ", which retired it and left the domain",
        (false, true) => "",
        (false, false) => ", which left the domain",
    }
}

fn bumped(needed: &Needed) -> String {
    let Needed { version, if_breaking, broken } = needed;
    match (if_breaking, broken) {
        (Some(major), _) => {
            format!("bump to {major} if it may break consumers, or else to {version}; git blue could not decide")
        }
        (None, Some(why)) => format!("bump to {version} ({why})"),
        (None, None) => format!("bump to {version}"),
    }
}

fn joined(faults: &[Fault]) -> String {
    faults.iter().map(|fault| fault.message.as_str()).collect::<Vec<_>>().join("; ")
}

pub(super) fn refuse(domain: &DomainView, contract: &ContractName, reason: Reason) -> Refusal {
    let (domain, contract) = (domain.info.name.clone(), Some(contract.clone()));
    Refusal { domain, contract, reason: Box::new(reason), version_in: None }
}

pub(super) fn not_member(domain: &DomainView, repo: &RepoName) -> Refusal {
    refuse_binding(domain, Reason::NotMember(repo.clone()))
}

pub(super) fn damaged_binding(domain: &DomainView, repo: &RepoName) -> Refusal {
    refuse_binding(domain, Reason::DamagedBinding(repo.clone()))
}

fn refuse_binding(domain: &DomainView, reason: Reason) -> Refusal {
    Refusal { domain: domain.info.name.clone(), contract: None, reason: Box::new(reason), version_in: None }
}
