//! Finds the repositories that left the realm: their issues are no longer kept up to date.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    error::{ErrorCode, OpError},
    model::{
        name::RepoName,
        realm::{Repo, RepoMatch},
    },
    ops::history::first_parents::History,
    store::{Store, StoreRef, codec, layout},
};

use super::importers;

/// The maximum number of commits of the realm to read.
const MAX_COMMITS: usize = 10_000;

/// Returns the repositories that left the realm, as they were last recorded. One that is in the realm again, under
/// whatever name, did not leave. `present` are the repositories of the realm.
///
/// # Errors
/// Returns an error if the store cannot be read. Damaged content is skipped.
pub fn repos(store: &dyn Store, present: &BTreeMap<RepoName, Repo>) -> Result<Vec<Repo>, OpError> {
    let (mut former, mut folders) = (BTreeMap::new(), BTreeSet::new());
    for step in History::of(store, store.tip(&StoreRef::Realm)?).take(MAX_COMMITS) {
        let (_, commit) = match step {
            Err(error) if error.code == ErrorCode::Damaged => break,
            step => step?,
        };
        for entry in importers::new_entries(store, &commit.tree, layout::REPOS, &mut folders)? {
            let Some(name) = layout::stem::<RepoName>(&entry.name) else { continue };
            if !present.contains_key(&name) && !former.contains_key(&name) {
                let repo = store.blob(&entry.id).ok().and_then(|bytes| codec::decode::<Repo>(&bytes).ok());
                former.extend(repo.map(|repo| (name, repo)));
            }
        }
    }
    Ok(former.into_values().filter(|repo| !present.values().any(|other| may_be(repo, other))).collect())
}

/// Returns whether two entries may be of the same repository. If in doubt, they are.
fn may_be(repo: &Repo, other: &Repo) -> bool {
    let shares_root = repo.roots.iter().any(|root| other.roots.contains(root));
    let matched = RepoMatch::of([repo.url.as_deref(), other.url.as_deref()], None);
    shares_root || matched == RepoMatch::Same
}
