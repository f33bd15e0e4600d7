//! Chooses the versions of a rollback to files with `version: auto`: those under which their content was published.

use crate::{
    error::{ErrorCode, OpError},
    model::{candidate::Candidate, contract::Contract, domain_view::DomainView, name::ContractRef, version::Version},
    ops::domain,
    store::{Store, read},
};

/// Returns the candidate with the version under which each `auto` document was published. A contract that the realm
/// does not have stays as it is.
///
/// # Errors
/// Returns an error if a document was never published, or the realm cannot be read.
pub(super) fn restored(store: &dyn Store, mut candidate: Candidate) -> Result<Candidate, OpError> {
    for ((domain, name), declared) in &mut candidate.contracts {
        let at = ContractRef { domain: domain.clone(), contract: name.clone() };
        if declared.document.version.is_auto() && store.domain_tip(domain)?.is_some() {
            let view = with_all_versions(store, &at)?;
            if view.contracts.contains_key(name) {
                declared.document.version = published(&view, &declared.document).ok_or_else(|| never_published(&at))?;
            }
        }
    }
    Ok(candidate)
}

fn with_all_versions(store: &dyn Store, at: &ContractRef) -> Result<DomainView, OpError> {
    let tip = domain::tip(store, &at.domain)?;
    let mut view = domain::of_contract(store, at)?;
    let versions = view.versions.get(&at.contract).into_iter().flatten();
    let wanted: Vec<_> = versions.map(|version| (at.contract.clone(), version.clone())).collect();
    read::load_versions(store, &mut view, &store.commit(&tip)?.tree, &wanted)?;
    Ok(view)
}

/// Returns the newest release with the content of the document that was not yanked.
fn published(view: &DomainView, document: &Contract) -> Option<Version> {
    let current = view.contracts.get(&document.name)?;
    let mut newest_first = view.versions.get(&document.name)?.iter().rev();
    let is_it = |version: &&Version| {
        view.document(&document.name, version).is_some_and(|published| published.has_same_content(document))
    };
    let may_be = |version: &&Version| !version.is_prerelease() && current.yanked_reason(version).is_none();
    newest_first.find(|version| may_be(version) && is_it(version)).cloned()
}

fn never_published(at: &ContractRef) -> OpError {
    let message = format!("{at} has version: auto, and this content was never published");
    OpError::no(ErrorCode::NotPublished, message).next(format!("git blue contract log {at}  # list what was published"))
}
