//! Sessions: `session_start`, `session_status`, `session_list` and `session_stop`.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    name::{RealmName, RepoName, RfcName},
    session::{Session, SessionId, State, Work, duration},
};

/// The answer of `session_start`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStart {
    /// The result, in one sentence.
    pub message: String,
    /// The session.
    pub session: SessionInfo,
    /// Whether an existing session was resumed.
    pub resumed: bool,
}

/// The answer of `session_status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStatus {
    /// The realm.
    pub realm: RealmName,
    /// The current repository.
    pub current_repo: RepoName,
    /// The session of this working tree; null if there is none.
    pub session: Option<SessionInfo>,
    /// The domains whose changes cannot be determined, each with the reason.
    pub unreadable: Vec<String>,
}

/// The answer of `session_stop`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStop {
    /// The result, in one sentence.
    pub message: String,
    /// The work that was done in the session.
    pub summary: SessionSummary,
}

/// The answer of `session_list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionList {
    /// The realm.
    pub realm: RealmName,
    /// The current repository; null outside of a repository.
    pub current_repo: Option<RepoName>,
    /// The sessions on this page, by repository, oldest first.
    pub sessions: Vec<SessionLine>,
    /// The stored sessions that cannot be read.
    pub unreadable: Vec<String>,
    /// The total number of sessions.
    pub total: usize,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

/// A session that has not ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionInfo {
    /// The id of the session.
    pub id: SessionId,
    /// The realm.
    pub realm: RealmName,
    /// The repository.
    pub repo: RepoName,
    /// The state: active, or stale after a day without activity.
    pub state: State,
    /// The start time.
    pub started_at: Timestamp,
    /// The time of the last activity, to within a few minutes.
    pub last_activity: Timestamp,
    /// The RFC.
    pub active_rfc: Option<RfcName>,
    /// The subject of the session, and its results so far.
    #[serde(flatten)]
    pub work: Work,
}

impl SessionInfo {
    /// Returns the description of a session as of `now`.
    pub fn new(realm: &RealmName, session: &Session, now: Timestamp, work: Work) -> Self {
        Self {
            id: session.id.clone(),
            realm: realm.clone(),
            repo: session.repo.clone(),
            state: session.state(now),
            started_at: session.started_at,
            last_activity: session.last_activity,
            active_rfc: session.active_rfc.clone(),
            work,
        }
    }
}

/// A session that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSummary {
    /// The id of the session.
    pub id: SessionId,
    /// The realm.
    pub realm: RealmName,
    /// The repository.
    pub repo: RepoName,
    /// The start time.
    pub started_at: Timestamp,
    /// The end time; for a stale session, the time of the last activity.
    pub ended_at: Timestamp,
    /// The duration, such as `2h 15m`.
    pub duration: String,
    /// The RFC.
    pub active_rfc: Option<RfcName>,
    /// The work that was done in the session.
    #[serde(flatten)]
    pub work: Work,
    /// The domains whose changes cannot be determined, each with the reason.
    pub unreadable: Vec<String>,
}

impl SessionSummary {
    /// Returns the summary of a session that ended at `ended_at`.
    pub fn new(realm: &RealmName, session: &Session, ended_at: Timestamp, unreadable: Vec<String>) -> Self {
        let work = session.ended.as_ref().map(|ended| ended.work.clone()).unwrap_or_default();
        Self {
            id: session.id.clone(),
            realm: realm.clone(),
            repo: session.repo.clone(),
            started_at: session.started_at,
            ended_at,
            duration: duration(session.started_at, ended_at),
            active_rfc: session.active_rfc.clone(),
            work,
            unreadable,
        }
    }
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionLine {
    /// The id of the session.
    pub id: SessionId,
    /// The repository.
    pub repo: RepoName,
    /// The state: active, stale after a day without activity, or ended.
    pub state: State,
    /// The start time.
    pub started_at: Timestamp,
    /// The time of the last activity, to within a few minutes.
    pub last_activity: Timestamp,
    /// The end time.
    pub ended_at: Option<Timestamp>,
    /// The RFC.
    pub active_rfc: Option<RfcName>,
    /// Whether this is the session of this working tree.
    pub is_current: bool,
}

impl SessionLine {
    /// Returns the summary of a session for a list.
    pub fn new(session: &Session, now: Timestamp, is_current: bool) -> Self {
        Self {
            id: session.id.clone(),
            repo: session.repo.clone(),
            state: session.state(now),
            started_at: session.started_at,
            last_activity: session.last_activity,
            ended_at: session.ended.as_ref().map(|ended| ended.at),
            active_rfc: session.active_rfc.clone(),
            is_current,
        }
    }
}
