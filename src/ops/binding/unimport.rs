//! `unimport`: take an import out of this repository's binding.

use super::edit::Editing;
use crate::{
    error::{ErrorCode, OpError},
    model::{binding::Role, name::ContractRef, nearest, yaml_text},
    ops::{Operation, ctx::Ctx},
    wire::{Answer, BindingEdit},
};

/// Its entry in the table.
pub const OPERATION: Operation =
    Operation::write::<BindingEdit>("unimport", &["unimport"], "Rely on a contract no more: edit the binding");

/// Takes the import out; the file too, where it says nothing else.
///
/// # Errors
/// Where the binding does not import the contract, or the file cannot be edited.
pub fn run(ctx: &Ctx, at: &ContractRef) -> Result<Answer<BindingEdit>, OpError> {
    let mut editing = Editing::open(ctx, at, Role::Consumer)?;
    let imports = &editing.binding.imports;
    let Some(index) = imports.iter().position(|import| import.contract == at.contract) else {
        let meant = nearest::question(&at.contract, imports.iter().map(|import| &import.contract));
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
    editing.finish(&format!("take {} out of imports", at.contract))
}
