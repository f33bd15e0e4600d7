//! `notify_retry`: sends abandoned events again.

use super::list::with_next_steps;
use crate::{
    error::OpError,
    ops::{
        Operation,
        ctx::Ctx,
        delivery::run::{self, RunOptions},
        runs,
    },
    wire::{Answer, Receivers},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::writes::<Request>("notify_retry", &["notify", "retry"], "Resend events whose delivery failed");

/// The arguments.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The ids of the events, from `git blue notify list`
    ///
    /// If none is given, --all is required.
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(value_name = "EVENT", required_unless_present = "all"))]
    pub ids: Vec<String>,
}

runs!(Receivers, run);

/// Sends the events.
///
/// # Errors
/// Returns an error if an id is unknown, the realm or the configuration cannot be read, or the outcome cannot be
/// recorded.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<Receivers>, OpError> {
    let pass = RunOptions { at_once: true, requeue: Some(request.ids.clone()), ..RunOptions::default() };
    with_next_steps(ctx, run::run(ctx, &pass)?, false)
}
