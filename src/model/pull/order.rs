//! Sorts the pull requests of several repositories for merging: as their imports require, and otherwise providers
//! before consumers.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{domain_summary::DomainSummary, name::RepoName};

/// The dependencies between repositories.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependencies {
    providers: BTreeMap<RepoName, BTreeSet<RepoName>>,
}

/// The repositories that must be merged before each repository.
pub type Before = BTreeMap<RepoName, BTreeSet<RepoName>>;

/// A merge order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Order {
    /// All repositories, in merge order.
    pub repos: Vec<RepoName>,
    /// Repositories that are part of a cycle or rely on one. No order is right for them.
    pub cyclic: Vec<RepoName>,
}

impl Dependencies {
    /// Adds the bindings of a domain. A consumer relies on the owner of a contract.
    pub fn add(&mut self, domain: &DomainSummary) {
        for (consumer, binding) in &domain.bindings {
            for import in &binding.imports {
                if let Some(provider) = domain.owner(&import.contract).filter(|provider| *provider != consumer) {
                    self.providers.entry(consumer.clone()).or_default().insert(provider.clone());
                }
            }
        }
    }

    /// Returns the repositories in `repos` that `consumer` relies on directly.
    pub fn of(&self, consumer: &RepoName, repos: &BTreeSet<RepoName>) -> Vec<RepoName> {
        self.providers
            .get(consumer)
            .into_iter()
            .flatten()
            .filter(|provider| repos.contains(*provider))
            .cloned()
            .collect()
    }

    /// Returns the repositories in `repos` that come before `repo`: those that must, and those that it relies on
    /// unless they must come later.
    pub fn before(&self, repo: &RepoName, repos: &BTreeSet<RepoName>, must: &Before) -> BTreeSet<RepoName> {
        let relied_on = self.of(repo, repos).into_iter().filter(|provider| !comes_after(provider, repo, must));
        let needed = must.get(repo).into_iter().flatten().filter(|needed| repos.contains(*needed)).cloned();
        relied_on.chain(needed).collect()
    }

    /// Returns the repositories in merge order. Ties are broken by name.
    pub fn order(&self, repos: &BTreeSet<RepoName>, must: &Before) -> Order {
        let mut left: BTreeMap<&RepoName, BTreeSet<RepoName>> =
            repos.iter().map(|repo| (repo, self.before(repo, repos, must))).collect();
        let mut order = Order::default();
        while !left.is_empty() {
            let free = left.iter().find(|(_, waits)| waits.is_empty()).map(|(repo, _)| (*repo).clone());
            if free.is_none() && order.cyclic.is_empty() {
                order.cyclic = left.keys().map(|repo| (*repo).clone()).collect();
            }
            // In a cycle, the repository that waits for the fewest others comes first.
            let fewest = || left.iter().min_by_key(|(_, waits)| waits.len()).map(|(repo, _)| (*repo).clone());
            let Some(next) = free.or_else(fewest) else { break };
            left.remove(&next);
            for waits in left.values_mut() {
                waits.remove(&next);
            }
            order.repos.push(next);
        }
        order
    }
}

/// Returns whether `later` must be merged after `repo`, directly or indirectly.
fn comes_after(later: &RepoName, repo: &RepoName, must: &Before) -> bool {
    let (mut seen, mut left) = (BTreeSet::new(), vec![later]);
    while let Some(one) = left.pop() {
        for earlier in must.get(one).into_iter().flatten().filter(|earlier| seen.insert(*earlier)) {
            if earlier == repo {
                return true;
            }
            left.push(earlier);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(text: &str) -> Vec<RepoName> {
        text.split_whitespace().map(|name| name.parse().unwrap()).collect()
    }

    /// Parses pairs: `a<b` means that b relies on a.
    fn reliance(edges: &str) -> Dependencies {
        let mut reliance = Dependencies::default();
        for edge in edges.split_whitespace() {
            let (provider, consumer) = edge.split_once('<').unwrap();
            let consumer = reliance.providers.entry(consumer.parse().unwrap()).or_default();
            consumer.insert(provider.parse().unwrap());
        }
        reliance
    }

    #[test]
    fn providers_come_first_and_ties_are_broken_by_name() {
        let order = reliance("z<a y<z").order(&names("a b y z").into_iter().collect(), &Before::new());
        assert_eq!(order, Order { repos: names("b y z a"), cyclic: vec![] });
    }

    #[test]
    fn repositories_that_are_not_merged_are_ignored() {
        let (reliance, repos) = (reliance("out<a z<a"), names("a z").into_iter().collect());
        assert_eq!(reliance.of(&names("a")[0], &repos), names("z"));
        assert_eq!(reliance.order(&repos, &Before::new()).repos, names("z a"));
    }

    #[test]
    fn a_cycle_is_reported_and_still_ordered() {
        let order = reliance("a<b b<a b<c").order(&names("a b c d").into_iter().collect(), &Before::new());
        assert_eq!(order, Order { repos: names("d a b c"), cyclic: names("a b c") });
    }

    #[test]
    fn required_order_overrides_reliance() {
        // c and d rely on p; p must wait for d, because of x.
        let must: Before = [("p", "x"), ("x", "d")]
            .map(|(later, earlier)| (names(later)[0].clone(), names(earlier).into_iter().collect()))
            .into();
        let order = reliance("p<c p<d").order(&names("c d p x").into_iter().collect(), &must);
        assert_eq!(order, Order { repos: names("d x p c"), cyclic: vec![] });
        // Two repositories that must wait for each other have no order.
        let must: Before = [("a", "b"), ("b", "a")]
            .map(|(later, earlier)| (names(later)[0].clone(), names(earlier).into_iter().collect()))
            .into();
        assert_eq!(Dependencies::default().order(&names("a b").into_iter().collect(), &must).cyclic, names("a b"));
    }

    proptest! {
        #[test]
        fn every_repository_occurs_once(edges in proptest::collection::vec((0..6_u8, 0..6_u8), 0..15)) {
            let name = |n: u8| format!("r{n}");
            let text: Vec<_> = edges.iter().filter(|(a, b)| a != b).map(|(a, b)| format!("{}<{}", name(*a), name(*b))).collect();
            let repos: BTreeSet<RepoName> = (0..6).map(|n| name(n).parse().unwrap()).collect();
            let reliance = reliance(&text.join(" "));
            let order = reliance.order(&repos, &Before::new());
            let mut sorted = order.repos.clone();
            sorted.sort();
            prop_assert_eq!(sorted, repos.iter().cloned().collect::<Vec<_>>());
            for (at, repo) in order.repos.iter().enumerate() {
                for provider in reliance.of(repo, &repos) {
                    let is_before = order.repos[..at].contains(&provider);
                    prop_assert!(is_before || order.cyclic.contains(repo));
                }
            }
        }
    }
}
