//! The progress of an RFC in one repository: what git and the forge say.

use std::path::Path;

use super::rfc_work::RepoWork;
use crate::{
    forge::{ForgeError, Pull, PullStatus},
    model::{
        secret_file::looks_secret,
        text::{count, shell_path},
    },
    ops::{
        ctx::RealmContext,
        repos::{
            forges::{ForgeUnavailable, OnForge},
            paths::FoundRepo,
        },
    },
    repo::work::WorkStatus,
    wire::{PrRepo, PullRequest, PullReviews, PullState},
};

/// Why a pull request that looks ready may not be.
const UNKNOWN_CHECKS: &str = "its checks are unknown: the forge does not show them to this token";

/// The progress in one repository.
pub struct Measured {
    pub standing: WorkStatus,
    pull: Result<Option<(Pull, Option<PullStatus>)>, String>,
    /// Why the state of the pull request is not known.
    unknown: Option<String>,
    /// Whether the repository is on no forge, so that it has no pull request.
    is_without_forge: bool,
}

impl Measured {
    pub fn without_pull(standing: WorkStatus, closed: &ForgeUnavailable) -> Self {
        let is_without_forge = closed.is_absent();
        Self { standing, pull: Err(closed.message.clone()), unknown: None, is_without_forge }
    }

    /// Returns the commit by which the pull request was merged.
    pub fn merged_as(&self) -> Option<String> {
        self.pull.as_ref().ok()?.as_ref()?.0.merged_as.clone()
    }

    /// Returns what may prevent a merge on the forge, because the forge does not show it.
    pub fn unknown_blocker(&self) -> Option<&'static str> {
        match &self.pull {
            Err(_) if !self.is_without_forge => Some("its pull request is unknown"),
            Ok(Some((pull, None))) if pull.state == PullState::Open => Some("the state of its pull request is unknown"),
            _ => None,
        }
    }
}

/// Returns whether all files that could be committed look like secrets. If they cannot be listed, the answer is no.
fn holds_only_secrets(place: &RepoWork) -> bool {
    let found = place.work.uncommitted();
    found.is_ok_and(|found| {
        found.tracked.is_empty()
            && found.conflicts.is_empty()
            && !found.untracked.is_empty()
            && found.untracked.iter().all(|path| looks_secret(&path.to_string_lossy()))
    })
}

/// Queries the forge. The default branch never belongs to a pull request.
pub fn with_pull(place: &RepoWork, standing: WorkStatus, on: &OnForge) -> Measured {
    let forge = match &on.forge {
        Ok(forge) => forge,
        Err(closed) => return Measured::without_pull(standing, closed),
    };
    let branch = standing.branch.as_deref().filter(|branch| Some(*branch) != place.found.default.as_deref());
    let asked = branch.map(|branch| forge.of_branch(branch)).transpose().map(Option::flatten);
    let (pull, unknown) = match asked {
        Ok(Some(pull)) if pull.state == PullState::Open => match forge.status(&pull) {
            Ok(condition) => {
                let unknown = condition.checks.is_none().then(|| UNKNOWN_CHECKS.to_owned());
                (Ok(Some((pull, Some(condition)))), unknown)
            }
            Err(error) => (Ok(Some((pull, None))), Some(unknown(&error))),
        },
        // The checks of a closed pull request no longer matter.
        Ok(pull) => (Ok(pull.map(|pull| (pull, None))), None),
        Err(error) => (Err(unknown(&error)), None),
    };
    Measured { standing, pull, unknown, is_without_forge: false }
}

/// Returns why the state on the forge is unknown.
fn unknown(error: &ForgeError) -> String {
    match error {
        ForgeError::TimedOut { .. } => format!("{error}; only what git knows is shown"),
        _ => error.to_string(),
    }
}

