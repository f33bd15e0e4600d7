//! Lists over all realms of this machine, as the daemon answers them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Notification, NotificationFilter, NotificationSummary, SessionLine};
use crate::model::name::{RealmName, RepoName};

/// The sessions of all realms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllSessions {
    /// The sessions of this page, by realm and repository, oldest first.
    pub sessions: Vec<SessionOfRealm>,
    /// Stored sessions that cannot be read.
    pub unreadable: Vec<String>,
    /// Realms that cannot be read.
    pub problems: Vec<RealmProblem>,
    /// The total number of entries.
    pub total: usize,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

/// A session and its realm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionOfRealm {
    /// The realm.
    pub realm: RealmName,
    /// The session.
    #[serde(flatten)]
    pub session: SessionLine,
}

/// The notifications for all repositories on this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllNotifications {
    /// The filter that was applied.
    pub filter: NotificationFilter,
    /// The notifications of this page, most important first, then newest first.
    pub notifications: Vec<NotificationForRepo>,
    /// The number of notifications of each kind.
    pub summary: NotificationSummary,
    /// Realms and repositories that cannot be read.
    pub problems: Vec<RealmProblem>,
    /// The number that match the filter.
    pub total: usize,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

/// A notification and the repository it is for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotificationForRepo {
    /// The repository that it is for.
    pub current_repo: RepoName,
    /// The notification.
    #[serde(flatten)]
    pub notification: Notification,
}

/// A realm that cannot be read, with the reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmProblem {
    /// The realm.
    pub realm: RealmName,
    /// The repository, if the problem concerns only one.
    pub repo: Option<RepoName>,
    /// A description of the problem.
    pub message: String,
}
