//! `realm_conflict_accept`: accepts a change that was set aside.

use super::settle::settle;
use crate::{
    model::{merge::ConflictId, set_aside::Decision},
    ops::{Operation, runs},
    wire::ConflictSettled,
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "realm_conflict_accept",
    &["realm", "conflict", "accept"],
    "Accept a change that a sync set aside",
)
.examples(&[("git blue realm conflict accept 3f9c0a1b2c3d", "Accept the change into the realm")]);

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The id of the conflict, from `git blue status`
    #[cfg_attr(feature = "cli", arg(value_name = "ID"))]
    pub id: ConflictId,
}

runs!(ConflictSettled, |ctx, request| settle(ctx, &request.id, Decision::Accepted));
