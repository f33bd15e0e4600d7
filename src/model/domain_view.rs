//! The content of a domain at one moment, parsed. A part that cannot be read is recorded as [`Damage`] and does not
//! hide the others.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    approval::Approval,
    binding::{Binding, Import},
    conflict::Conflicts,
    contract::{Contract, Yanked},
    domain::{Domain, Source},
    name::{ContractName, DomainName, RepoName},
    oid::Oid,
    range::Range,
    transfer::Transfers,
    version::Version,
};

/// One domain.
#[derive(Debug, Clone)]
pub struct DomainView {
    /// The commit of the store that it was read from.
    pub commit: Option<Oid>,
    /// The name, description and members of the domain.
    pub info: Domain,
    /// The contracts, at their current versions.
    pub contracts: BTreeMap<ContractName, Contract>,
    /// The published versions of each contract.
    pub versions: BTreeMap<ContractName, BTreeSet<Version>>,
    /// Published documents that were requested, or that differ from the current one.
    pub published: BTreeMap<(ContractName, Version), Contract>,
    /// The binding of each repository.
    pub bindings: BTreeMap<RepoName, Binding>,
    /// Imports that publishing repositories had before: of contracts, or with ranges, that their bindings lack.
    pub former_imports: BTreeMap<RepoName, Vec<Import>>,
    /// The last published commit of each repository.
    pub sources: BTreeMap<RepoName, Source>,
    /// The transfers of contracts to other owners.
    pub transfers: BTreeMap<ContractName, Transfers>,
    /// The breaking changes that their owners approved.
    pub approvals: BTreeMap<ContractName, Vec<Approval>>,
    /// The conflicts between machines.
    pub conflicts: Conflicts,
    /// The files that could not be read.
    pub damage: Vec<Damage>,
}

/// A stored file that could not be read, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file, as git names it: `refs/blue/domains/s3:contracts/paths.json`.
    pub file: String,
    /// The content that it should have had, if known.
    pub subject: Subject,
    /// The problem, with its place.
    pub problem: String,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The problem may name a file in a ref.
        if self.problem.starts_with(&self.file) {
            f.write_str(&self.problem)
        } else {
            write!(f, "{}: {}", self.file, self.problem)
        }
    }
}

/// Returns the repositories whose bindings could not be read, so that it is unknown what they import.
pub fn unreadable_bindings(damage: &[Damage]) -> impl Iterator<Item = &RepoName> {
    damage.iter().filter_map(|damage| match &damage.subject {
        Subject::Binding(repo) => Some(repo),
        _ => None,
    })
}

/// The content that a damaged file should have had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A contract, current or at one version.
    Contract(ContractName),
    /// The binding of a repository.
    Binding(RepoName),
    /// The last published commit of a repository.
    Source(RepoName),
    /// The transfers of a contract to other owners.
    Transfers(ContractName),
    /// A whole domain.
    Domain(DomainName),
    /// An unknown domain whose ref cannot be read.
    Domains,
    /// Anything else.
    Other,
}

impl Subject {
    /// Returns whether this is the contract with this name.
    pub fn is_contract(&self, name: &ContractName) -> bool {
        matches!(self, Self::Contract(contract) if contract == name)
    }

    /// Returns whether the damage may concern `domain`.
    pub fn may_be(&self, domain: &DomainName) -> bool {
        match self {
            Self::Domain(name) => name == domain,
            Self::Domains => true,
            _ => false,
        }
    }
}

impl DomainView {
    /// Returns a domain without contracts.
    pub fn new(info: Domain) -> Self {
        Self {
            commit: None,
            info,
            contracts: BTreeMap::new(),
            versions: BTreeMap::new(),
            published: BTreeMap::new(),
            bindings: BTreeMap::new(),
            former_imports: BTreeMap::new(),
            sources: BTreeMap::new(),
            transfers: BTreeMap::new(),
            approvals: BTreeMap::new(),
            conflicts: Conflicts::default(),
            damage: Vec::new(),
        }
    }

