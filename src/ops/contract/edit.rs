//! `contract_edit`: the owner writes a contract directly into the realm. The rules of publishing apply.

use super::verdict::Upcoming;
use crate::{
    error::{ErrorCode, OpError},
    model::{
        candidate::{self, contract_path},
        contract::Contract,
        name::ContractRef,
        publish::{Direction, contract as decide, may_publish, overlay},
    },
    ops::{
        Operation,
        ctx::Ctx,
        domain::{self, Part},
        message::Message,
        publish::{published, references},
        sync::auto,
    },
    repo::blue_files::Files,
    store::codec::{self, Problem},
    wire::{Answer, ContractPublish},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::write::<ContractPublish>(
    "contract_edit",
    &["contract", "edit"],
    "Change a contract directly in the realm",
);

/// The arguments.
#[derive(Debug, Clone)]
pub struct Request {
    /// The contract.
    pub contract: ContractRef,
    /// The document, as YAML.
    pub document: Vec<u8>,
    /// The name of the document's source, for messages.
    pub file: String,
}

/// Returns the current document as YAML, for editing.
///
/// # Errors
/// Returns an error if there is no such contract, or this repository may not change it.
pub fn template(ctx: &Ctx, contract: &ContractRef) -> Result<String, OpError> {
    let acting = ctx.require_writable()?;
    let view = domain::get(acting.store, &contract.domain)?;
    let current = domain::current(&view, &contract.contract)?;
    may_publish(&view, acting.repo, &contract.contract)?;
    Ok(codec::render(&codec::Typed::from(current)))
}

/// Publishes the document.
///
/// # Errors
/// Returns an error if the document cannot be parsed, or a rule refuses it.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractPublish>, OpError> {
    let acting = ctx.require_writable()?;
    let ContractRef { domain: name, contract } = &request.contract;
    let document = document(ctx, request)?;
    let wanted = [(contract.clone(), document.version.clone())];
    let why = Message { repo: Some(acting.repo), ..Message::default() };
    let (mut published, judge) = (Vec::new(), ctx.judge());
    let bases = [contract.clone()].into();
    let upcoming = Upcoming { contracts: [(contract, &document)].into(), ..Upcoming::default() };
    let part = Part { published: &wanted, bases: Some(&bases), upcoming, ..Part::default() };
    domain::change(ctx, acting.store, name, part, why, |view| {
        domain::current(view, contract)?;
        let decision = decide(view, acting.repo, &document, Direction::Forward, &judge)?;
        let after = overlay(view, &decision.changes);
        published = decision.events.iter().map(|event| published::describe((view, &after), event, &judge)).collect();
        Ok(decision)
    })?;
    let not_pushed = !published.is_empty() && auto::is_by_hand(ctx, acting.realm, acting.store)?;
    let answer = Answer::new(ContractPublish {
        not_pushed,
        realm: acting.realm.clone(),
        current_repo: acting.repo.clone(),
        commit: None,
        dry_run: false,
        published,
        removed_files: Vec::new(),
        cycles: Vec::new(),
    });
    // Only the realm has this version; the repository's file still has the old one.
    let (up, path) = (ctx.up_to_root(), contract_path(name, contract));
    let is_outdated = !answer.body.published.is_empty() && request.file != path;
    let update = candidate::update_file(name, contract, &up);
    Ok(answer.next_if(is_outdated, format!("{update}  # then commit: the file is out of date")))
}

/// Returns the document. Files that it refers to are read from the working tree.
fn document(ctx: &Ctx, request: &Request) -> Result<Contract, OpError> {
    let name = &request.contract.contract;
    let unreadable = |problem: Problem| OpError::from(problem.in_file(&request.file));
    let document = codec::contract(&request.document, name).map_err(unreadable)?;
    if !references::refers(&document) {
        return Ok(document);
    }
    let Some(files) = ctx.code.as_ref().and_then(Files::checkout) else {
        let message = format!("{}: it refers to a file, and there is no working tree to read it from", request.file);
        return Err(OpError::no(ErrorCode::CannotEdit, message).next("write the schema and value inline"));
    };
    Ok(references::contract(&files, &request.document, name)?.map_err(unreadable)?.0)
}
