//! What goes out of git: the events that receivers get, and what `notify_…` answers.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::VersionChange;
use crate::model::{
    binding::UsedIn,
    name::{ContractName, DomainName, ReaderName, RealmName, RepoName},
    notification::ChangeType,
    oid::Oid,
    rank::Rank,
    verdict::{Holds, Verdict},
    version::Version,
};

/// What a receiver gets: the news of one domain, as CloudEvents 1.0 has it in structured mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// `1.0`.
    pub specversion: Cow<'static, str>,
    /// The key that tells a repetition: the same for the same receiver, domain and commit on every machine.
    pub id: String,
    /// Where it comes from: `git-blue:/realms/<realm>`.
    pub source: String,
    /// `git-blue.domain.changed`, or `git-blue.test`.
    #[serde(rename = "type")]
    pub kind: Cow<'static, str>,
    /// The domain; none in a test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<DomainName>,
    /// When the machine that sends it saw the change.
    pub time: jiff::Timestamp,
    /// `application/json`.
    pub datacontenttype: Cow<'static, str>,
    /// What changed.
    pub data: News,
}

/// What changed in a domain since the event before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct News {
    /// The realm.
    pub realm: RealmName,
    /// The commit of the domain that holds all of it; none in a test.
    pub commit: Option<Oid>,
    /// How much the change that matters most matters.
    pub severity: Rank,
    /// The changes, what matters most first: at most 100.
    pub changes: Vec<NewsChange>,
    /// The number of further ones.
    pub more_changes: usize,
}

/// One change, and whom it concerns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NewsChange {
    /// Its id, the same as in `notifications list`.
    pub id: String,
    /// What happened, in one line of names and versions.
    pub text: String,
    /// Its kind.
    pub change_type: ChangeType,
    /// How much it matters to the repository that it matters most to.
    pub severity: Rank,
    /// The contract; none for bindings.
    pub contract: Option<ContractName>,
    /// The contract's owner, or the binding's repository.
    pub from_repo: RepoName,
    /// The author of the commit, as `Name <email>`.
    pub author: Option<String>,
    /// The versions before and after.
    pub changes: VersionChange,
    /// How many published versions lie behind it.
    pub coalesced: usize,
    /// The time of the commit that made the change.
    pub created_at: jiff::Timestamp,
    /// The repositories whose imports it concerns.
    pub imports: Vec<ConcernedImport>,
}

/// What a change means for the import of one repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConcernedImport {
    /// The repository.
    pub repo: RepoName,
    /// Whether its import still holds.
    pub holds: Holds,
    /// The files that rely on the contract, as its binding says: one path, or a list of them.
    pub binding: UsedIn,
    /// Why it does not hold, with a value that shows it, or why that is not known.
    pub verdict: Option<Verdict>,
}

/// The answer of `notify_list`, `notify_send` and `notify_retry`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Receivers {
    /// The realm.
    pub realm: RealmName,
    /// Whether everything that was to be sent has arrived.
    pub complete: bool,
    /// The receivers that hear of this realm, sorted by name.
    pub receivers: Vec<ReceiverLine>,
}

/// One receiver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiverLine {
    /// Its name.
    pub name: ReaderName,
    /// `webhook`, `slack`, `mattermost`, `email` or `command`; none where its configuration is wrong.
    pub kind: Option<String>,
    /// Where it is: a host, addresses or a command, without secrets.
    pub place: Option<String>,
    /// The repositories, domains and severity that it hears of, as configured.
    pub filter: String,
    /// What is wrong with its configuration.
    pub problem: Option<String>,
    /// How many events arrived just now.
    pub sent: usize,
    /// The events that have not arrived yet, oldest first.
    pub waiting: Vec<EventLine>,
    /// The events that were given up: `git blue notify retry` sends them again.
    pub dead: Vec<EventLine>,
}

/// An event that has not arrived.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventLine {
    /// Its id.
    pub id: String,
    /// The domain.
    pub domain: Option<DomainName>,
    /// The change that matters most in it.
    pub text: String,
    /// How often it was tried.
    pub tries: u32,
    /// When it is tried next; none where it was given up.
    pub next_try: Option<jiff::Timestamp>,
    /// Why it did not arrive when it was tried last.
    pub problem: Option<String>,
}

/// The answer of `notify_test`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotifyTest {
    /// The receiver.
    pub name: ReaderName,
    /// The id of the event that arrived.
    pub id: String,
}

/// The answer of `notify_forge`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotifyForge {
    /// The realm.
    pub realm: RealmName,
    /// Whether nothing was written: what would be is listed.
    pub dry_run: bool,
    /// Whether every repository could be told.
    pub complete: bool,
    /// The issues and pull requests, by repository.
    pub issues: Vec<ForgeIssue>,
}

/// One issue or pull request at a consumer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ForgeIssue {
    /// The consumer.
    pub repo: RepoName,
    /// The domain; none where the repository as a whole cannot be told.
    pub domain: Option<DomainName>,
    /// The contract.
    pub contract: Option<ContractName>,
    /// The version that it is about.
    pub version: Option<Version>,
    /// Whether it is a pull request.
    #[serde(default)]
    pub pull_request: bool,
    /// The outcome.
    pub outcome: IssueOutcome,
    /// The URL of its page.
    pub url: Option<String>,
    /// Why it could not be written.
    pub problem: Option<String>,
}

/// What became of an issue or a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IssueOutcome {
    /// It was opened.
    Opened,
    /// Its text was brought up to date.
    Updated,
    /// It says so already.
    Unchanged,
    /// Somebody closed it, and the version is the same.
    Dismissed,
    /// There is nothing to propose: the default branch has a range that accepts the version, and the realm does not
    /// know it yet.
    Unpublished,
    /// It was closed: the import holds, and is not behind.
    Closed,
    /// It could not be written.
    Failed,
}
