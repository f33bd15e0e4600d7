//! Pull requests of one RFC in several repositories: `realm_pr_status`, `realm_pr_prepare`,
//! `realm_pr_create`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RepoProblem;
use crate::model::{
    name::{ContractName, DomainName, RealmName, RepoName, RfcName},
    range::Range,
    version::Version,
};

/// The answer of `realm_pr_status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrStatus {
    /// The realm.
    pub realm: RealmName,
    /// The repository that asked; null outside of one.
    pub current_repo: Option<RepoName>,
    /// The RFC; null if all repositories were requested as they are.
    pub rfc: Option<RfcName>,
    /// The repositories that take part.
    pub repos: Vec<PrRepo>,
    /// A summary of all repositories.
    pub summary: PrSummary,
    /// The order of merges: as imports require it, and otherwise providers before consumers.
    pub merge_order: Vec<RepoName>,
    /// Repositories that rely on each other, so that no merge order is correct.
    pub circular: Vec<RepoName>,
    /// Imports that accept only the version before a merge, or only the one after.
    pub clashes: Vec<ImportClash>,
    /// The steps, in an order in which every check passes in between; empty if the branches change no import and no
    /// contract that is imported.
    pub steps: Vec<MergeStep>,
    /// Repositories that could not be read, each with the reason.
    pub errors: Vec<RepoProblem>,
}

/// An import that breaks in any order of merges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportClash {
    /// The repository that imports.
    pub consumer: RepoName,
    /// The repository that changes the contract.
    pub provider: RepoName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The version that is published; null if there is none yet.
    pub old_version: Option<Version>,
    /// The version that the provider's branch makes current.
    pub new_version: Version,
    /// The range that is published; null if there is none yet.
    pub old_version_req: Option<Range>,
    /// The range of the consumer's branch.
    pub version_req: Range,
    /// The possible resolutions.
    pub ways_out: Vec<String>,
}

/// One step of the merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergeStep {
    /// The repository.
    pub repo: RepoName,
    /// The action.
    pub action: MergeAction,
    /// For an edit, the domain.
    pub domain: Option<DomainName>,
    /// For an edit, the contract.
    pub contract: Option<ContractName>,
    /// For an edit, the file, absolute where the repository lies on this machine.
    pub file: Option<String>,
    /// For an edit, the range to write.
    pub version_req: Option<Range>,
    /// For a merge without a pull request, the command.
    pub command: Option<String>,
    /// The whole step as text.
    pub text: String,
}

/// The action of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MergeAction {
    /// Accept the new version besides the old one.
    Widen,
    /// Merge the branch.
    Merge,
    /// Stop accepting the old version.
    Narrow,
}

/// The state of one repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrRepo {
    /// The repository.
    pub name: RepoName,
    /// The folder that was read, absolute: the worktree of the RFC, if there is one.
    pub path: String,
    /// Whether it is the one that asked.
    pub is_current: bool,
    /// The branch; null if HEAD is detached.
    pub branch: Option<String>,
    /// The branch that it is to be merged into; null if there is no default branch.
    pub base: Option<String>,
    /// The number of files with uncommitted changes.
    pub uncommitted_changes: usize,
    /// The number of commits that the base does not have.
    pub commits_ahead: usize,
    /// The number of commits of the base that it does not have.
    pub commits_behind: usize,
    /// Whether every commit of the branch was pushed; null if there is nothing to push.
    pub pushed: Option<bool>,
    /// The pull request; null if there is none, or that is not known.
    pub pr: Option<PullRequest>,
    /// The reason that the pull request or its state is not known.
    pub pr_unknown: Option<String>,
    /// The repositories among these that it relies on.
    pub depends_on: Vec<RepoName>,
    /// The repositories among these that must be merged first.
    pub blocked_by: Vec<RepoName>,
    /// The obstacles in this repository itself.
    pub hurdles: Vec<String>,
    /// Whether there are no such obstacles.
    pub ready: bool,
}

