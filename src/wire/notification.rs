//! Notifications: `notifications_list`, `notifications_ack`, and the piggybacked ones.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::JudgedBy;
use crate::model::{
    binding::UsedIn,
    name::{ContractName, DomainName, RealmName, RepoName},
    notification::ChangeType,
    rank::Rank,
    verdict::{Holds, Verdict},
    version::Version,
};

/// One change that another repository made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Notification {
    /// Its id, the same for the same change on every machine.
    pub id: String,
    /// Its kind in the words of seed 000: `contract_updated`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its kind in the words of seed 002: `VersionChanged`.
    pub change_type: ChangeType,
    /// How much it matters to this repository: `broken`, `attention`, `import`, `conflict`, `contract` or
    /// `binding`, in this order.
    #[serde(default)]
    pub rank: Rank,
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract; none for bindings.
    pub contract: Option<ContractName>,
    /// The contract's owner, or the binding's repository.
    pub from_repo: RepoName,
    /// The author of the commit, as `Name <email>`.
    #[serde(default)]
    pub author: Option<String>,
    /// The commit of that repository that was published; of several behind it, the last.
    #[serde(default)]
    pub source_commit: Option<String>,
    /// Whether it is this repository's own, and somebody else wrote it: no commit of this clone says so,
    /// and its user is not the author.
    #[serde(default)]
    pub by_another: bool,
    /// The versions before and after.
    pub changes: VersionChange,
    /// Whether the version went down.
    pub rollback: bool,
    /// How many published versions lie behind it.
    pub coalesced: usize,
    /// Whether this repository imports the contract.
    pub affects_me: bool,
    /// Whether its import still holds: its range accepts the version, and what that sends is what the code was
    /// written against; none where it has none.
    #[serde(default, deserialize_with = "holds")]
    pub import_satisfied: Option<Holds>,
    /// What that goes by; none where it has no import.
    #[serde(default)]
    pub judged_by: Option<JudgedBy>,
    /// What the version means for code that is written against an older one, with a value that shows it, where that
    /// is not all well.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// The file of this repository that relies on the contract, as its binding says, or a list of them.
    #[serde(default)]
    pub binding: UsedIn,
    /// Pending, seen or expired.
    pub state: State,
    /// The time of the commit that made the change.
    pub created_at: jiff::Timestamp,
    /// Whether that is more than a day ahead of this clock: such a date orders nothing.
    #[serde(default)]
    pub ahead_of_clock: bool,
    /// The time it arrived on this machine; its age counts from then.
    pub arrived_at: jiff::Timestamp,
}

impl Notification {
    /// Returns what happened, in one line of names and versions.
    pub fn phrase(&self) -> String {
        let (domain, from) = (&self.domain, &self.from_repo);
        let contract = self.contract.as_ref().map(|contract| format!("{domain}/{contract}")).unwrap_or_default();
        let version = |version: &Option<Version>| version.as_ref().map(ToString::to_string).unwrap_or_default();
        let (old, new) = (version(&self.changes.old_version), version(&self.changes.new_version));
        let behind = match self.coalesced {
            0 | 1 => String::new(),
            n => format!(" in {n} versions"),
        };
        match self.change_type {
            ChangeType::ContractAdded => format!("{from} added {contract} {new}"),
            ChangeType::VersionChanged if self.rollback => format!("{from} rolled {contract} back {old} -> {new}"),
            ChangeType::VersionChanged => format!("{from} changed {contract} {old} -> {new}{behind}"),
            ChangeType::ContractRetired => format!("{from} retired {contract}"),
            ChangeType::BindingAdded => format!("{from} updated its binding in {domain}"),
            ChangeType::BindingRemoved => format!("{from} removed its binding from {domain}"),
        }
    }
}

/// Reads the word, or what an older program wrote: whether the range accepts the version.
fn holds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Holds>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Word(Holds),
        ByRange(bool),
    }
    Ok(Option::<Written>::deserialize(deserializer)?.map(|written| match written {
        Written::Word(word) => word,
        Written::ByRange(true) => Holds::Satisfied,
        Written::ByRange(false) => Holds::Breaks,
    }))
}

/// Changes of bindings that are counted and not listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BindingsChanged {
    /// The number of changes.
    pub changes: usize,
    /// In how many domains.
    pub domains: usize,
}

/// The versions before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VersionChange {
    /// None for something new, and for bindings.
    pub old_version: Option<Version>,
    /// None for something gone, and for bindings.
    pub new_version: Option<Version>,
}

/// The state of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// This reader has not been told.
    Pending,
    /// It has.
    Seen,
    /// It is older than 7 days and is not told by itself any more.
    Expired,
}

/// Which notifications are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum NotificationFilter {
    /// In any state.
    #[default]
    All,
    /// Not told yet.
    Pending,
    /// Told.
    Seen,
    /// Older than 7 days.
    Expired,
}

impl NotificationFilter {
    /// Returns whether a notification in this state is wanted.
    pub fn accepts(self, state: State) -> bool {
        match self {
            Self::All => true,
            Self::Pending => state == State::Pending,
            Self::Seen => state == State::Seen,
            Self::Expired => state == State::Expired,
        }
    }
}

/// The answer of `notifications_list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotificationsList {
    /// The realm.
    pub realm: RealmName,
    /// The repository that asked.
    pub current_repo: RepoName,
    /// Which ones were wanted.
    pub filter: NotificationFilter,
    /// Those of this page: what matters most first, and of that the newest.
    pub notifications: Vec<Notification>,
    /// The number of each kind.
    pub summary: NotificationSummary,
    /// The number that match the filter.
    pub total: usize,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

/// How many notifications there are of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotificationSummary {
    /// In all.
    pub total: usize,
    /// Not told yet.
    pub pending: usize,
    /// Told.
    pub seen: usize,
    /// Older than 7 days.
    pub expired: usize,
    /// Not listed any more, and removed by the next `gc`: told more than 30 days ago.
    pub expired_cleaned: usize,
}

/// The answer of `notifications_ack`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotificationsAck {
    /// The realm.
    pub realm: RealmName,
    /// The repository that asked.
    pub current_repo: RepoName,
    /// The ids that are seen now.
    pub acknowledged: Vec<String>,
    /// The ids that were not pending.
    pub unknown: Vec<String>,
}
