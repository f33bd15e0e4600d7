//! Finds the checkout of an RFC's branch, for a check of the RFC that was started in another one.

use super::{Request, Subject};
use crate::{
    error::{ErrorCode, NextStep, OpError},
    model::{
        check::Finding,
        name::{ContractRef, RepoName, RfcName},
        text::{shell_path, shell_word},
    },
    ops::{
        ctx::{Ctx, RealmContext},
        pr::rfc,
        worktree::rfc_worktrees,
    },
    repo::CodeRepo,
    wire::{Answer, RealmCheck, RfcBranch},
};

/// Returns the RFC's worktree of this repository and its context, if the command was started in a checkout of another
/// branch. Files and next steps of the RFC are there.
///
/// # Errors
/// Returns an error if HEAD or the worktree cannot be read.
pub fn worktree(ctx: &Ctx, request: &Request) -> Result<Option<(String, Ctx)>, OpError> {
    let (Some(rfc), Ok(here), None) = (&request.rfc, &ctx.realm, &request.repo) else { return Ok(None) };
    let Some(repo) = here.repo.as_ref().filter(|_| !matches!(request.subject, Subject::Commit(_))) else {
        return Ok(None);
    };
    let Some(branch) = other_branch(ctx, rfc)? else { return Ok(None) };
    let folder = rfc_worktrees::path(&rfc_worktrees::root(ctx, &here.realm), rfc, repo);
    let there = if folder.exists() { ctx.other_repo(&folder)? } else { None };
    let head = there.as_ref().map(CodeRepo::head).transpose()?;
    if head.and_then(|head| head.branch) != Some(branch) {
        return Ok(None);
    }
    let env = ctx.env.clone().without_repository().at(&folder);
    let opened = Ctx::open(env, Some(here.realm.clone()))?;
    let there = Ctx { as_of: ctx.as_of, progress: ctx.progress.clone(), ..opened };
    Ok(Some((folder.display().to_string(), there)))
}

/// Returns the branch of an RFC, if HEAD is on another one. The detached HEAD of a CI runner has what the pull request
/// proposes.
fn other_branch(ctx: &Ctx, rfc: &RfcName) -> Result<Option<String>, OpError> {
    let Some(code) = &ctx.code else { return Ok(None) };
    let branch = rfc_worktrees::branch(ctx, rfc)?;
    Ok(code.head()?.branch.is_some_and(|head| head != branch).then_some(branch))
}

/// Returns the step that checks out this repository's branch of the RFC, if that is judged but not checked out.
///
/// # Errors
/// Returns an error if the request is about the files of this checkout, which are not those of the RFC.
pub fn not_checked_out(
    ctx: &Ctx,
    here: &RealmContext,
    request: &Request,
    branches: &[(rfc::Branch, RfcBranch)],
) -> Result<Option<NextStep>, OpError> {
    let (Some(rfc), None) = (&request.rfc, &request.repo) else { return Ok(None) };
    let is_own = branches.iter().any(|(branch, _)| Some(&branch.repo) == here.repo.as_ref());
    let Some(branch) = other_branch(ctx, rfc)?.filter(|_| is_own) else { return Ok(None) };
    let switch = format!("git switch {}  # the files of {rfc} are on this branch", shell_word(&branch));
    match request.subject {
        Subject::Worktree | Subject::Staged => {
            let message = format!("these are not the files of {rfc}: its branch {branch} is not checked out");
            Err(OpError::no(ErrorCode::OtherBranch, message).next(switch))
        }
        _ => Ok(Some(switch.into())),
    }
}

/// Says of imported contracts that do not exist which branch of the current RFC has them.
///
/// # Errors
/// Returns an error if a branch cannot be read.
pub fn explain(ctx: &Ctx, repo: &RepoName, findings: &mut [Finding]) -> Result<(), OpError> {
    let is_own = |finding: &&mut Finding| finding.code == "missing-contract" && finding.repo.as_ref() == Some(repo);
    for finding in findings.iter_mut().filter(is_own) {
        let (Some(domain), Some(contract)) = (&finding.domain, &finding.contract) else { continue };
        let at = ContractRef { domain: domain.clone(), contract: contract.clone() };
        if let Some(proposal) = rfc::proposal(ctx, &at)?.filter(|proposal| proposal.repo != *repo) {
            let place = proposal.place(&at);
            finding.resolution = vec![format!("git blue check --rfc {}  # check both together", proposal.rfc)];
            finding.notes.push(place);
        }
    }
    Ok(())
}

/// Names the folder of the judged files in the next steps, for someone who is in another one.
pub fn name_folder(answer: &mut Answer<RealmCheck>, folder: &str) {
    let has_errors = !answer.body.errors.is_empty();
    for step in &mut answer.next_steps {
        match step {
            NextStep::Advice { reason, .. } if has_errors => {
                *reason = format!("in {}: {reason}", shell_path(folder.as_ref()));
            }
            _ => *step = step.in_folder(folder),
        }
    }
}