/// A pull request, which some forges call a merge request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PullRequest {
    /// Its number.
    pub number: u64,
    /// Whether it is open, closed or merged.
    pub state: PullState,
    /// Whether it is a draft.
    pub draft: bool,
    /// The URL of its web page.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Whether it can be merged without conflicts; null if the forge does not know yet.
    pub mergeable: Option<bool>,
    /// The latest verdicts of its reviewers.
    pub reviews: PullReviews,
    /// The results of the checks of its last commit; null if they cannot be seen.
    pub checks: Option<PullChecks>,
}

/// The state of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum PullState {
    /// It waits to be merged.
    Open,
    /// It was closed without a merge.
    Closed,
    /// It was merged.
    Merged,
}

/// The number of reviewers by their verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PullReviews {
    /// Reviewers who approve.
    pub approved: usize,
    /// Reviewers who request changes.
    pub changes_requested: usize,
}

/// The number of checks by their result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PullChecks {
    /// Checks that passed.
    pub passed: usize,
    /// Checks that failed.
    pub failed: usize,
    /// Checks that have not finished.
    pub pending: usize,
}

/// All repositories together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrSummary {
    /// Whether everything is committed.
    pub all_clean: bool,
    /// Whether every commit was pushed.
    pub all_pushed: bool,
    /// Whether everything is committed and pushed, and there is something to merge.
    pub ready_for_pr: bool,
}

/// The answer of `realm_pr_prepare`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrPrepare {
    /// The realm.
    pub realm: RealmName,
    /// The RFC.
    pub rfc: RfcName,
    /// Whether this was a dry run, which commits nothing.
    pub dry_run: bool,
    /// Each repository with a worktree of the RFC.
    pub repos: Vec<Prepared>,
    /// Repositories in which nothing could be committed, each with the reason.
    pub errors: Vec<RepoProblem>,
}

/// A commit in one repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Prepared {
    /// The repository.
    pub name: RepoName,
    /// Its worktree, absolute.
    pub path: String,
    /// The commit; null if there was nothing to commit, or it was a dry run.
    pub commit: Option<String>,
    /// The files that it changes, or would.
    pub files: Vec<String>,
    /// Untracked files, which were not added.
    pub untracked: Vec<String>,
    /// Files that look as if they contain a secret. They are never committed by this command.
    pub secrets: Vec<String>,
}

/// The answer of `realm_pr_create`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrCreate {
    /// The realm.
    pub realm: RealmName,
    /// The RFC.
    pub rfc: RfcName,
    /// Each repository with commits to merge, in merge order.
    pub repos: Vec<PrCreated>,
    /// Repositories without commits to merge.
    pub nothing_to_merge: Vec<RepoName>,
    /// The repositories that failed, each with the reason.
    pub errors: Vec<RepoProblem>,
}

/// The outcome for one repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrCreated {
    /// The repository.
    pub name: RepoName,
    /// Its branch, which was pushed.
    pub branch: String,
    /// The pull request's number; null if there is none.
    pub number: Option<u64>,
    /// The URL of its web page; if there is none, the URL of the page that opens one, if known.
    pub url: Option<String>,
    /// Whether it was opened by this call.
    pub created: bool,
    /// Whether its description was updated.
    pub updated: bool,
}

/// The answer of `realm_pr_comment`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrComment {
    /// The number of the pull request; null if none was searched for.
    pub number: Option<u64>,
    /// The URL of the comment, if the forge returned one.
    pub url: Option<String>,
    /// The place the report was written to.
    pub outcome: CommentOutcome,
    /// The reason there is no comment; null if there is one.
    pub reason: Option<String>,
}

/// The place a report was written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CommentOutcome {
    /// A new comment.
    Created,
    /// The existing comment.
    Updated,
    /// The existing comment, which has this text already.
    Unchanged,
    /// The summary of the workflow step, because the comment may not be written.
    Summary,
}
