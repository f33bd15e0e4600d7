//! `notifications_list`: what changed, in every state. Listing tells nobody.

use super::{
    Operation,
    ctx::Ctx,
    inbox::{self, Inbox, Told},
    pending::{self, Pending},
};
use crate::{
    error::OpError,
    model::name::ReaderName,
    store::overview::Overview,
    wire::{
        Answer, Notification, NotificationFilter, NotificationSummary, NotificationsList, PageRequest, State, page,
    },
};

/// Its entry in the table.
pub const OPERATION: Operation = Operation::read::<NotificationsList>(
    "notifications_list",
    &["notifications", "list"],
    "List what other repositories changed",
);

/// What is asked.
#[derive(Debug, Clone)]
pub struct Request {
    /// Who asks.
    pub reader: ReaderName,
    /// Which states.
    pub filter: NotificationFilter,
    /// Which page; the cursor is a notification's moment and id.
    pub page: PageRequest,
}

impl Default for Request {
    fn default() -> Self {
        Self { reader: pending::person(), filter: NotificationFilter::All, page: PageRequest::default() }
    }
}

/// Answers.
///
/// # Errors
/// Where the realm cannot be read.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<NotificationsList>, OpError> {
    let acting = ctx.acting()?;
    let now = ctx.env.now();
    let inbox = Inbox::open(acting.store, acting.repo, &request.reader)?;
    let mut all = Pending::of(acting, &request.reader, now, &Overview::open(acting.store)?)?.notifications;
    all.extend(inbox.told.into_iter().map(|told| seen(told, now)));
    all.sort_by_cached_key(key);
    let count = |state| all.iter().filter(|one| one.state == state).count();
    let summary = NotificationSummary {
        total: all.len(),
        pending: count(State::Pending),
        seen: count(State::Seen),
        expired: count(State::Expired),
        expired_cleaned: 0,
    };
    let wanted: Vec<_> = all.into_iter().filter(|one| request.filter.accepts(one.state)).collect();
    let total = wanted.len();
    let (notifications, next_cursor) = page(wanted, &request.page, key);
    let pending = summary.pending;
    let body = NotificationsList {
        realm: acting.realm.clone(),
        current_repo: acting.repo.clone(),
        filter: request.filter,
        notifications,
        summary,
        total,
        next_cursor,
    };
    Ok(match pending {
        0 => Answer::new(body),
        1 => Answer::new(body).next("1 pending notification to review"),
        more => Answer::new(body).next(format!("{more} pending notifications to review")),
    })
}

/// Oldest first; of one moment, contracts before bindings.
fn key(one: &Notification) -> String {
    let contract = one.contract.as_ref().map_or("~", |contract| contract.as_str());
    format!("{} {}/{contract} {}", one.created_at, one.domain, one.id)
}

fn seen(told: Told, now: jiff::Timestamp) -> Notification {
    let expired = inbox::is_expired(told.notification.created_at, now);
    Notification { state: if expired { State::Expired } else { State::Seen }, ..told.notification }
}
