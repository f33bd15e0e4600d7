//! Disputes: two machines published different bindings of one repository, and nobody has chosen one yet.

use crate::{
    error::OpError,
    model::{domain::Source, name::DomainName, oid::Oid},
    ops::{contract::publish, ctx::ActingRepo},
    repo::CodeRepo,
    store::{StoreRef, history, layout, read},
};

/// Returns whether two machines have published different commits of the repository in a domain, and this has not been
/// settled since.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn is_disputed(acting: ActingRepo<'_>, name: &DomainName) -> Result<bool, OpError> {
    let Some(tip) = acting.store.tip(&StoreRef::Domain(name.clone()))? else {
        return Ok(false);
    };
    let tree = acting.store.commit(&tip)?.tree;
    Ok(read::lookup(acting.store, &tree, layout::lost_bindings(acting.repo).as_str())?.is_some())
}

/// The maximum number of commits that are searched for the two sides of a dispute.
const MAX_HISTORY: usize = 1_000;

/// Returns whether `commit` merges the commits that two machines published in a domain whose binding is in dispute.
///
/// # Errors
/// Returns an error if the realm or the repository cannot be read.
pub fn merges_both_sides(
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    name: &DomainName,
    commit: &Oid,
) -> Result<bool, OpError> {
    let Some(tip) = acting.store.tip(&StoreRef::Domain(name.clone()))? else {
        return Ok(false);
    };
    for one in history::since(acting.store, &tip, &[], MAX_HISTORY)? {
        let parents = acting.store.commit(&one)?.parents;
        let sides =
            parents.iter().map(|parent| publish::source(acting, name, parent)).collect::<Result<Vec<_>, _>>()?;
        if let [Some(ours), Some(theirs)] = &sides[..]
            && ours != theirs
        {
            let has =
                |side: &Source| Ok::<_, OpError>(code.has(&side.commit) && code.is_ancestor(&side.commit, commit)?);
            return Ok(has(ours)? && has(theirs)?);
        }
    }
    Ok(false)
}
