//! `contract_timeline`: when the realms of this machine got each version of a contract, newest first.

use std::collections::BTreeMap;

use crate::{
    error::{ErrorCode, OpError},
    machine::home::KnownRealm,
    model::{name::ContractRef, oid::Oid, version::Version},
    ops::{
        Operation,
        ctx::Ctx,
        history::{self, first_parents::History},
    },
    store::{Store, StoreRef, git::GitStore, layout, read},
    wire::{Answer, ContractTimeline, LogEntry, PageRequest, TimelineEntry, TimelineRealm, page_in_order},
};

/// Its entry in the table.
pub const OPERATION: Operation = Operation::read::<ContractTimeline>(
    "contract_timeline",
    &["contract", "timeline"],
    "Show when each realm of this machine got each version",
);

/// What is asked.
#[derive(Debug, Clone)]
pub struct Request {
    /// Which contract.
    pub contract: ContractRef,
    /// Which page; the cursor is `REALM@VERSION`.
    pub page: PageRequest,
}

/// Answers. A realm that cannot be read is named, and hides no other.
///
/// # Errors
/// Where this machine's records cannot be read, or no realm has the contract.
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
        let message = format!("no realm of this machine has a contract {}", request.contract);
        return Err(OpError::no(ErrorCode::UnknownContract, message + &problems.collect::<String>())
            .next("git blue realm list shows the realms of this machine"));
    }
    let when = |one: &TimelineEntry| if one.ahead_of_clock { jiff::Timestamp::MIN } else { one.time };
    entries.sort_by(|a, b| (when(b), &a.realm, &b.version).cmp(&(when(a), &b.realm, &a.version)));
    let total = entries.len();
    let (entries, next_cursor) = page_in_order(entries, &request.page, |one| format!("{}@{}", one.realm, one.version));
    let ContractRef { domain, contract } = request.contract.clone();
    Ok(Answer::new(ContractTimeline { domain, contract, realms, entries, total, next_cursor }))
}

/// Returns where a realm stands and what came to it, or `None` where it has no such contract.
fn of_realm(
    ctx: &Ctx,
    known: &KnownRealm,
    contract: &ContractRef,
) -> Result<Option<(TimelineRealm, Vec<TimelineEntry>)>, OpError> {
    let store = GitStore::open(&known.path, ctx.options())?;
    let Some(tip) = store.tip(&StoreRef::Domain(contract.domain.clone()))? else { return Ok(None) };
    let view = read::contracts_at(&store, &contract.domain, &tip, &[contract.contract.clone()].into())?;
    let published = view.versions.get(&contract.contract);
    let current = view.contracts.get(&contract.contract);
    if published.is_none_or(|versions| versions.is_empty()) && current.is_none() {
        return match view.damage.first() {
            Some(damage) if view.is_damaged(&contract.contract) => {
                Err(OpError::cannot(ErrorCode::Damaged, format!("{}: {}", damage.file, damage.problem)))
            }
            _ => Ok(None),
        };
    }
    let current_version = current.map(|current| current.version.clone());
    let entry = |(version, arrived): (Version, LogEntry)| TimelineEntry {
        time: arrived.time,
        ahead_of_clock: arrived.ahead_of_clock,
        author: arrived.author,
        realm: known.name.clone(),
        is_current: current_version.as_ref() == Some(&version),
        is_yanked: current.is_some_and(|current| current.yanked.iter().any(|yanked| yanked.version == version)),
        version,
        commit: arrived.commit,
        repo: arrived.repo,
    };
    let entries = arrivals(&store, tip, contract, ctx.env.now())?.into_iter().map(entry).collect();
    Ok(Some((TimelineRealm { realm: known.name.clone(), current_version, problem: None }, entries)))
}

/// Returns the commit that brought each published version: the oldest that has it.
fn arrivals(
    store: &dyn Store,
    tip: Oid,
    contract: &ContractRef,
    now: jiff::Timestamp,
) -> Result<BTreeMap<Version, LogEntry>, OpError> {
    let folder = layout::versions(&contract.contract);
    let mut arrived = BTreeMap::new();
    // The folder as the commits since the last look had it, and the oldest of them.
    let mut same: Option<(Oid, LogEntry)> = None;
    let mut note = |group: Option<(Oid, LogEntry)>| -> Result<(), OpError> {
        let Some((folder, oldest)) = group else { return Ok(()) };
        let versions = store.entries(&folder)?.into_iter().filter_map(|file| layout::stem::<Version>(&file.name));
        arrived.extend(versions.map(|version| (version, oldest.clone())));
        Ok(())
    };
    for step in History::of(store, Some(tip)) {
        let (id, commit) = step?;
        let Some(found) = read::lookup(store, &commit.tree, folder.as_str())? else { break };
        let entry = history::first_parents::entry(id, &commit, None, now);
        if same.as_ref().is_some_and(|(folder, _)| *folder != found.id) {
            note(same.take())?;
        }
        same = Some((found.id, entry));
    }
    note(same)?;
    Ok(arrived)
}
