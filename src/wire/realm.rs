//! Realms: `realm_status`, `realm_list`, `realm_log`.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BindingsChanged, JudgedBy, Notification, Published, RemoteStatus, SessionLine, SyncConflict};
use crate::model::{
    binding::{self, UsedIn},
    contract::Deprecated,
    name::{ContractName, DomainName, RealmName, RepoName},
    oid::Oid,
    range::Range,
    rank::Rank,
    verdict::Verdict,
    version::Version,
};

/// What `realm_status` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmStatus {
    /// The realm.
    pub realm: RealmName,
    /// The repository that asked; none outside of one.
    pub current_repo: Option<RepoName>,
    /// Why this clone only reads: it is not joined, or is not the repository that it says it is; none
    /// where it may write, and outside of a repository.
    pub read_only: Option<String>,
    /// All repositories of the realm.
    pub repos: Vec<RepoLine>,
    /// The domains of this page, those of this repository first.
    pub domains: Vec<DomainStatus>,
    /// How many domains the realm has.
    pub total: usize,
    /// What asks for the next page of domains; none where this is the last.
    pub next_cursor: Option<String>,
    /// How this repository's imports stand: what matters most first.
    pub imports: Vec<ImportStatus>,
    /// The contracts of this repository, those with a broken import first, and who relies on them.
    #[serde(default)]
    pub own_contracts: Vec<OwnContract>,
    /// How many more there are than fit one answer.
    #[serde(default)]
    pub more_own_contracts: usize,
    /// How many contracts the realm has.
    #[serde(default)]
    pub total_contracts: usize,
    /// The session of this work tree; none where it is in none.
    pub session: Option<SessionLine>,
    /// The sessions of the realm that nobody ended, the latest first.
    pub sessions: Vec<SessionLine>,
    /// How many more there are than fit one answer.
    pub more_sessions: usize,
    /// How the realm stands to where it is shared, by what the last sync saw.
    pub remotes: Vec<RemoteStatus>,
    /// What two machines wrote differently and nobody has resolved, in the domains of this page and
    /// of this repository.
    pub conflicts: Vec<SyncConflict>,
    /// Domains that cannot be read at all, and why: the answer says nothing of them.
    pub unreadable_domains: Vec<String>,
    /// Stored files that cannot be read.
    pub unreadable: Vec<String>,
    /// What this call itself published, because no hook had done so.
    pub published: Vec<Published>,
    /// What the publishing branch says that the realm does not hold; none where it holds it all.
    pub unpublished: Option<Unpublished>,
    /// Contracts of this repository whose files are gone, and that nobody retired.
    pub removed_files: Vec<RemovedFile>,
    /// What this reader has not been told yet: what matters most first, and of that the newest.
    pub notifications: Vec<Notification>,
    /// The changes of bindings, where they are too many to be listed; told with this answer as well.
    #[serde(default)]
    pub bindings_changed: Option<BindingsChanged>,
    /// How many more there are than fit one answer.
    pub more_notifications: usize,
}

impl RealmStatus {
    /// Returns how many changes this reader has not been told yet.
    pub fn pending(&self) -> usize {
        let bindings = self.bindings_changed.as_ref().map_or(0, |bindings| bindings.changes);
        self.notifications.len() + bindings + self.more_notifications
    }
}

/// What the publishing branch says that the realm does not hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unpublished {
    /// The publishing branch.
    pub branch: String,
    /// The commit that is not published.
    pub commit: Oid,
    /// The domains that it has news of.
    pub domains: Vec<String>,
    /// What publishes it: `commit`, `pushed`, `ci` or `off`, as `blue.publish` says.
    pub policy: Cow<'static, str>,
    /// Why the last attempt failed, if there was one, or why there was none.
    pub problem: Option<String>,
    /// When the last attempt failed.
    pub failed_at: Option<jiff::Timestamp>,
}

/// A repository of the realm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RepoLine {
    /// Its name.
    pub name: RepoName,
    /// Where it lies on this machine, absolute; none where that is not known.
    pub path: Option<String>,
    /// Whether it is the one that asked.
    pub is_current: bool,
}

/// A domain at a glance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DomainStatus {
    /// Its name.
    pub name: DomainName,
    /// The repositories that take part.
    pub members: Vec<RepoName>,
    /// Its contracts, or the first of them.
    pub contracts: Vec<DomainContract>,
    /// How many more there are.
    pub more_contracts: usize,
    /// The part each repository plays.
    pub bindings: Vec<DomainBinding>,
}

/// A contract at a glance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DomainContract {
    /// Its name.
    pub name: ContractName,
    /// Its current version.
    pub version: Version,
    /// Who may change it.
    pub owner: RepoName,
}

