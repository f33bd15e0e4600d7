//! The answers of all surfaces: CLI `--json`, MCP and HTTP. Field names and the spelling of values are stable; a field
//! without a value is `null`, not omitted.
//!
//! Rust clients can read them with the same types. A field that a later version adds is ignored. A new variant of an
//! enum such as [`Role`] is an error, and so is a required field that an older version does not write yet.
//!
//! ```
//! use git_blue::wire::{Answer, Failure, RealmList};
//!
//! // The output of `git blue realm list --json` in a later version, with an additional field.
//! let printed = r#"{"status": "success", "realms": [], "later": 1, "next_steps": []}"#;
//! let answer: Answer<RealmList> = serde_json::from_str(printed)?;
//! assert!(answer.body.realms.is_empty());
//!
//! let printed = r#"{"status": "error", "code": "io", "message": "the disk is full", "next_steps": []}"#;
//! assert!(serde_json::from_str::<Answer<RealmList>>(printed).is_err());
//! assert_eq!(serde_json::from_str::<Failure>(printed)?.code, "io");
//! # Ok::<(), serde_json::Error>(())
//! ```

mod admin;
pub mod all_realms;
mod author;
mod blame;
mod cache;
mod check;
mod claude;
mod compare;
mod compat;
mod contract;
pub mod daemon;
mod diff;
mod hooks;
mod lenient;
mod notification;
mod page;
mod prime;
mod publish;
mod pull;
mod realm;
mod receiver;
mod review;
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
pub use author::{BindingEdit, ContractBump, ContractExpect, ContractNew, ContractValidate, FileEdit, PayloadFailure};
pub use blame::{BlamePart, ContractBlame, VersionOrigin};
pub use cache::{CacheCleared, CacheStats};
pub use check::{Elsewhere, Judged, RealmCheck, RfcBranch, ScriptOutcome, ScriptRole, ScriptRun};
pub use claude::{ClaudeFile, ClaudeScope, ClaudeSetup, FileChange};
pub use compare::{ContractComparison, ContractSide, RealmCompare};
pub use compat::{
    AskedDirection, BothReadings, BrokenDirection, Compat, SchemaDifference, SchemaReading, SchemaVerdict,
    SchemaWarning, VersionBump,
};
pub use contract::{
    ContractAdapted, ContractApproved, ContractBinding, ContractDetail, ContractGet, ContractLine, ContractList,
    ContractLog, ContractMarked, ContractState, ContractTransfer, Relationship,
};
pub use daemon::{Daemon, DaemonOpen, DaemonToken};
pub use diff::{ContractDiff, ContractImpact, DocumentSource, ImporterImpact, JudgedBy, SchemasCompared};
pub use hooks::{HookState, HooksAnswer};
pub use notification::{
    BindingsChanged, Notification, NotificationFilter, NotificationSummary, NotificationsAck, NotificationsList, State,
    VersionChange,
};
pub use page::{DEFAULT_LIMIT, PageRequest, UnknownCursor, page, page_unsorted};
pub use prime::Prime;
pub use publish::{Broken, ChangeKind, ContractPublish, Published};
pub use pull::{
    CommentOutcome, ImportConflict, MergeAction, MergeStep, PrComment, PrCreate, PrCreated, PrPrepare, PrRepo,
    PrStatus, PrSummary, Prepared, PullChecks, PullRequest, PullReviews, PullState,
};
pub use realm::{
    Behind, DomainBinding, DomainContract, DomainStatus, ImportStanding, ImportStatus, LogEntry, OpenOffer,
    OwnContract, RealmLine, RealmList, RealmLog, RealmStatus, RemovedFile, RepoLine, Role, Unpublished,
};
pub use receiver::{
    ConcernedImport, Event, EventChange, EventData, EventLine, ForgeIssue, IssueOutcome, NotifyForge, NotifyTest,
    ReceiverLine, Receivers, UnreadForge,
};
pub use review::{ChangedField, FieldChange, ImportReview, Mention, RealmReview, Searched, Withdrawal};
pub use session::{SessionInfo, SessionLine, SessionList, SessionStart, SessionStatus, SessionStop, SessionSummary};
pub use sync::{
    ConflictSettled, RealmReseed, RealmSync, RefStatus, RefSync, RefUpdate, RemoteStatus, RemoteSync, SetAsideCommit,
    SyncConflict, SyncProblem,
};
pub use timeline::{ContractTimeline, TimelineEntry, TimelineRealm};
pub use topology::{ContractTopology, DomainTopology, ImportHealth, ImportTopology, RealmTopology};

