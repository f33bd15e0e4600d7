//! Pull requests of one RFC in several repositories: `realm_pr_status`, `realm_pr_prepare`,
//! `realm_pr_create`.

use schemars::JsonSchema;
use serde::Serialize;

use super::RepoProblem;
use crate::model::name::{RealmName, RepoName, RfcName};

/// What `realm_pr_status` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PrStatus {
    /// The realm.
    pub realm: RealmName,
    /// The repository that asked; none outside of one.
    pub current_repo: Option<RepoName>,
    /// What is worked on; none where all repositories were asked for as they are.
    pub rfc: Option<RfcName>,
    /// Each repository that takes part.
    pub repos: Vec<PrRepo>,
    /// All of them together.
    pub summary: PrSummary,
    /// In which order to merge: who provides something before who relies on it.
    pub merge_order: Vec<RepoName>,
    /// Those that rely on each other, so that no order is right.
    pub circular: Vec<RepoName>,
    /// Repositories that could not be looked at, and why.
    pub errors: Vec<RepoProblem>,
}

/// How far one repository is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PrRepo {
    /// The repository.
    pub name: RepoName,
    /// Where it was measured, absolute: the worktree of the RFC, where there is one.
    pub path: String,
    /// Whether it is the one that asked.
    pub is_current: bool,
    /// The branch; none where HEAD is detached.
    pub branch: Option<String>,
    /// The branch that it is to be merged into; none where there is no default branch.
    pub base: Option<String>,
    /// How many files are not committed.
    pub uncommitted_changes: usize,
    /// How many commits it has that the base has not.
    pub commits_ahead: usize,
    /// How many commits the base has that it has not.
    pub commits_behind: usize,
    /// Whether the branch is at the remote, with every commit.
    pub pushed: bool,
    /// The pull request; none where there is none, or it is not known.
    pub pr: Option<PullRequest>,
    /// Why it is not known whether there is a pull request, or how it stands.
    pub pr_unknown: Option<String>,
    /// Those of these repositories that it relies on.
    pub depends_on: Vec<RepoName>,
    /// Those of them that are to be merged before.
    pub blocked_by: Vec<RepoName>,
    /// What stands in its own way.
    pub hurdles: Vec<String>,
    /// Whether nothing does.
    pub ready: bool,
}

/// A pull request, which some forges call a merge request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PullRequest {
    /// Its number.
    pub number: u64,
    /// Whether it is open.
    pub state: PullState,
    /// Whether it is a draft.
    pub draft: bool,
    /// Where people read it.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Whether it can be merged without conflicts; none where the forge has not found out.
    pub mergeable: Option<bool>,
    /// What reviewers said last.
    pub reviews: PullReviews,
    /// What checks say of its last commit; none where they are not to be seen.
    pub checks: Option<PullChecks>,
}

/// Whether a pull request is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum PullState {
    /// It waits to be merged.
    Open,
    /// It was given up.
    Closed,
    /// It was merged.
    Merged,
}

/// How many reviewers said what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct PullReviews {
    /// They approve.
    pub approved: usize,
    /// They want changes.
    pub changes_requested: usize,
}

/// How many checks ended how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct PullChecks {
    /// Well.
    pub passed: usize,
    /// Not well.
    pub failed: usize,
    /// Not yet.
    pub pending: usize,
}

/// All repositories together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PrSummary {
    /// Whether everything is committed.
    pub all_clean: bool,
    /// Whether every commit is at its remote.
    pub all_pushed: bool,
    /// Whether both, and there is something to merge.
    pub ready_for_pr: bool,
}

/// What `realm_pr_prepare` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PrPrepare {
    /// The realm.
    pub realm: RealmName,
    /// What is worked on.
    pub rfc: RfcName,
    /// Whether nothing was done but looking.
    pub dry_run: bool,
    /// Each repository with a worktree of the RFC.
    pub repos: Vec<Prepared>,
    /// Repositories where nothing was committed that should have been, and why.
    pub errors: Vec<RepoProblem>,
}

/// What was committed in one repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Prepared {
    /// The repository.
    pub name: RepoName,
    /// Its worktree, absolute.
    pub path: String,
    /// The commit; none where there was nothing to commit, or it was a dry run.
    pub commit: Option<String>,
    /// The files that it changes, or would.
    pub files: Vec<String>,
    /// Files that git does not know, and that were left so.
    pub untracked: Vec<String>,
    /// Those that look as if they held a secret: they are never committed by the way.
    pub secrets: Vec<String>,
}

/// What `realm_pr_create` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PrCreate {
    /// The realm.
    pub realm: RealmName,
    /// What is worked on.
    pub rfc: RfcName,
    /// Each repository with commits to merge, in merge order.
    pub repos: Vec<PrCreated>,
    /// Repositories without commits to merge.
    pub nothing_to_merge: Vec<RepoName>,
    /// What could not be done, and why.
    pub errors: Vec<RepoProblem>,
}

/// What was done for one repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PrCreated {
    /// The repository.
    pub name: RepoName,
    /// Its branch, which was pushed.
    pub branch: String,
    /// The pull request's number; none where there is none.
    pub number: Option<u64>,
    /// Where people read it; where there is none, and this is known, where people open one.
    pub url: Option<String>,
    /// Whether it was opened just now.
    pub created: bool,
    /// Whether its description was brought up to date.
    pub updated: bool,
}
