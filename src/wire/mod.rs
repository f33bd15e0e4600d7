//! Answers as every surface gives them: CLI `--json`, MCP and HTTP. The field names and spellings
//! are those of seed 002; a field that cannot be told is `null`, not left out.

mod admin;
pub mod all_realms;
mod cache;
mod check;
mod claude;
mod compare;
mod compat;
mod contract;
pub mod daemon;
mod diff;
mod hooks;
mod notification;
mod page;
mod publish;
mod pull;
mod realm;
pub mod schema;
mod session;
mod sync;
mod timeline;
mod topology;
mod upkeep;
mod worktree;

pub use admin::{
    BindingSet, BootstrappedDomain, ContractAdded, DomainRemoved, DomainSet, Init, MemberRemoved, RealmBootstrap,
    RealmInit, RealmJoin, RealmLeave, RealmReclaim, RealmRemoved, RealmRename,
};
pub use cache::{CacheCleared, CacheStats};
pub use check::{Elsewhere, Judged, RealmCheck, RfcBranch};
pub use claude::{ClaudeFile, ClaudeScope, ClaudeSetup, FileChange};
pub use compare::{ContractComparison, ContractSide, RealmCompare};
pub use compat::{
    AskedDirection, BothReadings, BrokenDirection, Compat, SchemaDifference, SchemaReading, SchemaVerdict,
    SchemaWarning, VersionBump,
};
pub use contract::{
    ContractAdapted, ContractBinding, ContractDetail, ContractGet, ContractLine, ContractList, ContractLog,
    ContractMarked, ContractTransfer, Relationship, Retired, Yanked,
};
pub use daemon::{Daemon, DaemonOpen, DaemonToken};
pub use diff::{ContractDiff, ContractImpact, DocumentSource, ImporterImpact, JudgedBy};
pub use hooks::{HookState, HooksAnswer};
pub use notification::{
    Notification, NotificationFilter, NotificationSummary, NotificationsAck, NotificationsList, State, VersionChange,
};
pub use page::{DEFAULT_LIMIT, PageRequest, page, page_in_order};
pub use publish::{ContractPublish, Published};
pub use pull::{
    ImportClash, MergeAction, MergeStep, PrCreate, PrCreated, PrPrepare, PrRepo, PrStatus, PrSummary, Prepared,
    PullChecks, PullRequest, PullReviews, PullState,
};
pub use realm::{
    DomainBinding, DomainContract, DomainStatus, ImportStatus, LogEntry, RealmLine, RealmList, RealmLog, RealmStatus,
    RemovedFile, RepoLine, Role, Unpublished,
};
pub use session::{SessionInfo, SessionLine, SessionList, SessionStart, SessionStatus, SessionStop, SessionSummary};
pub use sync::{
    ConflictSettled, How, RealmReseed, RealmSync, RefStatus, RefSync, RemoteStatus, RemoteSync, SetAsideCommit,
    SyncConflict, SyncProblem,
};
pub use timeline::{ContractTimeline, TimelineEntry, TimelineRealm};
pub use topology::{ContractTopology, DomainTopology, ImportTopology, RealmTopology};

pub use upkeep::{Doctor, DoctorCheck, Gc, Health, Installed};
pub use worktree::{RepoProblem, WorktreeCreate, WorktreeLine, WorktreeList, WorktreeRemove, WorktreeState};

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{OpError, Problem};

/// A successful answer: `status`, the fields of the operation, what to do next.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Answer<T> {
    status: Success,
    /// The operation's own fields.
    #[serde(flatten)]
    pub body: T,
    /// What to do next, as commands where possible.
    pub next_steps: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Success {
    Success,
}

impl<T> Answer<T> {
    /// Returns an answer without next steps.
    pub fn new(body: T) -> Self {
        Self { status: Success::Success, body, next_steps: Vec::new() }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn next(mut self, step: impl Into<String>) -> Self {
        self.next_steps.push(step.into());
        self
    }
}

/// A failure, as every surface gives it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Failure<'a> {
    #[schemars(extend("const" = "error"))]
    status: &'static str,
    /// What kind of failure it is: stable, for programs.
    code: &'static str,
    /// What happened, with its subject and cause.
    message: &'a str,
    /// The single problems, where there are several.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    problems: &'a [Problem],
    /// What to do next, as commands where possible.
    next_steps: &'a [String],
}

impl<'a> From<&'a OpError> for Failure<'a> {
    fn from(error: &'a OpError) -> Self {
        Self {
            status: "error",
            code: error.code,
            message: &error.message,
            problems: &error.problems,
            next_steps: &error.next_steps,
        }
    }
}
