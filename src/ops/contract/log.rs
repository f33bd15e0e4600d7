//! `contract_log`: lists the commits that changed one contract, newest first.

use std::collections::HashMap;

use crate::ops::{
    Operation,
    ctx::Ctx,
    domain,
    history::{filter::Filter, walk::Walk},
    repos::commit_links::CommitLinks,
    runs,
};
use crate::{
    error::OpError,
    model::{
        name::{ContractFields, ContractRef},
        oid::Oid,
    },
    store::{layout, read},
    wire::{Answer, ContractLog, LogEntry, PageRequest, page_unsorted},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::reads::<Request>("contract_log", &["contract", "log"], "Show the history of one contract")
        .reads_past()
        .route("GET", "/realms/{realm}/contracts/{domain}/{contract}/log");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The contract
    #[serde(flatten, with = "ContractFields")]
    #[cfg_attr(feature = "cli", arg(value_name = "DOMAIN/CONTRACT"))]
    pub contract: ContractRef,
    /// The entries to show
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub filter: Filter,
    /// The cursor is a commit of the store.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub page: PageRequest,
}

runs!(ContractLog, run);

/// Lists the commits.
///
/// # Errors
/// Returns an error if there is no such contract, or its history cannot be read.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractLog>, OpError> {
    let here = ctx.realm()?;
    let store = &*here.store;
    let ContractRef { domain: domain_name, contract } = &request.contract;
    let tip = domain::tip(store, domain_name)?;
    // The paths of a contract in a commit: its current document, its published versions, and its approvals.
    let approvals = format!("{}/{contract}", layout::APPROVALS);
    let held = |tree: &Oid| -> Result<[Option<Oid>; 3], OpError> {
        let entry = |path: &str| Ok::<_, OpError>(read::lookup(store, tree, path)?.map(|entry| entry.id));
        let versions = entry(layout::versions(contract).as_str())?;
        Ok([entry(layout::contract(contract).as_str())?, versions, entry(&approvals)?])
    };
    let now = ctx.env.now();
    let mut known = HashMap::new();
    let mut all: Vec<LogEntry> = Vec::new();
    for step in Walk::of(store, now, [(Some(domain_name.clone()), tip)])? {
        let step = step?;
        let here = match known.remove(&step.commit) {
            Some(here) => here,
            None => held(&step.info.tree)?,
        };
        let mut is_change = here != [None; 3];
        for (at, parent) in step.info.parents.iter().enumerate() {
            let before = match known.get(parent) {
                Some(before) => *before,
                None => held(&store.commit(parent)?.tree)?,
            };
            known.insert(*parent, before);
            // A merge changes only what differs from all of its parents.
            is_change = (at == 0 || is_change) && before != here;
        }
        if is_change {
            all.push(step.entry(now));
        }
    }
    if all.is_empty() {
        domain::current(&domain::get(store, domain_name)?, contract)?;
    }
    let wanted = request.filter.resolve(ctx)?;
    let mut entries = Vec::new();
    for entry in all {
        if wanted.accepts_entry(store, &entry, Some(contract))? {
            entries.push(entry);
        }
    }
    let (mut entries, next_cursor) = page_unsorted(entries, &request.page, |entry| entry.commit.to_string())?;
    CommitLinks::new(ctx, store).add_to(&mut entries);
    Ok(Answer::new(ContractLog {
        realm: here.realm.clone(),
        domain: domain_name.clone(),
        contract: contract.clone(),
        entries,
        next_cursor,
    }))
}
