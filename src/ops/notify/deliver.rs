//! Selects the notifications that are delivered along with another answer.

use super::pending::{MAX_TOLD, Pending, Telling};
use crate::ops::ctx::Acting;
use crate::{
    error::OpError,
    model::{name::ReaderName, oid::Oid, verdict::Judge},
    store::{StoreRef, overview::Overview},
    wire::Notification,
};

/// Returns the notifications to deliver now, of those that `fits` accepts, most important first.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn due(
    acting: Acting<'_>,
    reader: &ReaderName,
    (now, judge): (jiff::Timestamp, &Judge<'_>),
    fits: impl FnMut(&Notification) -> bool,
) -> Result<Telling, OpError> {
    let overview = Overview::open(acting.store)?;
    let mut pending = Pending::of(acting, reader, now, &overview)?;
    pending.judge(acting, &overview, judge)?;
    Ok(pending.first(MAX_TOLD, fits))
}

/// The refs that decide what is pending for a reader, with their tips. Equal values mean that nothing has changed.
pub type Tips = Vec<(String, Option<Oid>)>;

/// Returns the tips of the realm's refs and of a reader's inboxes.
///
/// # Errors
/// Returns an error if the refs cannot be read.
pub fn tips(acting: Acting<'_>, reader: &ReaderName) -> Result<Tips, OpError> {
    let mut tips: Tips =
        acting.store.domains()?.into_iter().map(|(name, tip)| (name.as_str().to_owned(), Some(tip))).collect();
    tips.extend(inboxes(acting, reader)?);
    Ok(tips)
}

/// Returns the tips of a reader's own inbox and of the shared one, which are the last of [`tips`].
///
/// # Errors
/// Returns an error if the refs cannot be read.
pub fn inboxes(acting: Acting<'_>, reader: &ReaderName) -> Result<Tips, OpError> {
    let inboxes = [Some(reader.clone()), None].map(|inbox| StoreRef::Inbox(acting.repo.clone(), inbox));
    inboxes.into_iter().map(|name| Ok((name.to_string(), acting.store.tip(&name)?))).collect()
}
