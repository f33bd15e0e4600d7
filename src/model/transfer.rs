//! Transfers of a contract: its owner offers it, and another repository accepts it by publishing it from its own files.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::name::{ContractName, RepoName};

/// The content of `transfers/<contract>.json`: all transfers of a contract, oldest first. They are kept so that every
/// machine can verify how the owner came to own the contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfers {
    /// The contract.
    pub contract: ContractName,
    /// The transfers. The last one may still be open.
    pub transfers: Vec<Transfer>,
}

/// One transfer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// The owner who offered the contract.
    pub from: RepoName,
    /// The repository that it was offered to.
    pub to: RepoName,
}

impl Transfers {
    /// Creates the record of a contract that was never transferred.
    pub fn of(contract: ContractName) -> Self {
        Self { contract, transfers: Vec::new() }
    }

    /// Returns the repository that `owner` offers the contract to, if that offer is still open.
    pub fn offered(&self, owner: &RepoName) -> Option<&RepoName> {
        self.transfers.last().filter(|last| last.from == *owner).map(|last| &last.to)
    }

    /// Returns whether `owner` ever offered the contract to another repository.
    pub fn was_offered_by(&self, owner: &RepoName) -> bool {
        self.transfers.iter().any(|one| one.from == *owner)
    }

    /// Returns the record with an open offer replaced by this one, or removed if `to` is `None`.
    #[must_use]
    pub fn offering(mut self, owner: &RepoName, to: Option<&RepoName>) -> Self {
        if self.offered(owner).is_some() {
            self.transfers.pop();
        }
        self.transfers.extend(to.map(|to| Transfer { from: owner.clone(), to: to.clone() }));
        self
    }

    /// Returns the record with other names for repositories.
    #[must_use]
    pub fn named(&self, names: &BTreeMap<RepoName, RepoName>) -> Self {
        let named = |repo: &RepoName| names.get(repo).unwrap_or(repo).clone();
        let transfers = self.transfers.iter().map(|one| Transfer { from: named(&one.from), to: named(&one.to) });
        Self { contract: self.contract.clone(), transfers: transfers.collect() }
    }

    /// Returns the record with the newer names of repositories that were renamed. A record may have a name from before a
    /// rename beside one from after it.
    ///
    /// # Errors
    /// Returns the errors of `newer`.
    pub fn with_newer_names<E>(&self, newer: impl Fn(&RepoName) -> Result<Option<RepoName>, E>) -> Result<Self, E> {
        let mut names = BTreeMap::new();
        for repo in self.parties() {
            names.extend(newer(repo)?.map(|newer| (repo.clone(), newer)));
        }
        Ok(self.named(&names))
    }

    /// Returns both repositories of each transfer.
    pub fn parties(&self) -> impl Iterator<Item = &RepoName> {
        self.transfers.iter().flat_map(|one| [&one.from, &one.to])
    }

    /// Returns `from`, and the repositories that a contract may have reached from there by the recorded transfers.
    pub fn reached_from<'a>(&'a self, from: &'a RepoName) -> BTreeSet<&'a RepoName> {
        self.transfers.iter().fold(BTreeSet::from([from]), |mut reached, transfer| {
            if reached.contains(&transfer.from) {
                reached.insert(&transfer.to);
            }
            reached
        })
    }

    /// Returns the current owner, assuming that `first` was the first owner and every offer was accepted.
    pub fn owner<'a>(&'a self, first: &'a RepoName) -> &'a RepoName {
        self.transfers.iter().fold(first, |owner, transfer| if transfer.from == *owner { &transfer.to } else { owner })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_is_open_until_accepted_and_stays_in_the_record() {
        let [a, b, c]: [RepoName; 3] = ["a", "b", "c"].map(|name| name.parse().unwrap());
        let record = Transfers::of("paths".parse().unwrap()).offering(&a, Some(&b));
        assert_eq!((record.offered(&a), record.offered(&b)), (Some(&b), None));
        let elsewhere = record.clone().offering(&a, Some(&c));
        assert_eq!((elsewhere.offered(&a), elsewhere.transfers.len()), (Some(&c), 1));
        assert_eq!(record.clone().offering(&a, None).transfers, []);
        // b has accepted the contract and offers it to c.
        let on = record.offering(&b, Some(&c));
        assert_eq!((on.offered(&b), on.transfers.len(), on.owner(&a)), (Some(&c), 2, &c));
        assert_eq!(on.reached_from(&a), [&a, &b, &c].into());
        assert_eq!(on.reached_from(&c), [&c].into());
        // b was renamed before it offered the contract.
        let d: RepoName = "d".parse().unwrap();
        let newer = |repo: &RepoName| Ok::<_, ()>((*repo == b).then(|| d.clone()));
        let renamed = Transfers::of("paths".parse().unwrap()).offering(&a, Some(&b)).offering(&d, Some(&c));
        assert!(!renamed.reached_from(&a).contains(&c));
        assert!(renamed.with_newer_names(newer).unwrap().reached_from(&a).contains(&c));
    }
}
