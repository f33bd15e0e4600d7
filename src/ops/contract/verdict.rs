//! Computes what contract versions mean for their importers, by reading and comparing the documents.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use crate::{
    error::OpError,
    model::{
        binding::Import,
        content_cache::ContentCache,
        contract::Contract,
        domain_summary::DomainSummary,
        domain_view::{DomainView, ImportResolution},
        name::{ContractName, RepoName},
        oid::Oid,
        verdict::{ImportState, Judge, Outcome, States, needed_versions},
        version::Version,
    },
    ops::progress::cancelled,
    store::{Store, layout, read},
};

/// Reads the documents that decide the state of the imports in a domain, also once a candidate takes the place of the
/// current version: the versions that the importers' code is adapted to, and the versions that they get now. With
/// `only`, reads only those of these contracts.
///
/// # Errors
/// Returns an error if a tree cannot be read.
pub fn load_bases(
    store: &dyn Store,
    view: &mut DomainView,
    tree: &Oid,
    only: Option<&BTreeSet<ContractName>>,
) -> Result<(), OpError> {
    let mut wanted = BTreeSet::new();
    let imports = view.bindings.values().flat_map(|binding| &binding.imports);
    for import in imports.filter(|import| only.is_none_or(|only| only.contains(&import.contract))) {
        let resolution = view.resolve_import(import);
        let is_current =
            |version: &Version| view.contracts.get(&import.contract).is_some_and(|current| current.version == *version);
        let needed = needed_versions(import, &resolution).into_iter().chain(import.adapted());
        let missing = needed.filter(|version| !is_current(version));
        wanted.extend(missing.map(|version| (import.contract.clone(), version.clone())));
    }
    Ok(read::load_versions(store, view, tree, &wanted.into_iter().collect::<Vec<_>>())?)
}

/// Reads and compares the documents of a domain, each at most once.
pub struct Documents<'a> {
    store: &'a dyn Store,
    tree: &'a Oid,
    known: RefCell<BTreeMap<(ContractName, Version), Document>>,
}

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
        Self { store, tree, known: RefCell::new(BTreeMap::new()) }
    }

    /// Returns the state of a repository's import. If a document cannot be read, there is no verdict; `check` reports
    /// the document.
    ///
    /// # Errors
    /// Returns an error if a tree cannot be read.
    pub fn state(
        &self,
        domain: &DomainSummary,
        (repo, import): (&RepoName, &Import),
        judge: &Judge<'_>,
    ) -> Result<ImportState, OpError> {
        let resolution = domain.resolve_import(import);
        if !self.store.holds() || needed_versions(import, &resolution).is_empty() {
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

    /// Returns the state of an import, and whether all documents that decide it were read.
    fn judged(
        &self,
        resolution: ImportResolution,
        import: &Import,
        judge: &Judge<'_>,
    ) -> Result<(ImportState, bool), OpError> {
        let (mut documents, mut is_whole) = (BTreeMap::new(), true);
        for version in needed_versions(import, &resolution) {
            match self.document(&import.contract, version)? {
                Some(document) => drop(documents.insert(version.clone(), document)),
                None => is_whole = false,
            }
        }
        let document = |version: &Version| documents.get(version).map(|document| &**document);
        Ok((ImportState::new(resolution, import, document, judge), is_whole))
    }

    fn document(&self, contract: &ContractName, version: &Version) -> Result<Document, OpError> {
        let key = (contract.clone(), version.clone());
        if let Some(known) = self.known.borrow().get(&key) {
            return Ok(known.clone());
        }
        let entry = read::lookup(self.store, self.tree, layout::version(contract, version).as_str())?;
        let document = read::readable(self.store, entry.map(|entry| entry.id))?.map(Rc::new);
        self.known.borrow_mut().insert(key, document.clone());
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
            if judge.values().is_cancelled() {
                return Err(cancelled());
            }
            states.insert((repo.clone(), import.contract.clone()), documents.state(domain, (repo, import), judge)?);
        }
    }
    Ok(states)
}
