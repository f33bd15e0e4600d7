//! The contract that the consumers of a deprecated one should move to.

use super::{contract::Deprecated, name::ContractName};

/// The maximum number of contracts that are followed.
const MAX_FOLLOWED: usize = 32;

/// The end of a chain of contracts, each of which replaces the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Successor<'a> {
    /// The last contract of the chain: nothing replaces it, or the domain does not have it.
    Last(&'a ContractName),
    /// The last contract of the chain is retired, and nothing replaces it.
    Retired(&'a ContractName),
    /// The chain has no end: this contract is replaced by one that comes before it in the chain.
    Circle(&'a ContractName),
}

impl<'a> Successor<'a> {
    /// Follows the contracts from the `first` one. `state` returns the deprecation of a contract, and whether it is retired.
    pub fn of(
        contract: &'a ContractName,
        first: &'a ContractName,
        state: impl Fn(&ContractName) -> Option<(Option<&'a Deprecated>, bool)>,
    ) -> Self {
        let (mut seen, mut last) = (vec![contract], first);
        loop {
            let (deprecated, is_retired) = state(last).unwrap_or_default();
            match deprecated.and_then(|deprecated| deprecated.replaced_by.as_ref()) {
                Some(_) if seen.len() > MAX_FOLLOWED => return Self::Last(last),
                Some(next) if next == last || seen.contains(&next) => return Self::Circle(last),
                Some(next) => {
                    seen.push(last);
                    last = next;
                }
                None if is_retired => return Self::Retired(last),
                None => return Self::Last(last),
            }
        }
    }
}
