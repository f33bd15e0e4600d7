//! Lists over all realms of this machine, as the daemon answers them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Notification, NotificationFilter, NotificationSummary, SessionLine};
use crate::model::name::{RealmName, RepoName};

/// The sessions of all realms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllSessions {
    /// Those of this page: by realm and repository, oldest first.
    pub sessions: Vec<SessionOfRealm>,
    /// Stored sessions that cannot be read.
    pub unreadable: Vec<String>,
    /// Realms that cannot be read.
    pub problems: Vec<RealmProblem>,
    /// How many there are.
    pub total: usize,
    /// Where the next page starts.
    pub next_cursor: Option<String>,
}

/// A session, and where.
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
    /// Which ones were wanted.
    pub filter: NotificationFilter,
    /// Those of this page: what matters most first, and of that the newest.
    pub notifications: Vec<NotificationForRepo>,
    /// How many there are of each.
    pub summary: NotificationSummary,
    /// Realms and repositories that cannot be read.
    pub problems: Vec<RealmProblem>,
    /// How many match the filter.
    pub total: usize,
    /// Where the next page starts.
    pub next_cursor: Option<String>,
}

/// A notification, and for whom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotificationForRepo {
    /// The repository that it is for.
    pub current_repo: RepoName,
    /// The notification.
    #[serde(flatten)]
    pub notification: Notification,
}

/// A realm that cannot be read, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmProblem {
    /// The realm.
    pub realm: RealmName,
    /// The repository, where it is one alone.
    pub repo: Option<RepoName>,
    /// What is wrong.
    pub message: String,
}
