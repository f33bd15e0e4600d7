//! Worktrees of one RFC in several repositories: `realm_worktree_create`, `realm_worktree_list`,
//! `realm_worktree_remove`.

use std::borrow::Cow;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    name::{RealmName, RepoName, RfcName},
    next_step::NextStep,
};

/// What `realm_worktree_create` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeCreate {
    /// What is worked on.
    pub rfc: RfcName,
    /// The realm.
    pub realm: RealmName,
    /// The branch, the same in every repository.
    pub branch: String,
    /// Why these repositories.
    pub reason: String,
    /// Those that have a worktree now and had none.
    pub created: Vec<RepoName>,
    /// Those that had one already.
    pub reused: Vec<RepoName>,
    /// Where the worktrees are, absolute.
    pub paths: BTreeMap<RepoName, String>,
    /// Those that have none, and why.
    pub errors: Vec<RepoProblem>,
}

/// Why something could not be done in one repository, while others went on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepoProblem {
    /// The repository.
    pub repo: RepoName,
    /// What kind of problem it is: stable, for programs.
    pub code: Cow<'static, str>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub next_step: Option<Box<NextStep>>,
}

impl RepoProblem {
    /// Returns a problem without a next step.
    pub fn new(repo: &RepoName, code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { repo: repo.clone(), code: code.into(), message: message.into(), next_step: None }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn next(self, step: impl Into<NextStep>) -> Self {
        Self { next_step: Some(Box::new(step.into())), ..self }
    }
}

/// What `realm_worktree_list` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeList {
    /// The realm.
    pub realm: RealmName,
    /// The worktrees, by RFC and repository.
    pub worktrees: Vec<WorktreeLine>,
    /// Repositories whose worktrees cannot be listed, and why.
    pub errors: Vec<RepoProblem>,
}

/// One worktree of one repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeLine {
    /// What is worked on in it; none where that cannot be told.
    pub rfc: Option<RfcName>,
    /// The repository; none where none on this machine knows the worktree.
    pub repo: Option<RepoName>,
    /// Where it is, absolute.
    pub path: String,
    /// Whose making it is, and whether it is still there.
    pub state: WorktreeState,
    /// Whether the folder of the caller is in it.
    pub is_current: bool,
    /// Its branch; none where HEAD is detached.
    pub branch: Option<String>,
    /// How many files are not committed.
    pub uncommitted_changes: Option<usize>,
    /// How many commits it has that the default branch has not.
    pub commits_ahead: Option<usize>,
    /// How many commits the default branch has that it has not.
    pub commits_behind: Option<usize>,
    /// Whether its branch is at the remote, with every commit.
    pub pushed: Option<bool>,
    /// Whether git was told to keep it.
    pub locked: bool,
}

/// Whose making a worktree is, and whether it is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WorktreeState {
    /// It is where `worktree create` puts it.
    Present,
    /// It was made by other hands, elsewhere.
    Elsewhere,
    /// Git knows it, but its folder is gone.
    Gone,
    /// It lies where ours do, but no repository of this machine knows it.
    Orphan,
}

/// What `realm_worktree_remove` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeRemove {
    /// What was worked on.
    pub rfc: RfcName,
    /// The realm.
    pub realm: RealmName,
    /// The branch.
    pub branch: String,
    /// Those whose worktree is no more.
    pub removed: Vec<RepoName>,
    /// Those whose branch is no more.
    pub branches_deleted: Vec<RepoName>,
    /// Those whose branch was to be deleted and stays, because it holds commits that the default
    /// branch does not have.
    pub branches_kept: Vec<RepoName>,
    /// Those whose worktree is still there, and why.
    pub errors: Vec<RepoProblem>,
}
