//! `notify_test`: sends a test event to a receiver.

use crate::{
    error::{ErrorCode, OpError},
    model::{name::ReaderName, text::shell_path},
    ops::{
        Operation,
        ctx::Ctx,
        delivery::{
            collect, deliver,
            run::{self, RunOptions},
        },
        runs,
    },
    wire::{Answer, NotifyTest},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::writes::<Request>("notify_test", &["notify", "test"], "Send a test event to a receiver");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The receiver, as in `blue.notify.<name>.url`
    #[cfg_attr(feature = "cli", arg(value_name = "NAME"))]
    pub name: ReaderName,
}

runs!(NotifyTest, run);

/// Sends one event without changes. From then on, a new receiver gets changes.
///
/// # Errors
/// Returns an error if the receiver is unknown or misconfigured, or the reason why the event was not delivered.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<NotifyTest>, OpError> {
    let here = ctx.realm()?;
    let name = &request.name;
    let found = run::chosen(ctx, &here.realm, std::slice::from_ref(name))?.into_iter().next();
    let Some((_, receiver)) = found else { unreachable!("an unknown name is an error") };
    let is_at_home = ctx.home.subsections("notify.")?.iter().any(|(known, _)| *known == name.to_string());
    let place =
        if is_at_home { format!("--file {}", shell_path(&ctx.home.config_path())) } else { "--global".to_owned() };
    let wrong = |problem: String| {
        let show = format!("git config {place} --get-regexp '^blue.notify.{name}.'  # show how it is configured");
        OpError::no(ErrorCode::NotDelivered, format!("{name}: {problem}")).next(show)
    };
    let receiver = receiver.map_err(wrong)?;
    let event = collect::test(ctx, &here.realm, &receiver);
    deliver::deliver(ctx, &receiver, &event).map_err(wrong)?;
    run::run(ctx, &RunOptions { only: vec![name.clone()], ..RunOptions::default() })?;
    Ok(Answer::new(NotifyTest { name: name.clone(), id: event.id }))
}
