//! `notify_test`: sends a test event to a receiver.

use crate::{
    error::{ErrorCode, OpError},
    model::name::ReaderName,
    ops::{
        Operation,
        ctx::Ctx,
        delivery::{
            collect, deliver, receiver,
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
    let show = receiver::correction(ctx, name.as_str())?;
    let wrong = |problem: String| OpError::no(ErrorCode::NotDelivered, format!("{name}: {problem}")).next(show.clone());
    let receiver = receiver.map_err(&wrong)?;
    let event = collect::test(ctx, &here.realm, &receiver);
    deliver::deliver(ctx, &receiver, &event).map_err(wrong)?;
    run::run(ctx, &RunOptions { only: vec![name.clone()], ..RunOptions::default() })?;
    Ok(Answer::new(NotifyTest { name: name.clone(), id: event.id }))
}
