//! Telling a reader what is pending beside an answer to something else.

use super::pending::{MAX_TOLD, Pending, Telling};
use crate::ops::ctx::Acting;
use crate::{
    error::OpError,
    model::{name::ReaderName, oid::Oid, verdict::Judge},
    store::{StoreRef, overview::Overview},
    wire::Notification,
};

/// Returns what is to be told now, of what `fits` accepts, what matters most first.
///
/// # Errors
/// Where the realm cannot be read.
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

/// What decides whether anything is pending for a reader: equal means that nothing has changed.
pub type Tips = Vec<(String, Option<Oid>)>;

/// Returns where the realm and a reader's inboxes stand.
///
/// # Errors
/// Where the refs cannot be read.
pub fn tips(acting: Acting<'_>, reader: &ReaderName) -> Result<Tips, OpError> {
    let mut tips: Tips =
        acting.store.domains()?.into_iter().map(|(name, tip)| (name.as_str().to_owned(), Some(tip))).collect();
    tips.extend(inboxes(acting, reader)?);
    Ok(tips)
}

/// Returns where a reader's inboxes stand: its own and the shared one, which are the last of [`tips`].
///
/// # Errors
/// Where the refs cannot be read.
pub fn inboxes(acting: Acting<'_>, reader: &ReaderName) -> Result<Tips, OpError> {
    let inboxes = [Some(reader.clone()), None].map(|inbox| StoreRef::Inbox(acting.repo.clone(), inbox));
    inboxes.into_iter().map(|name| Ok((name.to_string(), acting.store.tip(&name)?))).collect()
}
