//! Maintenance: `gc` and `doctor`.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{name::RealmName, next_step::NextStep};

/// The answer of `gc`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gc {
    /// The realm.
    pub realm: RealmName,
    /// The number of loose objects before.
    pub loose_objects_before: usize,
    /// The number of loose objects after: unreachable objects that are too recent to be removed.
    pub loose_objects_after: usize,
    /// The number of refs that were packed.
    pub packed_refs: usize,
    /// The number of objects that were removed, which had been unreachable for two weeks or longer.
    pub removed_objects: usize,
    /// The readers without activity for 30 days. Their inboxes were removed.
    pub forgotten_readers: Vec<String>,
    /// The number of notifications that were removed, which had been seen more than 30 days ago.
    pub forgotten_notifications: usize,
    /// The number of sessions that were removed, which had ended more than 30 days ago.
    pub forgotten_sessions: usize,
}

/// The answer of `install` and `uninstall`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Installed {
    /// The absolute paths of the files that were written or removed.
    pub files: Vec<String>,
}

/// The answer of `doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Doctor {
    /// Whether no check found an error. Warnings do not count.
    pub healthy: bool,
    /// The checks, in the order they ran.
    pub checks: Vec<DoctorCheck>,
}

/// A check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorCheck {
    /// The subject of the check: `git`, `home`, `man`, `identity`, `realm`, `url`, `store`, `locks`, `mode`, `objects`,
    /// `records`, `refs`, `files`, `members`, `sync`, `receiver`, `sessions`, `session`, `clone`, `hooks` or `branch`.
    pub name: Cow<'static, str>,
    /// The realm or repository that the check concerns; null for the machine.
    pub subject: Option<String>,
    /// The result.
    pub state: Health,
    /// The findings, with their files.
    pub message: String,
    /// Whether this call fixed the problem.
    pub fixed: bool,
    /// The suggested next step.
    pub next_step: Option<NextStep>,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// Everything works.
    Ok,
    /// It works, but not as it should.
    Warning,
    /// It does not work.
    Error,
}
