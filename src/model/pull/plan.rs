//! Plans the merges of branches in several repositories: which must be merged before which, and which imports break in
//! every order.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::order::Before;
use crate::model::{
    binding::Import,
    contract::Contract,
    domain_view::{DomainView, ImportResolution},
    name::{ContractName, ContractRef, DomainName, RepoName},
    range::Range,
    verdict::{ImportState, Judge},
    version::Version,
};

/// A domain as published, and with the branch of each repository applied to it separately.
#[derive(Debug, Clone)]
pub struct Proposed {
    /// The published domain.
    pub published: DomainView,
    /// The domain with the branch of each repository.
    pub branches: BTreeMap<RepoName, DomainView>,
}

/// The order of the merges, and the edits that must come first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// The repositories that must be merged before each repository.
    pub before: Before,
    /// The imports that break in every order.
    pub conflicts: Vec<RangeConflict>,
    /// The imports that break between the merges of their consumer and of the provider.
    pub broken: Vec<BrokenBetween>,
    /// The imports that the consumer's own branch breaks, because nobody publishes what it accepts.
    pub unserved: Vec<Unserved>,
    /// The imports whose range accepts versions that are not served after the merges.
    pub to_narrow: Vec<RangeToNarrow>,
    /// Whether a merge changes an import, or a contract that another repository imports.
    pub changes_imports: bool,
}

/// An import whose range accepts the version after a provider's merge, although that version breaks its code, which is
/// adapted to an older one.
#[derive(Debug, Clone, PartialEq)]
pub struct BrokenBetween {
    /// The importer.
    pub consumer: RepoName,
    /// The repository that changes the contract.
    pub provider: RepoName,
    /// The contract.
    pub at: ContractRef,
    /// The version that the import resolves to after the provider's merge.
    pub new: Version,
    /// Whether the import has `expects`.
    pub has_expects: bool,
}

impl fmt::Display for BrokenBetween {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { consumer, provider, at, new, has_expects } = self;
        let first = if *has_expects {
            "first adapt its code and its expects to both versions"
        } else {
            "add expects with what the code needs"
        };
        write!(
            f,
            "once {provider} is merged, {new} of {at} breaks the import of {consumer}: {first}, or merge both together"
        )
    }
}

/// An import that accepts, after its consumer's merge, only versions that neither are published nor will be by these
/// merges.
#[derive(Debug, Clone, PartialEq)]
pub struct Unserved {
    /// The importer.
    pub consumer: RepoName,
    /// The owner of the contract.
    pub provider: RepoName,
    /// The contract.
    pub at: ContractRef,
    /// The range after the consumer's merge.
    pub range: Range,
    /// The published version.
    pub now: Version,
}

impl fmt::Display for Unserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { provider, at, range, now, .. } = self;
        write!(
            f,
            "it imports {at} {range}, which no branch publishes (now {now}): publish it on a branch of {provider}, or \
                accept {now} too"
        )
    }
}

/// An import that accepts only the version before a provider's merge, or only the one after.
#[derive(Debug, Clone, PartialEq)]
pub struct RangeConflict {
    /// The importer.
    pub consumer: RepoName,
    /// The repository that changes the contract.
    pub provider: RepoName,
    /// The contract.
    pub at: ContractRef,
    /// The published version; `None` if there is none yet.
    pub old: Option<Version>,
    /// The version after all merges.
    pub new: Version,
    /// The range before the consumer's merge; `None` if the consumer did not import the contract then.
    pub range_before: Option<Range>,
    /// The range after the consumer's merge.
    pub range_after: Range,
    /// A range that accepts both versions.
    pub widened: Option<Range>,
}

/// An import to narrow once everything is merged.
#[derive(Debug, Clone, PartialEq)]
pub struct RangeToNarrow {
    /// The importer.
    pub consumer: RepoName,
    /// The contract.
    pub at: ContractRef,
    /// A version that its range accepts and that is no longer served.
    pub version: Version,
    /// The range that it should have.
    pub narrowed: Range,
}

/// One import of one contract, before and after the merges of both repositories.
struct Edge<'a> {
    domain: &'a Proposed,
    contract: &'a ContractName,
    consumer: &'a RepoName,
    provider: &'a RepoName,
}

impl Plan {
    /// Plans the merges of `proposed`. `members` are the repositories that the work takes place in.
    pub fn of(proposed: &[Proposed], members: &BTreeSet<RepoName>, judge: &Judge<'_>) -> Self {
        let mut plan = Self::default();
        for domain in proposed {
            for (consumer, contract) in domain.imports() {
                match domain.owner(contract) {
                    Some(provider) if provider != consumer => {
                        plan.add(&Edge { domain, contract, consumer, provider }, members, judge);
                    }
                    _ => {}
                }
            }
        }
        plan
    }

    fn add(&mut self, edge: &Edge<'_>, members: &BTreeSet<RepoName>, judge: &Judge<'_>) {
        self.changes_imports |= edge.is_changed();
        let mut first = |repo: &RepoName, then: &RepoName| {
            self.before.entry(then.clone()).or_default().insert(repo.clone());
        };
        let [[now, provider_alone], [consumer_alone, both]] =
            [[edge.holds(false, false), edge.holds(false, true)], [edge.holds(true, false), edge.holds(true, true)]];
        let breaks = now && !provider_alone;
        let (consumer, provider) = (edge.consumer, edge.provider);
        let merges = |repo| edge.domain.branches.contains_key(repo);
        let needs_both = (breaks && !(consumer_alone && both)) || (merges(consumer) && now && !consumer_alone && !both);
        let unserved = if needs_both { edge.unserved() } else { None };
        let conflict = if needs_both && unserved.is_none() { edge.conflict() } else { None };
        let is_judged = conflict.is_none() && members.contains(consumer) && merges(provider);
        let broken = |is_merged| if is_judged { edge.broken(is_merged, judge) } else { None };
        let needs_provider = !breaks && !consumer_alone && both && merges(provider);
        let breaks = breaks || (!needs_provider && merges(consumer) && broken(false).is_some());
        if breaks {
            first(consumer, provider);
        } else if needs_provider {
            first(provider, consumer);
        }
        self.broken.extend(broken(breaks));
        if members.contains(consumer) && members.contains(provider) {
            self.to_narrow.extend(edge.range_to_narrow(conflict.as_ref()));
        }
        self.conflicts.extend(conflict);
        self.unserved.extend(unserved);
    }
}

