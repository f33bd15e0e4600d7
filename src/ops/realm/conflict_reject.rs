//! `realm_conflict_reject`: rejects a change that was set aside.

use super::settle::settle;
use crate::ops::{Operation, ctx::Ctx, runs};
use crate::{
    error::OpError,
    model::{merge::ConflictId, set_aside::Verdict},
    wire::{Answer, ConflictSettled},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "realm_conflict_reject",
    &["realm", "conflict", "reject"],
    "Reject a change that a sync set aside",
);

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The id of the conflict, from `git blue status`
    #[cfg_attr(feature = "cli", arg(value_name = "ID"))]
    pub id: ConflictId,
}

runs!(ConflictSettled, |ctx, request| run(ctx, &request.id));

/// Settles the conflict `id`.
///
/// # Errors
/// Returns the errors of [`settle`].
pub fn run(ctx: &Ctx, id: &ConflictId) -> Result<Answer<ConflictSettled>, OpError> {
    settle(ctx, id, Verdict::Rejected)
}
