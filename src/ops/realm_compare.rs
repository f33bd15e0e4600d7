//! `realm_compare`: what two realms of this machine hold under the same names.

use std::collections::BTreeMap;

use super::{Operation, ctx::Ctx, realm_admin_join, realm_topology};
use crate::{
    error::OpError,
    model::{
        contract::Contract,
        name::{ContractName, DomainName, RealmName, RepoName},
        view::RealmView,
    },
    store::{git::GitStore, read},
    wire::{Answer, ContractComparison, ContractSide, PageRequest, RealmCompare, page},
};

/// Its entry in the table.
pub const OPERATION: Operation = Operation::read::<RealmCompare>(
    "realm_compare",
    &["realm", "compare"],
    "Compare the contracts of two realms of this machine",
);

/// What is asked.
#[derive(Debug, Clone)]
pub struct Request {
    /// The realm to compare with.
    pub other: RealmName,
    /// Which page of the differences; the cursor is `DOMAIN/CONTRACT`.
    pub page: PageRequest,
}

/// Answers. That the two differ is an answer, not an error.
///
/// # Errors
/// Where this machine does not know the other realm, or either cannot be read.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmCompare>, OpError> {
    let here = ctx.here()?;
    let known = realm_admin_join::known(ctx, &request.other)?;
    let (ours, theirs) = (read::view(&*here.store)?, read::view(&GitStore::open(&known.path, ctx.options())?)?);
    let (differences, same) = differences(&sides(&ours), &sides(&theirs));
    let total = differences.len();
    let (differences, next_cursor) = page(differences, &request.page, |one| format!("{}/{}", one.domain, one.contract));
    Ok(Answer::new(RealmCompare {
        realm: here.realm.clone(),
        other_realm: request.other.clone(),
        repos_only_here: missing(&ours, &theirs),
        repos_only_there: missing(&theirs, &ours),
        differences,
        total,
        same,
        next_cursor,
        unreadable: [&ours, &theirs].into_iter().flat_map(realm_topology::unreadable).collect(),
    }))
}

fn missing(of: &RealmView, from: &RealmView) -> Vec<RepoName> {
    of.repos.keys().filter(|repo| !from.repos.contains_key(repo)).cloned().collect()
}

type Sides = BTreeMap<(DomainName, ContractName), ContractSide>;

fn sides(view: &RealmView) -> Sides {
    let side = |contract: &Contract| ContractSide {
        version: contract.version.clone(),
        owner: contract.owner.clone(),
        content_hash: contract.computed_content_hash(),
    };
    let contracts = view.domains.iter().flat_map(|(domain, view)| {
        view.contracts.iter().map(move |(name, contract)| ((domain.clone(), name.clone()), side(contract)))
    });
    contracts.collect()
}

/// Returns what is not the same, sorted, and how many contracts are.
fn differences(ours: &Sides, theirs: &Sides) -> (Vec<ContractComparison>, usize) {
    let mut keys: Vec<_> = ours.keys().chain(theirs.keys()).collect();
    keys.sort_by_cached_key(|(domain, contract)| format!("{domain}/{contract}"));
    keys.dedup();
    let all = keys.len();
    let found: Vec<_> = keys
        .into_iter()
        .filter_map(|key| {
            let (here, there) = (ours.get(key), theirs.get(key));
            Some(ContractComparison {
                domain: key.0.clone(),
                contract: key.1.clone(),
                difference: difference(here, there)?,
                here: here.cloned(),
                there: there.cloned(),
            })
        })
        .collect();
    let same = all - found.len();
    (found, same)
}

fn difference(here: Option<&ContractSide>, there: Option<&ContractSide>) -> Option<&'static str> {
    match (here, there) {
        (Some(_), None) => Some("only-here"),
        (None, Some(_)) => Some("only-there"),
        (Some(here), Some(there)) if here.version != there.version => Some("version"),
        (Some(here), Some(there)) if here.content_hash != there.content_hash => Some("content"),
        (Some(here), Some(there)) if here.owner != there.owner => Some("owner"),
        _ => None,
    }
}
