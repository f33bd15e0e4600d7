//! `notifications_list`: lists notifications in every state. Listing marks nothing as seen.

use crate::ops::{
    Operation,
    ctx::{ActingRepo, Ctx},
    history::filter::Filter,
    inboxes::{
        arrival, import_effects,
        inbox::{self, DeliveredNotification, Inbox},
        pending::{self, Pending, is_key, key},
        pending_cache,
    },
    runs,
};
use crate::{
    error::OpError,
    model::name::ReaderName,
    store::overview::Overview,
    wire::{
        Answer, DEFAULT_LIMIT, Notification, NotificationFilter, NotificationSummary, NotificationsList, PageRequest,
        State, page,
    },
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::reads::<Request>("notifications_list", &["notifications", "list"], "List changes by other repositories")
        .tool("List changes by other repositories, seen or not. Other answers include new ones too.")
        .route("GET", "/notifications");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The reader that asks.
    #[serde(skip, default = "pending::cli_reader")]
    #[cfg_attr(feature = "cli", arg(skip = pending::cli_reader()))]
    pub reader: ReaderName,
    /// Only notifications in this state
    #[serde(rename = "state", default)]
    #[cfg_attr(feature = "cli", arg(id = "state", long = "state", value_name = "STATE", value_enum, default_value_t))]
    pub filter: NotificationFilter,
    /// The changes to show
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub made: Filter,
    /// The cursor is a notification's moment and id.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub page: PageRequest,
}

runs!(NotificationsList, run);

impl Default for Request {
    fn default() -> Self {
        Self {
            reader: pending::cli_reader(),
            filter: NotificationFilter::All,
            made: Filter::default(),
            page: PageRequest::default(),
        }
    }
}

/// Lists the notifications.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<NotificationsList>, OpError> {
    if let Some(cursor) = request.page.cursor.as_deref().filter(|cursor| !is_key(cursor)) {
        return Err(OpError::stale_cursor(cursor));
    }
    let acting = ctx.acting_repo()?;
    let now = ctx.env.now();
    let inbox = Inbox::open(acting.store, acting.repo, &request.reader)?;
    let (mut all, not_read) = pending(ctx, acting, request)?;
    let told = inbox.delivered(acting.store)?;
    let (forgotten, kept): (Vec<_>, Vec<_>) = told.into_iter().partition(|told| inbox::is_forgotten(told.at, now));
    all.extend(kept.into_iter().map(|told| seen(told, now)));
    all.sort_by_cached_key(key);
    let count = |state| all.iter().filter(|one| one.state == state).count();
    let summary = NotificationSummary {
        total: all.len() + not_read,
        pending: count(State::Pending) + not_read,
        seen: count(State::Seen),
        expired: count(State::Expired),
        expired_cleaned: forgotten.len(),
    };
    let made = request.made.resolve(ctx)?;
    let is_made = |one: &Notification| {
        made.accepts(one.created_at, &one.from_repo, one.change_type, one.source_commit.as_deref())
    };
    let is_wanted = |one: &Notification| request.filter.accepts(one.state) && is_made(one);
    let wanted: Vec<_> = all.into_iter().filter(is_wanted).collect();
    let total = wanted.len() + if request.filter.accepts(State::Pending) { not_read } else { 0 };
    let (notifications, next_cursor) = page(wanted, &request.page, key)?;
    let has_news = summary.pending > 0;
    let body = NotificationsList {
        realm: acting.realm.clone(),
        current_repo: acting.repo.clone(),
        filter: request.filter,
        notifications,
        summary,
        total,
        next_cursor,
    };
    let answer = Answer::new(body);
    Ok(if has_news { answer.next(crate::ops::realm::status::REVIEW) } else { answer })
}

/// Returns the pending notifications of a first page, and how many more there are.
fn pending(ctx: &Ctx, acting: ActingRepo<'_>, request: &Request) -> Result<(Vec<Notification>, usize), OpError> {
    let (reader, now) = (&request.reader, ctx.env.now());
    let (overview, judge) = (Overview::open(acting.store)?, ctx.quick_judge());
    if request.page.cursor.is_none() && request.made.is_open() {
        let limit = request.page.limit.unwrap_or(DEFAULT_LIMIT);
        if let Some(mut first) = pending_cache::first(acting, reader, limit, now) {
            let more = first.total - first.notifications.len();
            import_effects::judge(acting, &overview, &judge, first.notifications.iter_mut())?;
            return Ok((first.notifications, more));
        }
    }
    let mut pending = Pending::of(acting, reader, now, &overview)?;
    pending.judge(acting, &overview, &judge)?;
    // This marks nothing as seen; it only records the arrival, from which the notification's age counts.
    arrival::record(acting.store, &pending.sightings, || ctx.env.now_here());
    pending_cache::keep(acting, reader, &pending);
    Ok((pending.notifications, 0))
}

fn seen(told: DeliveredNotification, now: jiff::Timestamp) -> Notification {
    let expired = inbox::is_expired(told.notification.arrived_at, now);
    Notification { state: if expired { State::Expired } else { State::Seen }, ..told.notification }
}
