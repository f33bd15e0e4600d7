//! `realm_pr_prepare`: makes one commit in each worktree of an RFC that has changes, with the user's git, identity and
//! hooks.

use std::path::PathBuf;

use super::rfc_work::{RepoWork, RfcWork, places};
use crate::ops::{
    Operation,
    ctx::Ctx,
    runs,
    worktree::{self, create::of_git},
};
use crate::{
    error::{ErrorCode, OpError},
    model::{name::RfcName, secret_file::looks_secret, text::shell_path},
    wire::{Answer, PrPrepare, Prepared, RepoProblem},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "realm_pr_prepare",
    &["realm", "pr", "prepare"],
    "Commit the changes in the worktrees of an RFC",
);

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The RFC
    #[cfg_attr(feature = "cli", arg(long, value_name = "RFC"))]
    pub rfc: RfcName,
    /// The message of each commit
    #[cfg_attr(feature = "cli", arg(short, long, value_name = "TEXT", allow_hyphen_values = true))]
    pub message: String,
    /// Include untracked files outside of .blue/ too, unless they look like secrets
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub all: bool,
    /// Show what would be committed, without committing it
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub dry_run: bool,
}

runs!(PrPrepare, run);

/// Commits the changes in each worktree.
///
/// # Errors
/// Returns an error if the RFC has no worktrees, or there is no message. Failures in individual repositories are part
/// of the answer.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<PrPrepare>, OpError> {
    let here = ctx.realm()?;
    match request.message.trim() {
        "" => return Err(OpError::usage("the message is empty")),
        "…" => return Err(OpError::usage("write the message in place of the dots")),
        _ => {}
    }
    let branch = worktree::rfc_worktrees::branch(ctx, &request.rfc)?;
    let RfcWork { places, errors, .. } = places(ctx, here, Some(&request.rfc))?;
    let mut body = PrPrepare {
        realm: here.realm.clone(),
        rfc: request.rfc.clone(),
        dry_run: request.dry_run,
        repos: Vec::new(),
        errors,
    };
    // One after the other, because hooks and signing may prompt the user.
    for place in &places {
        match prepare(place, &branch, request) {
            Ok(Some(prepared)) => body.repos.push(prepared),
            Ok(None) => {}
            Err(problem) => body.errors.push(problem),
        }
    }
    let has_secrets = body.repos.iter().any(|repo| !repo.secrets.is_empty());
    let has_untracked = body.repos.iter().any(|repo| !repo.untracked.is_empty());
    let rfc = &request.rfc;
    let has_failed = !body.errors.is_empty();
    let steps: Vec<_> = body.errors.iter().filter_map(|one| one.next_step.as_deref().cloned()).collect();
    Ok(Answer::new(body)
        .next_all(steps)
        .next_if(has_untracked && !request.all, "untracked files were not committed; use --all to include them")
        .next_if(has_secrets, "files that may contain secrets were not committed; add them one by one with git add")
        .next_if(!request.dry_run && !has_failed, format!("git blue realm pr create --rfc {rfc} --title \"…\"")))
}

fn prepare(place: &RepoWork, branch: &str, request: &Request) -> Result<Option<Prepared>, RepoProblem> {
    let name = &place.found.name;
    let git = |error| of_git(name, &error);
    let at = place.path.display();
    let on = place.work.current_branch().map_err(git)?;
    let is_elsewhere = on.as_deref() != Some(branch);
    // A branch without a worktree has no uncommitted changes.
    if is_elsewhere && place.is_branch_alone() {
        return Ok(None);
    }
    // Before the branch, because a rebase detaches HEAD.
    if let Some(word) = place.work.in_progress().map_err(git)? {
        let message = format!("{at} is in the middle of git {word}");
        let next = format!("git -C {} {word} --continue  # or --abort", shell_path(&place.path));
        return Err(RepoProblem::new(name, ErrorCode::OperationInProgress, message).next(next));
    }
    if is_elsewhere {
        let on = on.map_or("no branch".into(), |on| format!("the branch {on}"));
        let message = format!("{at} is on {on}, not on {branch}");
        return Err(worktree::create::of_other_branch(name, &place.path, branch, message));
    }
    let found = place.work.uncommitted().map_err(git)?;
    if !found.conflicts.is_empty() {
        let message = format!("{at} has conflicts in {}", found.conflicts.join(", "));
        return Err(
            RepoProblem::new(name, ErrorCode::UnmergedFiles, message).next("resolve them, and git add the files")
        );
    }
    let (secrets, plain): (Vec<_>, Vec<_>) =
        found.untracked.into_iter().partition(|path| looks_secret(&path.to_string_lossy()));
    // A committed contract or binding may refer to a new file in `.blue/`, and could not be published without it.
    let (new, untracked): (Vec<_>, Vec<_>) =
        plain.into_iter().partition(|path| request.all || path.starts_with(".blue"));
    let shown = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    let files: Vec<_> = found.tracked.into_iter().chain(shown(&new)).collect();
    let commit = if files.is_empty() || request.dry_run {
        None
    } else {
        Some(place.work.commit(&request.message, &new).map_err(|error| {
            let next = format!("changes in {at} stay staged: fix the problem, and try again");
            RepoProblem::new(name, ErrorCode::NotCommitted, error.to_string()).next(next)
        })?)
    };
    Ok(Some(Prepared {
        name: name.clone(),
        path: at.to_string(),
        commit,
        files,
        untracked: shown(&untracked),
        secrets: shown(&secrets),
    }))
}
