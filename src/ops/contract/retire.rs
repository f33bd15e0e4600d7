//! `contract_retire`: the owner withdraws a contract; its content stays.

use crate::ops::{
    Operation,
    ctx::Ctx,
    domain::{self, Part, Why},
};
use crate::{
    error::{ErrorCode, OpError},
    model::{name::ContractRef, publish},
    wire::{Answer, ContractMarked},
};

/// Its entry in the table.
pub const OPERATION: Operation =
    Operation::write::<ContractMarked>("contract_retire", &["contract", "retire"], "Withdraw a contract");

/// What is asked.
#[derive(Debug, Clone)]
pub struct Request {
    /// Which contract.
    pub contract: ContractRef,
    /// Why.
    pub reason: String,
    /// Also where somebody still imports it.
    pub force: bool,
}

/// Marks the contract.
///
/// # Errors
/// Where there is none, it belongs to another, or it is still imported.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractMarked>, OpError> {
    let acting = ctx.writing()?;
    let ContractRef { domain: name, contract } = &request.contract;
    let subject = format!("retire {contract}");
    let why = Why { repo: Some(acting.repo), reason: Some(&request.reason), subject: Some(&subject), source: None };
    let mut importers = Vec::new();
    let decision = domain::change(ctx, acting.store, name, Part::default(), why, |view| {
        let held = domain::current(view, contract)?;
        let decision = publish::retire(view, acting.repo, held, &request.reason)?;
        importers = view.importers(contract).map(|(repo, _)| repo.clone()).collect();
        if !importers.is_empty() && !request.force {
            let names: Vec<_> = importers.iter().map(ToString::to_string).collect();
            let message = format!("{name}/{contract} is still imported by {}", names.join(", "));
            return Err(OpError::no(ErrorCode::StillImported, message).next("retire it all the same with --force"));
        }
        Ok(decision)
    })?;
    Ok(Answer::new(ContractMarked {
        realm: acting.realm.clone(),
        domain: name.clone(),
        contract: contract.clone(),
        version: None,
        reason: request.reason.clone(),
        changed: !decision.changes.is_empty(),
        importers,
    }))
}
