//! Finds the work of an RFC in each repository: a worktree, or only a branch.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use crate::{
    error::{ErrorCode, OpError},
    model::{
        name::{RepoName, RfcName},
        text::{shell_path, shell_word},
    },
    ops::{
        ctx::{Ctx, RealmContext},
        repos::{self, paths::FoundRepo},
        worktree::{self, create::of_git, list::all_found},
    },
    repo::work::{TriedMerge, Work, WorkStatus, Worktree},
    store::StoreError,
    wire::RepoProblem,
};

/// The working tree or branch whose progress is reported.
pub(crate) struct RepoWork {
    pub(crate) found: FoundRepo,
    pub(crate) work: Work,
    /// The folder.
    pub(crate) path: PathBuf,
    /// The branch, if it is not checked out anywhere.
    branch: Option<String>,
    /// The branch or commit that the work is based on.
    pub(crate) base: Option<String>,
    /// The folder of the branch's worktree, if it is missing. It may have been moved, with uncommitted changes.
    pub(crate) missing: Option<PathBuf>,
}

impl RepoWork {
    /// Returns whether the branch is not checked out in any folder.
    pub(crate) fn is_branch_alone(&self) -> bool {
        self.branch.is_some()
    }
}

/// The work of an RFC in all repositories.
pub(crate) struct RfcWork {
    /// The work in each repository.
    pub(crate) places: Vec<RepoWork>,
    /// The repositories that cannot be read.
    pub(crate) errors: Vec<RepoProblem>,
    /// The repositories whose branch is only at origin. If no other has one, they are among the errors.
    pub(crate) at_origin: Vec<RepoProblem>,
}

/// Returns the place of the work in each repository: the worktree of the RFC, another worktree on its branch, or only
/// the branch if it is not checked out. Without an RFC, this is the current working tree, and the main worktree of the
/// other repositories.
///
/// # Errors
/// Returns an error if the RFC has neither worktrees nor branches.
pub(crate) fn places(ctx: &Ctx, here: &RealmContext, rfc: Option<&RfcName>) -> Result<RfcWork, OpError> {
    let (found, mut errors) = all_found(ctx, here)?;
    let branch = rfc.map(|rfc| worktree::rfc_worktrees::branch(ctx, rfc)).transpose()?;
    let root = worktree::rfc_worktrees::root(ctx, &here.realm);
    let wanted = |found: &FoundRepo| rfc.map(|rfc| worktree::rfc_worktrees::path(&root, rfc, &found.name));
    let current = ctx.code.as_ref().and_then(|code| code.workdir());
    let jobs: Vec<_> = found.iter().map(|found| (found, found.work(ctx), wanted(found))).collect();
    let mine = here.repo.as_ref();
    let looked = repos::for_each::each(&ctx.progress(), &jobs, |(found, work, wanted)| {
        let at = current.clone().filter(|_| mine == Some(&found.name));
        match (place(found, work, wanted.as_deref(), branch.as_deref(), at)?, branch.as_deref()) {
            (None, Some(branch)) => Ok(Err(only_at_origin(found, work, branch)?)),
            (place, _) => Ok(Ok(place)),
        }
    })?;
    let works: Vec<_> = jobs.into_iter().map(|(_, work, _)| work).collect();
    let (mut places, mut at_origin) = (Vec::new(), Vec::new());
    for ((found, work), looked) in found.into_iter().zip(works).zip(looked) {
        match looked {
            Ok(Ok(Some(Looked { path, branch, base, missing }))) => {
                let work = work.at(&path);
                places.push(RepoWork { found, work, path, branch, base, missing });
            }
            Ok(Ok(None)) => {}
            Ok(Err(problem)) => at_origin.extend(problem),
            Err(error) => errors.push(of_git(&found.name, &error)),
        }
    }
    if let (true, Some(rfc)) = (places.is_empty() && at_origin.is_empty(), rfc) {
        let message = format!("{rfc} has neither worktrees nor branches in the realm {}", here.realm);
        let error = OpError::cannot(ErrorCode::NoWorktrees, message);
        return Err(error.next(format!("git blue realm worktree create --rfc {rfc}  # create them")));
    }
    if places.is_empty() {
        errors.append(&mut at_origin);
    }
    Ok(RfcWork { places, errors, at_origin })
}

