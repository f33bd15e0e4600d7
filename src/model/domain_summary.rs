//! The summary of a domain: everything except the content of the contracts. Most responses need only this, and it is
//! small enough for stores to cache.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use serde::{Deserialize, Serialize};

use crate::model::{
    binding::{Binding, Import},
    conflict::{Conflict, Conflicts},
    contract::{Contract, Deprecated, Retirement, Yanked},
    domain::{Domain, Source},
    domain_view::{AvailableVersions, Damage, DomainView, ImportResolution, Subject},
    name::{ContractName, DomainName, RepoName},
    range::Range,
    realm::Repo,
    successor::Successor,
    transfer::Transfers,
    version::Version,
};

/// The summary of a domain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DomainSummary {
    /// Its name, description and members.
    pub info: Domain,
    /// The contracts, at their current versions.
    pub contracts: BTreeMap<ContractName, ContractSummary>,
    /// The published versions of the contracts for which they matter: those without a current version, and those whose
    /// older versions are still served.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<ContractName, BTreeSet<Version>>,
    /// The owners of contracts without a current version.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub owners: BTreeMap<ContractName, RepoName>,
    /// The repositories that contracts are offered to by their owners.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub offers: BTreeMap<ContractName, RepoName>,
    /// The binding of each repository.
    pub bindings: BTreeMap<RepoName, Binding>,
    /// The last published commit of each repository.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<RepoName, Source>,
    /// The conflicts between machines.
    #[serde(default, skip_serializing_if = "Conflicts::is_empty")]
    pub conflicts: Conflicts,
    /// The files that could not be read. A summary with damage is never cached.
    #[serde(skip)]
    pub damage: Vec<Damage>,
}

/// A whole realm, without its documents.
#[derive(Debug, Clone, Default)]
pub struct RealmSummary {
    /// The repositories that joined.
    pub repos: BTreeMap<RepoName, Repo>,
    /// Its domains.
    pub domains: BTreeMap<DomainName, DomainSummary>,
    /// The damage outside the domains.
    pub damage: Vec<Damage>,
}

/// The summary of a contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContractSummary {
    /// Its current version.
    pub version: Version,
    /// The only repository that may change it.
    pub owner: RepoName,
    /// Older versions that the provider still serves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supported: Vec<Range>,
    /// Set if consumers should stop using it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<Deprecated>,
    /// Set once the owner retired it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retired: Option<Retirement>,
    /// Versions that must no longer be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub yanked: Vec<Yanked>,
}

impl From<&Contract> for ContractSummary {
    fn from(contract: &Contract) -> Self {
        Self {
            version: contract.version.clone(),
            owner: contract.owner.clone(),
            supported: contract.supported.clone(),
            deprecated: contract.deprecated.clone(),
            retired: contract.retired.clone(),
            yanked: contract.yanked.clone(),
        }
    }
}

impl ContractSummary {
    /// Returns why `version` was yanked, if it was.
    pub fn yanked_reason(&self, version: &Version) -> Option<&str> {
        self.yanked.iter().find(|yanked| yanked.version == *version).map(|yanked| yanked.reason.as_str())
    }

    /// Returns whether its current version was yanked.
    pub fn is_yanked(&self) -> bool {
        self.yanked_reason(&self.version).is_some()
    }

    /// Returns whether its current version was yanked, and the import admits it.
    pub fn is_yanked_for(&self, import: &Import) -> bool {
        self.is_yanked() && import.version.matches(&self.version)
    }

    /// Returns whether an importer should stop using it.
    fn is_discouraged_for(&self, import: &Import) -> bool {
        self.deprecated.is_some() || self.retired.is_some() || self.is_yanked_for(import)
    }

    /// Returns the versions that importers can get.
    fn available(&self) -> AvailableVersions<'_> {
        AvailableVersions { current: &self.version, supported: &self.supported, yanked: &self.yanked }
    }

    /// Returns whether its published versions affect the state of imports.
    pub fn needs_versions(&self) -> bool {
        !self.supported.is_empty()
    }
}

impl From<&DomainView> for DomainSummary {
    fn from(view: &DomainView) -> Self {
        let summaries = view.contracts.iter().map(|(name, contract)| (name.clone(), contract.into()));
        let contracts: BTreeMap<ContractName, ContractSummary> = summaries.collect();
        let decides = |name: &ContractName| contracts.get(name).is_none_or(ContractSummary::needs_versions);
        let versions: BTreeMap<_, _> = view
            .versions
            .iter()
            .filter(|(name, _)| decides(name))
            .map(|(name, versions)| (name.clone(), versions.clone()))
            .collect();
        let unreleased = versions.keys().filter(|name| !contracts.contains_key(*name));
        let owners = unreleased.filter_map(|name| Some((name.clone(), view.owner(name)?.clone()))).collect();
        Self {
            info: view.info.clone(),
            offers: open_offers(&contracts, &view.transfers),
            contracts,
            versions,
            owners,
            bindings: view.bindings.clone(),
            sources: view.sources.clone(),
            conflicts: view.conflicts.clone(),
            damage: view.damage.clone(),
        }
    }
}

