//! Lists over all realms of this machine, which only the daemon answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Notification, NotificationFilter, NotificationSummary, SessionLine};
use crate::model::name::{RealmName, RepoName};

/// The sessions of all realms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllSessions {
    /// The sessions of this page, by realm and repository, oldest first.
    pub sessions: Vec<SessionOfRealm>,
    /// The stored sessions that cannot be read.
    pub unreadable: Vec<String>,
    /// The realms that cannot be read.
    pub problems: Vec<RealmProblem>,
    /// The total number of sessions.
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
    /// The number of notifications in each state.
    pub summary: NotificationSummary,
    /// The realms and repositories that cannot be read.
    pub problems: Vec<RealmProblem>,
    /// The total number of notifications that match the filter.
    pub total: usize,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

/// A notification and its recipient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotificationForRepo {
    /// The repository that the notification is for.
    pub current_repo: RepoName,
    /// The notification.
    #[serde(flatten)]
    pub notification: Notification,
}

/// A realm or repository that cannot be read, and the reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmProblem {
    /// The realm.
    pub realm: RealmName,
    /// The repository, if the problem concerns only one.
    pub repo: Option<RepoName>,
    /// A description of the problem.
    pub message: String,
}
