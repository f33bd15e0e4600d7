//! Finds the imports that a repository had before, so that an import or a range that comes back is not taken for a new one:
//! its code is still adapted to the old version.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    model::{
        binding::{Binding, Import},
        name::{ContractName, DomainName, RepoName},
        oid::Oid,
    },
    store::{Store, StoreError, StoreRef, history, layout, read, unless_damaged},
};

/// The maximum number of commits that are searched.
const MAX_HISTORY: usize = 1_000;

/// Returns, for each of the imports `wanted`, the last one of the same contract and range that the binding of `repo` had in
/// the history of a domain or, if there is none, the last one of the contract.
///
/// # Errors
/// Returns an error if the history cannot be read.
pub fn imports(
    store: &dyn Store,
    (name, tip): (&DomainName, &Oid),
    repo: &RepoName,
    mut wanted: BTreeMap<&ContractName, &Import>,
) -> Result<Vec<Import>, StoreError> {
    let (mut seen, mut found) = (BTreeSet::new(), BTreeMap::new());
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let (within, path) = (StoreRef::Domain(name.clone()), layout::binding(repo));
    for commit in history::since(store, tip, &[], MAX_HISTORY)? {
        let tree = store.commit(&commit)?.tree;
        let entry = read::lookup(store, &tree, path.as_str())?;
        if !entry.is_some_and(|entry| seen.insert(entry.id)) {
            continue;
        }
        let binding: Option<Binding> = unless_damaged(read::file(store, &within, &tree, &path))?;
        for import in binding.into_iter().flat_map(|binding| binding.imports) {
            let Some(one) = wanted.get(&import.contract) else { continue };
            if one.version.has_same_versions(&import.version) {
                wanted.remove(&import.contract);
                found.insert(import.contract.clone(), import);
            } else {
                found.entry(import.contract.clone()).or_insert(import);
            }
        }
        if wanted.is_empty() {
            break;
        }
    }
    Ok(found.into_values().collect())
}
