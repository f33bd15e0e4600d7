//! Plans the merges of branches in several repositories: which must be merged before which, and which imports break in
//! every order.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::order::{Before, reached};
use crate::model::{
    binding::Import,
    contract::Contract,
    domain_view::{DomainView, ImportResolution},
    name::{ContractName, ContractRef, DomainName, RepoName},
    publish,
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
    /// The contracts whose files the branches remove, with the repositories that remove them.
    pub removed: BTreeSet<(RepoName, ContractName)>,
}

/// The order of the merges, and the edits that must come first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// The repositories that must be merged before each repository.
    pub before: Before,
    /// The imports that require this.
    pub required: Vec<Required>,
    /// The imports that break in every order.
    pub conflicts: Vec<RangeConflict>,
    /// The imports that their schemas break in the best order, or that are broken and stay so.
    pub broken: Vec<BrokenImport>,
    /// The imports that the consumer's own branch breaks, because nobody publishes what it accepts.
    pub unserved: Vec<Unserved>,
    /// The imports whose range accepts versions that are not served after the merges.
    pub to_narrow: Vec<RangeToNarrow>,
    /// Whether a merge changes an import, or a contract that another repository imports.
    pub changes_imports: bool,
}

/// An import that is broken after a merge, although its consumer and its provider are merged in the best order.
#[derive(Debug, Clone, PartialEq)]
pub struct BrokenImport {
    /// The importer.
    pub consumer: RepoName,
    /// The contract.
    pub at: ContractRef,
    /// The version that breaks it.
    pub new: Version,
    /// The repository whose merge breaks it; `None` if it is broken already.
    pub merged: Option<RepoName>,
    /// Whether the import has `expects`.
    pub has_expects: bool,
}

impl BrokenImport {
    /// Returns the repositories that must not be merged before the import was adapted.
    pub fn blocked(&self) -> BTreeSet<&RepoName> {
        self.merged.iter().chain([&self.consumer]).collect()
    }
}

impl fmt::Display for BrokenImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { consumer, at, new, merged, has_expects } = self;
        let first = if *has_expects {
            "first adapt its code and its expects to both versions"
        } else {
            "add expects with what the code needs"
        };
        match merged {
            None => write!(f, "{new} of {at} breaks the import of {consumer}: adapt its code and its binding"),
            Some(own) if own == consumer => {
                write!(f, "once {own} is merged, {new} of {at} breaks its import: adapt its code and its binding")
            }
            Some(provider) => write!(
                f,
                "once {provider} is merged, {new} of {at} breaks the import of {consumer}: {first}, or keep serving the \
                 old version (supported)"
            ),
        }
    }
}

/// An import because of which one repository must be merged before another.
#[derive(Debug, Clone, PartialEq)]
pub struct Required {
    /// The repository that must be merged first.
    pub first: RepoName,
    /// The repository that must be merged later.
    pub then: RepoName,
    /// The importer: one of the two.
    pub consumer: RepoName,
    /// The contract.
    pub at: ContractRef,
}

impl fmt::Display for Required {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, then, consumer, at } = self;
        let what = if first == consumer { "binding" } else { "contract" };
        write!(
            f,
            "{then} and {first} wait for each other: once {then} is merged, the import of {at} in {consumer} is broken until \
             {first} is merged; merge the {what} of {first} in a separate pull request first"
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
    /// The consequence of the new version for the code, apart from the range.
    pub effect: SchemaEffect,
}

/// The consequence of a new version for the code of an importer, as far as its schemas tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaEffect {
    /// It breaks nothing that is known.
    Holds,
    /// It breaks the code, which does not state what it needs.
    Breaks,
    /// It lacks what the code needs, as stated in `expects`.
    LacksExpected,
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

/// The merges of a consumer and a provider that have taken place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Merged {
    Neither,
    Provider,
    Consumer,
    /// Both, the consumer first.
    ConsumerFirst,
    /// Both, the provider first.
    ProviderFirst,
}

impl Merged {
    fn has_consumer(self) -> bool {
        matches!(self, Self::Consumer | Self::ConsumerFirst | Self::ProviderFirst)
    }

    fn has_provider(self) -> bool {
        matches!(self, Self::Provider | Self::ConsumerFirst | Self::ProviderFirst)
    }
}

/// The state of an import after some merges.
struct AfterMerges {
    /// Whether its range accepts a version.
    in_range: bool,
    /// Whether its range rejects every version, or a schema breaks it.
    is_broken: bool,
    /// The version that it is judged by, if there is one.
    version: Option<Version>,
    has_expects: bool,
}

