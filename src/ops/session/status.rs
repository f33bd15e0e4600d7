//! `session_status`: the session of this working tree, and the work done in it so far.

use super::work;
use crate::ops::{Operation, ctx::Ctx, runs, session};
use crate::{
    error::OpError,
    model::session::State,
    wire::{Answer, SessionInfo, SessionStatus},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::reads::<Request>("session_status", &["session", "status"], "Show the session of this working tree");

/// The arguments.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {}

runs!(SessionStatus, |ctx, _| run(ctx));

/// Returns the status of the session.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn run(ctx: &Ctx) -> Result<Answer<SessionStatus>, OpError> {
    let acting = ctx.acting_repo()?;
    let now = ctx.env.now();
    let mut body = SessionStatus {
        realm: acting.realm.clone(),
        current_repo: acting.repo.clone(),
        session: None,
        unreadable: Vec::new(),
    };
    let Some(held) = session::current::current(ctx)? else {
        return Ok(Answer::new(body).next("git blue session start  # start one"));
    };
    let (work, unreadable) = work::since(acting.store, &held)?;
    body.unreadable = unreadable;
    body.session = Some(SessionInfo::new(acting.realm, &held, now, work));
    Ok(match held.state(now) {
        State::Stale => {
            Answer::new(body).next("git blue session start  # start a new one; this one was idle for a day")
        }
        State::Active | State::Ended => {
            Answer::new(body).next("git blue session stop  # when the work is done: end it, and summarize what changed")
        }
    })
}
