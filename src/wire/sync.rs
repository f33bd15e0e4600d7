//! `realm_sync`, and what `realm_status` says of remotes.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Notification, Published, lenient};
use crate::model::{
    name::{ContractName, DomainName, RealmName, RemoteName, RepoName},
    oid::Oid,
    set_aside::{Breach, SetAside, Verdict},
    version::Version,
};

/// What `realm_sync` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmSync {
    /// The realm.
    pub realm: RealmName,
    /// Whether it was only looked at what would come and go.
    pub dry_run: bool,
    /// Whether everything came and went.
    pub complete: bool,
    /// What happened, remote by remote.
    pub remotes: Vec<RemoteSync>,
    /// What this call itself published, because no hook had done so.
    pub published: Vec<Published>,
    /// What this reader has not been told yet, what matters most first, where anything came; reading it here
    /// does not tell it.
    pub notifications: Vec<Notification>,
}

/// What `realm_admin_reseed` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmReseed {
    /// The realm.
    pub realm: RealmName,
    /// The remote.
    pub remote: RemoteName,
    /// Where it is, without credentials.
    pub url: String,
    /// The refs that are there again with everything they lead to; it was looked for after they were sent.
    pub restored: Vec<String>,
    /// What could not be brought back, and why.
    pub problems: Vec<SyncProblem>,
}

/// What happened with one remote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteSync {
    /// Its name.
    pub remote: RemoteName,
    /// Where it is, without credentials.
    pub url: String,
    /// What came.
    pub received: Vec<RefSync>,
    /// What went, and is there: it was looked for after it was sent.
    pub sent: Vec<RefSync>,
    /// What the remote had taken back. It was brought together with what is here.
    pub rewound: Vec<RefSync>,
    /// What two machines wrote differently; one side stands, the other is recorded.
    pub conflicts: Vec<SyncConflict>,
    /// What did not come or go, and why.
    pub problems: Vec<SyncProblem>,
}

/// One ref that came or went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RefSync {
    /// The ref, as it is named in the store.
    pub name: String,
    /// The domain; none for the realm itself, and for sessions.
    pub domain: Option<DomainName>,
    /// Where it was; none where it was not.
    pub old: Option<Oid>,
    /// Where it is.
    pub new: Option<Oid>,
    /// How it came about.
    pub how: How,
}

/// How a ref came to be where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// It was not there.
    New,
    /// One side had nothing of its own.
    FastForward,
    /// Both sides had something of their own.
    Merged,
    /// The remote had taken something back.
    Rewound,
    /// The remote does not have it any more.
    Deleted,
}

/// Something that two machines wrote differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncConflict {
    /// What kind of conflict.
    #[schemars(extend("enum" = ["version-conflict", "binding-conflict", "name-conflict", "set-aside"]))]
    pub code: Cow<'static, str>,
    /// The domain; none for a repository's name.
    pub domain: Option<DomainName>,
    /// The contract.
    pub contract: Option<ContractName>,
    /// Its version that stands for two documents.
    pub version: Option<Version>,
    /// The repository.
    pub repo: Option<RepoName>,
    /// The commit that broke a rule, where it is about one; what it changed was not taken.
    pub set_aside: Option<SetAsideCommit>,
    /// What it is about, in a sentence.
    pub meaning: String,
    /// The commands that resolve it: in their order, or for a commit that was set aside, to choose from.
    pub resolution: Vec<String>,
}

/// A commit that broke a rule of the realm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetAsideCommit {
    /// Names the conflict in `git blue realm conflict`.
    pub id: String,
    /// The commit.
    pub commit: Oid,
    /// Its author, as `Name <email>`.
    pub author: String,
    /// Its committer, as `Name <email>`.
    pub committer: String,
    /// When it was committed, as it says.
    pub time: jiff::Timestamp,
    /// What it changed against a rule, at most 20 files.
    #[serde(deserialize_with = "lenient::list")]
    pub changes: Vec<Breach>,
    /// How many more files there are.
    pub more_changes: usize,
}

/// Most files that are named of one commit.
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

/// What `realm_conflict_accept` and `realm_conflict_undo` answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConflictSettled {
    /// The realm.
    pub realm: RealmName,
    /// The repository that decided.
    pub repo: RepoName,
    /// The domain; none for what is about the realm itself.
    pub domain: Option<DomainName>,
    /// The conflict.
    pub id: String,
    /// The commit that it is about.
    pub commit: Oid,
    /// How it is settled.
    pub verdict: Verdict,
    /// The files that it is about.
    pub files: Vec<String>,
    /// Whether this call decided it; it was decided so before otherwise.
    pub changed: bool,
}

/// Something that did not come or go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncProblem {
    /// Its stable code.
    pub code: Cow<'static, str>,
    /// The ref, as it is named in the store; none where it is about the whole remote.
    pub name: Option<String>,
    /// What is wrong.
    pub message: String,
}

/// How this machine's realm stands to one remote, by what the last sync saw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteStatus {
    /// Its name.
    pub remote: RemoteName,
    /// Where it is, without credentials.
    pub url: String,
    /// Whether there was ever a sync with it.
    pub synced: bool,
    /// When it answered last; none where that is not known.
    #[serde(default)]
    pub last_contact: Option<jiff::Timestamp>,
    /// How many changes are on this machine alone.
    pub ahead: usize,
    /// How many changes the remote has that are not in this realm.
    pub behind: usize,
    /// What is not the same on both sides.
    pub differs: Vec<RefStatus>,
    /// How many more there are than fit one answer.
    pub more: usize,
}

/// One ref that is not the same here and at a remote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RefStatus {
    /// The ref, as it is named in the store.
    pub name: String,
    /// The domain; none for the realm itself, and for sessions.
    pub domain: Option<DomainName>,
    /// Commits that only this machine has.
    pub ahead: usize,
    /// Commits that only the remote has.
    pub behind: usize,
    /// Whether the remote has never had any of it.
    pub unpushed: bool,
}
