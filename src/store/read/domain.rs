//! Reads a domain, in full or as a summary.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    decode, folder as read_folder, lookup,
    published::Published,
    reader::{Reader, begin},
};
use crate::{
    model::{
        approval::Approval,
        binding::Binding,
        conflict::Conflicts,
        contract::Contract,
        domain_summary::{ContractSummary, DomainSummary, open_offers},
        domain_view::{Damage, DomainView, Subject},
        name::{ContractName, DomainName, RepoName},
        oid::Oid,
        set_aside::SetAside,
        transfer::Transfers,
        version::Version,
    },
    store::{Entry, EntryKind, Store, StoreError, StoreRef, layout, read},
};

/// Returns a domain, or `None` if the realm has none with this name.
///
/// # Errors
/// Returns an error if the domain's ref or its `domain.json` cannot be read.
pub fn domain(store: &dyn Store, name: &DomainName) -> Result<Option<DomainView>, StoreError> {
    store.domain_tip(name)?.map(|tip| domain_at(store, name, &tip)).transpose()
}

/// Returns a domain as it was at the commit `tip`.
///
/// # Errors
/// Returns an error if its trees or its `domain.json` cannot be read.
pub fn domain_at(store: &dyn Store, name: &DomainName, tip: &Oid) -> Result<DomainView, StoreError> {
    let tree = store.commit(tip)?.tree;
    let (mut reader, info) = begin(store, name, &tree)?;
    let mut view = DomainView { commit: Some(*tip), ..DomainView::new(info) };
    let mut blobs = BTreeMap::new();
    reader.contracts(&tree, |contract, blob| {
        blobs.insert(contract.name.clone(), blob);
        view.contracts.insert(contract.name.clone(), contract);
    })?;
    for (contract, folder) in reader.version_folders(&tree)? {
        let published = reader.published(&contract, &folder)?;
        let wanted = view.contracts.get(&contract).map(|current| current.version.clone());
        // Read documents only if the current one does not represent them: a published version whose document differs,
        // and the newest version of a contract without a current one.
        if let Some((version, entry)) =
            wanted.or_else(|| published.keys().last().cloned()).and_then(|version| published.get_key_value(&version))
            && blobs.get(&contract) != Some(&entry.id)
            && let Some(document) = reader.version(&contract, entry)?
        {
            view.published.insert((contract.clone(), version.clone()), document);
        }
        view.versions.insert(contract, published.into_keys().collect());
    }
    reader.all_but_contracts(&tree, view)
}

/// Returns a domain at the commit `tip` with only the contracts in `only`, and those that replace them. The names of the
/// others are in [`DomainView::versions`]. The cost hardly grows with the number of other contracts.
///
/// # Errors
/// Returns an error if a tree on the way, or `domain.json`, cannot be read.
pub fn contracts_at(
    store: &dyn Store,
    name: &DomainName,
    tip: &Oid,
    only: &BTreeSet<ContractName>,
) -> Result<DomainView, StoreError> {
    let tree = store.commit(tip)?.tree;
    let (reader, info) = begin(store, name, &tree)?;
    let mut view = DomainView { commit: Some(*tip), ..DomainView::new(info) };
    let mut contracts = CurrentContracts::of(reader, &tree)?;
    view.versions = contracts.entries.keys().map(|contract| (contract.clone(), BTreeSet::new())).collect();
    for contract in only {
        contracts.load(&mut view, contract)?;
    }
    let mut reader = contracts.reader;
    for (contract, folder) in reader.version_folders(&tree)? {
        if only.contains(&contract) || view.contracts.contains_key(&contract) {
            reader.add_published(&mut view, &contract, &folder)?;
        } else {
            view.versions.entry(contract).or_default();
        }
    }
    reader.all_but_contracts(&tree, view)
}

/// The current contracts of a domain, of which only some are read.
pub struct CurrentContracts<'a> {
    reader: Reader<'a>,
    entries: BTreeMap<ContractName, Entry>,
}

impl<'a> CurrentContracts<'a> {
    /// Creates an accessor for the contracts in the tree of a domain.
    ///
    /// # Errors
    /// Returns an error if a tree on the way, or `domain.json`, cannot be read.
    pub fn in_tree(store: &'a dyn Store, name: &DomainName, tree: &Oid) -> Result<Self, StoreError> {
        Self::of(begin(store, name, tree)?.0, tree)
    }

    fn of(mut reader: Reader<'a>, tree: &Oid) -> Result<Self, StoreError> {
        let entries = reader.named(tree, layout::CONTRACTS)?.into_iter().collect();
        Ok(Self { reader, entries })
    }

