//! Notifications: `notifications_list`, `notifications_ack`, and the notifications in other answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{JudgedBy, lenient};
use crate::model::{
    binding::UsedIn,
    contract::{Deprecated, is_default},
    name::{ContractName, DomainName, RealmName, RepoName},
    notification::{ChangeType, ImportChange},
    oid::Oid,
    rank::Rank,
    text::{comma_separated_at_most, count},
    verdict::{ImportEffect, Verdict},
    version::Version,
};

/// The maximum number of imports that a phrase names.
const MAX_NAMED: usize = 3;

/// A change that another repository made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Notification {
    /// The id of the notification. The same change has the same id on every machine.
    pub id: String,
    /// The kind of change in snake case, such as `contract_updated`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind of change, such as `VersionChanged`.
    pub change_type: ChangeType,
    /// What else changed: the contract may have been deprecated, or a version yanked, together with a new version.
    #[serde(default)]
    pub also: Vec<ChangeType>,
    /// The importance to this repository, from the highest: `broken`, `attention`, `import`, `conflict`, `contract` or
    /// `binding`.
    #[serde(default)]
    pub rank: Rank,
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract; null for bindings, and if a repository left.
    pub contract: Option<ContractName>,
    /// The contract's owner, the binding's repository, or the one that left.
    pub from_repo: RepoName,
    /// The author of the commit, as `Name <email>`.
    pub author: Option<String>,
    /// The published commit of that repository; the last one if the notification summarizes several.
    pub source_commit: Option<String>,
    /// Whether somebody else changed something that belongs to this repository: another repository, or another user
    /// without publishing a commit.
    #[serde(default)]
    pub changed_by_other: bool,
    /// Whether this repository itself published the change, from a commit that this clone does not have yet.
    #[serde(default)]
    pub by_other_clone: bool,
    /// The versions before and after.
    pub changes: VersionChange,
    /// The blob of the document before the change.
    #[serde(skip)]
    pub former: Option<Oid>,
    /// Whether the new owner created the contract too, so that it did not take it over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub also_created: bool,
    /// Whether the version went down.
    pub rollback: bool,
    /// The number of published versions that the notification summarizes; for a yank, the number of yanked versions.
    pub version_count: usize,
    /// The versions that were yanked, apart from other changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub yanked: Vec<Version>,
    /// The end of the contract's support, and its replacement; absent unless it was deprecated, or if its deprecation was
    /// withdrawn.
    #[serde(default, deserialize_with = "lenient::option", skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<Deprecated>,
    /// Whether the contract was deprecated before, so that only the day of its sunset or its replacement changed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub was_deprecated: bool,
    /// If a repository left: its contracts that this repository imports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orphans: Vec<ContractName>,
    /// If a repository changed its binding: which contracts of this repository it began or ceased to import; at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<ImportChange>,
    /// The number of further imports that it began or ceased.
    #[serde(default, skip_serializing_if = "is_default")]
    pub more_imports: usize,
    /// Whether this repository imports the contract or, if a repository left, one of its contracts.
    pub affects_me: bool,
    /// Whether this repository's import still holds: the range accepts the version, or an older one that is still served
    /// (`behind`), and code written against the older version accepts its data; null without an import.
    pub import_state: Option<ImportEffect>,
    /// Whether the import was broken before the change. It holds again if `import_state` is `satisfied` or `behind`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub was_broken: bool,
    /// The older version that the import still gets because its owner serves it; absent unless the range refuses the
    /// current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served_version: Option<Version>,
    /// The basis of `import_state`; null without an import.
    pub judged_by: Option<JudgedBy>,
    /// The effect of the version on code written against an older one, with a value that shows it; null if it breaks
    /// nothing.
    pub verdict: Option<Verdict>,
    /// The files of this repository that rely on the contract, from its binding: a path, or a list of paths.
    #[serde(default)]
    pub binding: UsedIn,
    /// Pending, seen or expired.
    pub state: State,
    /// The time of the commit that made the change.
    pub created_at: jiff::Timestamp,
    /// Whether that time is more than a day ahead of this machine's clock; such a time is not used for sorting.
    #[serde(default)]
    pub in_future: bool,
    /// The time at which the change arrived on this machine. The age of the notification is counted from it.
    pub arrived_at: jiff::Timestamp,
}

impl Notification {
    /// Returns the kinds of change, the main one first.
    pub fn kinds(&self) -> impl Iterator<Item = ChangeType> {
        std::iter::once(self.change_type).chain(self.also.iter().copied())
    }

