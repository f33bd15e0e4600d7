//! What an argument of a prompt or a part of a resource's address could be.

use std::collections::HashMap;

use rmcp::model::CompletionInfo;

use crate::{
    error::OpError,
    model::name::ContractRef,
    ops::{ctx::Ctx, names, realm_list},
};

/// Returns what `argument` could be, of what begins with `typed`, where others are known already.
///
/// # Errors
/// Where the realm cannot be read.
pub fn values(
    ctx: &Ctx,
    argument: &str,
    typed: &str,
    known: &HashMap<String, String>,
) -> Result<CompletionInfo, OpError> {
    let here = ctx.here()?;
    let domain = || known.get("domain").and_then(|name| name.parse().ok());
    let all: Vec<String> = match argument {
        "realm" => realm_list::run(ctx)?.body.realms.iter().map(|realm| realm.name.to_string()).collect(),
        "domain" => names::domains(here)?.iter().map(ToString::to_string).collect(),
        "contract" => {
            let domains = match domain() {
                Some(domain) => vec![domain],
                None => names::domains(here)?,
            };
            let mut all = Vec::new();
            for domain in domains {
                all.extend(names::contracts(here, &domain)?.iter().map(ToString::to_string));
            }
            all
        }
        "version" => match (domain(), known.get("contract").and_then(|name| name.parse().ok())) {
            (Some(domain), Some(contract)) => {
                let versions = names::versions(here, &ContractRef { domain, contract })?;
                versions.iter().map(ToString::to_string).collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    let mut fitting: Vec<_> = all.into_iter().filter(|one| one.starts_with(typed)).collect();
    let mut seen = std::collections::HashSet::new();
    fitting.retain(|one| seen.insert(one.clone()));
    let total = fitting.len();
    let has_more = total > CompletionInfo::MAX_VALUES;
    fitting.truncate(CompletionInfo::MAX_VALUES);
    CompletionInfo::with_pagination(fitting, u32::try_from(total).ok(), has_more)
        .map_err(|error| OpError::cannot("io", error))
}
