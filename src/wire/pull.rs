//! Pull requests of one RFC in several repositories: `realm_pr_status`, `realm_pr_prepare` and `realm_pr_create`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RepoProblem;
pub use crate::model::pull::{PullChecks, PullState};
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
    /// The current repository; null outside of a repository.
    pub current_repo: Option<RepoName>,
    /// The RFC; null if all repositories were requested as they are.
    pub rfc: Option<RfcName>,
    /// The repositories that take part.
    pub repos: Vec<PrRepo>,
    /// A summary of all repositories.
    pub summary: PrSummary,
    /// The repositories with something to merge, in the order in which to merge them: as imports require it, and otherwise
    /// providers before consumers.
    pub merge_order: Vec<RepoName>,
    /// The repositories that must each be merged before the other, so that no merge order is correct.
    pub cyclic: Vec<RepoName>,
    /// The imports that accept only the version before a merge, or only the one after it.
    pub import_conflicts: Vec<ImportConflict>,
    /// The merge steps, in an order in which all checks pass after each step. Without an RFC, it is empty if the branches
    /// change no import and no imported contract.
    pub steps: Vec<MergeStep>,
    /// The repositories that could not be read, each with the reason.
    pub errors: Vec<RepoProblem>,
}

/// An import that breaks in every merge order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportConflict {
    /// The repository that imports the contract.
    pub consumer: RepoName,
    /// The repository that changes the contract.
    pub provider: RepoName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The published version; null if there is none yet.
    pub old_version: Option<Version>,
    /// The version that becomes current with the provider's branch.
    pub new_version: Version,
    /// The published range; null if there is none yet.
    pub old_version_req: Option<Range>,
    /// The range in the consumer's branch.
    pub version_req: Range,
    /// The possible resolutions.
    pub resolutions: Vec<String>,
}

/// A step of the merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergeStep {
    /// The repository.
    pub repo: RepoName,
    /// The action of the step.
    pub action: MergeAction,
    /// The domain, for an edit.
    pub domain: Option<DomainName>,
    /// The contract, for an edit.
    pub contract: Option<ContractName>,
    /// The absolute path of the file, for an edit; null if the repository is not on this machine.
    pub file: Option<String>,
    /// The range to write, for an edit.
    pub version_req: Option<Range>,
    /// The command, unless the step is an edit or the merge of a pull request.
    pub command: Option<String>,
    /// The whole step as text.
    pub text: String,
}

/// The action of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MergeAction {
    /// Accept the new version in addition to the old one.
    Widen,
    /// Merge the branch.
    Merge,
    /// Stop accepting the old version.
    Narrow,
    /// Make the branch publishable; the other steps follow from it.
    Repair,
    /// Publish and push what is merged.
    Publish,
    /// Get what others published since the last sync, which may change the other steps.
    Sync,
}

/// The state of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrRepo {
    /// The repository.
    pub name: RepoName,
    /// The absolute path of the directory that was read: the worktree of the RFC, if there is one.
    pub path: String,
    /// Whether this is the current repository.
    pub is_current: bool,
    /// The current branch; null if HEAD is detached.
    pub branch: Option<String>,
    /// The branch to merge into; null if there is no default branch.
    pub base: Option<String>,
    /// The number of files with uncommitted changes.
    pub uncommitted_changes: usize,
    /// Whether these files may all contain secrets, so that `pr prepare` commits none of them.
    #[serde(skip)]
    pub holds_only_secrets: bool,
    /// The number of commits on the branch that are not on the base.
    pub commits_ahead: usize,
    /// The number of commits on the base that are not on the branch.
    pub commits_behind: usize,
    /// Whether all commits of the branch were pushed; null if there is nothing to push.
    pub pushed: Option<bool>,
    /// The pull request; null if there is none or it is unknown.
    pub pr: Option<PullRequest>,
    /// The reason that the pull request or its state is unknown.
    pub pr_problem: Option<String>,
    /// The repositories in this answer that this one depends on.
    pub depends_on: Vec<RepoName>,
    /// The repositories in this answer that must be merged before this one.
    pub blocked_by: Vec<RepoName>,
    /// The obstacles in this repository.
    pub blockers: Vec<String>,
    /// Whether this repository has no obstacles.
    pub ready: bool,
}

/// A pull request, which some forges call a merge request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PullRequest {
    /// The number of the pull request.
    pub number: u64,
    /// Whether the pull request is open, closed or merged.
    pub state: PullState,
    /// Whether the pull request is a draft.
    pub draft: bool,
    /// The URL of the web page.
    pub url: String,
    /// The title of the pull request.
    pub title: String,
    /// Whether the pull request can be merged without conflicts; null if the forge does not know yet.
    pub mergeable: Option<bool>,
    /// The latest verdicts of the reviewers.
    pub reviews: PullReviews,
    /// The results of the checks on the last commit; null if they are not visible.
    pub checks: Option<PullChecks>,
}

/// The number of reviewers by verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PullReviews {
    /// Reviewers who approve.
    pub approved: usize,
    /// Reviewers who request changes.
    pub changes_requested: usize,
}

/// A summary of all repositories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrSummary {
    /// Whether everything is committed.
    pub all_clean: bool,
    /// Whether all commits were pushed.
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
    /// The repositories that have a worktree of the RFC.
    pub repos: Vec<Prepared>,
    /// The repositories in which nothing could be committed, each with the reason.
    pub errors: Vec<RepoProblem>,
}

/// A commit in one repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Prepared {
    /// The repository.
    pub name: RepoName,
    /// The absolute path of the worktree.
    pub path: String,
    /// The commit; null if there was nothing to commit, or it was a dry run.
    pub commit: Option<String>,
    /// The files that the commit changes, or would change in a dry run.
    pub files: Vec<String>,
    /// The untracked files, which were not added.
    pub untracked: Vec<String>,
    /// The files that look as if they contain a secret. This command never commits them.
    pub secrets: Vec<String>,
}

/// The answer of `realm_pr_create`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrCreate {
    /// The realm.
    pub realm: RealmName,
    /// The RFC.
    pub rfc: RfcName,
    /// The repositories with commits to merge, in merge order.
    pub repos: Vec<PrCreated>,
    /// The repositories without commits to merge.
    pub nothing_to_merge: Vec<RepoName>,
    /// The repositories that failed, each with the reason.
    pub errors: Vec<RepoProblem>,
}

/// The outcome for one repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrCreated {
    /// The repository.
    pub name: RepoName,
    /// The branch of the repository, which was pushed.
    pub branch: String,
    /// The number of the pull request; null if there is none.
    pub number: Option<u64>,
    /// The URL of the pull request; without one, the URL of the page for opening one, if known.
    pub url: Option<String>,
    /// Whether this call opened the pull request.
    pub created: bool,
    /// Whether this call updated the description.
    pub updated: bool,
}

/// The answer of `realm_pr_comment`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrComment {
    /// The number of the pull request; null if no comment was written and the request has no number.
    pub number: Option<u64>,
    /// The URL of the comment, if the forge returned one.
    pub url: Option<String>,
    /// The place that the report was written to.
    pub outcome: CommentOutcome,
    /// The reason there is no comment; null if there is one.
    pub reason: Option<String>,
}

/// The place that a report was written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CommentOutcome {
    /// A new comment.
    Created,
    /// The existing comment.
    Updated,
    /// The existing comment, which already had this text.
    Unchanged,
    /// The summary of the workflow step, because commenting was not permitted.
    Summary,
}
