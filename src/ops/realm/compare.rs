//! `realm_compare`: compares the contracts that two realms of this machine have under the same names.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    error::OpError,
    locate,
    model::{
        contract::Contract,
        name::{ContractName, DomainName, RealmName, RepoName},
    },
    ops::{Operation, ctx::Ctx, runs},
    store::{Store, overview::Overview, read},
    wire::{Answer, ContractComparison, ContractSide, PageRequest, RealmCompare, page},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::reads::<Request>(
    "realm_compare",
    &["realm", "compare"],
    "Compare the contracts of two realms on this machine",
)
.tool("Compare the contracts of two realms.");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The realm to compare with
    #[cfg_attr(feature = "cli", arg(value_name = "OTHER"))]
    pub other: RealmName,
    /// The cursor is DOMAIN/CONTRACT.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub page: PageRequest,
}

runs!(RealmCompare, run);

/// Compares the realms. A difference is an answer, not an error.
///
/// # Errors
/// Returns an error if this machine does not know the other realm, or either cannot be read.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmCompare>, OpError> {
    let here = ctx.realm()?;
    let known = locate::known(&ctx.home, &request.other)?;
    let other = ctx.open_store(&known)?;
    read::realm(&other)?;
    let (ours, theirs) = (Overview::open(&*here.store)?, Overview::open(&other)?);
    let mut unreadable = Vec::new();
    let [our_sides, their_sides] =
        [(&*here.store, &ours), (&other as &dyn Store, &theirs)].map(|(store, all)| sides(store, all, &mut unreadable));
    let (differences, same) = differences(&our_sides?, &their_sides?);
    let total = differences.len();
    let (differences, next_cursor) =
        page(differences, &request.page, |one| format!("{}/{}", one.domain, one.contract))?;
    Ok(Answer::new(RealmCompare {
        realm: here.realm.clone(),
        other_realm: request.other.clone(),
        repos_only_here: missing(&ours, &theirs),
        repos_only_there: missing(&theirs, &ours),
        differences,
        total,
        same,
        next_cursor,
        unreadable,
    }))
}

fn missing(of: &Overview<'_>, from: &Overview<'_>) -> Vec<RepoName> {
    of.repos().keys().filter(|repo| !from.repos().contains_key(*repo)).cloned().collect()
}

type Sides = BTreeMap<(DomainName, ContractName), ContractSide>;

/// Returns the contracts of a realm. Each domain is read in full to hash its contracts, but only the hashes are kept in
/// memory.
fn sides(store: &dyn Store, overview: &Overview<'_>, unreadable: &mut Vec<String>) -> Result<Sides, OpError> {
    unreadable.extend(overview.damage().iter().map(ToString::to_string));
    let mut sides = Sides::new();
    for line in overview.domains() {
        let domain = match read::domain_at(store, &line.name, &line.tip) {
            Err(error) if error.is_damage() => {
                unreadable.push(format!("{}: {error}", line.name));
                continue;
            }
            domain => domain?,
        };
        unreadable.extend(domain.damage.iter().map(ToString::to_string));
        let current = |name: &ContractName| domain.contracts.get(name).or_else(|| domain.newest(name));
        let names: BTreeSet<_> = domain.contracts.keys().chain(domain.versions.keys()).collect();
        let found = names.into_iter().filter_map(|name| Some((name.clone(), side(current(name)?))));
        sides.extend(found.map(|(name, side)| ((line.name.clone(), name), side)));
    }
    Ok(sides)
}

fn side(contract: &Contract) -> ContractSide {
    ContractSide {
        version: contract.version.clone(),
        owner: contract.owner.clone(),
        content_hash: contract.computed_content_hash(),
        retired: contract.retired.is_some(),
        yanked: contract.yanked_reason(&contract.version).is_some(),
    }
}

/// Returns the differences, sorted, and the number of equal contracts.
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
                difference: difference(here, there)?.into(),
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
        (Some(here), Some(there)) if here != there => Some("state"),
        _ => None,
    }
}
