//! Operations on sessions, and the recording of their activity.

pub mod current;
pub mod list;
pub mod marker;
pub mod start;
pub mod status;
pub mod stop;
pub mod upkeep;
pub mod work;

use std::time::Duration;

use crate::{
    error::OpError,
    locate,
    model::session::{Session, SessionId},
    ops::{
        ctx::{ActingRepo, Ctx},
        message::Message,
    },
    store::{
        Change, Edit, Parents, Signature, Store, StoreRef, TreePath, codec,
        git::Options,
        layout,
        sessions::{self, SessionFilter},
        write::write,
    },
};

use crate::ops::Operation;

pub(super) const TABLE: &[Operation] = &[start::OPERATION, status::OPERATION, list::OPERATION, stop::OPERATION];

/// The maximum time that recording activity waits for a lock. Nobody asked for the record, and the next command can
/// write it.
const PATIENCE: Duration = Duration::from_millis(200);

/// Records activity in the session of this working tree, unless it was recorded recently. The command has already
/// answered, so this never fails and never waits long.
pub fn touch(ctx: &Ctx) {
    let _ = try_touch(ctx);
}

fn try_touch(ctx: &Ctx) -> Result<(), OpError> {
    let now = ctx.env.now();
    let Some(session) = current::current(ctx)?.filter(|session| session.is_activity_due(now)) else {
        return Ok(());
    };
    let acting = ctx.require_writable()?;
    let author = ctx.signature()?;
    let known = locate::known(&ctx.home, acting.realm)?;
    let options = Options { lock_timeout: ctx.env.lock_timeout().min(PATIENCE), ..ctx.options() };
    let store = locate::open(&ctx.home, &known, options)?;
    write(&store, &StoreRef::Sessions(acting.repo.clone()), |tip| {
        let held = tip.map(|tip| sessions::open_at(&store, acting.repo, &session.id, &tip)).transpose()?.flatten();
        let due = held.filter(|held| held.is_activity_due(now));
        let put = |held: Session| {
            let edits = vec![open(&Session { last_activity: now, ..held })];
            change(acting, format!("continue {}", session.id), Some(&session.id), edits, &author)
        };
        Ok::<_, OpError>(due.map(put))
    })?;
    Ok(())
}

/// Returns the edit that writes an open session.
pub fn open(session: &Session) -> (TreePath, Edit) {
    (layout::session(&session.id), Edit::Put(codec::encode(session)))
}

/// Returns the edits that move an ended session from the open ones to the ended ones.
pub fn ending_edits(session: &Session) -> [(TreePath, Edit); 2] {
    let kept = (layout::ended_session(&session.id), Edit::Put(codec::encode(session)));
    [(layout::session(&session.id), Edit::Remove), kept]
}

/// Returns the commit of a change to sessions.
pub fn change(
    acting: ActingRepo<'_>,
    subject: String,
    id: Option<&SessionId>,
    edits: Vec<(TreePath, Edit)>,
    author: &Signature,
) -> Change {
    let message = Message { subject, repo: Some(acting.repo), session: id.cloned(), ..Message::default() }.text();
    Change { edits, message, author: author.clone(), committer: None, parents: Parents::Tip }
}

/// Returns the sessions of all repositories, and those that could not be read.
///
/// # Errors
/// Returns an error if the sessions cannot be listed.
pub fn all_sessions(store: &dyn Store, which: SessionFilter) -> Result<(Vec<Session>, Vec<String>), OpError> {
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    for (repo, tip) in store.sessions()? {
        let (sessions, damage) = sessions::at(store, &repo, &tip, which)?;
        found.extend(sessions);
        unreadable.extend(damage.into_iter().map(|damage| format!("{}: {}", damage.file, damage.problem)));
    }
    Ok((found, unreadable))
}