    /// Adds a contract to a view, if there is one, and those that replace it, unless the view has them.
    ///
    /// # Errors
    /// Returns an error if reading fails. Damaged documents are not added.
    pub fn load(&mut self, view: &mut DomainView, contract: &ContractName) -> Result<(), StoreError> {
        let mut next = Some(contract.clone());
        while let Some(contract) = next.take() {
            let Some(entry) = self.entries.get(&contract).filter(|_| !view.contracts.contains_key(&contract)) else {
                break;
            };
            let Some(document) = self.reader.contract(&contract, entry)? else {
                // Its damage is recorded once.
                self.entries.remove(&contract);
                break;
            };
            next = document.deprecated.as_ref().and_then(|deprecated| deprecated.replaced_by.clone());
            view.contracts.insert(contract, document);
        }
        Ok(())
    }

    /// Returns the contracts that could not be read so far.
    pub fn into_damage(self) -> Vec<Damage> {
        self.reader.damage
    }
}

/// Returns the summary of a domain from its tree. It equals the summary of the full domain, except that damage in
/// published documents is not found, because these are not read.
///
/// # Errors
/// Returns an error if its trees or its `domain.json` cannot be read.
pub fn summary_of(store: &dyn Store, name: &DomainName, tree: &Oid) -> Result<DomainSummary, StoreError> {
    summarize(store, name, tree, None)
}

/// Returns the summary of a domain, with all damage, and gives `examine` the documents one after the other: each current
/// one, the one that was published under its version if that differs, and the published versions.
///
/// # Errors
/// Returns an error if its trees or its `domain.json` cannot be read.
pub fn summary_with(
    store: &dyn Store,
    name: &DomainName,
    tree: &Oid,
    mut examine: impl FnMut(&Contract, Option<&Contract>, &BTreeSet<Version>),
) -> Result<DomainSummary, StoreError> {
    summarize(store, name, tree, Some(&mut examine))
}

/// Takes a document, the one that was published under its version if that differs, and the published versions.
type Examine<'e> = &'e mut dyn FnMut(&Contract, Option<&Contract>, &BTreeSet<Version>);

fn summarize(
    store: &dyn Store,
    name: &DomainName,
    tree: &Oid,
    mut examine: Option<Examine<'_>>,
) -> Result<DomainSummary, StoreError> {
    let (mut reader, info) = begin(store, name, tree)?;
    let mut bindings = reader.bindings(tree)?;
    let early: BTreeSet<_> = bindings.values().flat_map(Binding::early).cloned().collect();
    let mut folders: BTreeMap<_, _> = reader.version_folders(tree)?.into_iter().collect();
    let (mut contracts, mut versions, mut early_versions) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (contract, entry) in reader.named::<ContractName>(tree, layout::CONTRACTS)? {
        let Some(document) = reader.contract(&contract, &entry)? else { continue };
        let (folder, summary) = (folders.remove(&contract), ContractSummary::from(&document));
        let (is_early, is_needed) = (early.contains(&contract), summary.needs_versions());
        contracts.insert(contract.clone(), summary);
        if !is_early && !is_needed && examine.is_none() {
            continue;
        }
        let published = folder.as_ref().map(|folder| reader.published(&contract, folder)).transpose()?;
        let published = published.unwrap_or_default();
        let other = published.get(&document.version).filter(|other| examine.is_some() && other.id != entry.id);
        let other = other.map_or(Ok(None), |other| reader.version(&contract, other))?;
        let known: BTreeSet<_> = published.into_keys().collect();
        if let Some(examine) = &mut examine {
            examine(&document, other.as_ref(), &known);
        }
        if folder.is_some() {
            early_versions.extend(is_early.then(|| (contract.clone(), known.clone())));
            versions.extend(is_needed.then_some((contract, known)));
        }
    }
    let (transfers, mut owners) = (reader.transfers(tree)?, BTreeMap::new());
    // Those without a current document.
    for (contract, folder) in folders {
        let published = reader.published(&contract, &folder)?;
        if let Some((_, newest)) = published.last_key_value()
            && let Some(document) = reader.version(&contract, newest)?
        {
            let owner = transfers.get(&contract).map(|transfers| transfers.owner(&document.owner).clone());
            owners.insert(contract.clone(), owner.unwrap_or(document.owner));
        }
        let known: BTreeSet<_> = published.into_keys().collect();
        early_versions.extend(early.contains(&contract).then(|| (contract.clone(), known.clone())));
        versions.insert(contract, known);
    }
    bindings.values_mut().for_each(|binding| binding.adapt_early(&early_versions));
    let sources = reader.all(tree, layout::SOURCES, |repo: &RepoName| Subject::Source(repo.clone()))?;
    let conflicts = conflicts_in(store, tree)?;
    let offers = open_offers(&contracts, &transfers);
    Ok(DomainSummary { info, contracts, versions, owners, offers, bindings, sources, conflicts, damage: reader.damage })
}

