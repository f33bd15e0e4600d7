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

/// What `realm_pr_status` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// In which order to merge: as imports need it, and where they do not care, who provides something
    /// before who relies on it.
    pub merge_order: Vec<RepoName>,
    /// Those that rely on each other, so that no order is right.
    pub circular: Vec<RepoName>,
    /// Imports that accept only the version before a merge, or only the one after.
    pub clashes: Vec<ImportClash>,
    /// What to do, in this order, so that every check passes on the way; nothing where the branches
    /// change no import and no contract that is imported.
    pub steps: Vec<MergeStep>,
    /// Repositories that could not be looked at, and why.
    pub errors: Vec<RepoProblem>,
}

/// An import that no order of merges keeps whole.
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
    /// The version that is published; none where there is none yet.
    pub old_version: Option<Version>,
    /// The version that the provider's branch makes current.
    pub new_version: Version,
    /// The range that is published; none where there is none yet.
    pub old_version_req: Option<Range>,
    /// The range of the consumer's branch.
    pub version_req: Range,
    /// Each way out of it.
    pub ways_out: Vec<String>,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergeStep {
    /// In which repository.
    pub repo: RepoName,
    /// What.
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
    /// All of it in words.
    pub text: String,
}

/// What is done in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MergeAction {
    /// Accept the version after the break beside the one before.
    Widen,
    /// Merge the branch.
    Merge,
    /// Accept the version before the break no longer.
    Narrow,
}

/// How far one repository is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Whether the branch is at the remote, with every commit; none where there is nothing to push.
    pub pushed: Option<bool>,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PullReviews {
    /// They approve.
    pub approved: usize,
    /// They want changes.
    pub changes_requested: usize,
}

/// How many checks ended how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PullChecks {
    /// Well.
    pub passed: usize,
    /// Not well.
    pub failed: usize,
    /// Not yet.
    pub pending: usize,
}

/// All repositories together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrSummary {
    /// Whether everything is committed.
    pub all_clean: bool,
    /// Whether every commit is at its remote.
    pub all_pushed: bool,
    /// Whether both, and there is something to merge.
    pub ready_for_pr: bool,
}

/// What `realm_pr_prepare` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// What `realm_pr_comment` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrComment {
    /// The number of the pull request; none where it was not looked for.
    pub number: Option<u64>,
    /// Where people read the comment, if the forge says so.
    pub url: Option<String>,
    /// What was written.
    pub outcome: CommentOutcome,
    /// Why there is no comment; none where there is one.
    pub reason: Option<String>,
}

/// Where a report went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CommentOutcome {
    /// Into a new comment.
    Created,
    /// Into the comment that was there.
    Updated,
    /// It is what the comment says already.
    Unchanged,
    /// To the summary of the workflow step: the comment may not be written.
    Summary,
}