    /// Returns whether `git blue review` may show something about it: the contract is imported, and the import does not
    /// hold or more than the owner changed.
    pub fn is_to_review(&self) -> bool {
        let is_shown = |kind| {
            self.is_back()
                || !matches!(
                    kind,
                    ChangeType::ContractAdded
                        | ChangeType::OwnerChanged
                        | ChangeType::ContractOffered
                        | ChangeType::BindingAdded
                        | ChangeType::BindingRemoved
                        | ChangeType::RepoLeft
                )
        };
        let holds = self.import_state.is_some_and(ImportEffect::holds);
        let is_import = self.affects_me && self.contract.is_some();
        is_import && !self.changed_by_other && !self.is_in_place() && (!holds || self.kinds().any(is_shown))
    }

    /// Returns the current version of the contract before the change.
    pub fn former_version(&self) -> Option<&Version> {
        let VersionChange { old_version, new_version } = &self.changes;
        // The version stays the same when another one is yanked.
        if self.change_type == ChangeType::VersionYanked { new_version.as_ref() } else { old_version.as_ref() }
    }

    /// Returns whether the content of a version was changed, which a review cannot compare with the former one.
    pub fn is_in_place(&self) -> bool {
        let VersionChange { old_version, new_version } = &self.changes;
        self.change_type == ChangeType::VersionChanged && old_version == new_version
    }

    /// Returns whether the change withdraws what the import uses.
    pub fn is_withdrawn(&self) -> bool {
        let is_yanked = self.changes.new_version.as_ref().is_some_and(|current| self.yanked.contains(current));
        let ends = |kind| match kind {
            ChangeType::ContractRetired => true,
            ChangeType::ContractDeprecated => self.deprecated.is_some(),
            _ => false,
        };
        (is_yanked || self.kinds().any(ends)) && self.rank == Rank::Attention
    }

    /// Returns a description of the change in one line.
    pub fn phrase(&self) -> String {
        self.main_phrase() + &self.also_phrase()
    }

    /// Returns the end of a sentence that says what else changed: `, and deprecated the contract`. Returns an empty text if
    /// nothing else did.
    pub fn also_phrase(&self) -> String {
        if self.is_taken_over() {
            return self.taken_over_phrase();
        }
        let also = self.also.iter().filter_map(|kind| match kind {
            ChangeType::ContractDeprecated if self.deprecated.is_none() => Some("withdrew its deprecation".to_owned()),
            ChangeType::ContractDeprecated if self.was_deprecated => {
                Some(format!("changed its deprecation{}", self.way_out()))
            }
            ChangeType::ContractDeprecated => Some(format!("deprecated the contract{}", self.way_out())),
            ChangeType::VersionYanked => Some(format!("yanked {}", self.yanked_versions())),
            ChangeType::OwnerChanged => Some("took it over".to_owned()),
            ChangeType::SupportChanged => Some("changed which older versions it supports".to_owned()),
            _ => None,
        });
        match also.collect::<Vec<_>>().split_last() {
            None => String::new(),
            Some((last, [])) => format!(", and {last}"),
            Some((last, others)) => format!(", {} and {last}", others.join(", ")),
        }
    }

    /// Returns the end of a sentence on a takeover. Either owner may have made the other changes.
    fn taken_over_phrase(&self) -> String {
        let also = self.also.iter().filter_map(|kind| match kind {
            ChangeType::ContractDeprecated if self.deprecated.is_none() => Some("is no longer deprecated".to_owned()),
            ChangeType::ContractDeprecated if self.was_deprecated => {
                Some(format!("is still deprecated{}", self.way_out()))
            }
            ChangeType::ContractDeprecated => Some(format!("is deprecated now{}", self.way_out())),
            ChangeType::VersionYanked => Some(format!("had {} yanked", self.yanked_versions())),
            ChangeType::SupportChanged => Some("supports other older versions now".to_owned()),
            _ => None,
        });
        let also: Vec<_> = also.collect();
        match (also.is_empty(), self.change_type) {
            (true, _) => String::new(),
            _ if self.also_created => format!("; it {}", also.join(" and ")),
            (false, ChangeType::OwnerChanged) => format!(", which {}", also.join(" and ")),
            (false, _) => format!(" and {}", also.join(" and ")),
        }
    }

    /// Returns whether a retired contract was published again.
    pub fn is_back(&self) -> bool {
        self.change_type == ChangeType::ContractAdded && self.changes.old_version.is_some()
    }

    /// Returns whether the owner changed. Either owner may have made the other changes.
    fn is_taken_over(&self) -> bool {
        self.change_type == ChangeType::OwnerChanged
            || self.is_changed_and_taken_over()
            || self.is_retired_and_taken_over()
            || self.is_back_and_taken_over()
    }

    /// Returns whether the owner of a retired contract changed that was published again.
    pub fn is_back_and_taken_over(&self) -> bool {
        self.is_back() && self.also.contains(&ChangeType::OwnerChanged)
    }

