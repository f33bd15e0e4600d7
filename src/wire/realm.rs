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

/// The answer of `realm_status`.
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
    /// The cursor of the next page of domains; `null` on the last page.
    pub next_cursor: Option<String>,
    /// How this repository's imports stand: what matters most first.
    pub imports: Vec<ImportStatus>,
    /// The contracts of this repository, those with a broken import first, and who relies on them.
    #[serde(default)]
    pub own_contracts: Vec<OwnContract>,
    /// The number of further ones, which do not fit this answer.
    #[serde(default)]
    pub more_own_contracts: usize,
    /// How many contracts the realm has.
    #[serde(default)]
    pub total_contracts: usize,
    /// The session of this work tree; none where it is in none.
    pub session: Option<SessionLine>,
    /// The sessions of the realm that nobody ended, the latest first.
    pub sessions: Vec<SessionLine>,
    /// The number of further ones, which do not fit this answer.
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
    /// What this call published because no hook had.
    pub published: Vec<Published>,
    /// The part of the publishing branch that the realm does not hold yet; `null` if it holds all of it.
    pub unpublished: Option<Unpublished>,
    /// Contracts of this repository whose files are gone, and that nobody retired.
    pub removed_files: Vec<RemovedFile>,
    /// What this reader has not been told yet: what matters most first, and of that the newest.
    pub notifications: Vec<Notification>,
    /// The changes of bindings, where they are too many to be listed; told with this answer as well.
    #[serde(default)]
    pub bindings_changed: Option<BindingsChanged>,
    /// The number of further ones, which do not fit this answer.
    pub more_notifications: usize,
}

impl RealmStatus {
    /// Returns how many changes this reader has not been told yet.
    pub fn pending(&self) -> usize {
        let bindings = self.bindings_changed.as_ref().map_or(0, |bindings| bindings.changes);
        self.notifications.len() + bindings + self.more_notifications
    }
}

/// The part of the publishing branch that the realm does not hold yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unpublished {
    /// The publishing branch.
    pub branch: String,
    /// The commit that is not published.
    pub commit: Oid,
    /// The domains that it has news of.
    pub domains: Vec<String>,
    /// The publishing policy, as `blue.publish` says: `commit`, `pushed`, `ci` or `off`.
    pub policy: Cow<'static, str>,
    /// Why the last attempt failed, if there was one, or why there was none.
    pub problem: Option<String>,
    /// The time of the last failed attempt.
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
    /// The number of further ones.
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
    /// The repository that may change it.
    pub owner: RepoName,
}

/// A binding at a glance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DomainBinding {
    /// The repository.
    pub repo: RepoName,
    /// Which sides it is on.
    pub role: Role,
    /// The number of contracts that it exports.
    pub exports: usize,
    /// The number of contracts that it imports.
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
    /// The domain.
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
    /// What the verdict is based on.
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
    /// The owner's reason for withdrawing the contract; `null` if it was not withdrawn.
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
    /// The domain.
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
    /// The domain.
    pub domain: DomainName,
    /// What.
    pub contract: ContractName,
    /// The file that is gone.
    pub file: String,
}

/// The answer of `realm_list`.
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
    /// The URL it is shared at.
    pub url: Option<String>,
    /// Whether this repository is in it.
    pub is_current: bool,
    /// How many repositories it has; none where the store cannot be read.
    pub repos: Option<usize>,
    /// How many domains it has; none where the store cannot be read.
    pub domains: Option<usize>,
    /// The reason that the store cannot be read.
    pub problem: Option<String>,
}

/// The answer of `realm_log`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmLog {
    /// The realm.
    pub realm: RealmName,
    /// The entries, newest first.
    pub entries: Vec<LogEntry>,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

/// One commit of the realm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LogEntry {
    /// The commit in the store.
    pub commit: Oid,
    /// The domain; none for the realm itself.
    pub domain: Option<DomainName>,
    /// The time of the commit.
    pub time: jiff::Timestamp,
    /// Whether that is more than a day ahead of this clock: such a date orders nothing.
    pub ahead_of_clock: bool,
    /// The author, as `Name <email>`.
    pub author: String,
    /// The subject of the commit.
    pub subject: String,
    /// From which repository.
    pub repo: Option<String>,
    /// From which commit of that repository.
    pub source_commit: Option<String>,
}