pub use upkeep::{Doctor, DoctorCheck, Gc, Health, Installed};
pub use worktree::{RepoProblem, WorktreeCreate, WorktreeLine, WorktreeList, WorktreeRemove, WorktreeState};

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::OpError;
pub use crate::error::{CliOption, NextStep, Problem};

/// A successful answer: `status`, the fields of the operation, and the next steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer<T> {
    status: Success,
    /// The operation's own fields.
    #[serde(flatten)]
    pub body: T,
    /// The suggested next steps, most urgent first.
    pub next_steps: Vec<NextStep>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Success {
    Success,
}

impl<T> Answer<T> {
    /// Returns an answer without next steps.
    pub fn new(body: T) -> Self {
        Self { status: Success::Success, body, next_steps: Vec::new() }
    }

    /// Adds a next step.
    #[must_use]
    pub fn next(mut self, step: impl Into<NextStep>) -> Self {
        self.next_steps.push(step.into());
        self
    }

    /// Adds a next step if the condition holds.
    #[must_use]
    pub fn next_if(self, condition: bool, step: impl Into<NextStep>) -> Self {
        if condition { self.next(step) } else { self }
    }

    /// Adds a next step, unless its command is there already.
    #[must_use]
    pub fn next_once(self, step: impl Into<NextStep>) -> Self {
        let step = step.into();
        let is_there = step.command().is_some() && self.next_steps.iter().any(|one| one.command() == step.command());
        self.next_if(!is_there, step)
    }

    /// Adds next steps.
    #[must_use]
    pub fn next_all(mut self, steps: impl IntoIterator<Item: Into<NextStep>>) -> Self {
        self.next_steps.extend(steps.into_iter().map(Into::into));
        self
    }
}

/// The answer of any operation, as surfaces write it.
pub trait AnyAnswer {
    /// Returns the answer as indented JSON.
    fn to_json(&self) -> String;
    /// Returns the answer as indented JSON, with other next steps.
    fn to_json_with(&self, next_steps: Vec<NextStep>) -> String;
    /// Returns the answer as JSON on one line.
    fn to_text(&self) -> String;
    /// Returns the answer as a JSON value.
    fn to_value(&self) -> serde_json::Value;
    /// Returns the next steps.
    fn next_steps(&self) -> &[NextStep];
}

impl<T: Serialize> AnyAnswer for Answer<T> {
    fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_else(|error| unreachable!("answers have a JSON form: {error}"))
    }

    fn to_json_with(&self, next_steps: Vec<NextStep>) -> String {
        Answer { next_steps, ..Answer::new(&self.body) }.to_json()
    }

    fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| unreachable!("answers have a JSON form: {error}"))
    }

    fn to_value(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_else(|error| unreachable!("answers have a JSON form: {error}"))
    }

    fn next_steps(&self) -> &[NextStep] {
        &self.next_steps
    }
}

/// The answer of a failed operation, on every surface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    status: Failed,
    /// The kind of failure: a stable code for programs.
    pub code: Cow<'static, str>,
    /// A message that names the subject and the cause.
    pub message: String,
    /// The individual problems, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// The suggested next steps, most urgent first.
    pub next_steps: Vec<NextStep>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Failed {
    Error,
}

impl From<&OpError> for Failure {
    fn from(error: &OpError) -> Self {
        Self {
            status: Failed::Error,
            code: error.code.into(),
            message: error.message.clone(),
            problems: error.problems.clone(),
            next_steps: error.next_steps.clone(),
        }
    }
}