impl Proposed {
    fn of(&self, repo: &RepoName, is_merged: bool) -> &DomainView {
        self.branches.get(repo).filter(|_| is_merged).unwrap_or(&self.published)
    }

    /// Returns all imports, before or after the merges.
    fn imports(&self) -> BTreeSet<(&RepoName, &ContractName)> {
        let views = std::iter::once(&self.published).chain(self.branches.values());
        let bindings = views.flat_map(|view| &view.bindings);
        bindings
            .flat_map(|(repo, binding)| binding.imports.iter().map(move |import| (repo, &import.contract)))
            .collect()
    }

    fn owner(&self, contract: &ContractName) -> Option<&RepoName> {
        let mut views = std::iter::once(&self.published).chain(self.branches.values());
        views.find_map(|view| view.owner(contract))
    }
}

impl Edge<'_> {
    fn import(&self, is_merged: bool) -> Option<&Import> {
        self.domain.of(self.consumer, is_merged).bindings.get(self.consumer)?.import(self.contract)
    }

    fn contract(&self, is_merged: bool) -> Option<&Contract> {
        self.domain.of(self.provider, is_merged).contracts.get(self.contract)
    }

    /// Returns whether a merge changes the import or the contract.
    fn is_changed(&self) -> bool {
        self.import(false) != self.import(true) || self.contract(false) != self.contract(true)
    }

    /// Returns whether the import is satisfied, given whether the branches of the consumer and of the provider are
    /// merged.
    fn holds(&self, consumer: bool, provider: bool) -> bool {
        let Some(import) = self.import(consumer) else { return true };
        let provided = self.domain.of(self.provider, provider);
        matches!(provided.resolve_import(import), ImportResolution::Satisfied(_) | ImportResolution::Behind { .. })
    }

    /// Returns the import, before or after the consumer's merge, if its range accepts the version after the provider's merge,
    /// which breaks it by its schema.
    fn broken(&self, is_merged: bool, judge: &Judge<'_>) -> Option<BrokenBetween> {
        let (import, provided) = (self.import(is_merged)?, self.domain.of(self.provider, true));
        let views = [provided, &self.domain.published];
        let document = |version: &Version| views.into_iter().find_map(|view| view.document(self.contract, version));
        let state = ImportState::new(provided.resolve_import(import), import, document, judge);
        let new = state.resolution.resolved().filter(|_| state.is_broken())?.clone();
        let (consumer, provider) = (self.consumer.clone(), self.provider.clone());
        Some(BrokenBetween { consumer, provider, at: self.at(), new, has_expects: import.expects.is_some() })
    }

    fn at(&self) -> ContractRef {
        let domain: &DomainName = &self.domain.published.info.name;
        ContractRef { domain: domain.clone(), contract: self.contract.clone() }
    }

    /// Returns the import if it is broken after its consumer's merge, although the contract does not change.
    fn unserved(&self) -> Option<Unserved> {
        let contract = self.contract(true).filter(|contract| self.contract(false) == Some(contract))?;
        let (consumer, provider) = (self.consumer.clone(), self.provider.clone());
        let (range, now) = (self.import(true)?.version.clone(), contract.version.clone());
        Some(Unserved { consumer, provider, at: self.at(), range, now })
    }

    fn conflict(&self) -> Option<RangeConflict> {
        let new = self.contract(true)?.version.clone();
        let range_before = self.import(false).map(|import| import.version.clone());
        let range_after = self.import(true)?.version.clone();
        let old = self.contract(false).map(|contract| contract.version.clone());
        let base = range_before.as_ref().filter(|range| old.as_ref().is_some_and(|old| range.matches(old)));
        Some(RangeConflict {
            consumer: self.consumer.clone(),
            provider: self.provider.clone(),
            at: self.at(),
            widened: base.unwrap_or(&range_after).widened(&new),
            old,
            new,
            range_before,
            range_after,
        })
    }

    /// Returns an old version that the range accepts although it is no longer served. Returns `None` for a range
    /// without an upper bound, which accepts such versions on purpose.
    fn range_to_narrow(&self, conflict: Option<&RangeConflict>) -> Option<RangeToNarrow> {
        let contract = self.contract(true)?;
        let current = &contract.version;
        let own = &self.import(true)?.version;
        let range = conflict.and_then(|conflict| conflict.widened.as_ref()).unwrap_or(own);
        let compatible = Range::compatible(current);
        let is_gone = |version: &&Version| {
            *version < current
                && range.matches(version)
                && !compatible.matches(version)
                && !contract.supported.iter().any(|served| served.matches(version))
        };
        let versions = self.domain.of(self.provider, true).versions.get(self.contract)?;
        let version = versions.iter().rev().find(is_gone).filter(|_| range.is_bounded() && range.matches(current))?;
        let wanted = conflict.map(|_| own).filter(|own| own.matches(current));
        let narrowed = wanted.cloned().unwrap_or(compatible);
        Some(RangeToNarrow { consumer: self.consumer.clone(), at: self.at(), version: version.clone(), narrowed })
    }
}