    /// Returns whether `repo` is a member or has a binding.
    pub fn takes_part(&self, repo: &RepoName) -> bool {
        self.info.has_member(repo) || self.bindings.contains_key(repo)
    }

    /// Returns whether the version of a document was already published with different content.
    pub fn has_other_content(&self, document: &Contract) -> bool {
        let published = self.document(&document.name, &document.version);
        published.is_some_and(|published| !published.has_same_content(document))
    }

    /// Returns whether the file that should hold `contract` could not be read.
    pub fn is_damaged(&self, contract: &ContractName) -> bool {
        self.damage.iter().any(|damage| damage.subject.is_contract(contract))
    }

    /// Returns whether the binding of `repo` could not be read.
    pub fn is_unreadable_binding(&self, repo: &RepoName) -> bool {
        unreadable_bindings(&self.damage).any(|unreadable| unreadable == repo)
    }

    /// Returns whether `repo` has a binding, even if it cannot be read.
    pub fn has_binding(&self, repo: &RepoName) -> bool {
        self.bindings.contains_key(repo) || self.is_unreadable_binding(repo)
    }

    /// Returns the repository that owns `contract`, even if there are only pre-releases.
    pub fn owner(&self, contract: &ContractName) -> Option<&RepoName> {
        let published = || {
            let owner = &self.newest(contract)?.owner;
            Some(self.transfers.get(contract).map_or(owner, |transfers| transfers.owner(owner)))
        };
        self.contracts.get(contract).map(|contract| &contract.owner).or_else(published)
    }

    /// Returns whether `repo` once owned `contract`, and transferred it.
    pub fn was_transferred_by(&self, repo: &RepoName, contract: &ContractName) -> bool {
        self.transfers.get(contract).is_some_and(|record| record.was_offered_by(repo))
    }

    /// Returns whether two repositories created `contract` on two machines, and `repo` did not get rid of it by a transfer.
    pub fn was_created_twice(&self, repo: &RepoName, contract: &ContractName) -> bool {
        self.conflicts.contracts.contains_key(contract) && !self.was_transferred_by(repo, contract)
    }

    /// Returns the newest of the [`published`](Self::published) documents of `contract`.
    pub fn newest(&self, contract: &ContractName) -> Option<&Contract> {
        let from = self.published.range((contract.clone(), Version::lowest())..);
        from.take_while(|((name, _), _)| name == contract).last().map(|(_, document)| document)
    }

    /// Returns the imports of `contract` with their repositories.
    pub fn importers<'a>(&'a self, contract: &'a ContractName) -> impl Iterator<Item = (&'a RepoName, &'a Import)> {
        self.bindings.iter().filter_map(|(repo, binding)| Some((repo, binding.import(contract)?)))
    }

    /// Makes a document the current one. The previous one stays in the list of published versions.
    pub fn replace(&mut self, contract: Contract) {
        let name = contract.name.clone();
        if let Some(before) = self.contracts.insert(name.clone(), contract) {
            self.published.entry((name, before.version.clone())).or_insert(before);
        }
    }

    /// Returns the document of a version, if it is in the view.
    pub fn document(&self, contract: &ContractName, version: &Version) -> Option<&Contract> {
        let current = self.contracts.get(contract).filter(|current| current.version == *version);
        current.or_else(|| self.published.get(&(contract.clone(), version.clone())))
    }

    /// Returns the state of `import` in the current domain.
    pub fn resolve_import(&self, import: &Import) -> ImportResolution {
        let current = self.contracts.get(&import.contract);
        if current.is_none() && self.is_damaged(&import.contract) {
            return ImportResolution::Unreadable;
        }
        let offer = current.map(AvailableVersions::of);
        ImportResolution::of(import, offer, self.versions.get(&import.contract))
    }
}

/// The versions of a contract that its importers can get.
#[derive(Debug, Clone, Copy)]
pub struct AvailableVersions<'a> {
    /// Its current version.
    pub current: &'a Version,
    /// The older versions that are still served.
    pub supported: &'a [Range],
    /// The versions that must not be used.
    pub yanked: &'a [Yanked],
}

