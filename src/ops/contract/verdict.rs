//! Computes what contract versions mean for their importers, by reading and comparing the documents.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use crate::{
    error::OpError,
    model::{
        binding::{Binding, Import},
        candidate::Candidate,
        content_cache::{ContentCache, decoded_size},
        contract::Contract,
        domain_summary::DomainSummary,
        domain_view::{AvailableVersions, DomainView, ImportResolution},
        name::{ContractName, DomainName, RepoName},
        oid::Oid,
        verdict::{ImportState, Judge, Outcome, States, UnreadableDocument, needed_versions, of_documents},
        version::Version,
    },
    ops::progress::cancelled,
    store::{
        Store, codec,
        read::{self, Published},
        unless_damaged,
    },
};

/// The changed files that are about to be applied to a domain.
#[derive(Debug, Clone, Default)]
pub struct Upcoming<'a> {
    /// Contracts by name.
    pub contracts: BTreeMap<&'a ContractName, &'a Contract>,
    /// Bindings.
    pub bindings: Vec<&'a Binding>,
}

impl<'a> Upcoming<'a> {
    /// Returns the changed files of candidates.
    pub fn of(candidates: impl IntoIterator<Item = &'a Candidate>, domain: &'a DomainName) -> Self {
        let mut found = Self::default();
        for candidate in candidates {
            let contracts = candidate.contracts_in(domain).filter(|(_, declared)| declared.changed);
            found.contracts.extend(contracts.map(|(name, declared)| (name, &declared.document)));
            let binding = candidate.bindings.get(domain).filter(|declared| declared.changed);
            found.bindings.extend(binding.map(|declared| &declared.document));
        }
        found
    }

    /// Returns the versions whose documents decide the state of an import, now or once the files are applied.
    fn needed(&self, view: &DomainView, import: &Import) -> Vec<Version> {
        let served = self.contracts.get(&import.contract).and_then(|contract| {
            AvailableVersions::of(contract).newest_served(import, view.versions.get(&import.contract))
        });
        let resolution = view.resolve_import(import);
        let needed = needed_versions(import, &resolution).into_iter();
        let first = || import.first_of(view.versions.get(&import.contract)?);
        needed.chain(import.adapted().or_else(first)).chain(served).cloned().collect()
    }
}

/// Reads the documents that decide the state of the imports in a domain, also once `upcoming` files are applied: the
/// versions that the importers' code is adapted to, and the versions that they get. With `only`, reads only those of
/// these contracts.
///
/// # Errors
/// Returns an error if a tree cannot be read.
pub fn load_bases(
    store: &dyn Store,
    view: &mut DomainView,
    tree: &Oid,
    only: Option<&BTreeSet<ContractName>>,
    upcoming: &Upcoming<'_>,
) -> Result<(), OpError> {
    let mut wanted = BTreeSet::new();
    let bindings = view.bindings.values().chain(upcoming.bindings.iter().copied());
    for import in bindings.flat_map(|binding| &binding.imports).chain(view.former_imports.values().flatten()) {
        if only.is_some_and(|only| !only.contains(&import.contract)) {
            continue;
        }
        let current = view.contracts.get(&import.contract).map(|current| &current.version);
        let missing = upcoming.needed(view, import).into_iter().filter(|version| current != Some(version));
        wanted.extend(missing.map(|version| (import.contract.clone(), version)));
    }
    Ok(read::load_versions(store, view, tree, &wanted.into_iter().collect::<Vec<_>>())?)
}

/// Reads and compares the documents of a domain, each only once as long as it is cached.
pub struct Documents<'a> {
    store: &'a dyn Store,
    tree: &'a Oid,
    published: Published<'a>,
    known: ContentCache<Oid, Document>,
}

/// The size limit of the documents that are kept for further importers, in bytes. A binding may import thousands of contracts,
/// but only those with several importers are needed again.
const DOCUMENTS_SIZE: usize = 2 << 20;
/// The approximate size of an import's state in memory, in bytes.
const STATE_WEIGHT: usize = 1 << 10;

/// The states of the imports that were judged last, by domain tree, importer and contract. These determine a state,
/// unless its verdict is unknown.
static STATES: ContentCache<(Oid, RepoName, ContractName), ImportState> = ContentCache::new(4 << 20);

/// A document; `None` if it cannot be read.
type Document = Option<Rc<Contract>>;

impl<'a> Documents<'a> {
    /// Creates a reader of the domain with this tree.
    pub fn of(store: &'a dyn Store, tree: &'a Oid) -> Self {
        Self { store, tree, published: Published::in_tree(store, tree), known: ContentCache::new(DOCUMENTS_SIZE) }
    }

