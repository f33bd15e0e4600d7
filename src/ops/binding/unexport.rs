//! `unexport`: removes an export from this repository's binding.

use super::edit::Editing;
use crate::{
    error::{ErrorCode, OpError},
    model::{
        binding::Role,
        name::{ContractFields, ContractRef, contract_from_fields},
        nearest, yaml_text,
    },
    ops::{Operation, ctx::Ctx, runs},
    wire::{Answer, BindingEdit},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::writes::<Request>("unexport", &["unexport"], "Remove an export from this repository's binding");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The contract
    #[serde(flatten, deserialize_with = "contract_from_fields")]
    #[schemars(with = "ContractFields")]
    #[cfg_attr(feature = "cli", arg(value_name = "DOMAIN/CONTRACT"))]
    pub contract: ContractRef,
}

runs!(BindingEdit, |ctx, request| run(ctx, &request.contract));

/// Removes the export, and the file if nothing else is in it.
///
/// # Errors
/// Returns an error if the binding does not export the contract, or the file cannot be edited.
pub fn run(ctx: &Ctx, at: &ContractRef) -> Result<Answer<BindingEdit>, OpError> {
    let mut editing = Editing::open(ctx, at, Role::Provider)?;
    let exports = &editing.binding.exports;
    let Some(index) = exports.iter().position(|export| export.contract == at.contract) else {
        let meant = nearest::did_you_mean(&at.contract, exports.iter().map(|export| &export.contract));
        return Err(OpError::no(
            ErrorCode::NotExported,
            format!("{} does not export {at}{meant}", editing.acting().repo),
        ));
    };
    editing.binding.exports.remove(index);
    editing.step(|text| yaml_text::remove(text, "exports", index));
    if editing.binding.exports.is_empty() && !editing.binding.imports.is_empty() {
        editing.set_role(Role::Consumer);
    }
    editing.finish(&format!("remove {} from exports", at.contract))
}