/// Replaces an entry by the one of a part, or removes it if the part has none.
fn replace<T>(entries: &mut BTreeMap<ContractName, T>, part: &mut BTreeMap<ContractName, T>, name: &ContractName) {
    match part.remove(name) {
        Some(entry) => drop(entries.insert(name.clone(), entry)),
        None => drop(entries.remove(name)),
    }
}

/// Returns the repositories that contracts are offered to by their current owners.
pub fn open_offers(
    contracts: &BTreeMap<ContractName, ContractSummary>,
    transfers: &BTreeMap<ContractName, Transfers>,
) -> BTreeMap<ContractName, RepoName> {
    let offer = |(name, record): (&ContractName, &Transfers)| {
        Some((name.clone(), record.offered(&contracts.get(name)?.owner)?.clone()))
    };
    transfers.iter().filter_map(offer).collect()
}

impl DomainSummary {
    /// Returns the summary with this damage besides its own, each file once.
    #[must_use]
    pub fn with_damage<'a>(&self, damage: impl Iterator<Item = &'a Damage>) -> Cow<'_, Self> {
        let mut known: BTreeSet<_> = self.damage.iter().map(|damage| &damage.file).collect();
        let further: Vec<_> = damage.filter(|damage| known.insert(&damage.file)).cloned().collect();
        if further.is_empty() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self { damage: [&*self.damage, &further].concat(), ..self.clone() })
    }

    /// Returns the summary once a part of the domain, which was `before`, is as `after`.
    #[must_use]
    pub fn with_part(&self, before: &DomainView, after: &DomainView) -> Self {
        let mut part = Self::from(after);
        let differs = |name: &ContractName| {
            before.contracts.get(name) != after.contracts.get(name)
                || before.versions.get(name) != after.versions.get(name)
        };
        let names = [before, after].into_iter().flat_map(|view| view.contracts.keys().chain(view.versions.keys()));
        let changed: BTreeSet<_> = names.filter(|name| differs(name)).collect();
        let mut summary = self.clone();
        for name in changed {
            replace(&mut summary.contracts, &mut part.contracts, name);
            replace(&mut summary.versions, &mut part.versions, name);
            replace(&mut summary.owners, &mut part.owners, name);
        }
        summary.offers = open_offers(&summary.contracts, &after.transfers);
        // Without the versions of all contracts, only the imports of changed bindings are complete in a part.
        summary.bindings.retain(|repo, _| after.bindings.contains_key(repo));
        let changed = after.bindings.iter().filter(|(repo, binding)| before.bindings.get(*repo) != Some(*binding));
        summary.bindings.extend(changed.map(|(repo, binding)| (repo.clone(), binding.clone())));
        Self { info: part.info, sources: part.sources, conflicts: part.conflicts, ..summary }
    }

    /// Returns the repositories involved in the domain: its members, and others that have a binding in it or published
    /// into it.
    pub fn repos(&self) -> BTreeSet<&RepoName> {
        self.info.members.iter().chain(self.bindings.keys()).chain(self.sources.keys()).collect()
    }

    /// Returns whether `repo` is a member or has a binding.
    pub fn takes_part(&self, repo: &RepoName) -> bool {
        self.info.has_member(repo) || self.bindings.contains_key(repo)
    }

    /// Returns the contracts of a repository that are not retired.
    pub fn served_by(&self, repo: &RepoName) -> impl Iterator<Item = &ContractName> {
        self.contracts.iter().filter(move |(_, one)| one.owner == *repo && one.retired.is_none()).map(|(name, _)| name)
    }

    /// Returns whether the owner of a contract left the domain, so that nobody can change or retire the contract.
    pub fn is_orphaned(&self, contract: &ContractName) -> bool {
        self.contracts.get(contract).is_some_and(|one| one.retired.is_none() && !self.takes_part(&one.owner))
    }

    /// Returns whether an import needs attention although it holds, because of its contract.
    pub fn is_discouraged(&self, import: &Import) -> bool {
        self.contracts.get(&import.contract).is_some_and(|one| one.is_discouraged_for(import))
            || self.is_orphaned(&import.contract)
    }

    /// Returns the repositories that are behind, sorted: those that published into the domain but have no binding in
    /// it, and those whose code is adapted to a version of a contract that is not the current one.
    pub fn behind(&self) -> Vec<RepoName> {
        let is_other = |import: &Import| {
            let current = self.contracts.get(&import.contract).map(|contract| &contract.version);
            import.adapted().is_some_and(|version| Some(version) != current)
        };
        let is_behind = |repo: &RepoName| self.bindings.get(repo).is_some_and(|own| own.imports.iter().any(is_other));
        let named = self.repos().into_iter().filter(|repo| !self.takes_part(repo) || is_behind(repo));
        named.cloned().collect()
    }

    /// Returns whether the file that should hold `contract` could not be read.
    pub fn is_damaged(&self, contract: &ContractName) -> bool {
        self.damage.iter().any(|damage| damage.subject.is_contract(contract))
    }

    /// Returns the repository that owns `contract`, even if there are only pre-releases.
    pub fn owner(&self, contract: &ContractName) -> Option<&RepoName> {
        self.contracts.get(contract).map(|contract| &contract.owner).or_else(|| self.owners.get(contract))
    }

    /// Returns the names of its contracts, sorted, including those without a current version and those that cannot be
    /// read.
    pub fn contract_names(&self) -> BTreeSet<&ContractName> {
        let damaged = self.damage.iter().filter_map(|damage| match &damage.subject {
            Subject::Contract(name) => Some(name),
            _ => None,
        });
        self.contracts.keys().chain(self.versions.keys()).chain(damaged).collect()
    }

    /// Returns whether a name is one of the [`Self::contract_names`].
    pub fn has_contract(&self, name: &ContractName) -> bool {
        self.contracts.contains_key(name) || self.versions.contains_key(name) || self.is_damaged(name)
    }

    /// Returns the contract that replaces a deprecated one.
    pub fn successor<'a>(&'a self, name: &'a ContractName) -> Option<Successor<'a>> {
        let state = |name: &ContractName| {
            self.contracts.get(name).map(|contract| (contract.deprecated.as_ref(), contract.retired.is_some()))
        };
        let first = state(name)?.0?.replaced_by.as_ref()?;
        Some(Successor::of(name, first, state))
    }

    /// Returns the unresolved conflicts.
    pub fn open_conflicts(&self) -> Vec<Conflict> {
        self.conflicts.open(|name, version| {
            self.contracts.get(name).is_some_and(|contract| contract.yanked_reason(version).is_some())
        })
    }

    /// Returns the imports of `contract` with their repositories.
    pub fn importers<'a>(&'a self, contract: &'a ContractName) -> impl Iterator<Item = (&'a RepoName, &'a Import)> {
        self.bindings.iter().filter_map(|(repo, binding)| Some((repo, binding.import(contract)?)))
    }

    /// Returns the importers of every imported contract, in the order of [`Self::importers`], for callers that need
    /// those of all contracts.
    pub fn all_importers(&self) -> BTreeMap<&ContractName, Vec<(&RepoName, &Import)>> {
        let mut all: BTreeMap<_, Vec<(&RepoName, &Import)>> = BTreeMap::new();
        for (repo, binding) in &self.bindings {
            for import in &binding.imports {
                let importers = all.entry(&import.contract).or_default();
                // Only the first import of a contract counts.
                if importers.last().is_none_or(|(last, _)| *last != repo) {
                    importers.push((repo, import));
                }
            }
        }
        all
    }

    /// Returns the state of `import` in the current domain.
    pub fn resolve_import(&self, import: &Import) -> ImportResolution {
        let available = self.contracts.get(&import.contract).map(ContractSummary::available);
        if available.is_none() && self.is_damaged(&import.contract) {
            return ImportResolution::Unreadable;
        }
        ImportResolution::of(import, available, self.versions.get(&import.contract))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        binding::{Role, UsedIn},
        name::RepoName,
    };

    fn view(members: &[RepoName]) -> DomainView {
        let (name, members) = ("s3".parse().unwrap(), members.iter().cloned().collect());
        DomainView::new(Domain { name, description: String::new(), members, removed: false })
    }

    fn contract(name: &str, supported: &[&str]) -> Contract {
        let supported = supported.iter().map(|range| range.parse().unwrap()).collect();
        let contract = Contract::new(name.parse().unwrap(), "fungal".parse().unwrap());
        Contract { version: "2.0.0".parse().unwrap(), supported, ..contract }
    }

    #[test]
    fn resolve_import_is_the_same_as_in_the_whole_domain() {
        let mut view = view(&["fungal".parse().unwrap()]);
        let versions: BTreeSet<Version> = ["1.0.0", "2.0.0"].map(|version| version.parse().unwrap()).into();
        for one in [contract("served", &[">=1.0.0"]), contract("dropped", &[])] {
            view.versions.insert(one.name.clone(), versions.clone());
            view.contracts.insert(one.name.clone(), one);
        }
        view.versions.insert("draft".parse().unwrap(), ["0.1.0-rc.1".parse().unwrap()].into());
        let summary = DomainSummary::from(&view);
        for (name, range) in [("served", "<2.0.0"), ("served", ">=2.0.0"), ("dropped", "<2.0.0"), ("draft", ">=0.1.0")]
        {
            let import = Import::new(name.parse().unwrap(), range.parse().unwrap(), UsedIn::default());
            assert_eq!(summary.resolve_import(&import), view.resolve_import(&import), "{name} {range}");
        }
        assert_eq!(summary.versions.keys().map(ToString::to_string).collect::<Vec<_>>(), ["draft", "served"]);
    }

    #[test]
    fn changed_part_is_summarized_like_the_whole_domain() {
        let versions = |versions: &[&str]| versions.iter().map(|version| version.parse().unwrap()).collect();
        let [changed, other, dropped, draft]: [ContractName; 4] =
            ["changed", "other", "dropped", "draft"].map(|name| name.parse().unwrap());
        let binding = |range: &str| {
            let import = Import::new("changed".parse().unwrap(), range.parse().unwrap(), UsedIn::default());
            Binding { role: Role::Consumer, exports: vec![], imports: vec![import] }
        };
        let [first, second, third]: [RepoName; 3] = ["first", "second", "third"].map(|name| name.parse().unwrap());
        let mut before = view(&["fungal".parse().unwrap()]);
        for name in [&changed, &other, &dropped] {
            before.contracts.insert(name.clone(), contract(name.as_str(), &[">=1.0.0"]));
            before.versions.insert(name.clone(), versions(&["1.0.0", "2.0.0"]));
        }
        before.versions.insert(draft.clone(), versions(&["0.1.0-rc.1"]));
        before.bindings = [(first.clone(), binding("^1.0.0")), (second.clone(), binding("^2.0.0"))].into();
        let mut after = before.clone();
        let released = |name: &str| Contract { version: "3.0.0".parse().unwrap(), ..contract(name, &[]) };
        after.contracts.insert(changed.clone(), released("changed"));
        after.contracts.insert(draft.clone(), released("draft"));
        after.contracts.remove(&dropped);
        after.versions.get_mut(&draft).unwrap().insert("3.0.0".parse().unwrap());
        after.bindings = [(second, binding("^3.0.0")), (third, binding("^3.0.0"))].into();
        let part = |view: &DomainView| {
            let mut part = view.clone();
            part.contracts.remove(&other);
            part.versions.get_mut(&other).unwrap().clear();
            part
        };
        let summary = DomainSummary::from(&before).with_part(&part(&before), &part(&after));
        assert_eq!(summary, DomainSummary::from(&after));
        assert_eq!(summary.versions.keys().collect::<Vec<_>>(), [&dropped, &other]);
    }

    #[test]
    fn all_importers_agrees_with_importers() {
        let mut view = view(&[]);
        let import =
            |name: &str, range: &str| Import::new(name.parse().unwrap(), range.parse().unwrap(), UsedIn::default());
        for (repo, imports) in [
            ("b", vec![import("x", "^1.0.0"), import("y", "^1.0.0")]),
            ("a", vec![import("x", "^1.0.0"), import("x", "^2.0.0")]),
            ("c", vec![]),
        ] {
            let binding = Binding { role: Role::Consumer, exports: vec![], imports };
            view.bindings.insert(repo.parse().unwrap(), binding);
        }
        let summary = DomainSummary::from(&view);
        let all = summary.all_importers();
        assert_eq!(all.keys().map(|name| name.as_str()).collect::<Vec<_>>(), ["x", "y"]);
        for (name, importers) in &all {
            assert_eq!(*importers, summary.importers(name).collect::<Vec<_>>(), "{name}");
        }
    }

    #[test]
    fn takes_part_by_membership_or_binding() {
        let [member, bound, source]: [RepoName; 3] = ["member", "bound", "source"].map(|name| name.parse().unwrap());
        let mut view = view(std::slice::from_ref(&member));
        view.bindings.insert(bound.clone(), Binding { role: Role::Consumer, exports: vec![], imports: vec![] });
        let commit = crate::model::oid::Oid::from_bytes(&[1; 20]).unwrap();
        view.sources.insert(source.clone(), Source::of(commit));
        let summary = DomainSummary::from(&view);
        assert_eq!(summary.repos(), [&bound, &member, &source].into());
        assert_eq!([&member, &bound, &source].map(|repo| summary.takes_part(repo)), [true, true, false]);
    }
}