/// Returns the progress as it appears in the answer.
pub fn line(here: &RealmContext, place: &RepoWork, measured: Measured) -> PrRepo {
    let unknown_blocker = measured.unknown_blocker();
    let Measured { standing, pull, unknown, .. } = measured;
    let (pull, unknown) = match pull {
        Ok(pull) => (pull.map(|(pull, condition)| request_of(pull, condition)), unknown),
        Err(why) => (None, Some(why)),
    };
    let mut line = PrRepo {
        name: place.found.name.clone(),
        path: place.path.display().to_string(),
        is_current: here.repo.as_ref() == Some(&place.found.name),
        branch: standing.branch.clone(),
        base: place.found.default.clone(),
        uncommitted_changes: standing.uncommitted,
        holds_only_secrets: standing.uncommitted > 0 && holds_only_secrets(place),
        commits_ahead: standing.ahead,
        commits_behind: standing.behind,
        pushed: (standing.ahead > 0).then_some(standing.unpushed == Some(0)),
        pr: pull,
        pr_problem: unknown,
        depends_on: Vec::new(),
        blocked_by: Vec::new(),
        blockers: Vec::new(),
        ready: false,
    };
    line.blockers = place.missing.iter().map(|folder| missing(&place.found, folder)).collect();
    line.blockers.extend(blockers(&line, &standing));
    let is_to_merge = line.commits_ahead > 0;
    line.blockers.extend(unknown_blocker.filter(|_| is_to_merge).map(str::to_owned));
    line.ready = line.blockers.is_empty();
    line
}

/// Returns what to do about a worktree whose folder is missing.
fn missing(found: &FoundRepo, folder: &Path) -> String {
    let git = format!("git -C {} worktree", shell_path(&found.folder));
    format!(
        "its worktree {} is missing: if it was moved, run {git} repair NEW-PATH, and otherwise {git} prune",
        folder.display()
    )
}

fn request_of(pull: Pull, condition: Option<PullStatus>) -> PullRequest {
    let condition = condition.unwrap_or_default();
    PullRequest {
        number: pull.number,
        state: pull.state,
        draft: pull.draft,
        url: pull.url,
        title: pull.title,
        mergeable: condition.mergeable,
        reviews: PullReviews { approved: condition.approved, changes_requested: condition.changes_requested },
        checks: condition.checks,
    }
}

/// Returns what prevents a merge in the repository itself, from the working tree to the pull request.
fn blockers(line: &PrRepo, standing: &WorkStatus) -> Vec<String> {
    let base = line.base.as_deref().unwrap_or("the default branch");
    let is_merged = line.pr.as_ref().is_some_and(|pr| pr.state == PullState::Merged);
    let mut found = Vec::new();
    if line.branch.is_none() {
        found.push("HEAD is detached".to_owned());
    }
    if line.uncommitted_changes > 0 {
        found.push(count(line.uncommitted_changes, "uncommitted change", "uncommitted changes"));
    }
    match line.uncommitted_changes {
        _ if line.commits_ahead > 0 || is_merged => {}
        0 if line.base.is_some() => found.push(format!("nothing to merge: {base} has all its commits")),
        _ => found.push(format!("no commits beyond {base}")),
    }
    match standing.unpushed {
        _ if line.commits_ahead == 0 || is_merged => {}
        Some(0) => {}
        Some(unpushed) => found.push(format!("{} not pushed", count(unpushed, "commit is", "commits are"))),
        None => found.push("its branch is not on the remote".into()),
    }
    let pr = line.pr.as_ref();
    let is_open = pr.is_some_and(|pr| pr.state == PullState::Open);
    if (standing.conflicts && !is_merged) || (is_open && pr.is_some_and(|pr| pr.mergeable == Some(false))) {
        found.push(conflicts(base));
    }
    let Some(pr) = pr.filter(|pr| pr.state != PullState::Merged) else { return found };
    if pr.state == PullState::Closed {
        found.push("its pull request was closed".into());
        return found;
    }
    if pr.draft {
        found.push("its pull request is a draft".into());
    }
    if pr.reviews.changes_requested > 0 {
        found.push(format!(
            "{} changes",
            count(pr.reviews.changes_requested, "reviewer requested", "reviewers requested")
        ));
    }
    let checks = pr.checks.unwrap_or_default();
    if checks.failed > 0 {
        found.push(count(checks.failed, "check failed", "checks failed"));
    }
    if checks.pending > 0 {
        found.push(count(checks.pending, "check is pending", "checks are pending"));
    }
    found
}

/// Returns the obstacle that a merge into `base` conflicts.
pub fn conflicts(base: &str) -> String {
    format!("it cannot be merged into {base} without conflicts")
}

/// Returns whether the publishing branch itself is checked out. What it is ahead of is the branch at the remote.
pub fn is_on_base(line: &PrRepo) -> bool {
    line.branch.is_some() && line.branch == line.base
}

/// Returns whether the branch has unmerged commits.
pub(crate) fn has_to_merge(line: &PrRepo) -> bool {
    line.commits_ahead > 0 && line.pr.as_ref().is_none_or(|pr| pr.state != PullState::Merged)
}