/// Returns the places of repositories that have no branch of the RFC: their publishing branch. A repository that is not on
/// this machine is left out.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub(crate) fn on_main<'a>(
    ctx: &Ctx,
    here: &RealmContext,
    names: impl Iterator<Item = &'a RepoName>,
) -> Result<Vec<RepoWork>, OpError> {
    let names: BTreeSet<_> = names.collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let found = all_found(ctx, here)?.0.into_iter().filter(|found| names.contains(&found.name));
    let place = |found: FoundRepo| {
        let (work, path, branch) = (found.work(ctx), found.folder.clone(), found.default.clone());
        RepoWork { found, work, path, branch, base: None, missing: None }
    };
    Ok(found.map(place).collect())
}

/// Returns the problem that the branch of an RFC exists, but not in this clone.
fn only_at_origin(found: &FoundRepo, work: &Work, branch: &str) -> Result<Option<RepoProblem>, StoreError> {
    let remote = format!("{}/{branch}", found.remote);
    let is_left = is_unmerged_at_origin(found, work, branch)?;
    Ok(is_left.then(|| {
        let (folder, branch, remote) = (shell_path(&found.folder), shell_word(branch), shell_word(&remote));
        let next = format!("git -C {folder} branch {branch} {remote}  # include it");
        RepoProblem::new(
            &found.name,
            ErrorCode::OtherBranch,
            format!("the branch {branch} exists only on {}", found.remote),
        )
        .next(next)
    }))
}

/// Returns whether the remote has a branch that its default branch lacks.
fn is_unmerged_at_origin(found: &FoundRepo, work: &Work, branch: &str) -> Result<bool, StoreError> {
    let there = work.at_origin(branch);
    if !work.has_ref(&there)? {
        return Ok(false);
    }
    let Some(base) = found.default.as_ref().map(|default| work.at_origin(default)) else { return Ok(true) };
    Ok(!work.has_ref(&base)? || !(work.is_in(&there, &base)? || work.brings_nothing(&there, &base)?))
}

/// The place of the work in a repository, as the fields of [`RepoWork`].
struct Looked {
    path: PathBuf,
    branch: Option<String>,
    base: Option<String>,
    missing: Option<PathBuf>,
}

impl Looked {
    fn new(path: PathBuf, branch: Option<String>, base: Option<String>) -> Self {
        Self { path, branch, base, missing: None }
    }
}

fn place(
    found: &FoundRepo,
    work: &Work,
    wanted: Option<&Path>,
    branch: Option<&str>,
    current: Option<PathBuf>,
) -> Result<Option<Looked>, StoreError> {
    let base = found.default.as_deref().map(|default| work.base(default)).transpose()?.flatten();
    let trees = work.worktrees()?;
    let usable = || trees.iter().filter(|tree| !tree.is_gone && !tree.is_bare);
    let Some(branch) = branch else {
        let path = current.unwrap_or_else(|| found.folder.clone());
        // A bare repository has no working tree, but its HEAD names a branch.
        let bare = trees.first().filter(|tree| tree.is_bare && path == found.folder);
        return Ok(match bare {
            Some(_) => found.default.clone().map(|branch| Looked::new(path, Some(branch), base)),
            None => Some(Looked::new(path, None, base)),
        });
    };
    let is_on_branch = |tree: &&Worktree| tree.branch.as_deref() == Some(branch);
    let mine = usable().find(|tree| Some(&*tree.path) == wanted);
    if let Some(tree) = mine.or_else(|| usable().find(is_on_branch)) {
        return Ok(Some(Looked::new(tree.path.clone(), None, base)));
    }
    let missing = trees.iter().filter(|tree| tree.is_gone).find(is_on_branch).map(|tree| tree.path.clone());
    let is_there = work.has_ref(&format!("refs/heads/{branch}"))?;
    Ok(is_there.then(|| Looked { missing, ..Looked::new(found.folder.clone(), Some(branch.to_owned()), base) }))
}

/// Returns the state of the work in a repository. A branch whose commits would change nothing has nothing to merge. Whether
/// a merge conflicts is only a question for a branch that is behind.
pub(crate) fn standing(place: &RepoWork) -> Result<WorkStatus, StoreError> {
    let mut standing = match &place.branch {
        Some(branch) => place.work.status_of(branch, place.base.as_deref())?,
        None => place.work.status(place.base.as_deref())?,
    };
    if let (Some(head), Some(base), 1.., 1..) = (&standing.head, &place.base, standing.ahead, standing.behind) {
        match place.work.try_merge(head, base)? {
            Some(TriedMerge::ChangesNothing) => standing.ahead = 0,
            Some(TriedMerge::Conflicts) => standing.conflicts = true,
            Some(TriedMerge::ChangesFiles) | None => {}
        }
    }
    Ok(standing)
}
