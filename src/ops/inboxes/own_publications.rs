//! The contracts as this clone published them, which its readers therefore know.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::writer::Writer;
use crate::{
    error::OpError,
    model::{name::ContractName, oid::Oid},
    ops::{
        ctx::ActingRepo,
        history::{difference::blobs, origins::Origin},
    },
    store::{CommitInfo, Store, layout, unless_damaged},
};

/// The maximum number of commits that are searched.
const MAX_COMMITS: usize = 200;

/// Returns the blob of each of the contracts as this clone last published it, in the history of a domain's `tip`.
pub(super) fn last(
    acting: ActingRepo<'_>,
    tip: &Oid,
    mut contracts: BTreeSet<ContractName>,
) -> Result<BTreeMap<ContractName, Oid>, OpError> {
    let mut found = BTreeMap::new();
    let (mut open, mut seen) = (VecDeque::from([*tip]), BTreeSet::from([*tip]));
    while let Some(at) = open.pop_front().filter(|_| !contracts.is_empty() && seen.len() <= MAX_COMMITS) {
        let Some(commit) = unless_damaged(acting.store.commit(&at).map(Some))? else { continue };
        if Writer::of(acting, &Origin::new(&commit, None)) == Writer::ThisClone {
            let written = written(acting.store, &commit)?.into_iter();
            found.extend(written.filter(|(contract, _)| contracts.remove(contract)));
        }
        open.extend(commit.parents.into_iter().filter(|parent| seen.insert(*parent)));
    }
    Ok(found)
}

/// Returns the contracts that a commit changed, compared with each of its parents.
fn written(store: &dyn Store, commit: &CommitInfo) -> Result<BTreeMap<ContractName, Oid>, OpError> {
    let mut written = blobs(store, &commit.tree, layout::CONTRACTS)?;
    for parent in &commit.parents {
        let Some(parent) = unless_damaged(store.commit(parent).map(Some))? else { continue };
        let before = blobs(store, &parent.tree, layout::CONTRACTS)?;
        written.retain(|file, blob| before.get(file) != Some(blob));
    }
    Ok(written.into_iter().filter_map(|(file, blob)| Some((layout::stem(&file)?, blob))).collect())
}
