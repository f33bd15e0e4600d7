//! Upkeep: `gc` and `doctor`.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{name::RealmName, next_step::NextStep};

/// The answer of `gc`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gc {
    /// The realm.
    pub realm: RealmName,
    /// How many objects were files of their own before.
    pub loose_objects_before: usize,
    /// How many still are: nothing refers to them, and they are too young to go.
    pub loose_objects_after: usize,
    /// How many refs were packed.
    pub packed_refs: usize,
    /// How many objects were removed: nothing referred to them for two weeks or longer.
    pub removed_objects: usize,
    /// Inboxes of readers that nobody was seen as for 30 days.
    pub forgotten_readers: Vec<String>,
    /// How many notifications were forgotten that were told more than 30 days ago.
    pub forgotten_notifications: usize,
    /// How many sessions were forgotten that were over more than 30 days ago.
    pub forgotten_sessions: usize,
}

/// The answer of `install`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Installed {
    /// The files that were written, absolute.
    pub files: Vec<String>,
}

/// The answer of `doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Doctor {
    /// Whether nothing is left that does not work; warnings do not count.
    pub healthy: bool,
    /// The checks, in the order they ran.
    pub checks: Vec<DoctorCheck>,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorCheck {
    /// What: `git`, `home`, `man`, `identity`, `store`, `locks`, `mode`, `objects`, `refs`, `files`,
    /// `sessions`, `session` or `hooks`.
    pub name: Cow<'static, str>,
    /// The realm or repository it is about; none for the machine.
    pub subject: Option<String>,
    /// The state.
    pub state: Health,
    /// The findings, with their files.
    pub message: String,
    /// Whether this call fixed it.
    pub fixed: bool,
    /// The suggested next step.
    pub next_step: Option<NextStep>,
}

/// The result of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// As it should be.
    Ok,
    /// It works, but not as it should.
    Warning,
    /// It does not work.
    Error,
}
