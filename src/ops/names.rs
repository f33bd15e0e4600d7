//! The names that a realm holds, read without what they name: for completion, and for lists.

use super::ctx::Here;
use crate::{
    error::OpError,
    model::{
        name::{ContractName, ContractRef, DomainName},
        version::Version,
    },
    store::{StoreRef, layout, read},
};

/// Returns the domains, sorted.
///
/// # Errors
/// Where the refs cannot be read.
pub fn domains(here: &Here) -> Result<Vec<DomainName>, OpError> {
    Ok(here.store.domains()?.into_iter().map(|(name, _)| name).collect())
}

/// Returns the contracts of a domain, sorted; none where there is no such domain.
///
/// # Errors
/// Where the store cannot be read.
pub fn contracts(here: &Here, domain: &DomainName) -> Result<Vec<ContractName>, OpError> {
    let files = files(here, domain, layout::CONTRACTS)?;
    Ok(files.iter().filter_map(|name| layout::stem(name)).collect())
}

/// Returns the published versions of a contract, newest first; none where there is no such contract.
///
/// # Errors
/// Where the store cannot be read.
pub fn versions(here: &Here, contract: &ContractRef) -> Result<Vec<Version>, OpError> {
    let files = files(here, &contract.domain, layout::versions(&contract.contract).as_str())?;
    let mut versions: Vec<Version> = files.iter().filter_map(|name| layout::stem(name)).collect();
    versions.sort();
    versions.reverse();
    Ok(versions)
}

fn files(here: &Here, domain: &DomainName, folder: &str) -> Result<Vec<String>, OpError> {
    let Some(tip) = here.store.tip(&StoreRef::Domain(domain.clone()))? else { return Ok(Vec::new()) };
    let tree = here.store.commit(&tip)?.tree;
    let entries = read::folder(&*here.store, &tree, folder)?;
    Ok(entries.into_iter().map(|entry| entry.name).collect())
}
