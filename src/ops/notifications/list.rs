//! `notifications_list`: lists notifications in every state. Listing marks nothing as seen.

use crate::ops::{
    Operation,
    ctx::{ActingRepo, Ctx},
    history::filter::Filter,
    inboxes::{
        arrival,
        inbox::{self, DeliveredNotification, Inbox},
        pending::{self, Pending, is_key, key},
    },
    notifications::relevance::Relevance,
    realm::status,
    repos::unknown,
    runs,
};
use crate::{
    error::{OpError, REPAIR},
    model::name::ReaderName,
    store::overview::Overview,
    wire::{
        Answer, Notification, NotificationFilter, NotificationSummary, NotificationsList, PageRequest, State, page,
    },
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::reads::<Request>("notifications_list", &["notifications", "list"], "List changes by other repositories")
        .tool("List changes by other repositories. Other answers include new ones.")
        .route("GET", "/notifications");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The reader that asks.
    #[serde(skip, default = "pending::cli_reader")]
    #[cfg_attr(feature = "cli", arg(skip = pending::cli_reader()))]
    pub reader: ReaderName,
    /// Show only notifications in this state
    #[serde(rename = "state", default)]
    #[cfg_attr(feature = "cli", arg(id = "state", long = "state", value_name = "STATE", value_enum, default_value_t))]
    pub filter: NotificationFilter,
    /// The changes to show
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub made: Filter,
    /// What the changes are about
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub relevance: Relevance,
    /// The cursor is the sort key of a notification.
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
            relevance: Relevance::default(),
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
    let overview = Overview::open(acting.store)?;
    unknown::refuse_variable(ctx, overview.repos().keys())?;
    let unreadable_domains = status::unreadable_domains(&overview);
    let unreadable = status::unreadable_bindings_of(&overview, acting.repo)?;
    let pending = pending(ctx, acting, &overview, &request.reader)?;
    let forgotten_pending = pending.forgotten;
    let is_to_review = pending.notifications().any(Notification::is_to_review);
    let mut all: Vec<_> = pending.into_notifications().collect();
    let told = inbox.delivered(acting.store)?;
    let (forgotten, kept): (Vec<_>, Vec<_>) = told.into_iter().partition(|told| inbox::is_forgotten(told.at, now));
    all.extend(kept.into_iter().map(|told| seen(told, now)));
    all.sort_by_cached_key(key);
    let count = |state| all.iter().filter(|one| one.state == state).count();
    let summary = NotificationSummary {
        total: all.len(),
        pending: count(State::Pending),
        seen: count(State::Seen),
        expired: count(State::Expired),
        expired_cleaned: forgotten.len() + forgotten_pending,
        dropped: inbox.dropped(acting.store, now)?,
    };
    let made = request.made.resolve(ctx)?;
    let is_made = |one: &Notification| made.accepts(one) && request.relevance.accepts(one);
    let is_wanted = |one: &Notification| request.filter.accepts(one.state) && is_made(one);
    let wanted: Vec<_> = all.into_iter().filter(is_wanted).collect();
    let total = wanted.len();
    let (notifications, next_cursor) = page(wanted, &request.page, key)?;
    let body = NotificationsList {
        realm: acting.realm.clone(),
        current_repo: acting.repo.clone(),
        filter: request.filter,
        notifications,
        summary,
        total,
        next_cursor,
        unreadable_domains,
        unreadable,
    };
    let is_damaged = !body.unreadable_domains.is_empty() || !body.unreadable.is_empty();
    let repair = is_damaged.then_some(REPAIR);
    let review = is_to_review.then_some(status::next_steps::REVIEW);
    Ok(Answer::new(body).next_all(repair.into_iter().chain(review)))
}

/// Returns what this reader has not seen, whether or not it expired. This marks nothing as seen; it only records when each arrived.
fn pending(
    ctx: &Ctx,
    acting: ActingRepo<'_>,
    overview: &Overview<'_>,
    reader: &ReaderName,
) -> Result<Pending, OpError> {
    let judge = ctx.quick_judge();
    let mut pending = Pending::of(ctx, acting, reader, overview, &judge)?;
    pending.judge_expired(acting, overview, &judge)?;
    arrival::record(acting.store, &pending.sightings, || ctx.env.now_here());
    Ok(pending)
}

fn seen(told: DeliveredNotification, now: jiff::Timestamp) -> Notification {
    let expired = inbox::is_expired(told.notification.arrived_at, now);
    Notification { state: if expired { State::Expired } else { State::Seen }, ..told.notification }
}
