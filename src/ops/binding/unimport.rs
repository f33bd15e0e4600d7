//! `unimport`: removes an import from this repository's binding.

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
    Operation::writes::<Request>("unimport", &["unimport"], "Remove an import from this repository's binding");

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

/// Removes the import, and the file if nothing else is in it.
///
/// # Errors
/// Returns an error if the binding does not import the contract, or the file cannot be edited.
pub fn run(ctx: &Ctx, at: &ContractRef) -> Result<Answer<BindingEdit>, OpError> {
    let mut editing = Editing::open(ctx, at, Role::Consumer)?;
    let imports = &editing.binding.imports;
    let Some(index) = imports.iter().position(|import| import.contract == at.contract) else {
        let meant = nearest::did_you_mean(&at.contract, imports.iter().map(|import| &import.contract));
        return Err(OpError::no(
            ErrorCode::NotImported,
            format!("{} does not import {at}{meant}", editing.acting().repo),
        ));
    };
    editing.binding.imports.remove(index);
    editing.step(|text| yaml_text::remove(text, "imports", index));
    if editing.binding.imports.is_empty() && !editing.binding.exports.is_empty() {
        editing.set_role(Role::Provider);
    }
    editing.finish(&format!("remove {} from imports", at.contract))
}
