//! `unimport`: removes an import from this repository's binding.

use crate::{
    model::{
        binding::Role,
        name::{ContractFields, ContractRef},
    },
    ops::{Operation, runs},
    wire::BindingEdit,
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::writes::<Request>("unimport", &["unimport"], "Remove an import from this repository's binding");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The contract
    #[serde(flatten, with = "ContractFields")]
    #[cfg_attr(feature = "cli", arg(value_name = "DOMAIN/CONTRACT"))]
    pub contract: ContractRef,
}

runs!(BindingEdit, |ctx, request| super::edit::remove(ctx, &request.contract, Role::Consumer));
