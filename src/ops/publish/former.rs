//! Finds the imports that a repository had before, so that an import that comes back is not taken for a new one: its code
//! is still adapted to the old version.

use std::collections::BTreeSet;

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

/// Returns the last imports of `contracts` that the binding of `repo` had in the history of a domain.
///
/// # Errors
/// Returns an error if the history cannot be read.
pub fn imports(
    store: &dyn Store,
    (name, tip): (&DomainName, &Oid),
    repo: &RepoName,
    mut contracts: BTreeSet<ContractName>,
) -> Result<Vec<Import>, StoreError> {
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    if contracts.is_empty() {
        return Ok(found);
    }
    let (within, path) = (StoreRef::Domain(name.clone()), layout::binding(repo));
    for commit in history::since(store, tip, &[], MAX_HISTORY)? {
        let tree = store.commit(&commit)?.tree;
        let entry = read::lookup(store, &tree, path.as_str())?;
        if !entry.is_some_and(|entry| seen.insert(entry.id)) {
            continue;
        }
        let binding: Option<Binding> = unless_damaged(read::file(store, &within, &tree, &path))?;
        let imports = binding.into_iter().flat_map(|binding| binding.imports);
        found.extend(imports.filter(|import| contracts.remove(&import.contract)));
        if contracts.is_empty() {
            break;
        }
    }
    Ok(found)
}
