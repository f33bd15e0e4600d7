//! `$GIT_BLUE_HOME/log/publish.log`: the attempts of hooks to publish, in the foreground and in the background, so
//! that `status` can report failures. Each line is a JSON object; any other line is the output of a program that
//! crashed.

use std::{
    fs::{File, OpenOptions},
    io::Write as _,
    path::PathBuf,
};

use serde::{Deserialize, Serialize};

use crate::ops::ctx::{ActingRepo, Ctx};
use crate::{
    error::{ErrorCode, NextStep, OpError},
    model::{
        name::{RealmName, RepoName},
        oid::Oid,
    },
    platform::files::{self, Stamp},
};

/// The size in bytes at which the log is renamed. The previously renamed log is replaced.
const MOST: u64 = 256 * 1024;

/// One attempt to publish a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The time.
    pub at: jiff::Timestamp,
    /// The realm.
    pub realm: RealmName,
    /// The repository.
    pub repo: RepoName,
    /// The commit.
    pub commit: Oid,
    /// The reason for the failure; `None` if it succeeded, or the reason no longer applies.
    pub failed: Option<String>,
    /// The next steps.
    #[serde(default)]
    pub next_steps: Vec<NextStep>,
}

fn path(ctx: &Ctx) -> PathBuf {
    ctx.home.folder().join("log/publish.log")
}

/// Opens the log for appending, and renames it first if it is too large. Only the user can read it, since it names
/// commits and their content.
///
/// # Errors
/// Returns an error if the log cannot be written.
pub fn open(ctx: &Ctx) -> Result<File, OpError> {
    let path = path(ctx);
    if let Some(folder) = path.parent() {
        files::make_private_folder(folder).map_err(OpError::io("create", folder))?;
    }
    if path.metadata().is_ok_and(|meta| meta.len() > MOST) {
        // If two processes rename it at once, one of them finds no file.
        let _ = std::fs::rename(&path, path.with_extension("log.1"));
    }
    let file = files::private(OpenOptions::new().append(true).create(true)).open(&path);
    file.map_err(OpError::io("open", path))
}

/// Returns a stamp that changes with each attempt, of any repository; `None` before the first one.
pub fn stamp(ctx: &Ctx) -> Option<Stamp> {
    Stamp::of(&path(ctx)).ok()
}

/// Records an attempt. A failure to write is ignored: the realm itself shows what is published.
pub fn record(ctx: &Ctx, acting: ActingRepo<'_>, commit: Oid, outcome: Result<(), &OpError>) {
    let attempt = Attempt {
        at: ctx.env.now(),
        realm: acting.realm.clone(),
        repo: acting.repo.clone(),
        commit,
        failed: outcome.err().map(|error| error.message.clone()),
        next_steps: outcome.err().map(|error| error.next_steps.clone()).unwrap_or_default(),
    };
    if let (Ok(mut file), Ok(line)) = (open(ctx), serde_json::to_string(&attempt)) {
        // One write call, so that two writers do not mix their lines.
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
}

/// Records that publishing failed, so that commands which publish nothing can say so. The same failure is recorded
/// once.
pub fn record_failure(ctx: &Ctx, acting: ActingRepo<'_>, commit: Oid, error: &OpError) {
    let last = last_failure(ctx, acting).filter(|attempt| attempt.commit == commit);
    let is_known = last.is_some_and(|attempt| attempt.failed.as_ref() == Some(&error.message));
    if !is_known && error.code != ErrorCode::Locked {
        record(ctx, acting, commit, Err(error));
    }
}

/// Clears the last failure if one of its next steps is a command with these `arguments`: the user has just run it.
pub fn clear_remedied(ctx: &Ctx, acting: ActingRepo<'_>, arguments: &str) {
    let names = |step: &NextStep| step.command().is_some_and(|command| command.contains(arguments));
    if let Some(refused) = last_failure(ctx, acting).filter(|refused| refused.next_steps.iter().any(names)) {
        record(ctx, acting, refused.commit, Ok(()));
    }
}

/// Returns the last attempt of the repository, if it failed.
pub fn last_failure(ctx: &Ctx, acting: ActingRepo<'_>) -> Option<Attempt> {
    let path = path(ctx);
    for path in [path.clone(), path.with_extension("log.1")] {
        let text = std::fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        let attempts = text.lines().rev().filter_map(|line| serde_json::from_str::<Attempt>(line).ok());
        let mut mine = attempts.filter(|attempt| attempt.realm == *acting.realm && attempt.repo == *acting.repo);
        if let Some(last) = mine.next() {
            return Some(last).filter(|last| last.failed.is_some());
        }
    }
    None
}
