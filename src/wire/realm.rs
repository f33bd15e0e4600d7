//! Realms: `realm_status`, `realm_list` and `realm_log`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BindingsChanged, JudgedBy, Notification, Published, RemoteStatus, SessionLine, SyncConflict, lenient};
pub use crate::model::domain_view::ImportStanding;
use crate::model::{
    binding::{self, UsedIn},
    contract::{Deprecated, is_default},
    name::{ContractName, DomainName, RealmName, RepoName},
    oid::Oid,
    publish_policy::{Policy, PolicySource},
    range::Range,
    rank::Rank,
    text::{comma_separated_at_most, count},
    verdict::{Outcome, Verdict},
    version::Version,
};

/// The maximum number of domains that a sentence names.
const MAX_NAMED: usize = 3;

/// The answer of `realm_status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmStatus {
    /// The realm.
    pub realm: RealmName,
    /// The current repository; null outside of a repository.
    pub current_repo: Option<RepoName>,
    /// The reason this clone is read-only: it did not join, or is not the repository it claims to be; null if it may
    /// write, and outside of a repository.
    pub read_only: Option<String>,
    /// All repositories of the realm.
    pub repos: Vec<RepoLine>,
    /// The domains on this page, those of this repository first.
    pub domains: Vec<DomainStatus>,
    /// The number of domains in the realm.
    pub total: usize,
    /// The cursor of the next page of domains; null on the last page.
    pub next_cursor: Option<String>,
    /// The state of this repository's imports, most important first.
    pub imports: Vec<ImportStatus>,
    /// The contracts of this repository with their consumers. Contracts with a broken import come first.
    #[serde(default)]
    pub own_contracts: Vec<OwnContract>,
    /// The number of further contracts, which are not listed.
    #[serde(default)]
    pub more_own_contracts: usize,
    /// The first offers of contracts to and by this repository that are neither accepted nor withdrawn.
    #[serde(default)]
    pub offers: Vec<OpenOffer>,
    /// The number of further offers, which are not listed.
    #[serde(default)]
    pub more_offers: usize,
    /// The number of contracts in the realm.
    #[serde(default)]
    pub total_contracts: usize,
    /// The session of this working tree; null if there is none.
    pub session: Option<SessionLine>,
    /// The sessions of the realm that have not ended, newest first.
    pub sessions: Vec<SessionLine>,
    /// The number of further sessions, which are not listed.
    pub more_sessions: usize,
    /// The state of the realm relative to its remotes, as of the last sync.
    pub remotes: Vec<RemoteStatus>,
    /// The unresolved conflicts between machines, in the domains on this page and those of this repository.
    pub conflicts: Vec<SyncConflict>,
    /// The domains that cannot be read, each with the reason. They are missing from this answer.
    pub unreadable_domains: Vec<String>,
    /// The stored files that cannot be read.
    pub unreadable: Vec<String>,
    /// The commits that this call published because no hook had done so.
    pub published: Vec<Published>,
    /// The part of the publishing branch that the realm does not have yet; null if it has all of it.
    pub unpublished: Option<Unpublished>,
    /// The published commit that this clone lacks, if it has nothing to publish and has to be pulled; else null.
    pub behind: Option<Behind>,
    /// The contracts of this repository whose files were removed but which were not retired.
    pub removed_files: Vec<RemovedFile>,
    /// The notifications that this reader has not seen, most important first, then newest first.
    pub notifications: Vec<Notification>,
    /// The number of changed bindings, if there are too many to list. They count as seen too.
    pub bindings_changed: Option<BindingsChanged>,
    /// The number of further notifications, which are not listed.
    pub more_notifications: usize,
    /// The number of changes that this reader has not seen and that are too old to be listed here;
    /// `git blue notifications list` lists those of the last 30 days.
    #[serde(default)]
    pub expired_notifications: usize,
}

impl RealmStatus {
    /// Returns what cannot be read, with the reasons, if that leaves domains out of the answer or imports of this
    /// repository unjudged.
    pub fn not_judged(&self) -> &[String] {
        let is_unknown = self.imports.iter().any(|import| import.state == ImportStanding::Unknown);
        if is_unknown { &self.unreadable } else { &self.unreadable_domains }
    }

