//! The contracts of a repository that lack their files.

use std::collections::{BTreeMap, BTreeSet};

use super::Digests;
use crate::{
    error::{NextStep, OpError},
    model::{domain::Source, name::ContractName, oid::Oid},
    ops::{
        ctx::{Ctx, RealmContext},
        publish::missing_file::{self, MAX_WITH_STEPS, Place},
    },
    repo::{CodeRepo, blue_files::CONTRACTS},
    store::{Objects as _, codec, read},
    wire::{OwnContract, RemovedFile},
};

/// Returns the contracts of this repository that the realm still offers, but whose files are not in HEAD. Returns none
/// if the repository does not publish from files.
pub(super) fn of(ctx: &Ctx, here: &RealmContext, digests: &Digests<'_>) -> Result<Vec<RemovedFile>, OpError> {
    let (Some(repo), Some(code)) = (&here.repo, &ctx.code) else {
        return Ok(Vec::new());
    };
    let Some(commit) = code.head()?.commit else {
        return Ok(Vec::new());
    };
    let tree = code.tree_of(&commit)?;
    let mut removed = Vec::new();
    for (domain, (line, digest)) in digests.iter().filter(|(_, (line, _))| line.sources.contains_key(repo)) {
        let mut served = digest.own(repo).names().peekable();
        if served.peek().is_none() {
            continue;
        }
        let folder = format!("{CONTRACTS}/{domain}");
        let files = read::folder(code, &tree, &folder)?.into_iter();
        let files: BTreeMap<String, Oid> =
            files.filter_map(|entry| Some((entry.name.strip_suffix(".yaml")?.to_owned(), entry.id))).collect();
        let mut missing: Vec<_> = served.filter(|name| !files.contains_key(*name)).collect();
        if !missing.is_empty() {
            let misnamed = misnamed(code, &files, &digest.own(repo).names().collect());
            missing.retain(|name| !misnamed.contains(*name));
        }
        let mut missing = missing.into_iter().peekable();
        let source = line.sources.get(repo).filter(|_| missing.peek().is_some());
        let Some(bases) = source.map(|source| bases(code, source, &commit)).transpose()?.flatten() else { continue };
        for name in missing {
            let Ok(contract) = name.parse::<ContractName>() else { continue };
            let file = format!("{folder}/{contract}.yaml");
            let is_in = |tree: &Oid| Ok::<_, OpError>(read::lookup(code, tree, &file)?.is_some());
            if !bases.iter().try_fold(true, |all, tree| Ok::<_, OpError>(all && is_in(tree)?))? {
                continue;
            }
            removed.push(RemovedFile { domain: (*domain).clone(), contract, file });
        }
    }
    if !removed.is_empty()
        && let Some(tree) = published_tree(code, &commit)?
    {
        let is_published = |one: &RemovedFile| Ok::<_, OpError>(read::lookup(code, &tree, &one.file)?.is_some());
        removed = removed
            .into_iter()
            .filter_map(|one| is_published(&one).map(|is| (!is).then_some(one)).transpose())
            .collect::<Result<_, _>>()?;
    }
    Ok(removed)
}

/// Returns the trees in which a file must be to count as removed: a published commit that this one does not descend from
/// may have added it since their merge base. Returns `None` if this clone lacks a published commit.
fn bases(code: &CodeRepo, source: &Source, commit: &Oid) -> Result<Option<Vec<Oid>>, OpError> {
    let mut trees = Vec::new();
    for published in source.latest() {
        let known = Some(published).filter(|published| code.has(published));
        let base = known.map(|published| code.merge_base(&published, commit)).transpose()?.flatten();
        let Some(base) = base else { return Ok(None) };
        if base != published {
            trees.push(code.tree_of(&base)?);
        }
    }
    Ok(Some(trees))
}

/// Returns the contracts that are named in files with other names than those `served`. Publishing reports such files.
fn misnamed(code: &CodeRepo, files: &BTreeMap<String, Oid>, served: &BTreeSet<&str>) -> BTreeSet<String> {
    let others = files.iter().filter(|(name, _)| !served.contains(name.as_str()));
    let named = others.filter_map(|(_, blob)| codec::name_of(&code.blob(blob).ok()?));
    named.map(|name| name.to_string()).collect()
}

/// Returns the tree of the publishing branch, unless it is that of `commit`. A branch that removes a file removes nothing
/// before it is merged.
fn published_tree(code: &CodeRepo, commit: &Oid) -> Result<Option<Oid>, OpError> {
    let Some(branch) = code.publishing_branch()? else { return Ok(None) };
    let tip = code.branch_tips(&branch).next().transpose()?;
    Ok(tip.filter(|(_, tip)| tip != commit).map(|(_, tip)| code.tree_of(&tip)).transpose()?)
}

/// Returns the steps that transfer the contracts, retire them or write their files. `own` has the importers.
pub(super) fn steps(removed: &[RemovedFile], own: &[OwnContract], place: &Place<'_>) -> Vec<String> {
    let is_imported = |removed: &RemovedFile| {
        let mut own = own.iter();
        let found = own.find(|own| own.domain == removed.domain && own.contract == removed.contract);
        found.is_some_and(|own| !own.importers.is_empty() || !own.broken.is_empty())
    };
    removed.iter().take(MAX_WITH_STEPS).flat_map(|one| missing_file::steps(one, is_imported(one), place)).collect()
}

/// Returns whether a step retires one of the contracts.
pub(super) fn retires(step: &NextStep, removed: &[RemovedFile]) -> bool {
    let NextStep::Command { command, .. } = step else { return false };
    let is_of =
        |one: &RemovedFile| command.starts_with(&format!("git blue contract retire {}/{} ", one.domain, one.contract));
    removed.iter().any(is_of)
}
