//! `session_list`: lists the sessions of every repository in the realm.

use crate::ops::{Operation, ctx::Ctx, runs, session};
use crate::{
    error::OpError,
    model::session::{Session, SessionId},
    store::sessions::SessionFilter,
    wire::{Answer, PageRequest, SessionLine, SessionList, page},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::reads::<Request>(
    "session_list",
    &["session", "list"],
    "List the sessions of all repositories in the realm",
)
.route("GET", "/sessions");

/// The arguments.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// Include sessions that ended in the last 30 days
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub ended: bool,
    /// The cursor is a session's repository, start time and id.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub page: PageRequest,
}

runs!(SessionList, run);

/// Lists the sessions by repository, oldest first.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<SessionList>, OpError> {
    let here = ctx.realm()?;
    let (mut found, mut unreadable) = session::all_sessions(&*here.store, SessionFilter::Open)?;
    if request.ended {
        let (ended, more) = session::all_sessions(&*here.store, SessionFilter::Ended)?;
        found.extend(ended);
        unreadable.extend(more);
    }
    let mine = mine(ctx);
    let now = ctx.env.now();
    let mut lines: Vec<_> =
        found.iter().map(|session| SessionLine::new(session, now, mine.as_ref() == Some(&session.id))).collect();
    lines.sort_by_cached_key(key);
    let total = lines.len();
    let (sessions, next_cursor) = page(lines, &request.page, key)?;
    Ok(Answer::new(SessionList {
        realm: here.realm.clone(),
        current_repo: here.repo.clone(),
        sessions,
        unreadable,
        total,
        next_cursor,
    }))
}

fn key(line: &SessionLine) -> String {
    format!("{} {} {}", line.repo, line.started_at, line.id)
}

/// Returns the session of this working tree. If it cannot be read, the list reports it.
fn mine(ctx: &Ctx) -> Option<SessionId> {
    session::current::current(ctx).ok().flatten().map(|session: Session| session.id)
}
