//! `session_stop`: ends the session of this working tree, and reports the work done in it.

use super::{
    marker::{self, SessionMarker},
    work,
};
use crate::{
    error::{ErrorCode, OpError},
    model::session::{Session, SessionId, duration},
    ops::{
        Operation,
        ctx::{ActingRepo, Ctx},
        runs, session,
    },
    repo::CodeRepo,
    store::{StoreRef, sessions, write::write},
    wire::{Answer, SessionStop, SessionSummary},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "session_stop",
    &["session", "stop"],
    "End the session of this working tree, with a summary",
)
.tool("End the session, and summarize what changed.")
.route("DELETE", "/sessions/{id}");

/// The arguments.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The session [default: this working tree's]
    #[cfg_attr(feature = "cli", arg(value_name = "SESSION"))]
    pub id: Option<SessionId>,
}

runs!(SessionStop, run);

/// Ends the session.
///
/// # Errors
/// Returns an error if there is no session, or the store cannot be written. In the latter case the session stays open.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<SessionStop>, OpError> {
    let acting = ctx.require_reader()?;
    let code = match &request.id {
        // The session may belong to another working tree, or another machine.
        Some(_) => ctx.code.as_ref(),
        None => Some(ctx.code()?),
    };
    let author = ctx.signature()?;
    let at = StoreRef::Sessions(acting.repo.clone());
    let mut over: Option<(Session, Vec<String>)> = None;
    write(acting.store, &at, |tip| {
        let id = match (&request.id, code.map(|code| (code, marker::read(code)))) {
            (Some(id), _) => id.clone(),
            (None, Some((_, SessionMarker::Session(marked)))) if marked.is_of(acting) => marked.id,
            (None, Some((code, SessionMarker::Unreadable(problem)))) => return Err(unreadable(code, &problem)),
            (None, _) => return Err(none(None)),
        };
        let held = tip.map(|tip| sessions::open_at(acting.store, acting.repo, &id, &tip)).transpose()?.flatten();
        let Some(held) = held else {
            forget(code, acting, &id);
            return Err(match &request.id {
                Some(id) => unknown(acting, id),
                None => none(Some(&id)),
            });
        };
        let (work, unreadable) = work::since(acting.store, &held)?;
        let ended = held.ended(ctx.env.now(), work);
        let change =
            session::change(acting, format!("end {id}"), Some(&id), session::ending_edits(&ended).into(), &author);
        over = Some((ended, unreadable));
        Ok(Some(change))
    })?;
    let (ended, unreadable) = over.unwrap_or_else(|| unreachable!("it was decided"));
    // Locked again, because a process that starts the next session here writes its marker under the lock. If the marker
    // cannot be removed, it names an ended session, which counts as none.
    if let Ok(_lease) = acting.store.lock(&at) {
        forget(code, acting, &ended.id);
    }
    let end = ended.end(ctx.env.now());
    let message = format!("session ended after {}", duration(ended.started_at, end));
    let summary = SessionSummary::new(acting.realm, &ended, end, unreadable);
    Ok(Answer::new(SessionStop { message, summary }))
}

fn unreadable(code: &CodeRepo, problem: &str) -> OpError {
    let message = format!("cannot read {}: {problem}", marker::file(code).display());
    OpError::no(ErrorCode::UnreadableSession, message).next("git blue doctor --fix")
}

/// Removes the marker of this session, unless another one was started there since.
fn forget(code: Option<&CodeRepo>, acting: ActingRepo<'_>, id: &SessionId) {
    let Some(code) = code else { return };
    if marker::of(code, acting).as_ref() == Some(id) {
        let _ = marker::remove(code);
    }
}

fn unknown(acting: ActingRepo<'_>, id: &SessionId) -> OpError {
    let message = format!("{} has no active session {id}", acting.repo);
    OpError::no(ErrorCode::UnknownSession, message).next("git blue session list")
}

fn none(was: Option<&SessionId>) -> OpError {
    let message = match was {
        None => "there is no session in this working tree".to_owned(),
        Some(id) => format!("there is no session in this working tree: {id} has already ended"),
    };
    OpError::no(ErrorCode::NoSession, message).next("git blue session start  # start one")
}
