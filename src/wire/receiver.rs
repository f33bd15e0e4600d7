//! The events that are sent to receivers, and the answers of `notify_…`.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::VersionChange;
use crate::model::{
    binding::UsedIn,
    contract::is_default,
    name::{ContractName, DomainName, ReaderName, RealmName, RepoName},
    notification::ChangeType,
    oid::Oid,
    rank::Rank,
    verdict::{ImportEffect, Verdict},
    version::Version,
};

/// An event for a receiver: the changes of one domain, in the structured mode of CloudEvents 1.0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// The CloudEvents version: `1.0`.
    pub specversion: Cow<'static, str>,
    /// The key for detecting duplicates. It is the same on every machine for the same receiver, domain and commit.
    pub id: String,
    /// The source: `git-blue:/realms/<realm>`.
    pub source: String,
    /// The type of event: `git-blue.domain.changed` or `git-blue.test`.
    #[serde(rename = "type")]
    pub kind: Cow<'static, str>,
    /// The domain; null in a test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<DomainName>,
    /// The time at which the sending machine saw the change.
    pub time: jiff::Timestamp,
    /// The media type of `data`: `application/json`.
    pub datacontenttype: Cow<'static, str>,
    /// The changes.
    pub data: EventData,
}

/// The changes in a domain since the previous event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventData {
    /// The realm.
    pub realm: RealmName,
    /// The commit of the domain that contains all of them; null in a test.
    pub commit: Option<Oid>,
    /// The highest rank of a change.
    pub rank: Rank,
    /// The changes, most urgent first, at most 100.
    pub changes: Vec<EventChange>,
    /// The number of further changes, which are not listed.
    pub more_changes: usize,
}

/// A change, and the imports that it concerns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventChange {
    /// The id of the change, the same as in `notifications list`.
    pub id: String,
    /// A description of the change in one line.
    pub text: String,
    /// The kind of change.
    pub change_type: ChangeType,
    /// What else changed.
    #[serde(default)]
    pub also: Vec<ChangeType>,
    /// The rank for the repository that the change concerns most.
    pub rank: Rank,
    /// The contract; null for bindings.
    pub contract: Option<ContractName>,
    /// The contract's owner, or the binding's repository.
    pub from_repo: RepoName,
    /// The author of the commit, as `Name <email>`.
    pub author: Option<String>,
    /// The versions before and after.
    pub changes: VersionChange,
    /// The number of published versions that the change summarizes.
    pub version_count: usize,
    /// The time of the commit that made the change.
    pub created_at: jiff::Timestamp,
    /// The repositories whose imports the change concerns.
    pub imports: Vec<ConcernedImport>,
    /// The number of further imports that are not listed; those that the change breaks are listed first. It is counted only
    /// in domains with many repositories.
    #[serde(default, skip_serializing_if = "is_default")]
    pub more_imports: usize,
}

/// The effect of a change on the import of one repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConcernedImport {
    /// The repository.
    pub repo: RepoName,
    /// Whether the import still holds.
    pub state: ImportEffect,
    /// Whether the import was broken before the change.
    #[serde(default, skip_serializing_if = "is_default")]
    pub was_broken: bool,
    /// The files of the repository that rely on the contract, from its binding: a path, or a list of paths.
    pub binding: UsedIn,
    /// The reason that the import does not hold, with a value that shows it, or the reason that this is unknown.
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

/// A receiver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiverLine {
    /// The name of the receiver, which may be invalid.
    pub name: String,
    /// `webhook`, `slack`, `mattermost`, `email` or `command`; null if its configuration is invalid.
    pub kind: Option<String>,
    /// The destination, without secrets: a host, addresses or a command.
    pub destination: Option<String>,
    /// The filter that was configured: repositories, domains and rank.
    pub filter: String,
    /// The error in the configuration; null if there is none.
    pub problem: Option<String>,
    /// The number of events that this call delivered.
    pub sent: usize,
    /// The events that were not delivered yet, oldest first.
    pub waiting: Vec<EventLine>,
    /// The events that could not be delivered; `git blue notify retry` sends them again.
    pub failed: Vec<EventLine>,
}

/// An event that was not delivered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventLine {
    /// The id of the event.
    pub id: String,
    /// The domain.
    pub domain: Option<DomainName>,
    /// The most important change.
    pub text: String,
    /// The number of delivery attempts.
    pub tries: u32,
    /// The time of the next attempt; null if no further attempt is made.
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
    /// Whether this was a dry run, which writes nothing and lists the issues that it would write.
    pub dry_run: bool,
    /// Whether all repositories could be notified.
    pub complete: bool,
    /// The issues, by repository.
    pub issues: Vec<ForgeIssue>,
    /// The repositories to which nothing had to be written, but whose forge could not be read, so that open issues may
    /// be left.
    #[serde(default)]
    pub unread: Vec<UnreadForge>,
}

/// A repository whose forge could not be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadForge {
    /// The repository.
    pub repo: RepoName,
    /// The reason.
    pub problem: String,
}

/// An issue or pull request in a consumer's repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ForgeIssue {
    /// The consumer.
    pub repo: RepoName,
    /// The domain; null if the problem concerns the whole repository.
    pub domain: Option<DomainName>,
    /// The contract.
    pub contract: Option<ContractName>,
    /// The version that the issue concerns.
    pub version: Option<Version>,
    /// Whether it is a pull request.
    #[serde(default)]
    pub pull_request: bool,
    /// The outcome.
    pub outcome: IssueOutcome,
    /// The URL of the web page.
    pub url: Option<String>,
    /// The reason that the issue could not be written.
    pub problem: Option<String>,
}

/// The outcome for an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IssueOutcome {
    /// The issue was opened.
    Opened,
    /// The text of the issue was updated.
    Updated,
    /// The issue already had this text.
    Unchanged,
    /// Somebody closed the issue, and the version has not changed since.
    Dismissed,
    /// There is nothing to propose: the default branch already has a range that accepts the version, but that range is
    /// not published in the realm yet.
    Unpublished,
    /// The issue was closed: the import holds and is not behind.
    Closed,
    /// The issue could not be written.
    Failed,
}
