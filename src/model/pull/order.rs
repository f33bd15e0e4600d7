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
    /// Repositories that must wait for each other, or for such repositories. No order is right for them.
    pub cyclic: Vec<RepoName>,
    /// The repositories that each one waits for: those that must be merged first, and those that it relies on and that
    /// come before it in this order.
    pub before: Before,
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

    /// Returns the repositories in `repos` that should come before `repo`: those that must, and those that it relies on
    /// unless they must come later.
    fn wanted_before(&self, repo: &RepoName, repos: &BTreeSet<RepoName>, must: &Before) -> BTreeSet<RepoName> {
        let relied_on = self.of(repo, repos).into_iter().filter(|provider| !reached(provider, must).contains(repo));
        let needed = must.get(repo).into_iter().flatten().filter(|needed| repos.contains(*needed)).cloned();
        relied_on.chain(needed).collect()
    }

    /// Returns the repositories in merge order. Ties are broken by name. What a repository relies on gives way to `must`.
    pub fn order(&self, repos: &BTreeSet<RepoName>, must: &Before) -> Order {
        let mut left: Before = repos.iter().map(|repo| (repo.clone(), self.wanted_before(repo, repos, must))).collect();
        let mut order = Order { before: left.clone(), ..Order::default() };
        while let Some(next) = next(&left, must) {
            if order.cyclic.is_empty() && must_wait(&next, &left, must) {
                order.cyclic = left.keys().cloned().collect();
            }
            let late = left.remove(&next).unwrap_or_default();
            if let Some(before) = order.before.get_mut(&next) {
                before.retain(|repo| !late.contains(repo) || is_required(repo, &next, must));
            }
            for waits in left.values_mut() {
                waits.remove(&next);
            }
            order.repos.push(next);
        }
        order
    }
}

/// Returns the repository to merge next. In a cycle, it is one that nothing must precede, if there is any, with the
/// fewest others before it: a repository outside of the cycle that waits for it has more.
fn next(left: &Before, must: &Before) -> Option<RepoName> {
    let free = left.iter().find(|(_, waits)| waits.is_empty());
    let in_cycle = || {
        left.iter().min_by_key(|(repo, waits)| (must_wait(repo, left, must), reached(repo, left).len(), waits.len()))
    };
    free.or_else(in_cycle).map(|(repo, _)| repo.clone())
}

fn is_required(earlier: &RepoName, later: &RepoName, must: &Before) -> bool {
    must.get(later).is_some_and(|required| required.contains(earlier))
}

/// Returns whether a repository that is left must come before `repo`.
fn must_wait(repo: &RepoName, left: &Before, must: &Before) -> bool {
    must.get(repo).into_iter().flatten().any(|earlier| left.contains_key(earlier))
}

/// Returns `repo`, and the repositories before it, directly or indirectly.
pub(super) fn reached<'a>(repo: &'a RepoName, before: &'a Before) -> BTreeSet<&'a RepoName> {
    let (mut seen, mut left) = (BTreeSet::from([repo]), vec![repo]);
    while let Some(one) = left.pop() {
        left.extend(before.get(one).into_iter().flatten().filter(|earlier| seen.insert(*earlier)));
    }
    seen
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

    /// Parses pairs: `a<b` means that a must be merged before b.
    fn required(edges: &str) -> Before {
        reliance(edges).providers
    }

    fn ordered(relies: &str, must: &str, repos: &str) -> (Vec<RepoName>, Vec<RepoName>) {
        let order = reliance(relies).order(&names(repos).into_iter().collect(), &required(must));
        (order.repos, order.cyclic)
    }

    #[test]
    fn providers_come_first_and_ties_are_broken_by_name() {
        assert_eq!(ordered("z<a y<z", "", "a b y z"), (names("b y z a"), vec![]));
    }

    #[test]
    fn repositories_that_are_not_merged_are_ignored() {
        let (reliance, repos) = (reliance("out<a z<a"), names("a z").into_iter().collect());
        assert_eq!(reliance.of(&names("a")[0], &repos), names("z"));
        assert_eq!(reliance.order(&repos, &Before::new()).repos, names("z a"));
    }

    #[test]
    fn imports_alone_never_make_a_cycle() {
        assert_eq!(ordered("a<b b<a b<c", "", "a b c d"), (names("d a b c"), vec![]));
        // What waits for the cycle comes after it, whatever its name.
        assert_eq!(ordered("y<z z<y z<b", "", "b y z"), (names("y z b"), vec![]));
        let order = reliance("a<b b<a").order(&names("a b").into_iter().collect(), &Before::new());
        assert_eq!(order.before, required("a<b").into_iter().chain([(names("a")[0].clone(), [].into())]).collect());
    }

    #[test]
    fn required_order_overrides_reliance() {
        // c and d rely on p; p must wait for d, because of x.
        assert_eq!(ordered("p<c p<d", "x<p d<x", "c d p x"), (names("d x p c"), vec![]));
        // Imports and required edges together form a cycle, once directly and once through b, which requires nothing.
        assert_eq!(ordered("y<z z<y a<z", "z<a", "a y z"), (names("y z a"), vec![]));
        assert_eq!(ordered("a<b a<e b<e", "e<a", "a b e"), (names("b e a"), vec![]));
        // Two repositories that must wait for each other have no order.
        assert_eq!(ordered("", "a<b b<a", "a b").1, names("a b"));
        assert_eq!(ordered("b<c", "a<b b<a a<d", "a b c d"), (names("c a b d"), names("a b d")));
    }

    fn edges(pairs: &[(u8, u8)]) -> String {
        let different = pairs.iter().filter(|(a, b)| a != b);
        different.map(|(a, b)| format!("r{a}<r{b} ")).collect()
    }

    proptest! {
        #[test]
        fn order_respects_what_is_required(
            relies in proptest::collection::vec((0..6_u8, 0..6_u8), 0..15),
            must in proptest::collection::vec((0..6_u8, 0..6_u8), 0..10),
            is_acyclic: bool,
        ) {
            let must: Vec<_> = must.into_iter().filter(|(a, b)| !is_acyclic || a < b).collect();
            let (relies, must) = (reliance(&edges(&relies)), required(&edges(&must)));
            let repos: BTreeSet<RepoName> = (0..6).map(|n| format!("r{n}").parse().unwrap()).collect();
            let order = relies.order(&repos, &must);
            let mut sorted = order.repos.clone();
            sorted.sort();
            prop_assert_eq!(sorted, repos.iter().cloned().collect::<Vec<_>>(), "each repository occurs once");
            prop_assert!(!is_acyclic || order.cyclic.is_empty());
            let in_cycle = |repo: &RepoName| {
                must.get(repo).into_iter().flatten().any(|earlier| reached(earlier, &must).contains(repo))
            };
            for repo in &repos {
                let is_cyclic = reached(repo, &must).into_iter().any(in_cycle);
                prop_assert_eq!(order.cyclic.contains(repo), is_cyclic);
                let required = must.get(repo).cloned().unwrap_or_default();
                let waits = &order.before[repo];
                prop_assert!(required.is_subset(waits));
                let at = order.repos.iter().position(|one| one == repo).unwrap();
                let is_before = |earlier: &RepoName| order.repos[..at].contains(earlier);
                prop_assert!(is_cyclic || waits.iter().all(is_before), "what it waits for comes before it");
                let relied_on = relies.of(repo, &repos);
                prop_assert!(is_cyclic || relied_on.iter().all(|one| !is_before(one) || waits.contains(one)));
            }
        }
    }
}