    /// Returns whether the owner of a contract changed that was retired, too.
    pub fn is_retired_and_taken_over(&self) -> bool {
        self.change_type == ChangeType::ContractRetired && self.also.contains(&ChangeType::OwnerChanged)
    }

    /// Returns whether a contract was added and offered to this repository at once.
    pub fn is_new_and_offered(&self) -> bool {
        self.change_type == ChangeType::ContractOffered && self.also.contains(&ChangeType::ContractAdded)
    }

    /// Returns whether the owner changed together with the version. Either owner may have changed the version.
    pub fn is_changed_and_taken_over(&self) -> bool {
        self.change_type == ChangeType::VersionChanged
            && !self.is_in_place()
            && self.also.contains(&ChangeType::OwnerChanged)
    }

    /// Returns which imports a repository began or ceased: `imports s3/paths ^1.0.0 and no longer imports s3/keys`. Returns
    /// `None` if its binding changed otherwise.
    pub fn imports_phrase(&self) -> Option<String> {
        let domain = &self.domain;
        let name = |one: &ImportChange| match &one.version_req {
            Some(range) => format!("{domain}/{} {range}", one.contract),
            None => format!("{domain}/{}", one.contract),
        };
        let (begun, ceased): (Vec<_>, Vec<_>) = self.imports.iter().partition(|one| one.version_req.is_some());
        let part = |verb: &str, imports: Vec<&ImportChange>| {
            (!imports.is_empty())
                .then(|| format!("{verb} {}", comma_separated_at_most(MAX_NAMED, imports.into_iter().map(name))))
        };
        let parts = [part("imports", begun), part("no longer imports", ceased)];
        let parts = parts.into_iter().flatten().collect::<Vec<_>>().join(" and ");
        let more = match self.more_imports {
            0 => String::new(),
            more => format!("; {} changed", count(more, "more import", "more imports")),
        };
        (!parts.is_empty()).then(|| parts + &more)
    }

    /// Returns what happens to the imports whose owner left: `your import s3/paths stays as it is`. Returns `None` if there
    /// are none.
    pub fn orphans_phrase(&self) -> Option<String> {
        let names = self.orphans.iter().map(|contract| format!("{}/{contract}", self.domain));
        let names = comma_separated_at_most(MAX_NAMED, names);
        match self.orphans.len() {
            0 => None,
            1 => Some(format!("your import {names} stays as it is")),
            _ => Some(format!("your imports {names} stay as they are")),
        }
    }

    /// Returns the highest yanked version, and the number of the others.
    fn yanked_versions(&self) -> String {
        let highest = self.yanked.iter().max().map(ToString::to_string).unwrap_or_default();
        match self.yanked.len() {
            0 | 1 => highest,
            all => format!("{highest} and {} more", all - 1),
        }
    }

    /// Returns until when a deprecated contract is served, and its successor: ` (served until 2026-12-31, use orders)`.
    fn way_out(&self) -> String {
        let sunset = self.deprecated.as_ref().and_then(|one| Some(format!("served until {}", one.sunset?)));
        let successor = self.deprecated.as_ref().and_then(|one| Some(format!("use {}", one.replaced_by.as_ref()?)));
        let parts: Vec<_> = sunset.into_iter().chain(successor).collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }

    /// Returns the phrase for a contract that two repositories created, once it is known which one owns it.
    fn also_created_phrase(&self, contract: &str) -> String {
        let from = &self.from_repo;
        let retired = self.kinds().any(|kind| kind == ChangeType::ContractRetired);
        let version = self.changes.new_version.as_ref().filter(|_| !retired).map(|version| format!(" at {version}"));
        let retired = if retired { ", retired" } else { "" };
        format!("{from} also created {contract}, and owns it now{}{retired}", version.unwrap_or_default())
    }

