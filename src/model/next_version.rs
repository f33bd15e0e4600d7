//! Computes the version that a change to a contract needs.

use std::borrow::Cow;

use super::{
    approval::Approval,
    contract::Contract,
    domain_view::DomainView,
    name::ContractName,
    verdict::{Basis, Judge, Promise, Verdict, VersionBump, needed_bump},
    version::Version,
};
use crate::model::version::Level;

/// The version that a document needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needed {
    /// The version. If it is unknown whether the document breaks consumers, the one to use if it does not.
    pub version: Version,
    /// The version to use if the document breaks consumers, if that is unknown.
    pub if_breaking: Option<Version>,
    /// The promise that it breaks, if any.
    pub broken: Option<String>,
}

/// Returns the version that a document needs. Content that is the same as the current one needs no version above it.
pub fn needed(domain: &DomainView, held: &Contract, document: &Contract, judge: &Judge<'_>) -> Needed {
    if held.has_same_content(document) {
        return Needed { version: held.version.clone(), if_breaking: None, broken: None };
    }
    let bump = needed_bump(held, document, judge);
    // A patch version promises the most, so every broken promise shows.
    let next = Contract { version: held.version.raised(Level::Patch), ..document.clone() };
    let promise = Promise::of(held, &next, judge).filter(|promise| !promise.broken.is_empty());
    // The text need not say which version rejects the witness, since only the current version can.
    let shown = |verdict: &Verdict| match &verdict.difference {
        Some(difference) if verdict.basis == Basis::Schemas => difference.phrase(),
        _ => verdict.phrase(),
    };
    let broken = promise.as_ref().and_then(|promise| promise.broken.first());
    let version = |bump| free_version(domain, document, bump);
    Needed {
        version: version(bump),
        if_breaking: (bump == VersionBump::Unknown).then(|| version(VersionBump::Major)),
        broken: broken.map(|verdict| format!("it breaks {}: {}", verdict.broken(), shown(verdict))),
    }
}

/// Returns the approval of the promises that a document breaks, if a patch version would break some and all of
/// them were approved.
pub fn approved<'d>(
    domain: &'d DomainView,
    held: &Contract,
    document: &Contract,
    judge: &Judge<'_>,
) -> Option<&'d Approval> {
    let approvals = domain.approvals.get(&document.name)?;
    let next = Contract { version: held.version.raised(Level::Patch), ..document.clone() };
    let promise = Promise::of(held, &next, judge).filter(|promise| !promise.broken.is_empty())?;
    promise.approved(approvals.iter()).filter(|_| promise.unknown.is_empty())
}

/// Returns the next version for a change of the current content. It skips published versions: after a rollback, there
/// are some above the current one.
pub fn free_version(domain: &DomainView, document: &Contract, bump: VersionBump) -> Version {
    let held = domain.contracts.get(&document.name).map_or(&document.version, |held| &held.version);
    free(domain, &document.name, bump.after(held), |version| bump.after(version))
}

/// Returns the first version from `version` on that was never published, or the last one if there is none. `next`
/// returns the one after another.
pub fn free(
    domain: &DomainView,
    name: &ContractName,
    mut version: Version,
    next: impl Fn(&Version) -> Version,
) -> Version {
    while domain.versions.get(name).is_some_and(|known| known.contains(&version)) {
        let following = next(&version);
        if following == version {
            break;
        }
        version = following;
    }
    version
}

/// Returns the first pre-release from `version` on that was never published.
pub fn free_prerelease(domain: &DomainView, name: &ContractName, version: Version) -> Version {
    free(domain, name, version, Version::next_prerelease)
}

/// Returns a document with its version, chosen if it is `auto`.
pub fn settled<'d>(domain: &DomainView, document: &'d Contract, judge: &Judge<'_>) -> Cow<'d, Contract> {
    if document.version.is_auto() { Cow::Owned(with_version(domain, document, judge)) } else { Cow::Borrowed(document) }
}

/// Returns a document with the version that its content needs: the current version if the content is unchanged.
pub fn with_version(domain: &DomainView, document: &Contract, judge: &Judge<'_>) -> Contract {
    let version = match domain.contracts.get(&document.name) {
        None => Version::one(),
        Some(held) if held.has_same_content(document) => held.version.clone(),
        Some(held) => {
            let bump = match needed_bump(held, document, judge) {
                VersionBump::Major if approved(domain, held, document, judge).is_some() => VersionBump::Minor,
                bump => bump,
            };
            free_version(domain, document, bump)
        }
    };
    Contract { version, ..document.clone() }
}
