//! Disputes: two machines published different commits of one repository that are not merged yet,
//! and their bindings differ.

use super::concurrent;
use crate::{
    error::OpError,
    locate::renamed,
    model::{
        domain::Source,
        name::{DomainName, RepoName},
        oid::Oid,
    },
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
    let Some(tree) = read::tip_tree(acting.store, &StoreRef::Domain(name.clone()))? else { return Ok(false) };
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
    let Some(tip) = acting.store.domain_tip(name)? else {
        return Ok(false);
    };
    let names = renamed::names(acting.store, acting.repo)?;
    for one in history::since(acting.store, &tip, &[], MAX_HISTORY)? {
        let parents = acting.store.commit(&one)?.parents;
        let sides = parents.iter().map(|parent| source(acting, &names, name, parent)).collect::<Result<Vec<_>, _>>()?;
        if let [Some(ours), Some(theirs)] = &sides[..]
            && ours != theirs
        {
            let mut sides = ours.latest().into_iter().chain(theirs.latest());
            return sides.try_fold(true, |all, side| Ok(all && concurrent::contains(code, commit, &side)?));
        }
    }
    Ok(false)
}

/// Returns the last published commit of the repository in a domain at `tip`, under the first of its names that has one.
pub(super) fn source(
    acting: ActingRepo<'_>,
    names: &[RepoName],
    domain: &DomainName,
    tip: &Oid,
) -> Result<Option<Source>, OpError> {
    for repo in names {
        if let Some(source) = publish::source(ActingRepo { repo, ..acting }, domain, tip)? {
            return Ok(Some(source));
        }
    }
    Ok(None)
}
