//! `notify_send`: sends new changes to the receivers.

use std::time::Duration;

use super::list::with_next_steps;
use crate::{
    error::OpError,
    model::name::ReaderName,
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
    Operation::writes::<Request>("notify_send", &["notify", "send"], "Send new changes to the configured receivers");

/// The arguments.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// Send only to these receivers
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(value_name = "NAME"))]
    pub names: Vec<ReaderName>,
    /// Skip failed events until their next attempt is due
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub due: bool,
    /// Retry failed events for this long
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SECONDS", default_value_t = 0))]
    pub wait: u32,
}

runs!(Receivers, run);

/// Sends what is due.
///
/// # Errors
/// Returns an error if the realm or the configuration cannot be read, or the outcome cannot be recorded.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<Receivers>, OpError> {
    let pass = RunOptions {
        only: request.names.clone(),
        at_once: !request.due,
        wait: Duration::from_secs(request.wait.into()),
        requeue: None,
    };
    with_next_steps(ctx, run::run(ctx, &pass)?, false)
}
