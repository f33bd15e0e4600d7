//! `unexport`: take an export out of this repository's binding.

use super::edit::Editing;
use crate::{
    error::{ErrorCode, OpError},
    model::{binding::Role, name::ContractRef, nearest, yaml_text},
    ops::{Operation, ctx::Ctx},
    wire::{Answer, BindingEdit},
};

/// Its entry in the table.
pub const OPERATION: Operation =
    Operation::write::<BindingEdit>("unexport", &["unexport"], "Provide a contract no more: edit the binding");

/// Takes the export out; the file too, where it says nothing else.
///
/// # Errors
/// Where the binding does not export the contract, or the file cannot be edited.
pub fn run(ctx: &Ctx, at: &ContractRef) -> Result<Answer<BindingEdit>, OpError> {
    let mut editing = Editing::open(ctx, at, Role::Provider)?;
    let exports = &editing.binding.exports;
    let Some(index) = exports.iter().position(|export| export.contract == at.contract) else {
        let meant = nearest::question(&at.contract, exports.iter().map(|export| &export.contract));
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
    editing.finish(&format!("take {} out of exports", at.contract))
}
