//! The contract that the consumers of a deprecated one should move to.

use super::{contract::Deprecated, name::ContractName};

/// The maximum number of contracts that are followed.
const MAX_FOLLOWED: usize = 32;

/// The end of a chain of contracts, each of which replaces the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Successor<'a> {
    /// One that nothing replaces, or that is unknown.
    Last(&'a ContractName),
    /// A retired one that nothing replaces.
    Retired(&'a ContractName),
    /// None: this one is replaced by one before it.
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
