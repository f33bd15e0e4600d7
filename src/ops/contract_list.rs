//! `contract_list`: the contracts of the realm.

use super::{Operation, ctx::Ctx};
use crate::{
    error::OpError,
    model::{
        name::{ContractName, DomainName},
        summary::DomainSummary,
    },
    store::overview::{Line, Overview},
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
    let overview = Overview::open(&*here.store)?;
    let is_wanted = |line: &&Line| request.domain.as_ref().is_none_or(|domain| line.name == *domain);
    if let Some(name) = request.domain.as_ref().filter(|_| !overview.domains().iter().any(|line| is_wanted(&line))) {
        // Either there is none, or it cannot be read.
        super::domain::get(&*here.store, name)?;
    }
    let domains: Vec<&Line> = overview.domains().iter().filter(is_wanted).collect();
    let total = domains.iter().map(|line| line.contracts).sum();
    let (contracts, next_cursor) = some(&overview, &domains, &request.page)?;
    let body =
        ContractList { realm: here.realm.clone(), contracts, total, next_cursor, current_repo: here.repo.clone() };
    let answer = Answer::new(body);
    Ok(if total == 0 {
        answer.next("write .blue/contracts/DOMAIN/NAME.yaml, commit, and git blue contract publish")
    } else {
        answer
    })
}

/// Returns one page, for which only the domains on it are read.
fn some(
    overview: &Overview<'_>,
    domains: &[&Line],
    request: &PageRequest,
) -> Result<(Vec<ContractLine>, Option<String>), OpError> {
    let after = request.cursor.as_deref().map(|cursor| cursor.split_once('/').unwrap_or((cursor, "")));
    let mut found = Vec::new();
    for domain in domains.iter().filter(|line| after.is_none_or(|(domain, _)| line.name.as_str() >= domain)) {
        let summary = overview.summary(domain)?;
        let is_after = |name: &&&ContractName| {
            after.is_none_or(|(of, contract)| domain.name.as_str() != of || name.as_str() > contract)
        };
        found.extend(summary.contract_names().iter().filter(is_after).map(|name| line(&summary, name)));
        if found.len() > request.limit() {
            break;
        }
    }
    let rest = PageRequest { cursor: None, ..request.clone() };
    Ok(page(found, &rest, |line| format!("{}/{}", line.domain, line.name)))
}

fn line(domain: &DomainSummary, name: &ContractName) -> ContractLine {
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