impl<'a> AvailableVersions<'a> {
    /// Returns the versions of a contract that its importers can get.
    pub fn of(contract: &'a Contract) -> Self {
        Self { current: &contract.version, supported: &contract.supported, yanked: &contract.yanked }
    }

    /// Returns the newest older version in the range of an import that is still served.
    pub fn newest_served<'p>(&self, import: &Import, published: Option<&'p BTreeSet<Version>>) -> Option<&'p Version> {
        let mut newest_first = published.into_iter().flatten().rev();
        newest_first.find(|version| import.version.matches(version) && self.serves(version))
    }

    /// Returns whether this is an older version that is still served.
    fn serves(&self, version: &Version) -> bool {
        if version >= self.current {
            return false;
        }
        let is_yanked = self.yanked.iter().any(|yanked| yanked.version == *version);
        !is_yanked && self.supported.iter().any(|range| range.matches(version))
    }
}

/// The state of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportResolution {
    /// The current version satisfies it.
    Satisfied(Version),
    /// The current version does not satisfy it, but the provider still serves one that does.
    Behind {
        /// The current version.
        current: Version,
        /// The newest version that satisfies the import and is still served.
        served: Version,
    },
    /// No served version satisfies it.
    Broken {
        /// The current version.
        current: Version,
    },
    /// There is no such contract, or only pre-releases of it.
    Missing,
    /// Its contract cannot be read.
    Unreadable,
}

impl ImportResolution {
    /// Returns the state of an import, given the available and the published versions of its contract.
    pub fn of(import: &Import, offer: Option<AvailableVersions<'_>>, published: Option<&BTreeSet<Version>>) -> Self {
        let Some(offer) = offer else {
            return Self::Missing;
        };
        let current = offer.current;
        if import.version.matches(current) {
            return Self::Satisfied(current.clone());
        }
        // An older version counts only if the provider declares that it still serves it.
        match offer.newest_served(import, published) {
            Some(version) => Self::Behind { current: current.clone(), served: version.clone() },
            None => Self::Broken { current: current.clone() },
        }
    }

    /// Returns the current version of the contract.
    pub fn current(&self) -> Option<&Version> {
        match self {
            Self::Satisfied(version) => Some(version),
            Self::Behind { current, .. } | Self::Broken { current } => Some(current),
            Self::Missing | Self::Unreadable => None,
        }
    }

    /// Returns the older version that it gets because its owner still serves it.
    pub fn served(&self) -> Option<&Version> {
        match self {
            Self::Behind { served, .. } => Some(served),
            Self::Satisfied(_) | Self::Broken { .. } | Self::Missing | Self::Unreadable => None,
        }
    }

    /// Returns the version that the import resolves to.
    pub fn resolved(&self) -> Option<&Version> {
        match self {
            Self::Satisfied(version) | Self::Behind { served: version, .. } => Some(version),
            Self::Broken { .. } | Self::Missing | Self::Unreadable => None,
        }
    }

    /// Returns whether the range accepts the current version, an older one, or none, if that is known.
    pub fn standing(&self) -> ImportStanding {
        match self {
            Self::Satisfied(_) => ImportStanding::Current,
            Self::Behind { .. } => ImportStanding::Behind,
            Self::Broken { .. } | Self::Missing => ImportStanding::Broken,
            Self::Unreadable => ImportStanding::Unknown,
        }
    }
}

/// Whether an import accepts what is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ImportStanding {
    /// It accepts the current version.
    Current,
    /// It accepts an older version, which is still served.
    Behind,
    /// It accepts no version that is served, or the version breaks its code.
    Broken,
    /// It cannot be judged, because its contract cannot be read.
    Unknown,
}

impl ImportStanding {
    /// Returns its word in JSON and in texts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Behind => "behind",
            Self::Broken => "broken",
            Self::Unknown => "unknown",
        }
    }
}
