//! Decodes the differences between two states of a domain into changes that a reader is notified of.

use std::collections::BTreeSet;

use super::{own_publications, renamed};
use crate::{
    error::OpError,
    locate::renamed::newer as renamed_to,
    model::{
        binding::{Binding, Import},
        contract::Contract,
        domain_summary::DomainSummary,
        name::{ContractName, RepoName},
        notification::{self, Change, ChangeType, Delta},
        oid::Oid,
        transfer::Transfers,
        version::Version,
    },
    ops::{
        ctx::ActingRepo,
        history::difference::{self, Difference, PathContent},
    },
    store::{
        Store, StoreRef, layout,
        read::{self, Published},
        unless_damaged,
    },
};

/// The meaning of a difference to the reader.
pub(super) enum Decoded {
    Change(Box<Change>),
    Nothing,
    Unreadable,
}

/// Decodes the differences of one domain for one repository, or for anyone.
pub(super) struct ChangeDecoder<'a> {
    pub(super) store: &'a dyn Store,
    /// The repository; `None` for anyone.
    pub(super) me: Option<&'a RepoName>,
    pub(super) domain: &'a DomainSummary,
    pub(super) tree: &'a Oid,
    pub(super) published: &'a Published<'a>,
    /// The contracts that were ever offered to another repository, whether or not it accepted.
    pub(super) transferred: BTreeSet<ContractName>,
}

