//! The work of a session: the difference between its repository's domains at the start and now. Trees are compared
//! and no history is read, so rewritten history cannot break it.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    error::OpError,
    model::{
        binding::Binding,
        contract::Contract,
        name::{ContractName, ContractRef, DomainName, RepoName},
        oid::Oid,
        session::{Session, Work},
    },
    store::{
        Entry, Store, StoreError, StoreRef, layout,
        overview::{Line, Overview},
        read,
    },
};

/// Returns the trees of the domains that a repository is a member of. Damaged ones are left out.
///
/// # Errors
/// Returns an error if the domains cannot be listed, or reading fails for a reason other than damage.
pub fn trees_at_start(store: &dyn Store, repo: &RepoName) -> Result<BTreeMap<DomainName, Oid>, OpError> {
    let overview = Overview::open(store)?;
    let mut trees = BTreeMap::new();
    for line in overview.domains_of(repo) {
        if line.is_as_adapted(repo) || overview.summary(line)?.takes_part(repo) {
            trees.insert(line.name.clone(), line.tree);
        }
    }
    Ok(trees)
}

/// Returns the work of a session so far, and the domains whose changes cannot be determined.
///
/// # Errors
/// Returns an error if the domains cannot be listed, or reading fails for a reason other than damage.
pub fn since(store: &dyn Store, session: &Session) -> Result<(Work, Vec<String>), OpError> {
    let overview = Overview::open(store)?;
    let (mut work, mut unreadable) = (Work::default(), Vec::new());
    for line in overview.domains() {
        // A domain that the repository has left since the start counts as well.
        let was_in = session.start.contains_key(&line.name);
        let is_known = line.repos.binary_search(&session.repo).is_ok();
        let is_in = was_in || (is_known && overview.summary(line)?.takes_part(&session.repo));
        if !is_in {
            continue;
        }
        match add(store, session, line, &mut work) {
            Ok(()) => {}
            Err(error) if error.is_damage() => unreadable.push(format!("{}: {error}", domain(&line.name))),
            Err(error) => return Err(error.into()),
        }
    }
    let names: Vec<_> = session.start.keys().map(|name| domain(name).to_string()).collect();
    let lost = overview.damage().iter().filter(|damage| names.contains(&damage.file));
    unreadable.extend(lost.map(|damage| format!("{}: {}", damage.file, damage.problem)));
    Ok((work, unreadable))
}

fn domain(name: &DomainName) -> StoreRef {
    StoreRef::Domain(name.clone())
}

fn add(store: &dyn Store, session: &Session, line: &Line, work: &mut Work) -> Result<(), StoreError> {
    let start = session.start.get(&line.name);
    work.active_domains.push(line.name.clone());
    let held = Domain { store, within: domain(&line.name), now: line.tree };
    let watched = held.imports(&session.repo)?;
    let at = |contract: &ContractName| ContractRef { domain: line.name.clone(), contract: contract.clone() };
    work.contracts_watched.extend(watched.iter().map(at));
    if start == Some(&line.tree) {
        return Ok(());
    }
    for contract in held.differing(start)? {
        let owner = held.owner(&contract, start)?;
        if owner.as_ref() == Some(&session.repo) {
            work.contracts_modified.push(at(&contract));
        } else if start.is_some() && watched.contains(&contract) {
            // In a domain that was joined after the start, everything would count as changed.
            work.contracts_changed.push(at(&contract));
        }
    }
    Ok(())
}

/// The current state of a domain.
struct Domain<'a> {
    store: &'a dyn Store,
    within: StoreRef,
    now: Oid,
}

impl Domain<'_> {
    fn imports(&self, repo: &RepoName) -> Result<BTreeSet<ContractName>, StoreError> {
        let binding: Option<Binding> = read::file(self.store, &self.within, &self.now, &layout::binding(repo))?;
        Ok(binding.into_iter().flat_map(|binding| binding.imports).map(|import| import.contract).collect())
    }

    /// Returns the contracts whose current document or published versions have changed.
    fn differing(&self, start: Option<&Oid>) -> Result<BTreeSet<ContractName>, StoreError> {
        let mut names = BTreeSet::new();
        for folder in [layout::CONTRACTS, layout::VERSIONS] {
            let now = read::folder(self.store, &self.now, folder)?;
            let was = start.map(|start| read::folder(self.store, start, folder)).transpose()?.unwrap_or_default();
            let was: BTreeMap<&str, &Entry> = was.iter().map(|entry| (entry.name.as_str(), entry)).collect();
            let mut gone = was.clone();
            for entry in &now {
                if gone.remove(entry.name.as_str()).map(|was| was.id) != Some(entry.id) {
                    names.extend(named(&entry.name));
                }
            }
            names.extend(gone.keys().filter_map(|name| named(name)));
        }
        Ok(names)
    }

    /// Returns the owner of a contract, or its former owner, even if there are only pre-releases.
    fn owner(&self, name: &ContractName, start: Option<&Oid>) -> Result<Option<RepoName>, StoreError> {
        for tree in [Some(&self.now), start].into_iter().flatten() {
            let document: Option<Contract> = read::file(self.store, &self.within, tree, &layout::contract(name))?;
            if let Some(document) = document {
                return Ok(Some(document.owner));
            }
        }
        let versions = read::folder(self.store, &self.now, layout::versions(name).as_str())?;
        let Some(version) = versions.iter().find_map(|entry| layout::stem(&entry.name)) else {
            return Ok(None);
        };
        let path = layout::version(name, &version);
        let document: Option<Contract> = read::file(self.store, &self.within, &self.now, &path)?;
        Ok(document.map(|document| document.owner))
    }
}

/// Returns the contract of an entry: `<name>.json` in the current ones, `<name>` in the versions.
fn named(entry: &str) -> Option<ContractName> {
    layout::stem(entry).or_else(|| entry.parse().ok())
}
