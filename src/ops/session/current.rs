//! The session of this working tree.

use super::marker;
use crate::{
    error::OpError,
    model::session::{Session, SessionId, State},
    ops::ctx::Ctx,
    store::sessions,
};

/// Returns the session of this working tree, active or stale, if there is one.
///
/// # Errors
/// Returns an error if the session cannot be read.
pub fn current(ctx: &Ctx) -> Result<Option<Session>, OpError> {
    let (Some(code), Ok(acting)) = (&ctx.code, ctx.acting_repo()) else {
        return Ok(None);
    };
    match marker::of(code, acting) {
        Some(id) => Ok(sessions::open(acting.store, acting.repo, &id)?),
        None => Ok(None),
    }
}

/// Returns the active session, to which a change made now belongs. It is only a hint for people, so an error counts as
/// no session.
pub fn active(ctx: &Ctx) -> Option<SessionId> {
    let session = current(ctx).ok().flatten()?;
    (session.state(ctx.env.now()) == State::Active).then_some(session.id)
}