/// A binding at a glance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DomainBinding {
    /// Whose it is.
    pub repo: RepoName,
    /// Which sides it is on.
    pub role: Role,
    /// How many contracts it exports.
    pub exports: usize,
    /// How many contracts it imports.
    pub imports: usize,
}

/// A role, spelled as seed 002 does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Role {
    /// It exports.
    Provider,
    /// It imports.
    Consumer,
    /// It does both.
    Both,
}

impl From<binding::Role> for Role {
    fn from(role: binding::Role) -> Self {
        match role {
            binding::Role::Provider => Self::Provider,
            binding::Role::Consumer => Self::Consumer,
            binding::Role::Both => Self::Both,
        }
    }
}

/// How one import stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportStatus {
    /// Where.
    pub domain: DomainName,
    /// What.
    pub contract: ContractName,
    /// The versions it works with.
    pub version_req: Range,
    /// `current`, `stale` (an older version is still served) or `broken`.
    #[schemars(extend("enum" = ["current", "stale", "broken"]))]
    pub state: Cow<'static, str>,
    /// How much that matters: `broken`, `attention` or `import`.
    #[serde(default)]
    pub rank: Rank,
    /// What that goes by.
    pub judged_by: JudgedBy,
    /// What the version means for code that is written against `adapted_version`; none where that is the same
    /// version, or not known.
    pub verdict: Option<Verdict>,
    /// The contract's version; none where there is no such contract.
    pub current_version: Option<Version>,
    /// The version that the range accepts; none where it refuses what is served.
    pub resolved_version: Option<Version>,
    /// The version that this repository's code was written against; none where that is not known.
    pub adapted_version: Option<Version>,
    /// The file of this repository that relies on it, or a list of them.
    pub binding: UsedIn,
    /// Why its owner withdrew the contract; none where it is served.
    pub retired: Option<String>,
    /// Until when the contract is served, and what takes its place; none where it is not deprecated.
    #[serde(default)]
    pub deprecated: Option<Deprecation>,
}

/// That a contract is deprecated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deprecation {
    /// The first deprecated version.
    pub since: Version,
    /// The last day it is served.
    #[schemars(with = "Option<String>")]
    pub sunset: Option<jiff::civil::Date>,
    /// The contract of the same domain that takes its place.
    pub replaced_by: Option<ContractName>,
}

impl From<&Deprecated> for Deprecation {
    fn from(one: &Deprecated) -> Self {
        Self { since: one.since.clone(), sunset: one.sunset, replaced_by: one.replaced_by.clone() }
    }
}

/// A contract of this repository, and who relies on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnContract {
    /// Where.
    pub domain: DomainName,
    /// What.
    pub contract: ContractName,
    /// Its current version.
    pub version: Version,
    /// The repositories whose import its range refuses.
    pub broken: Vec<RepoName>,
    /// The other repositories that import it.
    pub importers: Vec<RepoName>,
    /// How many more there are of either than fit one answer.
    pub more_importers: usize,
}

/// A contract of this repository that the realm still offers, and whose file is gone from HEAD.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemovedFile {
    /// Where.
    pub domain: DomainName,
    /// What.
    pub contract: ContractName,
    /// The file that is gone.
    pub file: String,
}

/// What `realm_list` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmList {
    /// The realms of this machine.
    pub realms: Vec<RealmLine>,
}

/// A realm at a glance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmLine {
    /// Its name.
    pub name: RealmName,
    /// Its store, absolute.
    pub path: String,
    /// Where it is shared.
    pub url: Option<String>,
    /// Whether this repository is in it.
    pub is_current: bool,
    /// How many repositories it has; none where the store cannot be read.
    pub repos: Option<usize>,
    /// How many domains it has; none where the store cannot be read.
    pub domains: Option<usize>,
    /// Why the store cannot be read.
    pub problem: Option<String>,
}

/// What `realm_log` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmLog {
    /// The realm.
    pub realm: RealmName,
    /// What happened, newest first.
    pub entries: Vec<LogEntry>,
    /// Where the next page starts.
    pub next_cursor: Option<String>,
}

/// One commit of the realm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LogEntry {
    /// The commit in the store.
    pub commit: Oid,
    /// The domain; none for the realm itself.
    pub domain: Option<DomainName>,
    /// When, as the commit says.
    pub time: jiff::Timestamp,
    /// Whether that is more than a day ahead of this clock: such a date orders nothing.
    pub ahead_of_clock: bool,
    /// Who, as `Name <email>`.
    pub author: String,
    /// What, in one line.
    pub subject: String,
    /// From which repository.
    pub repo: Option<String>,
    /// From which commit of that repository.
    pub source_commit: Option<String>,
}
