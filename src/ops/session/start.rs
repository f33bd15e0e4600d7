//! `session_start`: starts a session in this working tree, or continues its current one.

use super::{marker, work};
use crate::{
    error::OpError,
    model::{
        name::RfcName,
        oid::Oid,
        session::{Session, SessionId, State},
    },
    ops::{
        Operation,
        ctx::{ActingRepo, Ctx},
        runs, session,
        worktree::rfc_worktrees,
    },
    repo::CodeRepo,
    store::{Change, Signature, StoreError, StoreRef, layout, read, sessions, write::write},
    wire::{Answer, SessionInfo, SessionStart},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::writes::<Request>("session_start", &["session", "start"], "Start a work session in this working tree")
        .tool("Start a session in this working tree.")
        .route("POST", "/sessions");

/// The arguments.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The RFC to work on [default: this worktree's]
    #[cfg_attr(feature = "cli", arg(long, value_name = "RFC"))]
    pub rfc: Option<RfcName>,
}

runs!(SessionStart, run);

/// The session that is started or continued.
#[derive(Debug, Clone)]
struct Begun {
    session: Session,
    resumed: bool,
    /// The RFC that the session was about before, if it is about another one now.
    former_rfc: Option<RfcName>,
    /// The previous session, if it was stale.
    stale: Option<SessionId>,
}

/// Starts or continues a session.
///
/// # Errors
/// Returns an error if the repository is not in the realm, or the store or the git dir cannot be written.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<SessionStart>, OpError> {
    let acting = ctx.require_writable()?;
    let code = ctx.code()?;
    let author = ctx.signature()?;
    let mut begun = None;
    write(acting.store, &StoreRef::Sessions(acting.repo.clone()), |tip| {
        let (now, change) = begin(ctx, acting, code, request, tip, &author)?;
        begun = Some(now);
        Ok::<_, OpError>(change)
    })?;
    let Begun { session, resumed, former_rfc, stale } = begun.unwrap_or_else(|| unreachable!("it was decided"));
    let (work, _) = work::since(acting.store, &session)?;
    let message = match (former_rfc, resumed, stale) {
        (Some(former), ..) => format!("session resumed; its RFC was {former}"),
        (None, true, _) => "session resumed".into(),
        (None, false, Some(stale)) => format!("session started; {stale} was stale and has been ended"),
        (None, false, None) => "session started".into(),
    };
    let session = SessionInfo::new(acting.realm, &session, ctx.env.now(), work);
    Ok(Answer::new(SessionStart { message, session, resumed })
        .next("git blue review  # show whether changes by others break this repository"))
}

/// Decides under the lock, so that two processes in one working tree start only one session.
fn begin(
    ctx: &Ctx,
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    request: &Request,
    tip: Option<Oid>,
    author: &Signature,
) -> Result<(Begun, Option<Change>), OpError> {
    let now = ctx.env.now();
    let held = match (marker::of(code, acting), tip) {
        (Some(id), Some(tip)) => match sessions::open_at(acting.store, acting.repo, &id, &tip) {
            Ok(held) => held,
            // `doctor` reports the damaged session, which does not prevent a new one.
            Err(error) if error.is_damage() => None,
            Err(error) => return Err(error.into()),
        },
        _ => None,
    };
    if let Some(held) = held.as_ref().filter(|held| held.state(now) == State::Active) {
        let active_rfc = request.rfc.clone().or_else(|| held.active_rfc.clone());
        let is_due = active_rfc != held.active_rfc || held.is_activity_due(now);
        let last_activity = if is_due { now } else { held.last_activity };
        let session = Session { active_rfc, last_activity, ..held.clone() };
        let former_rfc = held.active_rfc.clone().filter(|_| session.active_rfc != held.active_rfc);
        let subject = format!("continue {}", session.id);
        let edits = vec![session::open(&session)];
        let change = is_due.then(|| session::change(acting, subject, Some(&session.id), edits, author));
        return Ok((Begun { session, resumed: true, former_rfc, stale: None }, change));
    }
    let session = Session {
        id: free_id(ctx, acting, code, tip)?,
        repo: acting.repo.clone(),
        started_at: now,
        last_activity: now,
        active_rfc: request.rfc.clone().or_else(|| rfc_worktrees::current_rfc(ctx, acting.realm)),
        start: work::trees_at_start(acting.store, acting.repo)?,
        ended: None,
    };
    let mut edits = vec![session::open(&session)];
    let stale = held.as_ref().map(|held| held.id.clone());
    if let Some(stale) = held {
        let (work, _) = work::since(acting.store, &stale)?;
        edits.extend(session::ending_edits(&stale.ended(now, work)));
    }
    let about = session.active_rfc.as_ref().map(|rfc| format!(" on {rfc}")).unwrap_or_default();
    let change = session::change(acting, format!("start {}{about}", session.id), Some(&session.id), edits, author);
    marker::write(code, acting, &session.id)?;
    Ok((Begun { session, resumed: false, former_rfc: None, stale }, Some(change)))
}

/// Returns an id that no session of the repository has.
fn free_id(ctx: &Ctx, acting: ActingRepo<'_>, code: &CodeRepo, tip: Option<Oid>) -> Result<SessionId, StoreError> {
    let tree = tip.map(|tip| acting.store.commit(&tip)).transpose()?.map(|commit| commit.tree);
    let (seed, now) = (ctx.env.seed().to_string(), ctx.env.now().to_string());
    let place = code.git_dir().display().to_string();
    for tries in 0_u64.. {
        let id = SessionId::of(&[&seed, &now, acting.repo.as_str(), &place, &tries.to_string()]);
        let mut is_taken = false;
        for path in [layout::session(&id), layout::ended_session(&id)] {
            let found = tree.map(|tree| read::lookup(acting.store, &tree, path.as_str())).transpose()?;
            is_taken |= found.flatten().is_some();
        }
        if !is_taken {
            return Ok(id);
        }
    }
    unreachable!("there are more ids than sessions")
}
