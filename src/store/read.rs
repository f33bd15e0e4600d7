//! Reading a realm into views: every stored file that cannot be read becomes damage with its name,
//! and hides no other.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;

use super::{Entry, EntryKind, Objects, Store, StoreError, StoreRef, TreePath, codec, layout};
use crate::model::{
    contract::Contract,
    domain::Domain,
    name::{ContractName, DomainName, RepoName},
    oid::Oid,
    realm::{self, Realm},
    version::Version,
    view::{Damage, DomainView, RealmView, Subject},
};

/// Returns the entry at `path` below the tree `root`, or `None` where there is none.
///
/// # Errors
/// Where a tree on the way cannot be read.
pub fn lookup<O: Objects + ?Sized>(store: &O, root: &Oid, path: &str) -> Result<Option<Entry>, StoreError> {
    let mut found = Entry { name: String::new(), kind: EntryKind::Tree, id: *root };
    for part in path.split('/') {
        if found.kind != EntryKind::Tree {
            return Ok(None);
        }
        match store.entries(&found.id)?.into_iter().find(|entry| entry.name == part) {
            Some(entry) => found = entry,
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// Returns the entries of the folder at `path` below the tree `root`; none where there is no such folder.
///
/// # Errors
/// Where a tree on the way cannot be read.
pub fn folder<O: Objects + ?Sized>(store: &O, root: &Oid, path: &str) -> Result<Vec<Entry>, StoreError> {
    match lookup(store, root, path)? {
        Some(entry) if entry.kind == EntryKind::Tree => store.entries(&entry.id),
        _ => Ok(Vec::new()),
    }
}

/// Returns the document at `path` below the tree `root`, or `None` where there is none.
///
/// # Errors
/// [`StoreError::Damaged`] that names the file as `<within>:<path>`.
pub fn file<T: DeserializeOwned>(
    store: &dyn Store,
    within: &StoreRef,
    root: &Oid,
    path: &TreePath,
) -> Result<Option<T>, StoreError> {
    match lookup(store, root, path.as_str())? {
        None => Ok(None),
        Some(entry) => decode(store, &entry)?
            .map(Some)
            .map_err(|problem| StoreError::Damaged { what: format!("{within}:{path}"), problem }),
    }
}

/// Returns the document, or what is wrong with what is stored.
pub(super) fn decode<T: DeserializeOwned>(store: &dyn Store, entry: &Entry) -> Result<Result<T, String>, StoreError> {
    if entry.kind != EntryKind::Blob {
        return Ok(Err("it is not a file".into()));
    }
    match store.blob(&entry.id) {
        Ok(bytes) => Ok(codec::decode(&bytes).map_err(|problem| problem.to_string())),
        Err(error) if error.is_damage() => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}

/// Returns what `realm.json` says.
///
/// # Errors
/// [`StoreError::NewerFormat`]; [`StoreError::NotAStore`]-like damage where there is none.
pub fn realm(store: &dyn Store) -> Result<Realm, StoreError> {
    let at = StoreRef::Realm;
    let damaged = |problem: &str| StoreError::Damaged { what: at.to_string(), problem: problem.into() };
    let tip = store.tip(&at)?.ok_or_else(|| damaged("the ref does not exist"))?;
    let tree = store.commit(&tip)?.tree;
    // The format is read first: the rest may have a form that only a newer program knows.
    #[derive(serde::Deserialize)]
    struct Format {
        format: u32,
    }
    let Format { format } =
        file(store, &at, &tree, &layout::realm())?.ok_or_else(|| damaged("there is no realm.json"))?;
    if format > realm::FORMAT {
        return Err(StoreError::NewerFormat { found: format, known: realm::FORMAT });
    }
    file(store, &at, &tree, &layout::realm())?.ok_or_else(|| damaged("there is no realm.json"))
}

/// Returns the realm with everything in it.
///
/// # Errors
/// Where the realm itself, or its list of domains, cannot be read.
pub fn view(store: &dyn Store) -> Result<RealmView, StoreError> {
    let mut view = repos(store)?;
    view.damage.extend(store.broken_refs()?.into_iter().map(|problem| Damage {
        file: layout::DOMAINS.to_owned(),
        subject: Subject::Other,
        problem,
    }));
    for (name, tip) in store.domains()? {
        match domain_at(store, &name, &tip) {
            Ok(domain) => {
                view.domains.insert(name, domain);
            }
            Err(error) if error.is_damage() => view.damage.push(Damage {
                file: StoreRef::Domain(name).to_string(),
                subject: Subject::Other,
                problem: error.to_string(),
            }),
            Err(error) => return Err(error),
        }
    }
    Ok(view)
}

/// Returns the realm with its repositories alone.
///
/// # Errors
/// Where the realm itself cannot be read.
pub fn repos(store: &dyn Store) -> Result<RealmView, StoreError> {
    let mut view = RealmView::default();
    let Some(tip) = store.tip(&StoreRef::Realm)? else {
        return Ok(view);
    };
    let tree = store.commit(&tip)?.tree;
    let mut reader = Reader { store, within: StoreRef::Realm, damage: Vec::new() };
    for (name, entry) in reader.named::<RepoName>(&tree, layout::REPOS)? {
        if let Some(repo) = reader.document(layout::REPOS, &entry, Subject::Other)? {
            view.repos.insert(name, repo);
        }
    }
    view.damage = reader.damage;
    Ok(view)
}

/// Returns one domain, or `None` where the realm has none of that name.
///
/// # Errors
/// Where the domain's ref or its `domain.json` cannot be read.
pub fn domain(store: &dyn Store, name: &DomainName) -> Result<Option<DomainView>, StoreError> {
    store.tip(&StoreRef::Domain(name.clone()))?.map(|tip| domain_at(store, name, &tip)).transpose()
}

/// Returns whether a repository takes part in a domain as it was at the commit `tip`, without
/// reading the rest of it.
///
/// # Errors
/// Where the domain's trees or its `domain.json` cannot be read.
pub fn takes_part(store: &dyn Store, name: &DomainName, tip: &Oid, repo: &RepoName) -> Result<bool, StoreError> {
    let tree = store.commit(tip)?.tree;
    let info: Option<Domain> = file(store, &StoreRef::Domain(name.clone()), &tree, &layout::domain())?;
    if info.is_some_and(|info| info.has_member(repo)) {
        return Ok(true);
    }
    Ok(lookup(store, &tree, layout::binding(repo).as_str())?.is_some())
}

/// Returns a domain as it was at the commit `tip`.
///
/// # Errors
/// Where its trees or its `domain.json` cannot be read.
pub fn domain_at(store: &dyn Store, name: &DomainName, tip: &Oid) -> Result<DomainView, StoreError> {
    let within = StoreRef::Domain(name.clone());
    let tree = store.commit(tip)?.tree;
    let info: Domain = file(store, &within, &tree, &layout::domain())?
        .ok_or_else(|| StoreError::Damaged { what: within.to_string(), problem: "there is no domain.json".into() })?;
    if info.name != *name {
        let problem = format!("domain.json names {}", info.name);
        return Err(StoreError::Damaged { what: within.to_string(), problem });
    }
    let mut view = DomainView { commit: Some(*tip), ..DomainView::new(info) };
    let mut reader = Reader { store, within, damage: Vec::new() };
    let mut blobs = BTreeMap::new();
    for (name, entry) in reader.named::<ContractName>(&tree, layout::CONTRACTS)? {
        let subject = Subject::Contract(name.clone());
        if let Some(contract) = reader.document::<Contract>(layout::CONTRACTS, &entry, subject.clone())? {
            if contract.name == name {
                blobs.insert(name.clone(), entry.id);
                view.contracts.insert(name, contract);
            } else {
                reader.damaged(layout::CONTRACTS, &entry, subject, format!("it names {}", contract.name));
            }
        }
    }
    reader.versions(&tree, &blobs, &mut view)?;
    for (repo, entry) in reader.named::<RepoName>(&tree, layout::BINDINGS)? {
        if let Some(binding) = reader.document(layout::BINDINGS, &entry, Subject::Binding(repo.clone()))? {
            view.bindings.insert(repo, binding);
        }
    }
    for (repo, entry) in reader.named::<RepoName>(&tree, layout::SOURCES)? {
        if let Some(source) = reader.document(layout::SOURCES, &entry, Subject::Source(repo.clone()))? {
            view.sources.insert(repo, source);
        }
    }
    view.damage = reader.damage;
    Ok(view)
}

/// Reads the published document of one version into the view, if there is one.
///
/// # Errors
/// Where a tree on the way cannot be read. A damaged document is recorded in the view.
pub fn load_version(
    store: &dyn Store,
    view: &mut DomainView,
    tree: &Oid,
    name: &ContractName,
    version: &Version,
) -> Result<(), StoreError> {
    let key = (name.clone(), version.clone());
    if view.published.contains_key(&key) {
        return Ok(());
    }
    let path = layout::version(name, version);
    let Some(entry) = lookup(store, tree, path.as_str())? else {
        return Ok(());
    };
    match decode::<Contract>(store, &entry)? {
        Ok(contract) => {
            view.published.insert(key, contract);
        }
        Err(problem) => view.damage.push(Damage {
            file: format!("{}:{path}", StoreRef::Domain(view.info.name.clone())),
            subject: Subject::Contract(name.clone()),
            problem,
        }),
    }
    Ok(())
}

struct Reader<'a> {
    store: &'a dyn Store,
    within: StoreRef,
    damage: Vec<Damage>,
}

impl Reader<'_> {
    fn damaged(&mut self, folder: &str, entry: &Entry, subject: Subject, problem: String) {
        self.damage.push(Damage { file: format!("{}:{folder}/{}", self.within, entry.name), subject, problem });
    }

    /// Returns the entries of a folder. Where something else is in its place, nothing is read past
    /// it: it would look as if everything in the folder had been deleted.
    fn folder(&self, tree: &Oid, folder: &str) -> Result<Vec<Entry>, StoreError> {
        match lookup(self.store, tree, folder)? {
            Some(entry) if entry.kind != EntryKind::Tree => Err(StoreError::Damaged {
                what: format!("{}:{folder}", self.within),
                problem: "it is not a folder".into(),
            }),
            Some(entry) => self.store.entries(&entry.id),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the entries `<name>.json` of a folder; others are damage.
    fn named<N: std::str::FromStr>(&mut self, tree: &Oid, folder: &str) -> Result<Vec<(N, Entry)>, StoreError> {
        let mut named = Vec::new();
        for entry in self.folder(tree, folder)? {
            match layout::stem(&entry.name) {
                Some(name) => named.push((name, entry)),
                None => self.damaged(folder, &entry, Subject::Other, "its name is not NAME.json".into()),
            }
        }
        Ok(named)
    }

    fn document<T: DeserializeOwned>(
        &mut self,
        folder: &str,
        entry: &Entry,
        subject: Subject,
    ) -> Result<Option<T>, StoreError> {
        match decode(self.store, entry)? {
            Ok(document) => Ok(Some(document)),
            Err(problem) => {
                self.damaged(folder, entry, subject, problem);
                Ok(None)
            }
        }
    }

    /// Lists the published versions. Of the documents only those are read that the current one
    /// cannot stand for: a current version whose document differs, and the newest of a contract
    /// that has no current version.
    fn versions(
        &mut self,
        tree: &Oid,
        current: &BTreeMap<ContractName, Oid>,
        view: &mut DomainView,
    ) -> Result<(), StoreError> {
        for of_contract in self.folder(tree, layout::VERSIONS)? {
            let Ok(name) = of_contract.name.parse::<ContractName>() else {
                self.damaged(layout::VERSIONS, &of_contract, Subject::Other, "its name is no contract name".into());
                continue;
            };
            if of_contract.kind != EntryKind::Tree {
                let subject = Subject::Contract(name);
                self.damaged(layout::VERSIONS, &of_contract, subject, "it is not a folder".into());
                continue;
            }
            let folder = format!("{}/{name}", layout::VERSIONS);
            let mut versions = BTreeSet::new();
            let mut entries = Vec::new();
            for entry in self.store.entries(&of_contract.id)? {
                match layout::stem::<Version>(&entry.name) {
                    Some(version) => {
                        versions.insert(version.clone());
                        entries.push((version, entry));
                    }
                    None => self.damaged(&folder, &entry, Subject::Other, "its name is not VERSION.json".into()),
                }
            }
            let wanted = match view.contracts.get(&name) {
                Some(contract) => Some(contract.version.clone()),
                None => versions.last().cloned(),
            };
            let differs = |entry: &Entry| current.get(&name) != Some(&entry.id);
            for (version, entry) in entries {
                if Some(&version) == wanted.as_ref()
                    && differs(&entry)
                    && let Some(document) = self.document(&folder, &entry, Subject::Contract(name.clone()))?
                {
                    view.published.insert((name.clone(), version), document);
                }
            }
            view.versions.insert(name, versions);
        }
        Ok(())
    }
}
