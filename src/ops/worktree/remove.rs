//! `realm_worktree_remove`: removes the worktrees of an RFC with git. Nothing is removed if any of them has work that
//! exists nowhere else, unless the user forces it.

use std::path::{Path, PathBuf};

use super::{
    create::{of_git, unlock},
    list::all_found,
    rfc_worktrees,
};
use crate::{
    error::{ErrorCode, OpError, Problem},
    model::{
        name::RfcName,
        text::{count, shell_path, shell_word},
    },
    ops::{
        Operation,
        ctx::{ActingRepo, Ctx, RealmContext},
        progress::RequestProgress,
        repos::{self, paths::FoundRepo},
        runs,
        session::{
            marker::{self, SessionMarker, SessionRef},
            upkeep,
        },
    },
    repo::work::{Work, Worktree},
    store::StoreError,
    wire::{Answer, WorktreeRemove},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "realm_worktree_remove",
    &["realm", "worktree", "remove"],
    "Remove the worktrees of an RFC",
);

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The RFC
    #[cfg_attr(feature = "cli", arg(long, value_name = "RFC"))]
    pub rfc: RfcName,
    /// Remove worktrees even with uncommitted or unpushed work
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub force: bool,
    /// Also delete branches that are merged into the default branch
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub delete_branches: bool,
}

runs!(WorktreeRemove, run);

/// The work in one repository.
struct Job {
    found: FoundRepo,
    work: Work,
    base: Option<String>,
    tree: Worktree,
}

/// The outcome in one repository whose worktree was removed.
struct Done {
    is_branch_gone: Result<bool, StoreError>,
}

/// Removes the worktrees.
///
/// # Errors
/// Returns an error if there are none, if one has work that exists nowhere else, or if the current folder is in one.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<WorktreeRemove>, OpError> {
    let here = ctx.realm()?;
    let root = rfc_worktrees::root(ctx, &here.realm);
    let branch = rfc_worktrees::branch(ctx, &request.rfc)?;
    let (found, mut errors) = all_found(ctx, here)?;
    let mut jobs = Vec::new();
    for found in found {
        let path = rfc_worktrees::path(&root, &request.rfc, &found.name);
        let work = found.work(ctx);
        match of_path(&work, &found, &path) {
            Ok(Some((tree, base))) => jobs.push(Job { found, work, base, tree }),
            Ok(None) => {}
            Err(error) => errors.push(of_git(&found.name, &error)),
        }
    }
    if jobs.is_empty() {
        let message = format!("{} has no worktrees in the realm {}", request.rfc, here.realm);
        return Err(OpError::cannot(ErrorCode::NoWorktrees, message).next("git blue realm worktree list"));
    }
    let cwd = dunce::canonicalize(ctx.env.cwd()).unwrap_or_else(|_| ctx.env.cwd().to_owned());
    if let Some(job) = jobs.iter().find(|job| cwd.starts_with(&job.tree.path)) {
        let message = format!("cannot remove {}: it is the current directory, or contains it", job.tree.path.display());
        return Err(
            OpError::no(ErrorCode::CurrentWorktree, message).next(format!("cd {}", shell_path(&job.found.folder)))
        );
    }
    refuse_locked(&jobs)?;
    if !request.force {
        refuse_loss(&ctx.progress(), &jobs, &branch, request)?;
    }
    let sessions: Vec<_> = jobs.iter().map(|job| session_of(ctx, job)).collect();
    let outcomes = repos::for_each::each(&ctx.progress(), &jobs, |job| remove(job, &branch, request))?;
    let mut body = WorktreeRemove {
        rfc: request.rfc.clone(),
        realm: here.realm.clone(),
        branch,
        removed: Vec::new(),
        branches_deleted: Vec::new(),
        branches_kept: Vec::new(),
        errors,
    };
    for ((job, outcome), session) in jobs.iter().zip(outcomes).zip(sessions) {
        let name = job.found.name.clone();
        match outcome {
            Ok(Done { is_branch_gone }) => {
                if let Some(session) = session {
                    end(ctx, here, &session);
                }
                body.removed.push(name.clone());
                match is_branch_gone {
                    Ok(true) => body.branches_deleted.push(name),
                    Ok(false) if request.delete_branches => body.branches_kept.push(name),
                    Ok(false) => {}
                    Err(error) => body.errors.push(of_git(&name, &error)),
                }
            }
            Err(error) => body.errors.push(of_git(&name, &error)),
        }
    }
    remove_empty_folders(&root, &request.rfc);
    let kept = !body.branches_kept.is_empty();
    let step = "the branches that were kept have commits that are not in the default branch";
    Ok(Answer::new(body).next_if(kept, step))
}

