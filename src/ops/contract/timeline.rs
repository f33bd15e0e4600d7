//! `contract_timeline`: lists when each version of a contract arrived in the realms of this machine, newest first.

use crate::{
    error::{ErrorCode, OpError},
    machine::home::KnownRealm,
    model::{
        name::{ContractFields, ContractRef},
        version::Version,
    },
    ops::{
        Operation,
        ctx::Ctx,
        domain,
        history::arrivals::{Arrival, arrivals, origin},
        repos::commit_links::CommitLinks,
        runs,
    },
    store::{Store, read},
    wire::{Answer, ContractTimeline, PageRequest, TimelineEntry, TimelineRealm, page_unsorted},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::reads::<Request>(
    "contract_timeline",
    &["contract", "timeline"],
    "Show when each realm on this machine received each version",
)
.tool("Show when each realm received each version of a contract.")
.route("GET", "/contracts/{domain}/{contract}/timeline");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The contract
    #[serde(flatten, with = "ContractFields")]
    #[cfg_attr(feature = "cli", arg(value_name = "DOMAIN/CONTRACT"))]
    pub contract: ContractRef,
    /// The cursor is REALM@VERSION.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub page: PageRequest,
}

runs!(ContractTimeline, run);

/// Lists the versions. A realm that cannot be read is reported, and does not hide the others.
///
/// # Errors
/// Returns an error if this machine's records cannot be read, or no realm has the contract.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractTimeline>, OpError> {
    let (mut realms, mut entries) = (Vec::new(), Vec::new());
    for known in ctx.home.realms()? {
        match of_realm(ctx, &known, &request.contract) {
            Ok(None) => {}
            Ok(Some((realm, found))) => {
                realms.push(realm);
                entries.extend(found);
            }
            Err(error) => {
                let problem = Some(error.message);
                realms.push(TimelineRealm { realm: known.name, current_version: None, problem });
            }
        }
    }
    if realms.iter().all(|realm| realm.problem.is_some()) {
        let problems = realms.iter().filter_map(|one| Some(format!("; {}: {}", one.realm, one.problem.as_ref()?)));
        let message = format!("no realm on this machine has a contract {}", request.contract);
        return Err(OpError::no(ErrorCode::UnknownContract, message + &problems.collect::<String>())
            .next("git blue realm list  # list the realms on this machine"));
    }
    let when = |one: &TimelineEntry| if one.origin.in_future { jiff::Timestamp::MIN } else { one.origin.time };
    entries.sort_by(|a, b| (when(b), &a.realm, &b.origin.version).cmp(&(when(a), &b.realm, &a.origin.version)));
    let total = entries.len();
    let (entries, next_cursor) =
        page_unsorted(entries, &request.page, |one| format!("{}@{}", one.realm, one.origin.version))?;
    let ContractRef { domain, contract } = request.contract.clone();
    Ok(Answer::new(ContractTimeline { domain, contract, realms, entries, total, next_cursor }))
}

/// Returns the state of the contract in one realm and its arrivals there, or `None` if the realm does not have it.
fn of_realm(
    ctx: &Ctx,
    known: &KnownRealm,
    contract: &ContractRef,
) -> Result<Option<(TimelineRealm, Vec<TimelineEntry>)>, OpError> {
    let store = ctx.open_store(known)?;
    read::realm(&store)?;
    let Some(tip) = store.domain_tip(&contract.domain)? else { return Ok(None) };
    let view = read::contracts_at(&store, &contract.domain, &tip, &[contract.contract.clone()].into())?;
    let published = view.versions.get(&contract.contract);
    let current = view.contracts.get(&contract.contract);
    if published.is_none_or(|versions| versions.is_empty()) && current.is_none() {
        return match domain::current(&view, &contract.contract) {
            Err(error) if error.code == ErrorCode::Damaged => Err(error),
            _ => Ok(None),
        };
    }
    let current_version = current.map(|current| current.version.clone());
    let links = CommitLinks::new(ctx, &store);
    let entry = |(version, arrival): (Version, Arrival)| -> Result<TimelineEntry, OpError> {
        Ok(TimelineEntry {
            realm: known.name.clone(),
            is_current: current_version.as_ref() == Some(&version),
            is_yanked: current.is_some_and(|current| current.yanked_reason(&version).is_some()),
            origin: origin(&links, &contract.contract, version, arrival)?,
        })
    };
    let entries = arrivals(&store, tip, &contract.contract)?.into_iter().map(entry).collect::<Result<_, _>>()?;
    Ok(Some((TimelineRealm { realm: known.name.clone(), current_version, problem: None }, entries)))
}
