//! `export`: adds an export to this repository's binding.

use std::path::PathBuf;

use super::edit::{Editing, membership, own_path};
use crate::{
    error::{ErrorCode, OpError},
    model::{
        binding::{Export, Role},
        name::{ContractFields, ContractRef},
        publish, yaml_text,
    },
    ops::{
        Operation,
        contract::draft::Draft,
        ctx::{ActingRepo, Ctx},
        domain, runs,
    },
    wire::{Answer, BindingEdit},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::writes::<Request>("export", &["export"], "Export a contract: add it to this repository's binding");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The contract
    #[serde(flatten, with = "ContractFields")]
    #[cfg_attr(feature = "cli", arg(value_name = "DOMAIN/CONTRACT"))]
    pub contract: ContractRef,
    /// The files of this repository that implement it
    #[serde(rename = "source", default)]
    #[cfg_attr(feature = "cli", arg(id = "source", long = "source", value_name = "FILE", num_args = 1..))]
    pub sources: Vec<PathBuf>,
}

runs!(BindingEdit, run);

/// Adds the export.
///
/// # Errors
/// Returns an error if neither the realm nor the working tree has the contract, or the file cannot be edited.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<BindingEdit>, OpError> {
    let at = &request.contract;
    let acting = ctx.acting_repo()?;
    require_contract(ctx, acting, at)?;
    let sources = request.sources.iter().map(|file| own_path(ctx, file)).collect::<Result<Vec<_>, _>>()?;
    let mut editing = Editing::open(ctx, at, Role::Provider)?;
    if !editing.binding.role.provides() {
        editing.set_role(Role::Both);
    }
    match editing.binding.exports.iter().position(|export| export.contract == at.contract) {
        Some(index) => extend(&mut editing, index, sources),
        None => add(&mut editing, at, sources),
    }
    let mut answer = editing.finish(&format!("- {{ contract: {} }} below exports", at.contract))?;
    if let Some(join) = membership(acting, at)? {
        answer.next_steps.insert(0, join.into());
    }
    Ok(answer)
}

/// Refuses a contract that does not exist, and one of another repository.
fn require_contract(ctx: &Ctx, acting: ActingRepo<'_>, at: &ContractRef) -> Result<(), OpError> {
    match domain::contract(acting.store, at) {
        Ok(held) if held.owner != *acting.repo && !accepts(ctx, acting, at)? => {
            let message =
                format!("{at} belongs to {}; only {} can export it, not {}", held.owner, held.owner, acting.repo);
            Err(OpError::no(ErrorCode::NotOwner, message).next(format!("git blue import {at}  # import it")))
        }
        Ok(held) if held.retired.is_some() => Err(OpError::no(ErrorCode::Retired, format!("{at} is retired"))
            .next(format!("git blue contract get {at}  # show why"))),
        Ok(_) => Ok(()),
        Err(error) if error.code == ErrorCode::UnknownContract => match Draft::Worktree.contract(ctx, at) {
            Ok(_) => Ok(()),
            Err(draft) if draft.code == ErrorCode::NoSuchFile => Err(error_with_new(error, at)),
            Err(draft) => Err(draft),
        },
        Err(error) if error.code == ErrorCode::OnlyPreReleases => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns whether the files of the repository accept a contract that its owner offers to it.
fn accepts(ctx: &Ctx, acting: ActingRepo<'_>, at: &ContractRef) -> Result<bool, OpError> {
    let is_written = Draft::Worktree.contract(ctx, at).is_ok_and(|draft| draft.owner == *acting.repo);
    Ok(is_written && publish::may_publish(&domain::of_contract(acting.store, at)?, acting.repo, &at.contract).is_ok())
}

fn error_with_new(error: OpError, at: &ContractRef) -> OpError {
    if error.message.contains("did you mean") {
        error
    } else {
        OpError { next_steps: vec![format!("git blue contract new {at}").into()], ..error }
    }
}

fn add(editing: &mut Editing<'_>, at: &ContractRef, source_files: Vec<String>) {
    let mut fields = vec![("contract", yaml_text::plain(at.contract.as_str()))];
    if !source_files.is_empty() {
        fields.push(("source_files", yaml_text::plain_list(&source_files)));
    }
    editing.step(|text| yaml_text::push(text, "exports", &fields));
    editing.binding.exports.push(Export { contract: at.contract.clone(), source_files });
}

fn extend(editing: &mut Editing<'_>, index: usize, sources: Vec<String>) {
    let export = &mut editing.binding.exports[index];
    let before = export.source_files.len();
    for file in sources {
        if !export.source_files.contains(&file) {
            export.source_files.push(file);
        }
    }
    if export.source_files.len() > before {
        let field = ("source_files", yaml_text::plain_list(&export.source_files));
        editing.step(|text| yaml_text::set_in_item(text, "exports", index, &field));
    }
}