/// The states of an import before, between and after the merges of its consumer and its provider.
struct States {
    neither: AfterMerges,
    provider: AfterMerges,
    consumer: AfterMerges,
    consumer_first: AfterMerges,
    provider_first: AfterMerges,
}

impl States {
    fn of(edge: &Edge<'_>, judge: &Judge<'_>) -> Self {
        let after = |merged| edge.after(merged, judge);
        Self {
            neither: after(Merged::Neither),
            provider: after(Merged::Provider),
            consumer: after(Merged::Consumer),
            consumer_first: after(Merged::ConsumerFirst),
            provider_first: after(Merged::ProviderFirst),
        }
    }

    /// Returns whether an import in use gets no version in its range in either order, as far as this is known from ranges.
    fn is_out_of_range(&self) -> bool {
        let between = self.provider.in_range || self.consumer.in_range;
        self.neither.in_range && !(self.consumer_first.in_range && between)
    }

    /// Returns whether the import is broken on the way if the provider is merged first. What is broken before and repaired
    /// by the consumer does not count.
    fn breaks_provider_first(&self) -> bool {
        (!self.neither.is_broken && self.provider.is_broken) || self.provider_first.is_broken
    }

    /// Returns whether the import is broken on the way if the consumer is merged first.
    fn breaks_consumer_first(&self) -> bool {
        self.consumer.is_broken || self.consumer_first.is_broken
    }

    /// Returns whether the provider goes first although the import breaks in both orders: the consumer's branch needs
    /// the new version.
    fn needs_provider(&self) -> bool {
        self.consumer.is_broken && !self.provider_first.is_broken
    }

    /// Returns the first state on the way in which the import is broken, and the repository whose merge breaks it.
    fn first_broken<'s>(&'s self, edge: &'s Edge<'_>) -> Option<(&'s AfterMerges, Option<&'s RepoName>)> {
        let (consumer, provider) = (Some(edge.consumer), Some(edge.provider));
        let way = match (self.neither.is_broken, self.needs_provider()) {
            (true, _) => [(&self.provider_first, None), (&self.consumer_first, None)],
            (false, true) => [(&self.provider, provider), (&self.provider_first, consumer)],
            (false, false) => [(&self.consumer, consumer), (&self.consumer_first, provider)],
        };
        way.into_iter().find(|(state, _)| state.is_broken)
    }
}

impl Plan {
    /// Plans the merges of `proposed`. `members` are the repositories that the work takes place in.
    pub fn of(proposed: &[Proposed], members: &BTreeSet<RepoName>, judge: &Judge<'_>) -> Self {
        let mut plan = Self::default();
        for domain in proposed {
            for (consumer, contract) in domain.imports() {
                for provider in domain.providers(contract).into_iter().filter(|provider| *provider != consumer) {
                    plan.add(&Edge { domain, contract, consumer, provider }, members, judge);
                }
            }
            for (accepting, former) in domain.accepted() {
                plan.before.entry(former.clone()).or_default().insert(accepting.clone());
                plan.changes_imports = true;
            }
        }
        plan
    }

    /// Returns the imports because of which repositories wait for each other.
    pub fn deadlocks(&self) -> impl Iterator<Item = &Required> {
        self.required.iter().filter(|one| reached(&one.first, &self.before).contains(&one.then))
    }

    fn add(&mut self, edge: &Edge<'_>, members: &BTreeSet<RepoName>, judge: &Judge<'_>) {
        let (consumer, provider) = (edge.consumer, edge.provider);
        let is_changed = edge.is_changed();
        self.changes_imports |= is_changed;
        if !is_changed && !members.contains(consumer) {
            return;
        }
        let states = States::of(edge, judge);
        let unserved = if states.is_out_of_range() { edge.unserved() } else { None };
        let is_conflict = states.is_out_of_range() && unserved.is_none();
        let conflict = if is_conflict { edge.conflict(judge) } else { None };
        let merges_both = [consumer, provider].iter().all(|repo| edge.domain.branches.contains_key(*repo));
        match (states.breaks_provider_first(), states.breaks_consumer_first()) {
            _ if unserved.is_some() => {}
            _ if conflict.is_some() => self.require(consumer, provider, edge),
            (true, false) => self.require(consumer, provider, edge),
            (false, true) => self.require(provider, consumer, edge),
            (true, true) => {
                if merges_both && states.needs_provider() {
                    self.require(provider, consumer, edge);
                } else if merges_both && !states.neither.is_broken {
                    self.require(consumer, provider, edge);
                }
                self.broken.extend(edge.broken(&states, members));
            }
            _ => {}
        }
        if members.contains(consumer) && members.contains(provider) {
            let narrowed = edge.range_to_narrow(conflict.as_ref());
            self.to_narrow.extend(narrowed.filter(|narrowed| !self.to_narrow.contains(narrowed)));
        }
        self.conflicts.extend(conflict);
        self.unserved.extend(unserved);
    }