    fn main_phrase(&self) -> String {
        let (domain, from) = (&self.domain, &self.from_repo);
        let contract = self.contract.as_ref().map(|contract| format!("{domain}/{contract}")).unwrap_or_default();
        let version = |version: &Option<Version>| version.as_ref().map(ToString::to_string).unwrap_or_default();
        let (old, new) = (version(&self.changes.old_version), version(&self.changes.new_version));
        let behind = match self.version_count {
            0 | 1 => String::new(),
            n => format!(" in {n} versions"),
        };
        match self.change_type {
            _ if self.also_created => self.also_created_phrase(&contract),
            ChangeType::ContractAdded if self.is_back_and_taken_over() => {
                format!("{from} took over {contract}, which is back as {new}")
            }
            ChangeType::ContractAdded if self.is_back() => format!("{from} published {contract} {new} again"),
            ChangeType::ContractAdded => format!("{from} added {contract} {new}"),
            ChangeType::VersionChanged if self.is_changed_and_taken_over() => {
                format!("{from} took over {contract}, which went {old} -> {new}{behind}")
            }
            ChangeType::VersionChanged if self.is_in_place() => format!("{from} changed {contract} {new} in place"),
            ChangeType::VersionChanged if self.rollback => format!("{from} rolled {contract} back {old} -> {new}"),
            ChangeType::VersionChanged => format!("{from} changed {contract} {old} -> {new}{behind}"),
            ChangeType::ContractRetired if self.is_retired_and_taken_over() => {
                format!("{from} took over {contract}, which is retired")
            }
            ChangeType::ContractRetired => format!("{from} retired {contract}"),
            ChangeType::ContractDeprecated if self.deprecated.is_none() => {
                format!("{from} withdrew the deprecation of {contract}")
            }
            ChangeType::ContractDeprecated if self.was_deprecated => {
                format!("{from} changed the deprecation of {contract}{}", self.way_out())
            }
            ChangeType::ContractDeprecated => format!("{from} deprecated {contract}{}", self.way_out()),
            ChangeType::VersionYanked => format!("{from} yanked {contract} {}", self.yanked_versions()),
            ChangeType::SupportChanged => format!("{from} changed which older versions of {contract} it supports"),
            ChangeType::OwnerChanged => format!("{from} took over {contract}"),
            ChangeType::ContractOffered if self.is_new_and_offered() => {
                format!("{from} added {contract} {new} and offers to hand it over")
            }
            ChangeType::ContractOffered => format!("{from} offers to hand over {contract}"),
            ChangeType::BindingAdded | ChangeType::BindingRemoved if !self.imports.is_empty() => {
                format!("{from} {}", self.imports_phrase().unwrap_or_default())
            }
            ChangeType::BindingAdded => format!("{from} published its binding in {domain}"),
            ChangeType::BindingRemoved => format!("{from} removed its binding from {domain}"),
            ChangeType::RepoLeft => format!("{from} left {domain}: nobody can change or retire its contracts there"),
        }
    }
}

/// Changes to bindings that are counted but not listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BindingsChanged {
    /// The number of changes.
    pub changes: usize,
    /// The number of domains with changes.
    pub domains: usize,
}

/// The versions before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VersionChange {
    /// The version before the change; for a yank, the yanked version; null for a new contract and for bindings.
    pub old_version: Option<Version>,
    /// The version after; null for a removed contract and for bindings.
    pub new_version: Option<Version>,
}

/// The state of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// This reader has not seen it.
    Pending,
    /// This reader has seen it.
    Seen,
    /// It is older than 7 days, and is only shown on request.
    Expired,
}

/// A filter of notifications by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum NotificationFilter {
    /// In any state.
    #[default]
    All,
    /// Not seen yet.
    Pending,
    /// Seen.
    Seen,
    /// Older than 7 days.
    Expired,
}

impl NotificationFilter {
    /// Returns whether the filter accepts a notification in this state.
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
    /// The current repository.
    pub current_repo: RepoName,
    /// The filter that was applied.
    pub filter: NotificationFilter,
    /// The notifications of this page, most important first, then newest first.
    pub notifications: Vec<Notification>,
    /// The number of notifications in each state.
    pub summary: NotificationSummary,
    /// The total number of notifications that match the filter.
    pub total: usize,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
    /// The domains that cannot be read, with the reason. Their pending changes are not known.
    #[serde(default)]
    pub unreadable_domains: Vec<String>,
    /// The bindings of this repository that cannot be read, with the reason. It is not known which changes break its
    /// imports. Only present if there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}

/// The number of notifications in each state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotificationSummary {
    /// All notifications.
    pub total: usize,
    /// Not seen yet.
    pub pending: usize,
    /// Seen.
    pub seen: usize,
    /// Older than 7 days.
    pub expired: usize,
    /// Seen more than 30 days ago: they are no longer listed, and the next `gc` removes them.
    pub expired_cleaned: usize,
    /// Seen in the last 30 days, but no longer listed, because only the 1,000 most important seen ones are kept.
    #[serde(default)]
    pub dropped: usize,
}

/// The answer of `notifications_ack`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotificationsAck {
    /// The realm.
    pub realm: RealmName,
    /// The current repository.
    pub current_repo: RepoName,
    /// The ids of the notifications that are now marked as seen, including those that already were.
    pub acknowledged: Vec<String>,
    /// The number of these that were seen before.
    #[serde(default)]
    pub already_seen: usize,
    /// The requested ids that match no notification of this reader.
    pub unknown: Vec<String>,
}
