//! `notify_list`: lists the receivers and their waiting events.

use crate::{
    error::{NextStep, OpError},
    ops::{
        Operation,
        ctx::Ctx,
        delivery::{self, receiver},
        runs,
    },
    wire::{Answer, Receivers},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::reads::<Request>("notify_list", &["notify", "list"], "List the receivers and their undelivered events");

/// The arguments.
#[derive(Debug, Clone, Copy, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {}

runs!(Receivers, |ctx, _| run(ctx));

/// Lists the receivers. Nothing is sent.
///
/// # Errors
/// Returns an error if the realm or the configuration cannot be read.
pub fn run(ctx: &Ctx) -> Result<Answer<Receivers>, OpError> {
    with_next_steps(ctx, delivery::run::list(ctx)?, true)
}

/// Adds next steps for events that were not delivered, and for names in filters that do not exist. Only a list suggests
/// sending events: after an attempt, they wait for the next one.
///
/// # Errors
/// Returns an error if the realm or the configuration cannot be read.
pub(super) fn with_next_steps(ctx: &Ctx, body: Receivers, is_list: bool) -> Result<Answer<Receivers>, OpError> {
    let unknown: Vec<_> = receiver::unknown_names(ctx)?.into_iter().map(|(_, why)| NextStep::advice(why)).collect();
    let invalid = body.receivers.iter().filter(|one| one.problem.is_some());
    let corrections = invalid.map(|one| receiver::correction(ctx, &one.name)).collect::<Result<Vec<_>, _>>()?;
    let waits = body.receivers.iter().any(|one| !one.waiting.is_empty());
    let has_failed = body.receivers.iter().any(|one| !one.failed.is_empty());
    let is_empty = body.receivers.is_empty() && unknown.is_empty();
    let of_waiting = if is_list {
        "git blue notify send  # send pending events now"
    } else {
        "git blue notify list  # show why they wait, and until when"
    };
    Ok(Answer::new(body)
        .next_all(unknown)
        .next_all(corrections)
        .next_if(is_empty, "git config --global blue.notify.NAME.url https://URL  # configure the first receiver")
        .next_if(waits, of_waiting)
        .next_if(has_failed, "git blue notify retry --all  # resend failed events"))
}
