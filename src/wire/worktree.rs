//! Worktrees of one RFC in several repositories: `realm_worktree_create`, `realm_worktree_list` and
//! `realm_worktree_remove`.

use std::borrow::Cow;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    name::{RealmName, RepoName, RfcName},
    next_step::NextStep,
};

/// The answer of `realm_worktree_create`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeCreate {
    /// The RFC.
    pub rfc: RfcName,
    /// The realm.
    pub realm: RealmName,
    /// The branch, the same in every repository.
    pub branch: String,
    /// The reason these repositories were chosen.
    pub reason: String,
    /// The repositories in which a worktree was created.
    pub created: Vec<RepoName>,
    /// The repositories that already had a worktree.
    pub reused: Vec<RepoName>,
    /// The absolute paths of the worktrees.
    pub paths: BTreeMap<RepoName, String>,
    /// The repositories without a worktree, each with the reason.
    pub errors: Vec<RepoProblem>,
}

/// A problem in one repository that did not stop the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepoProblem {
    /// The repository.
    pub repo: RepoName,
    /// The kind of problem: a stable code for programs.
    pub code: Cow<'static, str>,
    /// A description of the problem.
    pub message: String,
    /// The suggested next step.
    pub next_step: Option<Box<NextStep>>,
}

impl RepoProblem {
    /// Returns a problem without a next step.
    pub fn new(repo: &RepoName, code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { repo: repo.clone(), code: code.into(), message: message.into(), next_step: None }
    }

    /// Adds the suggested next step.
    #[must_use]
    pub fn next(self, step: impl Into<NextStep>) -> Self {
        Self { next_step: Some(Box::new(step.into())), ..self }
    }
}

/// The answer of `realm_worktree_list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeList {
    /// The realm.
    pub realm: RealmName,
    /// The worktrees, by RFC and repository.
    pub worktrees: Vec<WorktreeLine>,
    /// The repositories whose worktrees cannot be listed, each with the reason.
    pub errors: Vec<RepoProblem>,
}

/// A worktree of one repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeLine {
    /// The RFC; null if it cannot be determined.
    pub rfc: Option<RfcName>,
    /// The repository; null if no repository on this machine has a record of the worktree.
    pub repo: Option<RepoName>,
    /// The absolute path.
    pub path: String,
    /// The state: who created the worktree, and whether it still exists.
    pub state: WorktreeState,
    /// Whether the caller's current directory is in this worktree.
    pub is_current: bool,
    /// The current branch; null if HEAD is detached.
    pub branch: Option<String>,
    /// The number of files with uncommitted changes.
    pub uncommitted_changes: Option<usize>,
    /// The number of commits on the branch that are not on the default branch.
    pub commits_ahead: Option<usize>,
    /// The number of commits on the default branch that are not on the branch.
    pub commits_behind: Option<usize>,
    /// Whether all commits of the branch were pushed.
    pub pushed: Option<bool>,
    /// Whether the worktree is locked (`git worktree lock`).
    pub locked: bool,
}

/// Who created a worktree, and whether it still exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WorktreeState {
    /// The worktree is at the path that `worktree create` uses.
    Present,
    /// The worktree was created elsewhere, not by git blue.
    Elsewhere,
    /// Git knows the worktree, but its directory is gone.
    Gone,
    /// The directory is among git blue's worktrees, but no repository on this machine has a record of it.
    Orphan,
}

/// The answer of `realm_worktree_remove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeRemove {
    /// The RFC.
    pub rfc: RfcName,
    /// The realm.
    pub realm: RealmName,
    /// The branch.
    pub branch: String,
    /// The repositories whose worktree was removed.
    pub removed: Vec<RepoName>,
    /// The repositories whose branch was deleted.
    pub branches_deleted: Vec<RepoName>,
    /// The repositories whose branch was to be deleted but was kept, because it has commits that the default branch
    /// does not have.
    pub branches_kept: Vec<RepoName>,
    /// The repositories whose worktree still exists, each with the reason.
    pub errors: Vec<RepoProblem>,
}
