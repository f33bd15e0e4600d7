//! `contract_retire`: the owner withdraws a contract; its content stays.

use crate::ops::{
    Operation,
    ctx::Ctx,
    domain::{self, Part},
    message::Message,
    runs,
    sync::auto,
};
use crate::{
    error::{ErrorCode, NextStep, OpError},
    model::{
        candidate::contract_path,
        contract::Contract,
        domain_view::{DomainView, unreadable_bindings},
        name::{ContractFields, ContractName, ContractRef},
        publish,
        text::comma_separated,
    },
    store::read,
    wire::{Answer, ContractMarked},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::writes::<Request>("contract_retire", &["contract", "retire"], "Retire a contract");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The contract
    #[serde(flatten, with = "ContractFields")]
    #[cfg_attr(feature = "cli", arg(value_name = "DOMAIN/CONTRACT"))]
    pub contract: ContractRef,
    /// The reason, for its consumers
    #[cfg_attr(feature = "cli", arg(long, value_name = "REASON", allow_hyphen_values = true, value_parser = crate::model::text::reason))]
    pub reason: String,
    /// Retire it even if it is still imported
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub force: bool,
}

runs!(ContractMarked, run);

/// Marks the contract as retired.
///
/// # Errors
/// Returns an error if there is no such contract, it belongs to another repository, or it is still imported.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractMarked>, OpError> {
    let acting = ctx.require_writable()?;
    let ContractRef { domain: name, contract } = &request.contract;
    let subject = format!("retire {contract}");
    let why = Message { repo: Some(acting.repo), reason: Some(&request.reason), subject, ..Message::default() };
    let (mut importers, mut replaced, mut reason) = (Vec::new(), Vec::new(), request.reason.clone());
    let decision = domain::change(ctx, acting.store, name, Part::default(), why, |view| {
        let held = domain::released(view, contract)?;
        let decision = publish::retire(view, acting.repo, held, &request.reason)?;
        reason = held.retired.as_ref().map_or(&request.reason, |retired| &retired.reason).clone();
        replaced = replaced_by(view, contract);
        importers = view.importers(contract).map(|(repo, _)| repo.clone()).collect();
        if !importers.is_empty() && !request.force && held.retired.is_none() {
            let names: Vec<_> = importers.iter().map(ToString::to_string).collect();
            let message = format!("{name}/{contract} is still imported by {}", names.join(", "));
            let instead =
                "keep its file, with `deprecated: { since: VERSION, replaced_by: CONTRACT }`, until they have moved";
            let error = OpError::no(ErrorCode::StillImported, message).next(NextStep::advice(instead));
            return Err(error.next(anyway(&request.contract)));
        }
        let unreadable = comma_separated(unreadable_bindings(&view.damage));
        if !unreadable.is_empty() && !request.force && held.retired.is_none() {
            let message = format!(
                "the bindings of {unreadable} in {name} cannot be read, so it is unknown whether they import {contract}"
            );
            let error = OpError::cannot(ErrorCode::Damaged, message);
            return Err(error.next("git blue check --all  # show the files").next(anyway(&request.contract)));
        }
        Ok(decision)
    })?;
    let answer = Answer::new(ContractMarked {
        realm: acting.realm.clone(),
        domain: name.clone(),
        contract: contract.clone(),
        version: None,
        reason,
        changed: !decision.changes.is_empty(),
        importers,
        breaks: Vec::new(),
    });
    let answer = answer.next_all(remove_file(ctx, &request.contract)?).next_all(
        replaced
            .into_iter()
            .map(|one| NextStep::advice(format!("name another successor of {name}/{one}, which {contract} replaces"))),
    );
    auto::with_push(ctx, (acting.realm, acting.store), !decision.changes.is_empty(), answer)
}

/// Returns the contracts whose consumers are sent to a contract.
fn replaced_by(view: &DomainView, contract: &ContractName) -> Vec<ContractName> {
    let names = |one: &&Contract| {
        let deprecated = one.deprecated.as_ref().filter(|_| one.retired.is_none());
        deprecated.and_then(|deprecated| deprecated.replaced_by.as_ref()) == Some(contract)
    };
    view.contracts.values().filter(names).map(|one| one.name.clone()).collect()
}

fn anyway(at: &ContractRef) -> String {
    format!("git blue contract retire {at} --reason \"…\" --force  # retire it anyway")
}

/// Returns the command that removes the file of a retired contract, if HEAD has it.
fn remove_file(ctx: &Ctx, at: &ContractRef) -> Result<Option<String>, OpError> {
    let file = contract_path(&at.domain, &at.contract);
    let code = ctx.code()?;
    let tree = code.head()?.commit.map(|commit| code.tree_of(&commit)).transpose()?;
    let has_file = tree.map(|tree| read::lookup(code, &tree, &file)).transpose()?.flatten().is_some();
    let is_here = code.workdir().is_some_and(|workdir| workdir.join(&file).exists());
    Ok((has_file && is_here).then(|| {
        let path = format!("{}{file}", ctx.up_to_root());
        format!(
            "git rm {path} && git commit -m \"Retire {at}\"  # a higher version in it would publish the contract again"
        )
    }))
}
