//! `contract_list`: the contracts of the realm.

use super::{Operation, ctx::Ctx};
use crate::{
    error::OpError,
    model::{
        name::{ContractName, DomainName},
        view::{DomainView, Subject},
    },
    store::read,
    wire::{Answer, ContractLine, ContractList, PageRequest, page},
};

/// Its entry in the table.
pub const OPERATION: Operation =
    Operation::read::<ContractList>("contract_list", &["contract", "list"], "List the contracts of the realm");

/// What is asked.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Only this domain.
    pub domain: Option<DomainName>,
    /// Which page; the cursor is `DOMAIN/CONTRACT`.
    pub page: PageRequest,
}

/// Answers.
///
/// # Errors
/// Where the realm cannot be read, or has no such domain.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractList>, OpError> {
    let here = ctx.here()?;
    let domains = match &request.domain {
        Some(name) => vec![super::domain::get(&*here.store, name)?],
        None => read::view(&*here.store)?.domains.into_values().collect(),
    };
    let all: Vec<_> = domains.iter().flat_map(lines).collect();
    let total = all.len();
    let (contracts, next_cursor) = page(all, &request.page, |line| format!("{}/{}", line.domain, line.name));
    let body =
        ContractList { realm: here.realm.clone(), contracts, total, next_cursor, current_repo: here.repo.clone() };
    let answer = Answer::new(body);
    Ok(if total == 0 {
        answer.next("write .blue/contracts/DOMAIN/NAME.yaml, commit, and git blue contract publish")
    } else {
        answer
    })
}

fn lines(domain: &DomainView) -> Vec<ContractLine> {
    let damaged = domain.damage.iter().filter_map(|damage| match &damage.subject {
        Subject::Contract(name) => Some(name),
        _ => None,
    });
    let mut names: Vec<_> = domain.contracts.keys().chain(domain.versions.keys()).chain(damaged).collect();
    names.sort();
    names.dedup();
    names.into_iter().map(|name| line(domain, name)).collect()
}

fn line(domain: &DomainView, name: &ContractName) -> ContractLine {
    let contract = domain.contracts.get(name);
    let newest = || domain.versions.get(name).and_then(|versions| versions.last());
    let state = match contract {
        Some(contract) if contract.retired.is_some() => "retired",
        Some(contract) if contract.deprecated.is_some() => "deprecated",
        Some(_) => "active",
        None if domain.is_damaged(name) => "damaged",
        None => "pre-release",
    };
    ContractLine {
        domain: domain.info.name.clone(),
        name: name.clone(),
        version: contract.map(|contract| &contract.version).or_else(newest).cloned(),
        owner: domain.owner(name).cloned(),
        importers: domain.importers(name).count(),
        state,
    }
}