/// Reads the published document of one version into the view, if there is one.
///
/// # Errors
/// Returns an error if a tree on the way cannot be read. A damaged document is recorded in the view.
pub fn load_version(
    store: &dyn Store,
    view: &mut DomainView,
    tree: &Oid,
    name: &ContractName,
    version: &Version,
) -> Result<(), StoreError> {
    let path = layout::version(name, version);
    match lookup(store, tree, path.as_str())? {
        Some(entry) => load_document(store, view, tree, (name, version), &entry),
        None => Ok(()),
    }
}

/// Reads the published documents of these versions into the view, like [`load_version`].
///
/// # Errors
/// Returns an error if a tree on the way cannot be read. A damaged document is recorded in the view.
pub fn load_versions(
    store: &dyn Store,
    view: &mut DomainView,
    tree: &Oid,
    wanted: &[(ContractName, Version)],
) -> Result<(), StoreError> {
    let published = Published::in_tree(store, tree);
    for (name, version) in wanted {
        if let Some(entry) = published.entry(name, version)? {
            load_document(store, view, tree, (name, version), &entry)?;
        }
    }
    Ok(())
}

fn load_document(
    store: &dyn Store,
    view: &mut DomainView,
    tree: &Oid,
    (name, version): (&ContractName, &Version),
    entry: &Entry,
) -> Result<(), StoreError> {
    let key = (name.clone(), version.clone());
    if view.published.contains_key(&key) {
        return Ok(());
    }
    // A schema may take 100 MB: do not read it twice.
    if let Some(current) = view.contracts.get(name).filter(|current| current.version == *version)
        && lookup(store, tree, layout::contract(name).as_str())?.is_some_and(|current| current.id == entry.id)
    {
        view.published.insert(key, current.clone());
        return Ok(());
    }
    match decode::<Contract>(store, entry)? {
        Ok(contract) => {
            view.published.insert(key, contract);
        }
        Err(problem) => view.damage.push(Damage {
            file: format!("{}:{}", StoreRef::Domain(view.info.name.clone()), layout::version(name, version)),
            subject: Subject::Contract(name.clone()),
            problem,
        }),
    }
    Ok(())
}

