//! `contract_blame`: finds the version that introduced each part of a contract's schema and value.

use std::{cmp::Reverse, collections::BTreeMap};

use serde_json::Value;

use super::get::at_version;
use crate::{
    error::{ErrorCode, OpError},
    model::{
        blame::{Blame, Part},
        contract::Contract,
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
    store::read,
    wire::{Answer, BlamePart, ContractBlame, PageRequest, page_unsorted},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::reads::<Request>(
    "contract_blame",
    &["contract", "blame"],
    "Show which version introduced each part of a contract",
)
.reads_past()
.tool("Show which version introduced each part of a contract, when and by whom.")
.route("GET", "/realms/{realm}/contracts/{domain}/{contract}/blame");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The contract
    #[serde(flatten, with = "ContractFields")]
    #[cfg_attr(feature = "cli", arg(value_name = "DOMAIN/CONTRACT"))]
    pub contract: ContractRef,
    /// Show only this part, for example /schema/properties/id
    #[cfg_attr(feature = "cli", arg(value_name = "POINTER"))]
    pub pointer: Option<String>,
    /// Show the parts of this published version instead of the current one
    #[cfg_attr(feature = "cli", arg(long, value_name = "VERSION"))]
    pub version: Option<Version>,
    /// The cursor is a pointer.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub page: PageRequest,
}

runs!(ContractBlame, run);

/// Returns the version of each part.
///
/// # Errors
/// Returns an error if there is no such contract, version or part, or its history cannot be read.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractBlame>, OpError> {
    let here = ctx.realm()?;
    let store = &*here.store;
    let ContractRef { domain: domain_name, contract: name } = &request.contract;
    let tip = domain::tip(store, domain_name)?;
    let mut view = read::contracts_at(store, domain_name, &tip, &[name.clone()].into())?;
    let version = match &request.version {
        Some(version) => version.clone(),
        None => {
            let current = domain::current(&view, name).map(|contract| contract.version.clone());
            current.map_err(|error| domain::with_similar_name(store, &request.contract, error))?
        }
    };
    let tree = store.commit(&tip)?.tree;
    let arrived = arrivals(store, tip, name)?;
    let order = order(&arrived, &version);
    let mut blame = Blame::default();
    for (number, version) in order.iter().enumerate() {
        read::load_version(store, &mut view, &tree, name, version)?;
        blame.next(document(at_version(&view, name, version)?), number);
        view.published.clear();
    }
    let (parts, next_cursor) =
        page_unsorted(parts(&blame, &order, request)?, &request.page, |part| part.pointer.clone())?;
    let is_shown = |version: &&Version| parts.iter().any(|part| part.version == **version);
    let shown = order.iter().rev().filter(is_shown).filter_map(|version| arrived.get_key_value(version));
    let links = CommitLinks::new(ctx, store);
    let versions = shown
        .map(|(version, arrival)| origin(&links, name, version.clone(), arrival.clone()))
        .collect::<Result<_, _>>()?;
    Ok(Answer::new(ContractBlame {
        realm: here.realm.clone(),
        domain: domain_name.clone(),
        contract: name.clone(),
        version,
        parts,
        versions,
        next_cursor,
    }))
}

/// Returns the versions that led to `last`, oldest first: the lower ones that were published before it. A later patch
/// of an older line did not contribute to it.
fn order(arrived: &BTreeMap<Version, Arrival>, last: &Version) -> Vec<Version> {
    let age = arrived.get(last).map_or(0, |arrival| arrival.age);
    let mut before: Vec<_> =
        arrived.iter().filter(|(version, arrival)| *version < last && arrival.age >= age).collect();
    before.sort_by_key(|(version, arrival)| (Reverse(arrival.age), *version));
    before.into_iter().map(|(version, _)| version).chain([last]).cloned().collect()
}

/// Returns the schema and the value of a contract, which consumers rely on.
fn document(contract: Contract) -> Value {
    let parts = [("schema", contract.schema), ("value", contract.value)];
    let present = parts.into_iter().filter(|(_, part)| !part.is_null());
    present.map(|(name, part)| (name.to_owned(), Value::from(part))).collect()
}

fn parts(blame: &Blame, order: &[Version], request: &Request) -> Result<Vec<BlamePart>, OpError> {
    let pointer = request.pointer.as_deref().unwrap_or_default();
    // Schema and value are reported separately, even if one version introduced both.
    let asked = if pointer.is_empty() { &["/schema", "/value"][..] } else { &[pointer] };
    let found: Vec<_> = asked.iter().flat_map(|pointer| blame.parts(pointer)).collect();
    if found.is_empty() && !pointer.is_empty() {
        let message = format!("{} has nothing at {pointer:?}", request.contract);
        return Err(OpError::no(ErrorCode::UnknownPointer, message)
            .next("write a JSON Pointer such as /schema/properties/read"));
    }
    let is_scalar = |value: &Value| !value.is_object() && !value.is_array();
    let part = |part: Part<'_>| BlamePart {
        value: Some(part.value).filter(|value| is_scalar(value)).cloned().unwrap_or_default().into(),
        version: order[part.version].clone(),
        pointer: part.pointer,
    };
    Ok(found.into_iter().map(part).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::CommitInfo;

    #[test]
    fn a_patch_of_an_older_line_does_not_affect_a_newer_line() {
        let oid = || "1".repeat(40).parse().unwrap();
        let arrival = |(version, age): (&str, usize)| {
            let info = CommitInfo {
                tree: oid(),
                parents: Vec::new(),
                author: String::new(),
                committer: String::new(),
                time: jiff::Timestamp::UNIX_EPOCH,
                message: String::new(),
            };
            (version.parse().unwrap(), Arrival { age, commit: oid(), info })
        };
        // Another machine published 1.0.1 after 2.0.0, and a merge brought both.
        let arrived = [("1.0.0", 2), ("2.0.0", 1), ("1.0.1", 0)].map(arrival).into();
        let led_to = |last: &str| {
            let versions = order(&arrived, &last.parse().unwrap());
            versions.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(led_to("2.0.0"), ["1.0.0", "2.0.0"]);
        assert_eq!(led_to("1.0.1"), ["1.0.0", "1.0.1"]);
    }
}