/// Returns the session of a worktree, if there is one.
fn session_of(ctx: &Ctx, job: &Job) -> Option<SessionRef> {
    let path = &job.tree.path;
    let cwd = if job.tree.is_gone { &job.found.folder } else { path };
    let code = ctx.other_repo(cwd).ok()??;
    if job.tree.is_gone {
        return marker::of_clone(&code)
            .deleted
            .into_iter()
            .find(|(deleted, _)| deleted == path)
            .map(|(_, marked)| marked);
    }
    match marker::read(&code) {
        SessionMarker::Session(marked) => Some(marked),
        SessionMarker::None | SessionMarker::Unreadable(_) => None,
    }
}

/// Ends the session of a worktree that was removed. If that fails, the session becomes stale.
fn end(ctx: &Ctx, here: &RealmContext, session: &SessionRef) {
    if session.realm == here.realm {
        let acting = ActingRepo { realm: &here.realm, store: &*here.store, repo: &session.repo, code: None };
        let _ = upkeep::end(acting, &session.id, &ctx.upkeep_signature());
    }
}

/// Returns the worktree in exactly this folder and the base of its work, if git lists it. Other folders are never
/// removed.
fn of_path(work: &Work, found: &FoundRepo, path: &Path) -> Result<Option<(Worktree, Option<String>)>, StoreError> {
    let Some(tree) = work.worktrees()?.into_iter().skip(1).find(|tree| tree.path == path) else {
        return Ok(None);
    };
    let base = found.default.as_deref().map(|default| work.base(default)).transpose()?.flatten();
    Ok(Some((tree, base)))
}

/// Refuses to remove worktrees if the user locked one of them, which git does not remove.
fn refuse_locked(jobs: &[Job]) -> Result<(), OpError> {
    let (mut said, mut steps) = (Vec::new(), Vec::new());
    for Job { found, tree, .. } in jobs.iter().filter(|job| !job.tree.is_unfinished()) {
        let Some(reason) = &tree.lock else { continue };
        let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        said.push(format!("the worktree of {} is locked{reason}", found.name));
        steps.push(unlock(found, tree));
    }
    if said.is_empty() {
        return Ok(());
    }
    let error = OpError::no(ErrorCode::LockedWorktree, format!("nothing was removed: {}", said.join("; ")));
    Err(error.next_all(steps))
}

