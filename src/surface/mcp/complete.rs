//! Completes arguments of prompts and variables of resource templates.

use std::collections::HashMap;

use rmcp::model::CompletionInfo;

use crate::{
    error::{ErrorCode, OpError},
    model::name::{ContractRef, DomainName},
    ops::{ctx::Ctx, names},
};

/// Returns the values of `argument` that begin with `typed`, given the other arguments that are known.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn values(
    ctx: &Ctx,
    argument: &str,
    typed: &str,
    known: &HashMap<String, String>,
) -> Result<CompletionInfo, OpError> {
    let domain = || known.get("domain").and_then(|name| name.parse::<DomainName>().ok());
    let all: Vec<String> = match argument {
        "domain" => names::domains(ctx)?,
        "contract" => {
            let domains = match domain() {
                Some(domain) => vec![domain],
                None => names::domains(ctx)?.iter().filter_map(|name| name.parse().ok()).collect(),
            };
            let mut all = Vec::new();
            for domain in domains {
                all.extend(names::contracts(ctx, &domain)?);
            }
            all
        }
        "version" => match (domain(), known.get("contract").and_then(|name| name.parse().ok())) {
            (Some(domain), Some(contract)) => names::versions(ctx, &ContractRef { domain, contract })?,
            _ => Vec::new(),
        },
        "rfc" => names::rfcs(ctx)?,
        _ => Vec::new(),
    };
    matching(all, typed)
}

/// Returns the values that begin with `typed`.
///
/// # Errors
/// Returns an error if the library rejects the completion, which its limits rule out.
pub fn matching(all: Vec<String>, typed: &str) -> Result<CompletionInfo, OpError> {
    let mut matching: Vec<_> = all.into_iter().filter(|one| one.starts_with(typed)).collect();
    let mut seen = std::collections::HashSet::new();
    matching.retain(|one| seen.insert(one.clone()));
    let total = matching.len();
    let has_more = total > CompletionInfo::MAX_VALUES;
    matching.truncate(CompletionInfo::MAX_VALUES);
    CompletionInfo::with_pagination(matching, u32::try_from(total).ok(), has_more)
        .map_err(|error| OpError::cannot(ErrorCode::Io, error))
}