    /// Returns the line about changes that this reader has not seen and that are not listed, if there are any.
    pub fn expired_line(&self) -> Option<String> {
        let changes = count(self.expired_notifications, "older change", "older changes");
        let commands = "git blue notifications list --state expired, git blue notifications ack --all";
        (self.expired_notifications > 0).then(|| format!("{changes} not seen ({commands})"))
    }

    /// Returns the number of changes that this reader has not seen.
    pub fn pending(&self) -> usize {
        let bindings = self.bindings_changed.as_ref().map_or(0, |bindings| bindings.changes);
        self.notifications.len() + bindings + self.more_notifications
    }
}

/// The part of the publishing branch that the realm does not have yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unpublished {
    /// The publishing branch.
    pub branch: String,
    /// The commit that is not published.
    pub commit: Oid,
    /// The domains that the commit changes.
    pub domains: Vec<String>,
    /// The publishing policy.
    pub policy: Policy,
    /// The source of the policy.
    #[serde(default)]
    pub policy_source: PolicySource,
    /// Whether the policy publishes it now: by the next hook, or by a status that may publish.
    pub due: bool,
    /// The reason why the last attempt failed, or why there was none.
    pub problem: Option<String>,
    /// The time of the last failed attempt.
    pub failed_at: Option<jiff::Timestamp>,
}

impl Unpublished {
    /// Returns the end of a sentence that begins with the commit.
    pub fn phrase(&self) -> String {
        let domains = comma_separated_at_most(MAX_NAMED, &self.domains);
        format!("({}) has unpublished changes in {domains}", self.branch)
    }

    /// Returns the setting that the policy comes from, with its value.
    pub fn setting(&self) -> String {
        match self.policy_source {
            PolicySource::ConfigFile => format!("publish is {} in .blue/config.yaml", self.policy.word()),
            PolicySource::GitConfig | PolicySource::Default => format!("blue.publish is {}", self.policy.word()),
        }
    }
}

/// A published commit that this clone has to pull. The clone has nothing new to publish.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Behind {
    /// The publishing branch.
    pub branch: String,
    /// The domains that were published from that commit.
    pub domains: Vec<DomainName>,
    /// The published commit.
    pub published: Oid,
}

impl Behind {
    /// Returns a sentence without a full stop.
    pub fn phrase(&self) -> String {
        let (branch, commit, domains) =
            (&self.branch, self.published.short(), comma_separated_at_most(MAX_NAMED, &self.domains));
        format!("this clone is behind: its {branch} lacks the published commit {commit} ({domains})")
    }
}

/// A repository of the realm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RepoLine {
    /// The name of the repository.
    pub name: RepoName,
    /// The absolute path on this machine; null if unknown.
    pub path: Option<String>,
    /// Whether this is the current repository.
    pub is_current: bool,
}

/// A summary of a domain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DomainStatus {
    /// The name of the domain.
    pub name: DomainName,
    /// The members of the domain.
    pub members: Vec<RepoName>,
    /// The contracts of the domain, or the first of them.
    pub contracts: Vec<DomainContract>,
    /// The number of further contracts, which are not listed.
    pub more_contracts: usize,
    /// The role of each repository.
    pub bindings: Vec<DomainBinding>,
}

/// A summary of a contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DomainContract {
    /// The name of the contract.
    pub name: ContractName,
    /// The current version.
    pub version: Version,
    /// The owner: the only repository that may change it.
    pub owner: RepoName,
}

/// A summary of a binding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DomainBinding {
    /// The repository.
    pub repo: RepoName,
    /// The role of the repository in the domain.
    pub role: Role,
    /// The number of contracts that the repository exports.
    pub exports: usize,
    /// The number of contracts that the repository imports.
    pub imports: usize,
}

/// The role of a repository in a domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Role {
    /// The repository exports contracts.
    Provider,
    /// The repository imports contracts.
    Consumer,
    /// The repository does both.
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

