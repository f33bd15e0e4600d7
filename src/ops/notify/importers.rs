//! Finds the repositories that import something, or did: those may still have an open issue.

use std::collections::BTreeSet;

use crate::{
    error::{ErrorCode, OpError},
    model::{binding::Binding, name::RepoName, oid::Oid},
    ops::history::first_parents::History,
    store::{Entry, Store, codec, layout, read},
};

/// The maximum number of commits to read in each domain.
const MAX_COMMITS: usize = 10_000;

/// Returns the repositories that import something from any domain, now or in the past.
///
/// # Errors
/// Returns an error if the store cannot be read. Damaged content counts as no import.
pub fn past_and_present(store: &dyn Store) -> Result<BTreeSet<RepoName>, OpError> {
    let (mut importers, mut folders, mut files) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (_, tip) in store.domains()? {
        for step in History::of(store, Some(tip)).take(MAX_COMMITS) {
            let (_, commit) = match step {
                Err(error) if error.code == ErrorCode::Damaged => break,
                step => step?,
            };
            for entry in new_entries(store, &commit.tree, layout::BINDINGS, &mut folders)? {
                let Some(repo) = layout::stem::<RepoName>(&entry.name) else { continue };
                // Two repositories may have the same binding.
                let is_new = files.insert((repo.clone(), entry.id));
                if is_new && !importers.contains(&repo) && has_imports(store, &entry) {
                    importers.insert(repo);
                }
            }
        }
    }
    Ok(importers)
}

/// Returns the entries of a folder of a tree, unless the folder was `seen` before.
pub(super) fn new_entries(
    store: &dyn Store,
    tree: &Oid,
    path: &str,
    seen: &mut BTreeSet<Oid>,
) -> Result<Vec<Entry>, OpError> {
    let folder = match read::lookup(store, tree, path) {
        Err(error) if error.is_damage() => None,
        folder => folder?.filter(|folder| seen.insert(folder.id)),
    };
    match folder.map(|folder| store.entries(&folder.id)) {
        Some(Err(error)) if !error.is_damage() => Err(error.into()),
        entries => Ok(entries.and_then(Result::ok).unwrap_or_default()),
    }
}

fn has_imports(store: &dyn Store, entry: &Entry) -> bool {
    let binding = store.blob(&entry.id).ok().and_then(|bytes| codec::decode::<Binding>(&bytes).ok());
    binding.is_some_and(|binding| !binding.imports.is_empty())
}
