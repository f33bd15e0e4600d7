//! `contract_list`: lists the contracts of the realm.

use crate::{
    error::{OpError, REPAIR},
    model::{
        domain_summary::DomainSummary,
        domain_view::unreadable_bindings,
        name::{ContractName, ContractRef, DomainName},
    },
    ops::{Operation, ctx::Ctx, realm::status, runs},
    store::overview::{Line, Overview},
    wire::{Answer, ContractLine, ContractList, ContractState, PageRequest, page},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::reads::<Request>("contract_list", &["contract", "list"], "List the contracts of the realm")
        .reads_past()
        .tool("List the contracts of the realm, or of one domain.")
        .route("GET", "/realms/{realm}/contracts");

/// The arguments.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// Show only this domain
    #[cfg_attr(feature = "cli", arg(long, value_name = "DOMAIN"))]
    pub domain: Option<DomainName>,
    /// Show only contracts whose domain, name or owner contains these words
    #[cfg_attr(feature = "cli", arg(long, value_name = "WORDS"))]
    pub search: Option<String>,
    /// The cursor is DOMAIN/CONTRACT.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub page: PageRequest,
}

runs!(ContractList, run);

/// Lists the contracts.
///
/// # Errors
/// Returns an error if the realm cannot be read, or has no such domain.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractList>, OpError> {
    let here = ctx.realm()?;
    let overview = Overview::open(&*here.store)?;
    let is_wanted = |line: &&Line| request.domain.as_ref().is_none_or(|domain| line.name == *domain);
    if let Some(name) = request.domain.as_ref().filter(|_| !overview.domains().iter().any(|line| is_wanted(&line))) {
        // Distinguishes a missing domain from a damaged one.
        crate::ops::domain::get(&*here.store, name)?;
    }
    let domains: Vec<&Line> = overview.domains().iter().filter(is_wanted).collect();
    let Found { contracts, total, next_cursor } = some(&overview, &domains, request)?;
    let unreadable_domains = match &request.domain {
        Some(_) => Vec::new(),
        None => status::unreadable_domains(&overview),
    };
    let is_damaged = !unreadable_domains.is_empty();
    let answer = Answer::new(ContractList {
        realm: here.realm.clone(),
        contracts,
        total,
        next_cursor,
        current_repo: here.repo.clone(),
        unreadable_domains,
    });
    let answer = if is_damaged { answer.next(REPAIR) } else { answer };
    Ok(ctx.with_past_steps(match (total, request.words().is_empty()) {
        (0, true) if !is_damaged => answer.next("git blue contract new …/…  # create one"),
        (0, false) => answer.next("git blue contract list  # list all"),
        _ => answer,
    }))
}

impl Request {
    fn words(&self) -> Vec<String> {
        self.search.iter().flat_map(|text| text.split_whitespace()).map(str::to_lowercase).collect()
    }
}

struct Found {
    contracts: Vec<ContractLine>,
    total: usize,
    next_cursor: Option<String>,
}

/// Returns one page. Only the domains on that page are read, unless there is a search text.
fn some(overview: &Overview<'_>, domains: &[&Line], request: &Request) -> Result<Found, OpError> {
    let of = |cursor: &str| cursor.parse::<ContractRef>().map_err(|_| OpError::stale_cursor(cursor));
    let cursor = request.page.cursor.as_deref().map(of).transpose()?;
    let cursor = cursor.as_ref().map(|at| (at.domain.as_str(), at.contract.as_str()));
    let words = request.words();
    let (mut found, mut total) = (Vec::new(), 0);
    for domain in domains {
        let is_before = cursor.is_some_and(|(of, _)| domain.name.as_str() < of);
        if words.is_empty() && (is_before || found.len() > request.page.limit()) {
            total += domain.contracts;
            continue;
        }
        let summary = overview.summary(domain)?;
        let is_after = |name: &ContractName| {
            !is_before && cursor.is_none_or(|(of, contract)| domain.name.as_str() != of || name.as_str() > contract)
        };
        for name in summary.contract_names() {
            if holds(&words, &summary, name) {
                total += 1;
                let is_shown = found.len() <= request.page.limit() && is_after(name);
                found.extend(is_shown.then(|| line(&summary, name)));
            }
        }
    }
    let rest = PageRequest { cursor: None, ..request.page.clone() };
    let (contracts, next_cursor) = page(found, &rest, |line| format!("{}/{}", line.domain, line.name))?;
    Ok(Found { contracts, total, next_cursor })
}

fn holds(words: &[String], domain: &DomainSummary, name: &ContractName) -> bool {
    let owner = domain.owner(name).map(|owner| owner.as_str()).unwrap_or_default();
    let texts = [domain.info.name.as_str(), name.as_str(), owner].map(str::to_lowercase);
    words.iter().all(|word| format!("{}/{}", texts[0], texts[1]).contains(word) || texts[2].contains(word))
}

fn line(domain: &DomainSummary, name: &ContractName) -> ContractLine {
    let contract = domain.contracts.get(name);
    let newest = || domain.versions.get(name).and_then(|versions| versions.last());
    let state = match contract {
        Some(contract) if contract.retired.is_some() => ContractState::Retired,
        Some(contract) if contract.is_yanked() => ContractState::Yanked,
        Some(contract) if contract.deprecated.is_some() => ContractState::Deprecated,
        Some(_) => ContractState::Active,
        None if domain.is_damaged(name) => ContractState::Damaged,
        None => ContractState::PreRelease,
    };
    ContractLine {
        domain: domain.info.name.clone(),
        name: name.clone(),
        version: contract.map(|contract| &contract.version).or_else(newest).cloned(),
        owner: domain.owner(name).cloned(),
        importers: domain.importers(name).count(),
        unreadable_bindings: unreadable_bindings(&domain.damage).count(),
        state,
    }
}
