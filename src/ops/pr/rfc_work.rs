//! Finds the work of an RFC in each repository: a worktree, or only a branch.

use std::path::{Path, PathBuf};

use crate::{
    error::{ErrorCode, OpError},
    model::{
        name::RfcName,
        text::{shell_path, shell_word},
    },
    ops::{
        ctx::{Ctx, RealmContext},
        repos::{self, paths::FoundRepo},
        worktree::{self, create::of_git, list::all_found},
    },
    repo::work::{Work, WorkStatus},
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
            Ok(Ok(Some((path, branch, base)))) => {
                let work = work.at(&path);
                places.push(RepoWork { found, work, path, branch, base });
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

/// Returns the problem that the branch of an RFC exists, but not in this clone.
fn only_at_origin(found: &FoundRepo, work: &Work, branch: &str) -> Result<Option<RepoProblem>, StoreError> {
    let remote = format!("{}/{branch}", found.remote);
    let is_there = work.has_ref(&work.at_origin(branch))?;
    Ok(is_there.then(|| {
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

type Looked = (PathBuf, Option<String>, Option<String>);

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
            Some(_) => found.default.clone().map(|branch| (path, Some(branch), base)),
            None => Some((path, None, base)),
        });
    };
    let mine = usable().find(|tree| Some(&*tree.path) == wanted);
    if let Some(tree) = mine.or_else(|| usable().find(|tree| tree.branch.as_deref() == Some(branch))) {
        return Ok(Some((tree.path.clone(), None, base)));
    }
    let is_there = work.has_ref(&format!("refs/heads/{branch}"))?;
    Ok(is_there.then(|| (found.folder.clone(), Some(branch.to_owned()), base)))
}

/// Returns the state of the work in a repository. A branch whose commits would change nothing has nothing to merge.
pub(crate) fn standing(place: &RepoWork) -> Result<WorkStatus, StoreError> {
    let mut standing = match &place.branch {
        Some(branch) => place.work.status_of(branch, place.base.as_deref())?,
        None => place.work.status(place.base.as_deref())?,
    };
    if let (Some(head), Some(base), 1.., 1..) = (&standing.head, &place.base, standing.ahead, standing.behind)
        && place.work.brings_nothing(head, base)?
    {
        standing.ahead = 0;
    }
    Ok(standing)
}