fn refuse_loss(progress: &RequestProgress, jobs: &[Job], branch: &str, request: &Request) -> Result<(), OpError> {
    let look = |job: &Job| -> Result<_, StoreError> {
        if job.tree.is_gone || job.tree.lacks_head() {
            return Ok(None);
        }
        let within = job.work.at(&job.tree.path);
        Ok(Some((within.status(job.base.as_deref())?, within.submodules()?)))
    };
    let (mut problems, mut with_submodules, mut detached) = (Vec::new(), Vec::new(), Vec::new());
    let (mut has_uncommitted, mut has_unpushed) = (false, false);
    for (job, standing) in jobs.iter().zip(repos::for_each::each(progress, jobs, look)?) {
        let Some((standing, submodules)) = standing? else { continue };
        has_uncommitted |= standing.uncommitted > 0;
        has_unpushed |= standing.only_here > 0;
        let mut holds = Vec::new();
        if standing.uncommitted > 0 {
            holds.push(count(standing.uncommitted, "uncommitted change", "uncommitted changes"));
        }
        if standing.only_here > 0 {
            if job.tree.branch.is_none() {
                detached.push(shell_path(&job.tree.path));
            }
            holds.push(count(standing.only_here, "commit that is not pushed", "commits that are not pushed"));
        }
        if submodules > 0 {
            let (one, many) = ("submodule that is checked out", "submodules that are checked out");
            with_submodules.push(shell_path(&job.tree.path));
            holds.push(if submodules == 1 { format!("a {one}") } else { format!("{submodules} {many}") });
        }
        if !holds.is_empty() {
            problems.push(Problem {
                code: ErrorCode::UnsavedWork.into(),
                message: format!("{} has {}", job.found.name, holds.join(" and ")),
                file: Some(job.tree.path.display().to_string()),
                line: None,
                column: None,
            });
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    let said: Vec<_> = problems.iter().map(|problem| problem.message.clone()).collect();
    let rfc = &request.rfc;
    let error = OpError::no(ErrorCode::UnsavedWork, format!("nothing was removed: {}", said.join("; ")));
    let branch = shell_word(branch);
    let switch =
        |path| format!("git -C {path} switch {branch} && git -C {path} merge -  # put its commits on the branch");
    let deinit = |path| format!("git -C {path} submodule deinit --all  # once their commits are pushed");
    Err(OpError { problems, ..error }
        .next_all(detached.into_iter().map(switch))
        .next_if(has_uncommitted, format!("git blue realm pr prepare --rfc {rfc} --message …  # commit it"))
        .next_if(has_uncommitted || has_unpushed, format!("git blue realm pr create --rfc {rfc} --title …  # push it"))
        .next_all(with_submodules.into_iter().map(deinit))
        .next(format!(
            "git blue realm worktree remove --rfc {rfc} --force  # remove the worktrees; uncommitted work is lost"
        )))
}

fn remove(job: &Job, branch: &str, request: &Request) -> Result<Done, StoreError> {
    // git refuses to remove a worktree with a `.gitmodules` file. It was already checked that no submodule is checked
    // out. Instead of git, check again that nothing is uncommitted.
    let is_refused = !job.tree.is_gone && job.tree.path.join(".gitmodules").exists();
    if is_refused && !request.force && job.work.at(&job.tree.path).status(None)?.uncommitted > 0 {
        let doing = format!("remove {}", job.tree.path.display());
        return Err(StoreError::Git { doing, problem: "it has uncommitted changes".into() });
    }
    let force = request.force || is_refused;
    if job.tree.lacks_head() {
        job.work.remove_unfinished(&job.tree)?;
    } else {
        if job.tree.is_unfinished() {
            job.work.unlock_worktree(&job.tree.path)?;
        }
        job.work.remove_worktree(&job.tree.path, force)?;
    }
    Ok(Done { is_branch_gone: if request.delete_branches { delete_branch(job, branch) } else { Ok(false) } })
}

/// Deletes a branch if it is merged into the default branch. Returns whether there is no such branch then.
fn delete_branch(job: &Job, branch: &str) -> Result<bool, StoreError> {
    let is_default = job.found.default.as_deref() == Some(branch);
    match &job.base {
        _ if !job.work.has_ref(&format!("refs/heads/{branch}"))? => Ok(true),
        Some(base) if !is_default && is_merged(job, branch, base)? => {
            job.work.delete_branch(branch)?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Returns whether `base` has the commits of a branch, or at least their changes.
fn is_merged(job: &Job, branch: &str, base: &str) -> Result<bool, StoreError> {
    Ok(job.work.is_merged(branch, base)? || job.work.brings_nothing(&format!("refs/heads/{branch}"), base)?)
}

/// Removes the empty folders of an RFC.
fn remove_empty_folders(root: &Path, rfc: &RfcName) {
    let mut folder: PathBuf = root.join(rfc.to_string());
    while folder != *root && std::fs::remove_dir(&folder).is_ok() && folder.pop() {}
}
