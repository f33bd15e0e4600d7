//! Determines what the commit of a candidate lacks of what was published, and what a base is compared with.

use std::collections::BTreeMap;

use super::{behind, candidate, references};
use crate::{
    error::OpError,
    model::{
        binding::Binding,
        candidate::{Candidate, Declared},
        contract::Contract,
        name::{ContractName, DomainName},
        oid::Oid,
    },
    repo::{
        CodeRepo,
        blue_files::{self, Files, Item},
    },
    store::read,
};

/// The published commit that a commit must contain to be up to date, by domain.
pub type RequiredCommits = BTreeMap<DomainName, Oid>;

/// Marks the domains that were published from a commit which `commit`, with these files, does not descend from. A domain
/// is not marked if this clone dropped that commit by an amend or reset. In all these domains, a file counts as removed
/// only if the merge base had it; in a shallow clone, only if `known`, the base of a pull request, did.
///
/// # Errors
/// Returns an error if the repository cannot be read.
pub fn mark_behind(
    code: &CodeRepo,
    (commit, known): (&Oid, Option<&Oid>),
    required: &RequiredCommits,
    candidate: &mut Candidate,
) -> Result<(), OpError> {
    // Most domains were published at the same commit.
    let mut bases: BTreeMap<Oid, Option<Oid>> = BTreeMap::new();
    for (domain, published) in required {
        let base = match bases.get(published) {
            Some(base) => *base,
            None => {
                let here = Some(published).filter(|published| code.has(published));
                let base = here.map(|published| code.merge_base(published, commit)).transpose()?.flatten();
                *bases.entry(*published).or_insert(base)
            }
        };
        if base == Some(*published) {
            continue;
        }
        let tree = base.map(|base| code.tree_of(&base)).transpose()?;
        if !is_dropped(code, published)? {
            if base.is_some() || !code.is_shallow()? {
                mark(code, (commit, published), domain, tree, candidate)?;
            } else {
                candidate.unknown.insert(domain.clone());
            }
        }
        let tree = match tree {
            None if !code.has(published) => known.map(|known| code.tree_of(known)).transpose()?,
            tree => tree,
        };
        let had = |path: &str| match &tree {
            Some(tree) => Ok::<_, OpError>(read::lookup(code, tree, path)?.is_some()),
            None => Ok(false),
        };
        if !had(&blue_files::binding(domain))? {
            candidate.removed_bindings.remove(domain);
        }
        let paths = candidate.removed_contracts.iter().filter(|((of, _), _)| of == domain);
        for (contract, path) in paths.map(|(contract, path)| (contract.clone(), path.clone())).collect::<Vec<_>>() {
            if !had(&path)? {
                candidate.removed_contracts.remove(&contract);
            }
        }
    }
    Ok(())
}

/// Returns whether this clone dropped a published commit from the publishing branch.
pub fn is_dropped(code: &CodeRepo, published: &Oid) -> Result<bool, OpError> {
    let branch = code.publishing_branch()?;
    Ok(branch.map(|branch| behind::is_dropped(code, &branch, published)).transpose()?.unwrap_or_default())
}

/// Returns the required commits without those that a merge in progress brings into the working tree, which does not lack
/// them.
///
/// # Errors
/// Returns an error if the history cannot be read.
pub fn without_merging(code: &CodeRepo, required: RequiredCommits) -> Result<RequiredCommits, OpError> {
    let merging = code.merging();
    if merging.is_empty() {
        return Ok(required);
    }
    let mut lacking = RequiredCommits::new();
    for (domain, published) in required {
        let is_in = |head: &Oid| code.is_ancestor(&published, head);
        if !merging.iter().map(is_in).collect::<Result<Vec<_>, _>>()?.contains(&true) {
            lacking.insert(domain, published);
        }
    }
    Ok(lacking)
}

/// Marks a domain as behind, and reads its contracts as they were in `base`. If this clone does not have the published
/// commit, they are read from the newest commit of the publishing branch that it knows.
fn mark(
    code: &CodeRepo,
    (commit, published): (&Oid, &Oid),
    domain: &DomainName,
    base: Option<Oid>,
    candidate: &mut Candidate,
) -> Result<(), OpError> {
    candidate.behind.insert(domain.clone(), behind::merge(code, published)?);
    let Some(tree) = base.map_or_else(|| fetched(code, commit), |base| Ok(Some(base)))? else { return Ok(()) };
    let files = Files::Commit(code, tree);
    let before = changed(candidate, &files, |of| of == domain);
    candidate.before.extend(before);
    if candidate.bindings.get(domain).is_some_and(|declared| is_as_in(&files, declared)) {
        candidate.older_bindings.insert(domain.clone());
    }
    Ok(())
}

/// Adds the changed contracts as they are in the commit `base`, which is published first.
///
/// # Errors
/// Returns an error if there is no such commit.
pub fn add_base(code: &CodeRepo, base: &Oid, candidate: &mut Candidate) -> Result<(), OpError> {
    candidate.base = changed(candidate, &Files::at(code, base)?, |_| true);
    Ok(())
}

/// Returns whether a binding is the same in other files. What cannot be read is not.
fn is_as_in(files: &Files<'_>, declared: &Declared<Binding>) -> bool {
    let Ok(Some(Item::File(handle))) = files.file(&declared.path) else { return false };
    let Ok(Some(bytes)) = files.read(&handle) else { return false };
    matches!(candidate::expecting(files, &bytes), Ok(Ok((document, _))) if document == declared.document)
}

/// Returns the changed contracts of some domains as they are in other files. What cannot be read, for example in a partial
/// clone, is left out.
fn changed(
    candidate: &Candidate,
    files: &Files<'_>,
    is_in: impl Fn(&DomainName) -> bool,
) -> BTreeMap<(DomainName, ContractName), Contract> {
    let changed = candidate.contracts.iter().filter(|((of, _), declared)| declared.changed && is_in(of));
    let read = changed.filter_map(|(key, declared)| {
        let Item::File(handle) = files.file(&declared.path).ok()?? else { return None };
        let bytes = files.read(&handle).ok()??;
        let (contract, _) = references::contract(files, &bytes, &key.1).ok()?.ok()?;
        Some((key.clone(), contract))
    });
    read.collect()
}

/// Returns the tree of the merge base of `commit` and the upstream of the publishing branch.
fn fetched(code: &CodeRepo, commit: &Oid) -> Result<Option<Oid>, OpError> {
    let upstream = code.publishing_branch()?.map(|branch| code.upstream(&branch)).transpose()?.flatten();
    let base = upstream.map(|upstream| code.merge_base(&upstream, commit)).transpose()?.flatten();
    base.map(|base| code.tree_of(&base)).transpose().map_err(OpError::from)
}