impl Reader<'_> {
    /// Completes a view that has its contracts. The damage found so far is part of it.
    fn all_but_contracts(mut self, tree: &Oid, view: DomainView) -> Result<DomainView, StoreError> {
        let mut bindings = self.bindings(tree)?;
        bindings.values_mut().for_each(|binding| binding.adapt_early(&view.versions));
        Ok(DomainView {
            bindings,
            sources: self.all(tree, layout::SOURCES, |repo: &RepoName| Subject::Source(repo.clone()))?,
            transfers: self.transfers(tree)?,
            approvals: self.approvals(tree)?,
            conflicts: conflicts_in(self.store, tree)?,
            damage: self.damage,
            ..view
        })
    }

    /// Returns the bindings.
    fn bindings(&mut self, tree: &Oid) -> Result<BTreeMap<RepoName, Binding>, StoreError> {
        self.all(tree, layout::BINDINGS, |repo: &RepoName| Subject::Binding(repo.clone()))
    }

    /// Reads the current documents, with the ids of their blobs.
    fn contracts(&mut self, tree: &Oid, mut take: impl FnMut(Contract, Oid)) -> Result<(), StoreError> {
        for (name, entry) in self.named::<ContractName>(tree, layout::CONTRACTS)? {
            if let Some(contract) = self.contract(&name, &entry)? {
                take(contract, entry.id);
            }
        }
        Ok(())
    }

    /// Reads one current document.
    pub(super) fn contract(&mut self, name: &ContractName, entry: &Entry) -> Result<Option<Contract>, StoreError> {
        let subject = Subject::Contract(name.clone());
        let found = self.document::<Contract>(layout::CONTRACTS, entry, subject.clone())?;
        if let Some(other) = found.as_ref().map(|contract| &contract.name).filter(|other| *other != name) {
            self.damaged(layout::CONTRACTS, entry, subject, format!("it names {other}"));
            return Ok(None);
        }
        Ok(found)
    }

    /// Returns the folders of published documents.
    fn version_folders(&mut self, tree: &Oid) -> Result<Vec<(ContractName, Entry)>, StoreError> {
        let mut folders = Vec::new();
        for entry in self.folder(tree, layout::VERSIONS)? {
            match entry.name.parse::<ContractName>() {
                Err(_) => {
                    let problem = "its name is not a contract name".into();
                    self.damaged(layout::VERSIONS, &entry, Subject::Other, problem);
                }
                Ok(name) if self.is_folder(&name, &entry) => folders.push((name, entry)),
                Ok(_) => {}
            }
        }
        Ok(folders)
    }

    /// Returns whether the entry for a contract's published documents is a folder.
    pub(super) fn is_folder(&mut self, contract: &ContractName, entry: &Entry) -> bool {
        let is_folder = entry.kind == EntryKind::Tree;
        if !is_folder {
            let subject = Subject::Contract(contract.clone());
            self.damaged(layout::VERSIONS, entry, subject, "it is not a directory".into());
        }
        is_folder
    }

    /// Returns the published versions of a contract, and their documents.
    fn published(&mut self, contract: &ContractName, folder: &Entry) -> Result<BTreeMap<Version, Entry>, StoreError> {
        let mut published = BTreeMap::new();
        for entry in self.store.entries(&folder.id)? {
            match layout::stem::<Version>(&entry.name) {
                Some(version) => drop(published.insert(version, entry)),
                None => {
                    let within = layout::versions(contract);
                    self.damaged(within.as_str(), &entry, Subject::Other, "its name is not VERSION.json".into());
                }
            }
        }
        Ok(published)
    }

    /// Adds the published versions of a contract to a view, and the document of the newest one if there is no current
    /// document.
    pub(super) fn add_published(
        &mut self,
        view: &mut DomainView,
        contract: &ContractName,
        folder: &Entry,
    ) -> Result<(), StoreError> {
        let published = self.published(contract, folder)?;
        if let (None, Some((version, newest))) = (view.contracts.get(contract), published.last_key_value())
            && let Some(document) = self.version(contract, newest)?
        {
            view.published.insert((contract.clone(), version.clone()), document);
        }
        view.versions.insert(contract.clone(), published.into_keys().collect());
        Ok(())
    }

    /// Reads one published document.
    fn version(&mut self, contract: &ContractName, entry: &Entry) -> Result<Option<Contract>, StoreError> {
        self.document(layout::versions(contract).as_str(), entry, Subject::Contract(contract.clone()))
    }

    /// Returns the transfers of contracts to other owners.
    fn transfers(&mut self, tree: &Oid) -> Result<BTreeMap<ContractName, Transfers>, StoreError> {
        self.all(tree, layout::TRANSFERS, |name: &ContractName| Subject::Transfers(name.clone()))
    }

    /// Returns the approvals of breaking changes, by contract.
    fn approvals(&mut self, tree: &Oid) -> Result<BTreeMap<ContractName, Vec<Approval>>, StoreError> {
        let mut all: BTreeMap<_, Vec<Approval>> = BTreeMap::new();
        for folder in self.folder(tree, layout::APPROVALS)?.into_iter().filter(|entry| entry.kind == EntryKind::Tree) {
            let Ok(name) = folder.name.parse::<ContractName>() else { continue };
            let within = format!("{}/{name}", layout::APPROVALS);
            for entry in self.store.entries(&folder.id)? {
                all.entry(name.clone()).or_default().extend(self.document(&within, &entry, Subject::Other)?);
            }
        }
        Ok(all)
    }
}

/// Returns the conflicts in the tree of a domain. The losing documents are not read.
///
/// # Errors
/// Returns an error if a tree cannot be read.
pub fn conflicts_in(store: &dyn Store, tree: &Oid) -> Result<Conflicts, StoreError> {
    let mut conflicts = Conflicts::default();
    let found = lookup(store, tree, layout::CONFLICTS)?;
    let Some(folder) = found.filter(|entry| entry.kind == EntryKind::Tree) else {
        return Ok(conflicts);
    };
    let folders = |tree: &Oid, name: &str| -> Result<Vec<Entry>, StoreError> {
        let entries = read_folder(store, tree, name)?;
        Ok(entries.into_iter().filter(|entry| entry.kind == EntryKind::Tree).collect())
    };
    for entry in folders(&folder.id, layout::CONTRACTS)? {
        let Ok(name) = entry.name.parse::<ContractName>() else { continue };
        let versions = store.entries(&entry.id)?;
        let versions = versions.iter().filter_map(|entry| entry.name.parse::<Version>().ok());
        conflicts.contracts.entry(name).or_default().extend(versions);
    }
    let repos = folders(&folder.id, layout::BINDINGS)?;
    let records = read::set_aside_in(store, tree)?;
    conflicts.set_aside = records.into_values().filter(SetAside::is_open).collect();
    conflicts.bindings = repos.iter().filter_map(|entry| entry.name.parse().ok()).collect();
    Ok(conflicts)
}