/// The state of one import.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportStatus {
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The version range of the import.
    pub version_req: Range,
    /// `current`, `behind` (an older version is still served), `broken`, or `unknown` (the contract cannot be read).
    pub state: ImportStanding,
    /// The importance of the state: `broken`, `attention` or `import`.
    #[serde(default)]
    pub rank: Rank,
    /// The basis of the state.
    pub judged_by: JudgedBy,
    /// The effect of the version on code written against `adapted_version`; null if that is the same version or
    /// unknown.
    pub verdict: Option<Verdict>,
    /// The contract's current version; null if there is no such contract, or it cannot be read.
    pub current_version: Option<Version>,
    /// The version that the range selects; null if it accepts none that is served.
    pub resolved_version: Option<Version>,
    /// The version that this repository's code was written against; null if unknown.
    pub adapted_version: Option<Version>,
    /// The files of this repository that rely on the contract: a path, or a list of paths.
    pub binding: UsedIn,
    /// Whether the contract is retired; `contract_get` has the reason.
    pub retired: bool,
    /// Whether the current version was yanked; `contract_get` has the reason.
    #[serde(default)]
    pub yanked: bool,
    /// Whether the owner left the domain, so that nobody can change or retire the contract.
    #[serde(default, skip_serializing_if = "is_default")]
    pub orphaned: bool,
    /// The end of the contract's support, and its replacement; null if it is not deprecated.
    #[serde(default, deserialize_with = "lenient::option")]
    pub deprecated: Option<Deprecated>,
    /// Whether the last day that the deprecated contract is served is past.
    #[serde(default, skip_serializing_if = "is_default")]
    pub past_sunset: bool,
}

impl ImportStatus {
    /// Returns whether `git blue review` says what to do about it. There is nothing to do about a contract that never
    /// sends what the import expects, as long as it does not change.
    pub fn is_to_review(&self) -> bool {
        let is_unsure = self.verdict.as_ref().is_some_and(|verdict| verdict.verdict == Outcome::Unknown);
        let is_moved = self.adapted_version != self.current_version;
        let is_withdrawn = self.retired || self.yanked || self.deprecated.is_some();
        let is_listed = self.state != ImportStanding::Current || is_unsure || is_moved || is_withdrawn;
        self.rank < Rank::Import && is_listed
    }
}

/// A contract of this repository, and its consumers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnContract {
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The current version.
    pub version: Version,
    /// Whether the current version was yanked.
    pub yanked: bool,
    /// The end of the contract's support, and its replacement; missing if it is not deprecated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<Deprecated>,
    /// Whether the last day that the deprecated contract is served is past.
    #[serde(default, skip_serializing_if = "is_default")]
    pub past_sunset: bool,
    /// The repositories that it breaks: their range accepts no served version, or their code does not accept all values.
    pub broken: Vec<RepoName>,
    /// The other repositories that import the contract.
    pub importers: Vec<RepoName>,
    /// The number of further repositories, which are not listed.
    pub more_importers: usize,
}

/// A contract whose owner offered it to another repository, which has not taken it over yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenOffer {
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The owner.
    pub from: RepoName,
    /// The repository that may take it over.
    pub to: RepoName,
}

/// A contract of this repository that is still in the realm, but whose file is not in HEAD.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemovedFile {
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The removed file.
    pub file: String,
}

/// The answer of `realm_list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmList {
    /// The realms of this machine.
    pub realms: Vec<RealmLine>,
}

/// A summary of a realm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmLine {
    /// The name of the realm.
    pub name: RealmName,
    /// The absolute path of the store.
    pub path: String,
    /// The URL that the realm is shared at.
    pub url: Option<String>,
    /// Whether the current repository is in this realm.
    pub is_current: bool,
    /// The number of repositories; null if the store cannot be read.
    pub repos: Option<usize>,
    /// The number of domains; null if the store cannot be read.
    pub domains: Option<usize>,
    /// The reason that the store, or a part of it, cannot be read.
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

/// A commit of the realm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LogEntry {
    /// The commit in the store.
    pub commit: Oid,
    /// The domain; null for the realm itself.
    pub domain: Option<DomainName>,
    /// The time of the commit.
    pub time: jiff::Timestamp,
    /// Whether that time is more than a day ahead of this machine's clock; such a time is not used for sorting.
    pub in_future: bool,
    /// The author, as `Name <email>`.
    pub author: String,
    /// The subject of the commit.
    pub subject: String,
    /// The reason for the change, in the author's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The repository that it was published from.
    pub repo: Option<String>,
    /// The commit of that repository that it was published from.
    pub source_commit: Option<String>,
    /// The web page of that commit, if the URL of the repository belongs to a known forge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_url: Option<String>,
}
