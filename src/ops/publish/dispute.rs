//! Disputes: two machines published different commits of one repository that are not merged yet,
//! and their bindings differ.

use std::collections::{BTreeSet, VecDeque};

use super::candidate::{Sources, is_dropped};
use crate::{
    error::OpError,
    locate::renamed,
    model::{
        candidate::Candidate,
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
            let has =
                |side: &Source| Ok::<_, OpError>(code.has(&side.commit) && code.is_ancestor(&side.commit, commit)?);
            return Ok(has(ours)? && has(theirs)?);
        }
    }
    Ok(false)
}

/// The maximum number of commits that are searched for the merge of two sides.
const MAX_SINCE_MERGE: usize = 200;

/// What a commit has of two commits of the repository that two machines published concurrently in a domain.
#[derive(Debug, Clone, Copy)]
pub struct OneSide {
    /// The one that it contains, if any.
    pub contained: Option<Oid>,
    /// The one that it lacks.
    pub missing: Oid,
}

/// Returns what `commit` lacks of two commits of the repository that two machines published concurrently in a domain, if
/// the repository has published no other since. A commit that this clone dropped is not missing.
///
/// # Errors
/// Returns an error if the realm or the repository cannot be read.
pub fn one_side(
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    name: &DomainName,
    commit: &Oid,
) -> Result<Option<OneSide>, OpError> {
    let Some((sides, is_first)) = sides(acting, name)? else { return Ok(None) };
    // Without a common commit, the other one may be of another repository, which took the same name until it was renamed.
    if is_first && !sides.contains(commit) {
        return Ok(None);
    }
    let (mut contained, mut missing) = (None, None);
    for side in sides {
        if code.has(&side) && code.is_ancestor(&side, commit)? {
            contained = Some(side);
        } else if !is_dropped(code, &side)? {
            missing = Some(side);
        }
    }
    Ok(missing.map(|missing| OneSide { contained, missing }))
}

/// Returns the two commits of the repository that two machines published concurrently in a domain, if the repository has
/// published no other since, and whether it had published none before.
fn sides(acting: ActingRepo<'_>, name: &DomainName) -> Result<Option<([Oid; 2], bool)>, OpError> {
    let Some(tip) = acting.store.domain_tip(name)? else {
        return Ok(None);
    };
    let names = renamed::names(acting.store, acting.repo)?;
    let source = |at: &Oid| source(acting, &names, name, at);
    let (mut open, mut seen) = (VecDeque::from([tip]), BTreeSet::from([tip]));
    while let Some(at) = open.pop_front().filter(|_| seen.len() <= MAX_SINCE_MERGE) {
        let parents = match acting.store.commit(&at) {
            // Damage is reported where the domain is read.
            Err(error) if error.is_damage() => return Ok(None),
            commit => commit?.parents,
        };
        let (now, sides) = (source(&at)?, parents.iter().map(source).collect::<Result<Vec<_>, _>>()?);
        if sides.iter().all(|side| *side == now) {
            // Either parent of a merge of another repository may have the merge of the two sides.
            open.extend(parents.into_iter().filter(|parent| seen.insert(*parent)));
        } else if let [Some(ours), Some(theirs)] = &sides[..]
            && ![ours, theirs].into_iter().any(|side| Some(side) == now.as_ref())
        {
            return Ok(Some(([ours.commit, theirs.commit], now.is_none())));
        }
    }
    Ok(None)
}

/// Replaces the last published commit of each domain that `commit` changes by the one that `commit` lacks, if two
/// machines published different commits.
///
/// # Errors
/// Returns an error if the realm or the repository cannot be read.
pub fn with_missing_sides(
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    mut sources: Sources,
    candidate: &Candidate,
    commit: &Oid,
) -> Result<Sources, OpError> {
    let contracts = candidate.contracts.iter().filter(|(_, declared)| declared.changed).map(|((domain, _), _)| domain);
    let bindings = candidate.bindings.iter().filter(|(_, declared)| declared.changed).map(|(domain, _)| domain);
    for domain in contracts.chain(bindings).collect::<BTreeSet<_>>() {
        if let Some(OneSide { missing, .. }) = one_side(acting, code, domain, commit)? {
            sources.insert(domain.clone(), Source { commit: missing });
        }
    }
    Ok(sources)
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