impl ChangeDecoder<'_> {
    pub(super) fn decode(&self, difference: &Difference) -> Result<Decoded, OpError> {
        let Self { store, me, domain, published, .. } = *self;
        let (name, path) = (&domain.info.name, difference.path.as_str());
        let change = match &difference.of {
            PathContent::Contract(contract) => {
                let versions = published.of(contract)?;
                let delta = difference.delta(store)?.map(|delta| renamed::with_current_owner(store, delta));
                let change = |delta: Delta<Contract>| {
                    let Some(change) = notification::contract_change(name, &versions, me, path, &delta) else {
                        return Ok(None);
                    };
                    let also_created = self.is_of_rivals(contract, &delta)?;
                    Ok::<_, OpError>(Some(Change { also_created, ..change }))
                };
                match delta.transpose()?.map(change).transpose()? {
                    Some(Some(change)) if difference.old.is_none() => Some(self.first(change)?),
                    other => other,
                }
            }
            PathContent::Binding(repo) => difference.delta(store)?.map(|delta| {
                let change = notification::binding_change(name, me, repo, path, &delta)?;
                let (imports, more_imports) =
                    notification::import_changes(&delta, |contract| self.is_readers(contract));
                Some(Change { imports, more_imports, ..change })
            }),
            PathContent::Transfers(contract) => current_parties(store, difference)?.map(|delta| {
                let offered = domain.contracts.get(contract).filter(|offered| offered.retired.is_none())?;
                let change = notification::offer_change(name, (contract, &offered.version), me, path, &delta);
                change.filter(|change| change.from == offered.owner)
            }),
            PathContent::Source(repo) => {
                difference.delta(store)?.map(|delta| notification::left_change(domain, repo, path, &delta))
            }
        };
        Ok(match change {
            Some(Some(change)) => Decoded::Change(Box::new(change)),
            Some(None) => Decoded::Nothing,
            None => Decoded::Unreadable,
        })
    }

    /// Returns what a contract that is new to the reader means: a change of owner if this repository owned it before, and
    /// nothing if it is already retired and not imported.
    fn first(&self, mut change: Change) -> Result<Option<Change>, OpError> {
        let Some(contract) = change.contract.clone() else { return Ok(Some(change)) };
        let was_mine = !change.is_mine && self.was_mine(&contract)?;
        change.also_created = !change.is_mine && !was_mine && self.was_lost(&contract)?;
        Ok(match change.kind {
            ChangeType::ContractAdded if was_mine || change.also_created => {
                Some(Change { kind: ChangeType::OwnerChanged, ..change })
            }
            ChangeType::ContractRetired if was_mine || change.also_created => {
                change.also.push(ChangeType::OwnerChanged);
                Some(change)
            }
            ChangeType::ContractRetired if !self.is_imported(&contract) => None,
            _ => Some(change),
        })
    }

    /// Returns whether a contract belongs to this repository, or whether all count.
    fn is_readers(&self, contract: &ContractName) -> bool {
        self.me.is_none_or(|me| self.domain.owner(contract) == Some(me))
    }

    /// Returns whether this repository, or anyone, imports a contract.
    fn is_imported(&self, contract: &ContractName) -> bool {
        let mut bindings = self.domain.bindings.iter().filter(|(repo, _)| self.me.is_none_or(|me| me == *repo));
        bindings.any(|(_, binding)| binding.import(contract).is_some())
    }

    /// Returns whether this repository offered a contract to its present owner.
    fn was_mine(&self, contract: &ContractName) -> Result<bool, OpError> {
        let Some(me) = self.me else { return Ok(false) };
        Ok(self.transfers(contract)?.was_offered_by(me))
    }

    /// Returns whether this repository created a contract too, and lost it.
    fn was_lost(&self, contract: &ContractName) -> Result<bool, OpError> {
        let Some(versions) = self.domain.conflicts.contracts.get(contract).filter(|_| self.me.is_some()) else {
            return Ok(false);
        };
        for version in versions {
            let folder = layout::losing_contracts(contract, version);
            for entry in unless_damaged(read::folder(self.store, self.tree, folder.as_str()))? {
                let lost = read::readable::<Contract>(self.store, Some(entry.id))?;
                if lost.is_some_and(|lost| Some(&lost.owner) == self.me) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Returns whether a contract has another owner now, although it was not transferred to that owner: both created it.
    fn is_of_rivals(&self, contract: &ContractName, delta: &Delta<Contract>) -> Result<bool, OpError> {
        let (Some((_, old)), Some((_, new))) = (&delta.old, &delta.new) else { return Ok(false) };
        if old.owner == new.owner {
            return Ok(false);
        }
        let [from, to] = [renamed_to(self.store, &old.owner)?, renamed_to(self.store, &new.owner)?];
        let (from, to) = (from.as_ref().unwrap_or(&old.owner), to.as_ref().unwrap_or(&new.owner));
        Ok(!self.transfers(contract)?.reached_from(from).contains(to))
    }

    /// Returns the transfers of a contract, under the current names of the repositories.
    fn transfers(&self, contract: &ContractName) -> Result<Transfers, OpError> {
        let none = || Transfers::of(contract.clone());
        if !self.transferred.contains(contract) {
            return Ok(none());
        }
        let within = StoreRef::Domain(self.domain.info.name.clone());
        let record = read::file::<Transfers>(self.store, &within, self.tree, &layout::transfers(contract));
        let record = unless_damaged(record)?.unwrap_or_else(none);
        Ok(record.with_newer_names(|repo| renamed_to(self.store, repo))?)
    }
}

/// Returns the change of a record of transfers, under the current names of the repositories.
fn current_parties(store: &dyn Store, difference: &Difference) -> Result<Option<Delta<Transfers>>, OpError> {
    let delta = difference.delta(store)?.map(|delta| renamed::with_current_parties(store, delta));
    Ok(delta.transpose()?)
}

/// Returns the contracts of a domain that were offered to another repository.
pub(super) fn transferred(store: &dyn Store, tree: &Oid) -> Result<BTreeSet<ContractName>, OpError> {
    let files = read::folder(store, tree, layout::TRANSFERS)?;
    Ok(files.iter().filter_map(|file| layout::stem(&file.name)).collect())
}

/// Returns the differences for a machine without a baseline: it is assumed to know the versions that the repository's
/// code is adapted to, and the current state of everything else.
pub(super) fn since_adapted(
    acting: ActingRepo<'_>,
    domain: &DomainSummary,
    published: &Published<'_>,
    tree: &Oid,
) -> Result<Vec<Difference>, OpError> {
    let imports = domain.bindings.get(acting.repo).into_iter().flat_map(|binding| &binding.imports);
    let behind: Vec<_> = imports.filter_map(|import| Some((&import.contract, behind(domain, import)?))).collect();
    if behind.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let current = difference::blobs(acting.store, tree, layout::CONTRACTS)?;
    for (contract, version) in behind {
        let path = layout::contract(contract);
        let old = published.document(contract, version)?;
        let new = current.get(&format!("{contract}.json")).copied();
        if let (Some(_), Some(_)) = (old, new) {
            found.push(Difference { path, old, new, of: PathContent::Contract(contract.clone()) });
        }
    }
    Ok(found)
}

/// Treats a contract without a baseline as changed since the version that the repository's code is adapted to, or, if
/// it is the repository's own, since this clone last published it, or else since the version before the current one.
pub(super) fn with_adapted(
    acting: ActingRepo<'_>,
    (domain, tip): (&DomainSummary, &Oid),
    published: &Published<'_>,
    mut differences: Vec<Difference>,
) -> Result<Vec<Difference>, OpError> {
    let imports = domain.bindings.get(acting.repo).map(Binding::by_contract).unwrap_or_default();
    let is_own = |name: &ContractName| domain.contracts.get(name).is_some_and(|one| one.owner == *acting.repo);
    let new = differences.iter().filter(|one| one.old.is_none() && one.new.is_some());
    let own = new.filter_map(|one| match &one.of {
        PathContent::Contract(name) if is_own(name) => Some(name.clone()),
        _ => None,
    });
    let here = own_publications::last(acting, tip, own.collect())?;
    for difference in differences.iter_mut().filter(|one| one.old.is_none() && one.new.is_some()) {
        let PathContent::Contract(name) = &difference.of else { continue };
        if let Some(version) = imports.get(name).and_then(|import| behind(domain, import)) {
            difference.old = published.document(name, version)?;
        } else if let Some(blob) = here.get(name) {
            difference.old = Some(*blob);
        } else if let Some(own) = domain.contracts.get(name).filter(|_| is_own(name)) {
            let versions = published.of(name)?;
            let mut older = versions.range(..own.version.clone()).rev().filter(|version| !version.is_prerelease());
            difference.old = older.next().map(|version| published.document(name, version)).transpose()?.flatten();
        }
    }
    Ok(differences)
}

/// Returns the version that the code of an import was written against, if it is not the current one.
fn behind<'i>(domain: &DomainSummary, import: &'i Import) -> Option<&'i Version> {
    let current = domain.contracts.get(&import.contract).map(|contract| &contract.version);
    import.adapted().filter(|version| Some(*version) != current)
}
