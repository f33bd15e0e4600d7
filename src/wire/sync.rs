//! `realm_sync`, and the remotes in `realm_status`.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Behind, BindingsChanged, Notification, Published, Unpublished, lenient};
use crate::model::{
    name::{ContractName, DomainName, RealmName, RemoteName, RepoName},
    oid::Oid,
    set_aside::{Decision, RuleViolation, SetAside},
    version::Version,
};

/// The answer of `realm_sync`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmSync {
    /// The realm.
    pub realm: RealmName,
    /// Whether this was a dry run, which changes nothing.
    pub dry_run: bool,
    /// Whether everything was fetched and pushed.
    pub complete: bool,
    /// The result for each remote.
    pub remotes: Vec<RemoteSync>,
    /// The commits that this call published because no hook had done so.
    pub published: Vec<Published>,
    /// The part of the publishing branch that the realm does not have yet; null if it has all of it.
    pub unpublished: Option<Unpublished>,
    /// The published commit that this clone lacks, if it has nothing to publish and has to be pulled; else null.
    pub behind: Option<Behind>,
    /// The notifications that this reader has not seen, most important first, if anything was fetched. They remain
    /// unseen.
    pub notifications: Vec<Notification>,
    /// The number of changed bindings, if there are too many to list.
    #[serde(default)]
    pub bindings_changed: Option<BindingsChanged>,
    /// The number of further notifications, which are not listed.
    #[serde(default)]
    pub more_notifications: usize,
}

/// The answer of `realm_admin_reseed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmReseed {
    /// The realm.
    pub realm: RealmName,
    /// The remote.
    pub remote: RemoteName,
    /// The remote's URL, without credentials.
    pub url: String,
    /// The refs that were restored on the remote, with all objects that they need. This was verified after the push.
    pub restored: Vec<String>,
    /// The refs that could not be restored, each with the reason.
    pub problems: Vec<SyncProblem>,
}

/// The result of the sync with one remote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteSync {
    /// The name of the remote.
    pub remote: RemoteName,
    /// The remote's URL, without credentials.
    pub url: String,
    /// The refs that were fetched.
    pub received: Vec<RefSync>,
    /// The refs that were pushed, and verified on the remote afterwards.
    pub sent: Vec<RefSync>,
    /// The refs that had been rewound on the remote. What remained on both sides was merged.
    pub rewound: Vec<RefSync>,
    /// The conflicts between machines. One side was selected, and the other is recorded.
    pub conflicts: Vec<SyncConflict>,
    /// The refs that could not be fetched or pushed, each with the reason.
    pub problems: Vec<SyncProblem>,
}

/// A ref that was fetched or pushed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RefSync {
    /// The ref, as it is named in the store.
    pub name: String,
    /// The domain; null for the realm itself, and for sessions.
    pub domain: Option<DomainName>,
    /// The old commit; null if the ref did not exist.
    pub old: Option<Oid>,
    /// The new commit; null if the ref no longer exists.
    pub new: Option<Oid>,
    /// The kind of update.
    pub update: RefUpdate,
}

/// The kind of update of a ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RefUpdate {
    /// The ref did not exist.
    New,
    /// Only one side had anything new.
    FastForward,
    /// Both sides had new commits.
    Merged,
    /// The remote had been rewound.
    Rewound,
    /// The remote no longer has the ref.
    Deleted,
}

/// A conflict between the changes of two machines, or a commit that was set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncConflict {
    /// The kind of conflict.
    #[schemars(extend("enum" = ["version-conflict", "binding-conflict", "name-conflict", "set-aside", "not-owner"]))]
    pub code: Cow<'static, str>,
    /// The domain; null if the conflict is about a repository's name.
    pub domain: Option<DomainName>,
    /// The contract.
    pub contract: Option<ContractName>,
    /// The version that two different documents have.
    pub version: Option<Version>,
    /// The repository.
    pub repo: Option<RepoName>,
    /// The commit that broke a rule, if the conflict is about one. Its changes were not accepted.
    pub set_aside: Option<SetAsideCommit>,
    /// An explanation of the conflict, in one sentence.
    pub meaning: String,
    /// The commands that resolve the conflict, in the order in which to run them; for a commit that was set aside
    /// and a contract that another repository owns, alternatives.
    pub resolution: Vec<String>,
}

/// A commit that broke a rule of the realm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetAsideCommit {
    /// The id of the conflict in `git blue realm conflict`.
    pub id: String,
    /// The commit.
    pub commit: Oid,
    /// The author of the commit, as `Name <email>`.
    pub author: String,
    /// The committer of the commit, as `Name <email>`.
    pub committer: String,
    /// The committer date of the commit.
    pub time: jiff::Timestamp,
    /// The files that the commit changed against a rule, at most 20.
    #[serde(deserialize_with = "lenient::list")]
    pub changes: Vec<RuleViolation>,
    /// The number of further files, which are not listed.
    pub more_changes: usize,
}

/// The maximum number of files that are listed per commit.
const MAX_CHANGES: usize = 20;

impl From<SetAside> for SetAsideCommit {
    fn from(record: SetAside) -> Self {
        Self {
            id: record.id().to_string(),
            more_changes: record.changes.len().saturating_sub(MAX_CHANGES),
            changes: record.changes.into_iter().take(MAX_CHANGES).collect(),
            commit: record.commit,
            author: record.author,
            committer: record.committer,
            time: record.time,
        }
    }
}

/// The answer of `realm_conflict_accept` and `realm_conflict_reject`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConflictSettled {
    /// The realm.
    pub realm: RealmName,
    /// The repository in which the conflict was settled.
    pub repo: RepoName,
    /// The domain; null if the conflict is about the realm itself.
    pub domain: Option<DomainName>,
    /// The id of the conflict.
    pub id: String,
    /// The commit that the conflict is about.
    pub commit: Oid,
    /// The decision.
    pub verdict: Decision,
    /// The files that the conflict is about.
    pub files: Vec<String>,
    /// Whether this call settled the conflict; false if the same decision had been made before.
    pub changed: bool,
}

/// A ref or a remote that could not be synced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncProblem {
    /// The stable error code.
    pub code: Cow<'static, str>,
    /// The ref, as it is named in the store; null if the problem concerns the whole remote.
    pub name: Option<String>,
    /// A description of the problem.
    pub message: String,
    /// How to correct it at the remote, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_step: Option<String>,
}

/// The state of the local realm relative to one remote, as of the last sync.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteStatus {
    /// The name of the remote.
    pub remote: RemoteName,
    /// The remote's URL, without credentials.
    pub url: String,
    /// Whether there was ever a sync with this remote.
    pub synced: bool,
    /// The time of its last answer; null if unknown.
    pub last_contact: Option<jiff::Timestamp>,
    /// The number of problems of the last sync; `git blue doctor` describes them.
    #[serde(default)]
    pub problems: usize,
    /// The number of changes that only this machine has.
    pub ahead: usize,
    /// The number of changes that only the remote has.
    pub behind: usize,
    /// The refs that differ.
    pub differs: Vec<RefStatus>,
    /// The number of further refs, which are not listed.
    pub more: usize,
}

/// A ref that differs between this machine and a remote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RefStatus {
    /// The ref, as it is named in the store.
    pub name: String,
    /// The domain; null for the realm itself, and for sessions.
    pub domain: Option<DomainName>,
    /// The number of commits that only this machine has.
    pub ahead: usize,
    /// The number of commits that only the remote has.
    pub behind: usize,
    /// Whether the ref was never pushed to the remote.
    pub unpushed: bool,
}
