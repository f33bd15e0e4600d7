//! Selects the notifications that are delivered along with another answer.

use super::pending::{MAX_DELIVERED, NotificationBatch, Pending};
use crate::ops::ctx::{ActingRepo, Ctx};
use crate::{
    error::OpError,
    model::{
        name::{DomainName, ReaderName},
        oid::Oid,
        verdict::Judge,
    },
    store::{StoreRef, overview::Overview},
    wire::Notification,
};

/// Returns the notifications to deliver now, most important first.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn due(ctx: &Ctx, acting: ActingRepo<'_>, reader: &ReaderName) -> Result<NotificationBatch, OpError> {
    due_in((ctx, &ctx.quick_judge()), acting, reader, &Overview::open(acting.store)?, |_| true)
}

/// Returns the notifications to deliver now, of those that `fits` accepts, and the tips that decided them. Returns
/// `None` if `is_quiet` says that nothing was pending at these tips.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn due_since(
    ctx: &Ctx,
    acting: ActingRepo<'_>,
    reader: &ReaderName,
    is_quiet: impl FnOnce(&Tips) -> bool,
    fits: impl FnMut(&Notification) -> bool,
) -> Result<Option<(NotificationBatch, Tips)>, OpError> {
    let overview = Overview::open(acting.store)?;
    let domains = match overview.stamp() {
        Some(stamp) => Domains::AtRest(stamp.to_owned()),
        None => Domains::At(overview.domains_of(acting.repo).map(|line| (line.name.clone(), line.tip)).collect()),
    };
    let tips = Tips { domains, inboxes: inboxes(acting, reader)? };
    if is_quiet(&tips) {
        return Ok(None);
    }
    Ok(Some((due_in((ctx, &ctx.quick_judge()), acting, reader, &overview, fits)?, tips)))
}

/// Returns the notifications to deliver now, of those that `fits` accepts, most important first.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn due_in(
    (ctx, judge): (&Ctx, &Judge<'_>),
    acting: ActingRepo<'_>,
    reader: &ReaderName,
    overview: &Overview<'_>,
    fits: impl FnMut(&Notification) -> bool,
) -> Result<NotificationBatch, OpError> {
    Ok(Pending::of(ctx, acting, reader, overview, judge)?.first(MAX_DELIVERED, fits))
}

/// The refs that decide what is pending for a reader. Equal values mean that nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tips {
    domains: Domains,
    inboxes: Inboxes,
}

/// The state of a repository's domains.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Domains {
    /// The refs did not change recently, and have this stamp.
    AtRest(String),
    /// The refs changed very recently: the tip of each domain.
    At(Vec<(DomainName, Oid)>),
}

/// The tips of a reader's own inbox and of the shared one.
type Inboxes = [Option<Oid>; 2];

impl Tips {
    /// Returns these tips with the current tips of the inboxes.
    ///
    /// # Errors
    /// Returns an error if the refs cannot be read.
    pub fn after_delivery(self, acting: ActingRepo<'_>, reader: &ReaderName) -> Result<Self, OpError> {
        Ok(Self { inboxes: inboxes(acting, reader)?, ..self })
    }
}

fn inboxes(acting: ActingRepo<'_>, reader: &ReaderName) -> Result<Inboxes, OpError> {
    let tip = |reader| acting.store.tip(&StoreRef::Inbox(acting.repo.clone(), reader));
    Ok([tip(Some(reader.clone()))?, tip(None)?])
}
