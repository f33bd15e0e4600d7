//! Who may publish or change a contract: its owner, or the repository to which the owner offers it, as a member of the
//! domain.

use super::refusal::{Reason, Refusal, not_member, refuse};
use crate::model::{
    domain_view::DomainView,
    name::{ContractName, RepoName},
};

/// Checks that the acting repository is a member that owns the contract, or that its owner offers it to that
/// repository.
///
/// # Errors
/// Returns the refusal otherwise.
pub fn may_publish(domain: &DomainView, acting: &RepoName, name: &ContractName) -> Result<(), Refusal> {
    if is_offered(domain, acting, name) { may_write(domain, acting, name) } else { may_change(domain, acting, name) }
}

/// Checks that the acting repository is a member, that it owns the contract if the contract exists, and that the name
/// does not collide with another.
///
/// # Errors
/// Returns the refusal otherwise.
pub fn may_change(domain: &DomainView, acting: &RepoName, name: &ContractName) -> Result<(), Refusal> {
    may_write(domain, acting, name)?;
    if let Some(owner) = domain.owner(name).filter(|owner| *owner != acting) {
        let transferred = domain.was_transferred_by(acting, name);
        let is_retired = domain.contracts.get(name).is_some_and(|contract| contract.retired.is_some());
        let is_member = domain.info.has_member(owner);
        let also_created = domain.was_created_twice(acting, name);
        let (owner, acting) = (owner.clone(), acting.clone());
        let reason = Reason::NotOwner { owner, acting, transferred, also_created, is_retired, is_member };
        return Err(refuse(domain, name, reason));
    }
    Ok(())
}

/// Returns whether the owner offers the contract to `acting`.
pub fn is_offered(domain: &DomainView, acting: &RepoName, name: &ContractName) -> bool {
    let owner = domain.contracts.get(name).map(|contract| &contract.owner);
    owner.is_some_and(|owner| domain.transfers.get(name).and_then(|record| record.offered(owner)) == Some(acting))
}

/// Checks that the acting repository is a member, and that a new name does not collide with another.
fn may_write(domain: &DomainView, acting: &RepoName, name: &ContractName) -> Result<(), Refusal> {
    if !domain.info.has_member(acting) {
        return Err(not_member(domain, acting));
    }
    if domain.is_damaged(name) && !domain.contracts.contains_key(name) {
        return Err(refuse(domain, name, Reason::Damaged));
    }
    is_distinct(domain, name)
}

/// Checks that a name does not differ from an existing one only in case.
///
/// # Errors
/// Returns the refusal if it does.
pub fn is_distinct(domain: &DomainView, name: &ContractName) -> Result<(), Refusal> {
    if domain.versions.contains_key(name) || domain.contracts.contains_key(name) {
        return Ok(());
    }
    let mut existing = domain.versions.keys().chain(domain.contracts.keys());
    match existing.find(|other| other.collides_with(name)) {
        Some(existing) => Err(refuse(domain, name, Reason::Collides(existing.clone()))),
        None => Ok(()),
    }
}
