//! Telling a reader what is pending beside an answer to something else.

use super::{
    inbox::Receipt,
    pending::{MAX_TOLD, Pending},
};
use crate::ops::ctx::Acting;
use crate::{
    error::OpError,
    model::{name::ReaderName, oid::Oid},
    store::{StoreRef, overview::Overview},
    wire::{Notification, State},
};

/// What one answer tells.
#[derive(Debug)]
pub struct Telling {
    /// Oldest first.
    pub notifications: Vec<Notification>,
    /// How many more are pending.
    pub more: usize,
    /// What is to be recorded once the answer has reached its reader.
    pub receipt: Receipt,
}

/// Returns what is to be told now, of what `fits` accepts, oldest first.
///
/// # Errors
/// Where the realm cannot be read.
pub fn due(
    acting: Acting<'_>,
    reader: &ReaderName,
    now: jiff::Timestamp,
    fits: impl FnMut(&Notification) -> bool,
) -> Result<Telling, OpError> {
    let pending = Pending::of(acting, reader, now, &Overview::open(acting.store)?)?;
    let due = || pending.notifications.iter().filter(|one| one.state == State::Pending);
    let mut fits = fits;
    let notifications: Vec<_> = due().take(MAX_TOLD).take_while(|one| fits(one)).cloned().collect();
    let more = due().count() - notifications.len();
    let receipt = pending.receipt(|_, one| notifications.iter().any(|told| told.id == one.id));
    Ok(Telling { notifications, more, receipt })
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
