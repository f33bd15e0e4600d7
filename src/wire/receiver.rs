//! The events that are sent to receivers, and the answers of `notify_…`.

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

/// An event for a receiver: the changes of one domain, in the structured mode of CloudEvents 1.0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// `1.0`.
    pub specversion: Cow<'static, str>,
    /// The key for recognizing repetitions: the same for the same receiver, domain and commit on every machine.
    pub id: String,
    /// The source: `git-blue:/realms/<realm>`.
    pub source: String,
    /// `git-blue.domain.changed`, or `git-blue.test`.
    #[serde(rename = "type")]
    pub kind: Cow<'static, str>,
    /// The domain; null in a test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<DomainName>,
    /// The time at which the sending machine saw the change.
    pub time: jiff::Timestamp,
    /// `application/json`.
    pub datacontenttype: Cow<'static, str>,
    /// The changes.
    pub data: News,
}

/// The changes in a domain since the previous event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct News {
    /// The realm.
    pub realm: RealmName,
    /// The commit of the domain that contains all of them; null in a test.
    pub commit: Option<Oid>,
    /// The importance of the most important change.
    pub severity: Rank,
    /// The changes, most important first, at most 100.
    pub changes: Vec<NewsChange>,
    /// The number of further ones.
    pub more_changes: usize,
}

/// One change, and the imports it concerns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NewsChange {
    /// Its id, the same as in `notifications list`.
    pub id: String,
    /// A description of the change in one line.
    pub text: String,
    /// Its kind.
    pub change_type: ChangeType,
    /// Its importance to the repository that it concerns most.
    pub severity: Rank,
    /// The contract; null for bindings.
    pub contract: Option<ContractName>,
    /// The contract's owner, or the binding's repository.
    pub from_repo: RepoName,
    /// The author of the commit, as `Name <email>`.
    pub author: Option<String>,
    /// The versions before and after.
    pub changes: VersionChange,
    /// The number of published versions that it summarizes.
    pub coalesced: usize,
    /// The time of the commit that made the change.
    pub created_at: jiff::Timestamp,
    /// The repositories whose imports it concerns.
    pub imports: Vec<ConcernedImport>,
}

/// The effect of a change on the import of one repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConcernedImport {
    /// The repository.
    pub repo: RepoName,
    /// Whether its import still holds.
    pub holds: Holds,
    /// The file that its binding names as relying on the contract, or a list of them.
    pub binding: UsedIn,
    /// The reason it does not hold, with a value that shows it, or the reason that is not known.
    pub verdict: Option<Verdict>,
}

/// The answer of `notify_list`, `notify_send` and `notify_retry`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Receivers {
    /// The realm.
    pub realm: RealmName,
    /// Whether every event was delivered.
    pub complete: bool,
    /// The receivers of this realm's events, sorted by name.
    pub receivers: Vec<ReceiverLine>,
}

/// One receiver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiverLine {
    /// Its name.
    pub name: ReaderName,
    /// `webhook`, `slack`, `mattermost`, `email` or `command`; null if its configuration is invalid.
    pub kind: Option<String>,
    /// The destination, without secrets: a host, addresses or a command.
    pub place: Option<String>,
    /// The filter that was configured: repositories, domains and severity.
    pub filter: String,
    /// The error in its configuration; null if there is none.
    pub problem: Option<String>,
    /// The number of events that this call delivered.
    pub sent: usize,
    /// The events that were not delivered yet, oldest first.
    pub waiting: Vec<EventLine>,
    /// The events whose delivery was given up; `git blue notify retry` sends them again.
    pub dead: Vec<EventLine>,
}

/// An event that was not delivered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventLine {
    /// Its id.
    pub id: String,
    /// The domain.
    pub domain: Option<DomainName>,
    /// Its most important change.
    pub text: String,
    /// The number of attempts.
    pub tries: u32,
    /// The time of the next attempt; null if it was given up.
    pub next_try: Option<jiff::Timestamp>,
    /// The reason that the last attempt failed.
    pub problem: Option<String>,
}

/// The answer of `notify_test`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotifyTest {
    /// The receiver.
    pub name: ReaderName,
    /// The id of the event that was delivered.
    pub id: String,
}

/// The answer of `notify_forge`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotifyForge {
    /// The realm.
    pub realm: RealmName,
    /// Whether this was a dry run, which writes nothing and lists what it would do.
    pub dry_run: bool,
    /// Whether every repository could be notified.
    pub complete: bool,
    /// The issues, by repository.
    pub issues: Vec<ForgeIssue>,
}

/// One issue or pull request at a consumer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ForgeIssue {
    /// The consumer.
    pub repo: RepoName,
    /// The domain; null if the repository as a whole cannot be notified.
    pub domain: Option<DomainName>,
    /// The contract.
    pub contract: Option<ContractName>,
    /// The version that it concerns.
    pub version: Option<Version>,
    /// Whether it is a pull request.
    #[serde(default)]
    pub pull_request: bool,
    /// The outcome.
    pub outcome: IssueOutcome,
    /// The URL of its page.
    pub url: Option<String>,
    /// The reason that it could not be written.
    pub problem: Option<String>,
}

/// The outcome for an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IssueOutcome {
    /// It was opened.
    Opened,
    /// Its text was updated.
    Updated,
    /// It has this text already.
    Unchanged,
    /// Somebody closed it, and the version has not changed since.
    Dismissed,
    /// There is nothing to propose: the default branch has a range that accepts the version, and the realm does not
    /// know it yet.
    Unpublished,
    /// It was closed: the import holds, and is not behind.
    Closed,
    /// It could not be written.
    Failed,
}
