//! Sessions: `session_start`, `session_status`, `session_list`, `session_stop`.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    name::{RealmName, RepoName, RfcName},
    session::{Session, SessionId, State, Work, duration},
};

/// What `session_start` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStart {
    /// What happened, in a sentence.
    pub message: String,
    /// The session.
    pub session: SessionInfo,
    /// Whether it was there before.
    pub resumed: bool,
}

/// What `session_status` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStatus {
    /// The realm.
    pub realm: RealmName,
    /// The repository that asked.
    pub current_repo: RepoName,
    /// The session of this work tree; none where it is in none.
    pub session: Option<SessionInfo>,
    /// Domains of which it cannot be told what changed, and why.
    pub unreadable: Vec<String>,
}

/// What `session_stop` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStop {
    /// What happened, in a sentence.
    pub message: String,
    /// What came of it.
    pub summary: SessionSummary,
}

/// What `session_list` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionList {
    /// The realm.
    pub realm: RealmName,
    /// The repository that asked; none outside of one.
    pub current_repo: Option<RepoName>,
    /// Those of this page, by repository, oldest first.
    pub sessions: Vec<SessionLine>,
    /// Stored sessions that cannot be read.
    pub unreadable: Vec<String>,
    /// How many there are.
    pub total: usize,
    /// Where the next page starts.
    pub next_cursor: Option<String>,
}

/// A session that goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionId,
    /// The realm.
    pub realm: RealmName,
    /// The repository.
    pub repo: RepoName,
    /// Active, or stale after a day without activity.
    pub state: State,
    /// When it was started.
    pub started_at: Timestamp,
    /// When something was done in it last, to a few minutes.
    pub last_activity: Timestamp,
    /// What is worked on.
    pub active_rfc: Option<RfcName>,
    /// What it is about, and what came of it so far.
    #[serde(flatten)]
    pub work: Work,
}

impl SessionInfo {
    /// Returns a session as it is now.
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

/// A session that is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSummary {
    /// Its id.
    pub id: SessionId,
    /// The realm.
    pub realm: RealmName,
    /// The repository.
    pub repo: RepoName,
    /// When it was started.
    pub started_at: Timestamp,
    /// When it ended; a stale one, when something was done in it last.
    pub ended_at: Timestamp,
    /// How long it was: `2h 15m`.
    pub duration: String,
    /// What was worked on.
    pub active_rfc: Option<RfcName>,
    /// What came of it.
    #[serde(flatten)]
    pub work: Work,
    /// Domains of which it cannot be told what changed, and why.
    pub unreadable: Vec<String>,
}

impl SessionSummary {
    /// Returns the summary of a session that ended at this moment.
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

/// A session at a glance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionLine {
    /// Its id.
    pub id: SessionId,
    /// The repository.
    pub repo: RepoName,
    /// Active, stale after a day without activity, or ended.
    pub state: State,
    /// When it was started.
    pub started_at: Timestamp,
    /// When something was done in it last, to a few minutes.
    pub last_activity: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// What is worked on.
    pub active_rfc: Option<RfcName>,
    /// Whether it is the one of this work tree.
    pub is_current: bool,
}

impl SessionLine {
    /// Returns a session at a glance.
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
