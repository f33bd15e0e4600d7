//! `notifications_ack`: marks notifications as seen, so that they are not shown again.

use std::collections::BTreeSet;

use crate::ops::{
    Operation,
    ctx::Ctx,
    inboxes::{
        inbox::{self, Inbox},
        pending::{self, Pending},
    },
    runs,
};
use crate::{
    error::{ErrorCode, OpError},
    model::name::ReaderName,
    store::overview::Overview,
    wire::{Answer, NotificationsAck},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::writes::<Request>("notifications_ack", &["notifications", "ack"], "Mark notifications as seen")
        .route("POST", "/notifications/{id}/ack");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The reader that has seen them.
    #[serde(skip, default = "pending::cli_reader")]
    #[cfg_attr(feature = "cli", arg(skip = pending::cli_reader()))]
    pub reader: ReaderName,
    /// The ids of the notifications, from `git blue notifications list`
    ///
    /// If none is given, --all is required.
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(value_name = "ID", required_unless_present = "all"))]
    pub ids: Vec<String>,
}

runs!(NotificationsAck, run);

impl Request {
    /// Returns the request of the person at the command line.
    pub fn by_person(ids: Vec<String>) -> Self {
        Self { reader: pending::cli_reader(), ids }
    }
}

/// Marks the notifications as seen. Marking one again changes nothing.
///
/// # Errors
/// Returns an error if the reader has no notification with any of the ids, or the store cannot be written.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<NotificationsAck>, OpError> {
    let acting = ctx.require_reader()?;
    let overview = Overview::open(acting.store)?;
    // The notifications are recorded with their effect, which is therefore judged here.
    let judge = ctx.quick_judge();
    let mut pending = Pending::of(ctx, acting, &request.reader, &overview, &judge)?;
    pending.judge_expired(acting, &overview, &judge)?;
    let wanted: BTreeSet<_> = request.ids.iter().collect();
    let is_meant = |id: &String| wanted.is_empty() || wanted.contains(id);
    let mut acknowledged: Vec<_> =
        pending.notifications().map(|one| one.id.clone()).filter(|id| is_meant(id)).collect();
    let receipt = pending.receipt(|one| is_meant(&one.id));
    let known: BTreeSet<_> = acknowledged.iter().collect();
    let others: Vec<_> = request.ids.iter().filter(|id| !known.contains(id)).cloned().collect();
    let told = if others.is_empty() {
        Vec::new()
    } else {
        Inbox::open(acting.store, acting.repo, &request.reader)?.delivered(acting.store)?
    };
    let (seen, unknown): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|id| told.iter().any(|told| told.notification.id == *id));
    let already_seen = seen.len();
    acknowledged.extend(seen);
    if acknowledged.is_empty() && !unknown.is_empty() {
        let message = format!("no such notification: {}", unknown.join(", "));
        return Err(OpError::no(ErrorCode::UnknownNotification, message)
            .next("git blue notifications list --state all  # list them, with those that were seen"));
    }
    inbox::record(acting.store, acting.repo, &request.reader, &receipt, || ctx.env.now_here())?;
    Ok(Answer::new(NotificationsAck {
        realm: acting.realm.clone(),
        current_repo: acting.repo.clone(),
        acknowledged,
        already_seen,
        unknown,
    }))
}