    /// Returns the state of a repository's import. If a document cannot be read, there is no verdict; `check` reports
    /// the document.
    ///
    /// # Errors
    /// Returns an error if a tree cannot be read, or the request is cancelled.
    pub fn state(
        &self,
        domain: &DomainSummary,
        (repo, import): (&RepoName, &Import),
        judge: &Judge<'_>,
    ) -> Result<ImportState, OpError> {
        if judge.values().is_cancelled() {
            return Err(cancelled());
        }
        let resolution = domain.resolve_import(import);
        if !self.store.caches_in_memory() || needed_versions(import, &resolution).is_empty() {
            return Ok(self.judged(resolution, import, judge)?.0);
        }
        let key = (*self.tree, repo.clone(), import.contract.clone());
        if let Some(held) = STATES.get(&key) {
            return Ok(held);
        }
        let (state, is_whole) = self.judged(resolution, import, judge)?;
        // An undecided comparison may succeed with more time, and an unreadable document may become readable.
        if is_whole && state.verdict.as_ref().is_none_or(|verdict| verdict.verdict != Outcome::Unknown) {
            STATES.put(key, state.clone(), STATE_WEIGHT);
        }
        Ok(state)
    }

    /// Returns the state of an import of a version whose content was changed: `former` is the document before.
    ///
    /// # Errors
    /// Returns an error if a tree cannot be read.
    pub fn since(
        &self,
        former: Oid,
        state: ImportState,
        import: &Import,
        judge: &Judge<'_>,
    ) -> Result<ImportState, OpError> {
        let resolved = state.resolution.resolved();
        let id = resolved.map(|version| self.published.document(&import.contract, version)).transpose()?.flatten();
        let current = id.map(|id| self.document(id)).transpose()?.flatten();
        Ok(match (self.document(former)?, current) {
            (Some(old), Some(new)) => ImportState { verdict: of_documents(import, Some(&old), &new, judge), ..state },
            _ => state,
        })
    }

    /// Returns the state that an import had when its contract was the document `former`. Returns `None` if that cannot be
    /// read.
    ///
    /// # Errors
    /// Returns an error if a tree cannot be read.
    pub fn before(&self, former: Oid, import: &Import, judge: &Judge<'_>) -> Result<Option<ImportState>, OpError> {
        let Some(old) = self.document(former)? else { return Ok(None) };
        let served = !old.supported.is_empty();
        let published = served.then(|| self.published.of(&import.contract)).transpose()?;
        let resolution = ImportResolution::of(import, Some(AvailableVersions::of(&old)), published.as_ref());
        Ok(Some(self.judged(resolution, import, judge)?.0))
    }

    /// Returns the state of an import, and whether all documents that decide it can be read.
    fn judged(
        &self,
        resolution: ImportResolution,
        import: &Import,
        judge: &Judge<'_>,
    ) -> Result<(ImportState, bool), OpError> {
        let mut ids = BTreeMap::new();
        let needed = needed_versions(import, &resolution);
        for version in &needed {
            ids.extend(self.published.document(&import.contract, version)?.map(|id| (*version, id)));
        }
        let mut unreadable = None;
        let mut compute = || {
            let mut documents = BTreeMap::new();
            for (version, id) in &ids {
                documents.extend(self.document(*id)?.map(|document| (*version, document)));
            }
            let document = |version: &Version| match documents.get(version) {
                None if ids.contains_key(version) => Err(UnreadableDocument),
                document => Ok(document.map(|document| &**document)),
            };
            let state = ImportState::new(resolution.clone(), import, document, judge);
            unreadable = state.unreadable;
            Ok::<_, OpError>((state.verdict, documents.len() == needed.len()))
        };
        let (verdict, is_whole) = if ids.is_empty() || ids.len() < needed.len() {
            compute()?
        } else {
            judge.import_verdict(import, &ids.values().copied().collect::<Vec<_>>(), compute)?
        };
        Ok((ImportState { resolution, verdict, unreadable }, is_whole))
    }

    fn document(&self, id: Oid) -> Result<Document, OpError> {
        if let Some(known) = self.known.get(&id) {
            return Ok(known);
        }
        let bytes = unless_damaged(self.store.blob(&id))?;
        let document = codec::decode(&bytes).ok().map(Rc::new);
        self.known.put(id, document.clone(), decoded_size(bytes.len()));
        Ok(document)
    }
}

/// Returns the state of the imports in a domain; with `only`, of those of one repository.
///
/// # Errors
/// Returns an error if a tree cannot be read, or the request is cancelled.
pub fn states(
    store: &dyn Store,
    tree: &Oid,
    domain: &DomainSummary,
    only: Option<&RepoName>,
    judge: &Judge<'_>,
) -> Result<States, OpError> {
    let documents = Documents::of(store, tree);
    let mut states = States::new();
    for (repo, binding) in domain.bindings.iter().filter(|(repo, _)| only.is_none_or(|only| only == *repo)) {
        for import in &binding.imports {
            states.insert((repo.clone(), import.contract.clone()), documents.state(domain, (repo, import), judge)?);
        }
    }
    Ok(states)
}
