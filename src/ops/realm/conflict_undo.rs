//! `realm_conflict_undo`: keep a change out that was set aside.

use super::settle::settle;
use crate::ops::{Operation, ctx::Ctx};
use crate::{
    error::OpError,
    model::{merge::LossId, set_aside::Verdict},
    wire::{Answer, ConflictSettled},
};

/// Its entry in the table.
pub const OPERATION: Operation = Operation::write::<ConflictSettled>(
    "realm_conflict_undo",
    &["realm", "conflict", "undo"],
    "Reject a change that a sync set aside",
);

/// Settles the conflict `id`.
///
/// # Errors
/// As [`settle`].
pub fn run(ctx: &Ctx, id: &LossId) -> Result<Answer<ConflictSettled>, OpError> {
    settle(ctx, id, Verdict::Undone)
}