    fn require(&mut self, first: &RepoName, then: &RepoName, edge: &Edge<'_>) {
        self.before.entry(then.clone()).or_default().insert(first.clone());
        let (first, then, consumer) = (first.clone(), then.clone(), edge.consumer.clone());
        self.required.push(Required { first, then, consumer, at: edge.at() });
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

    /// Returns the repositories whose branches change a contract: its owner, or one that accepts it. If there are none,
    /// returns its owner.
    fn providers(&self, contract: &ContractName) -> BTreeSet<&RepoName> {
        let published = self.published.contracts.get(contract);
        let changing = |(_, view): &(&RepoName, &DomainView)| view.contracts.get(contract) != published;
        let changing: BTreeSet<_> = self.branches.iter().filter(changing).map(|(repo, _)| repo).collect();
        if !changing.is_empty() {
            return changing;
        }
        let mut views = std::iter::once(&self.published).chain(self.branches.values());
        views.find_map(|view| view.owner(contract)).into_iter().collect()
    }

    /// Returns the repositories that accept a contract, each with the former owner, whose branch removes it.
    fn accepted(&self) -> impl Iterator<Item = (&RepoName, &RepoName)> {
        self.removed.iter().flat_map(|(former, contract)| {
            let accepting = self.providers(contract).into_iter().filter(move |repo| *repo != former);
            accepting.filter(|repo| self.branches.contains_key(*repo)).map(move |repo| (repo, former))
        })
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

    /// Returns the import after some merges. If its range changes, its code counts as adapted to what its own merge finds.
    fn import_after(&self, merged: Merged) -> Option<Import> {
        let mut import = self.import(merged.has_consumer())?.clone();
        if merged == Merged::ProviderFirst {
            import.adapted_version = publish::adapted(self.domain.of(self.provider, true), &import, self.import(false));
        }
        Some(import)
    }

    /// Returns the state of the import after some merges. An import that is absent then is not broken.
    fn after(&self, merged: Merged, judge: &Judge<'_>) -> AfterMerges {
        let Some(import) = self.import_after(merged) else {
            return AfterMerges { in_range: true, is_broken: false, version: None, has_expects: false };
        };
        let provided = self.domain.of(self.provider, merged.has_provider());
        let views = [provided, &self.domain.published];
        let document = |version: &Version| Ok(views.into_iter().find_map(|view| view.document(self.contract, version)));
        let state = ImportState::new(provided.resolve_import(&import), &import, document, judge);
        let current = || provided.contracts.get(self.contract).map(|contract| &contract.version);
        let resolved = state.resolution.resolved();
        AfterMerges {
            in_range: resolved.is_some(),
            is_broken: resolved.is_none() || state.is_broken(),
            version: resolved.or_else(current).cloned(),
            has_expects: import.expects.is_some(),
        }
    }

    /// Returns how the import breaks. That an import was broken before is said of members only.
    fn broken(&self, states: &States, members: &BTreeSet<RepoName>) -> Option<BrokenImport> {
        let (state, merged) = states.first_broken(self)?;
        let is_told = merged.is_some() || members.contains(self.consumer);
        let new = state.version.clone().filter(|_| is_told)?;
        let (consumer, merged) = (self.consumer.clone(), merged.cloned());
        Some(BrokenImport { consumer, at: self.at(), new, merged, has_expects: state.has_expects })
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

    /// Returns the consequence of the new version for the code of the consumer, which is adapted to the old one by then,
    /// whatever its range accepts.
    fn effect(&self, judge: &Judge<'_>) -> Option<SchemaEffect> {
        let (mut import, provided) = (self.import(true)?.clone(), self.domain.of(self.provider, true));
        let new = self.contract(true)?.version.clone();
        import.adapted_version = self.contract(false).map(|old| old.version.clone()).or(import.adapted_version);
        let views = [provided, &self.domain.published];
        let document = |version: &Version| Ok(views.into_iter().find_map(|view| view.document(self.contract, version)));
        let state = ImportState::new(ImportResolution::Satisfied(new), &import, document, judge);
        Some(match (state.is_broken(), &import.expects) {
            (false, _) => SchemaEffect::Holds,
            (true, None) => SchemaEffect::Breaks,
            (true, Some(_)) => SchemaEffect::LacksExpected,
        })
    }

    fn conflict(&self, judge: &Judge<'_>) -> Option<RangeConflict> {
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
            effect: self.effect(judge)?,
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
