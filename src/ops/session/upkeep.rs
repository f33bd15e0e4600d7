//! Ends stale sessions, and deletes the records of old ones.

use super::work;
use crate::ops::{ctx::ActingRepo, session};
use crate::{
    error::OpError,
    model::{
        session::{SessionId, State},
        text,
    },
    store::{
        Edit, Signature, StoreRef,
        sessions::{self, SessionFilter},
        write::write,
    },
};

/// Ends the stale sessions of a repository, at the time of their last activity. Returns their number.
///
/// # Errors
/// Returns an error if the store cannot be read or written.
pub fn end_stale(acting: ActingRepo<'_>, author: &Signature) -> Result<usize, OpError> {
    let now = author.time.timestamp();
    let mut count = 0;
    write(acting.store, &StoreRef::Sessions(acting.repo.clone()), |tip| {
        let Some(tip) = tip else { return Ok(None) };
        let (open, _) = sessions::at(acting.store, acting.repo, &tip, SessionFilter::Open)?;
        let mut edits = Vec::new();
        for stale in open.into_iter().filter(|session| session.state(now) == State::Stale) {
            let (work, _) = work::since(acting.store, &stale)?;
            edits.extend(session::ending_edits(&stale.ended(now, work)));
        }
        count = edits.len() / 2;
        let subject = format!("end {}", text::count(count, "stale session", "stale sessions"));
        Ok::<_, OpError>((count > 0).then(|| session::change(acting, subject, None, edits, author)))
    })?;
    Ok(count)
}

/// Ends a session whose working tree is gone. Does nothing if it has already ended.
///
/// # Errors
/// Returns an error if the store cannot be read or written.
pub fn end(acting: ActingRepo<'_>, id: &SessionId, author: &Signature) -> Result<(), OpError> {
    write(acting.store, &StoreRef::Sessions(acting.repo.clone()), |tip| {
        let held = tip.map(|tip| sessions::open_at(acting.store, acting.repo, id, &tip)).transpose()?.flatten();
        let Some(held) = held else { return Ok(None) };
        let (work, _) = work::since(acting.store, &held)?;
        let ended = session::ending_edits(&held.ended(author.time.timestamp(), work));
        Ok::<_, OpError>(Some(session::change(acting, format!("end {id}"), Some(id), ended.into(), author)))
    })?;
    Ok(())
}

/// Deletes the sessions of a repository that ended more than 30 days ago. Returns their number.
///
/// # Errors
/// Returns an error if the store cannot be read or written.
pub fn forget(acting: ActingRepo<'_>, author: &Signature) -> Result<usize, OpError> {
    let now = author.time.timestamp();
    let mut count = 0;
    write(acting.store, &StoreRef::Sessions(acting.repo.clone()), |tip| {
        let Some(tip) = tip else { return Ok(None) };
        let mut edits = Vec::new();
        for which in [SessionFilter::Open, SessionFilter::Ended] {
            let (found, _) = sessions::at(acting.store, acting.repo, &tip, which)?;
            let old = found.iter().filter(|session| session.is_forgotten(now));
            edits.extend(old.map(|session| (which.path(&session.id), Edit::Remove)));
        }
        count = edits.len();
        let subject = format!("forget {}", text::count(count, "session", "sessions"));
        Ok::<_, OpError>((count > 0).then(|| session::change(acting, subject, None, edits, author)))
    })?;
    Ok(count)
}
