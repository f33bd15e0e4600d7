//! Branches that git cannot merge yet: the merge conflicts, or another one is not finished.

use std::{collections::BTreeSet, path::PathBuf};

use super::{
    main_folder::MainFolder,
    progress::conflicts,
    rfc::{Refused, Repair},
    rfc_work::RepoWork,
};
use crate::{
    model::{
        name::RepoName,
        text::{shell_path, shell_word},
    },
    ops::ctx::Ctx,
};

/// Returns why git cannot merge the branches in these places yet. `conflicting` are the repositories in which a merge was
/// tried, and conflicts.
pub fn find<'a>(
    ctx: &Ctx,
    places: impl Iterator<Item = &'a RepoWork>,
    conflicting: &BTreeSet<RepoName>,
) -> Vec<Refused> {
    let of_place = |place: &RepoWork| {
        let conflict = conflicting.contains(&place.found.name).then(|| conflict(place)).flatten();
        unfinished(ctx, place).into_iter().chain(conflict).collect::<Vec<_>>()
    };
    places.flat_map(of_place).collect()
}

/// Returns the merge in progress in the folder of the publishing branch, or that of the RFC's branch.
fn unfinished(ctx: &Ctx, place: &RepoWork) -> Option<Refused> {
    let main = MainFolder::of(ctx, &place.found).ok().flatten().map(|main| main.folder);
    let is_merging =
        |folder: &PathBuf| ctx.other_repo(folder).ok().flatten().is_some_and(|code| !code.merging().is_empty());
    let folder = main.into_iter().chain([place.path.clone()]).find(is_merging)?;
    let undo = format!("git -C {} merge --abort", shell_path(&folder));
    let why = format!("a merge is not finished in {}: commit it, or undo it with {undo}", folder.display());
    Some(Refused { repo: place.found.name.clone(), why, repair: None })
}

fn conflict(place: &RepoWork) -> Option<Refused> {
    let (main, base) = (place.found.default.as_ref()?, place.base.as_ref()?);
    let base = ["refs/remotes/", "refs/heads/"].iter().find_map(|start| base.strip_prefix(start)).unwrap_or(base);
    let merge = format!("git -C {} merge {}", shell_path(&place.path), shell_word(base));
    let repair = Repair::Merge(format!("{merge}  # and resolve the conflicts"));
    Some(Refused { repo: place.found.name.clone(), why: conflicts(main), repair: Some(repair) })
}
