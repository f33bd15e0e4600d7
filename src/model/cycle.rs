//! Repositories that rely on each other in a cycle: each provides something that the next one imports, and the last
//! one provides something to the first. There is no order in which such contracts can be changed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::model::{
    binding::Import,
    components,
    domain_summary::DomainSummary,
    name::{ContractName, ContractRef, DomainName, RepoName},
};

/// A provider, a contract and its consumer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The provider.
    pub provider: RepoName,
    /// The contract.
    pub contract: ContractRef,
    /// The consumer.
    pub consumer: RepoName,
}

/// A cycle of links. The consumer of each link is the provider of the next, and the last consumer is the first
/// provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle(Vec<Link>);

impl Cycle {
    /// Returns the links in order.
    pub fn links(&self) -> &[Link] {
        &self.0
    }

    /// Returns the link in which a repository is the consumer, if the repository is part of the cycle.
    pub fn relying(&self, repo: &RepoName) -> Option<&Link> {
        self.0.iter().find(|link| link.consumer == *repo)
    }
}

impl std::fmt::Display for Cycle {
    /// Formats the cycle as `aperture -(s3/paths)-> fungal -(jobs/events)-> aperture`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for link in &self.0 {
            write!(f, "{} -({})-> ", link.provider, link.contract)?;
        }
        self.0.first().map_or(Ok(()), |first| write!(f, "{}", first.provider))
    }
}

/// The providers and consumers of a whole realm.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DependencyGraph {
    /// The consumers of each provider, each with one of the contracts that it relies on.
    to: BTreeMap<RepoName, BTreeMap<RepoName, ContractRef>>,
}

impl DependencyGraph {
    /// Adds the imports and exports of a domain.
    pub fn add(&mut self, domain: &DomainSummary) {
        for (consumer, binding) in &domain.bindings {
            for import in &binding.imports {
                // Of all contracts that one repository imports from another, the first is named.
                let consumers = domain.owner(&import.contract).and_then(|owner| self.to.get(owner));
                if consumers.is_none_or(|consumers| !consumers.contains_key(consumer)) {
                    links(domain, consumer, import).into_iter().for_each(|link| self.insert(link));
                }
            }
        }
    }

    /// Adds one link.
    pub fn insert(&mut self, link: Link) {
        self.to.entry(link.provider).or_default().entry(link.consumer).or_insert(link.contract);
    }

    /// Returns cycles, shortest first, such that every repository that is part of any cycle is part of one of them.
    pub fn cycles(&self) -> Vec<Cycle> {
        let mut left = self.circular();
        let mut found = Vec::new();
        while let Some(cycle) = left.first().and_then(|repo| self.shortest(repo, repo)) {
            for link in cycle.links() {
                left.remove(&link.consumer);
            }
            found.push(cycle);
        }
        found
    }

    /// Returns the cycle that a new link would create, if any.
    pub fn closed_by(&self, link: &Link) -> Option<Cycle> {
        let Cycle(mut way) = self.shortest(&link.consumer, &link.provider)?;
        way.insert(0, link.clone());
        Some(Cycle(way))
    }

    /// Returns the repositories that are part of a cycle.
    fn circular(&self) -> BTreeSet<&RepoName> {
        let providers: Vec<_> = self.to.keys().collect();
        let number = |repo: &RepoName| providers.binary_search(&repo).ok();
        let edges: Vec<Vec<_>> =
            self.to.values().map(|consumers| consumers.keys().filter_map(number).collect()).collect();
        let component = components::of(&edges);
        // A repository is part of a cycle if one of its links stays within the component.
        let is_circular = |at: &usize| edges[*at].iter().any(|to| component[*to] == component[*at]);
        (0..providers.len()).filter(is_circular).map(|at| providers[at]).collect()
    }

    /// Returns the shortest path, of at least one link, from a provider to a consumer that relies on it directly or
    /// indirectly.
    fn shortest(&self, from: &RepoName, to: &RepoName) -> Option<Cycle> {
        let mut before: BTreeMap<&RepoName, (&RepoName, &ContractRef)> = BTreeMap::new();
        let mut open = VecDeque::from([from]);
        while let Some(provider) = open.pop_front() {
            for (consumer, contract) in self.to.get(provider).into_iter().flatten() {
                if before.contains_key(consumer) {
                    continue;
                }
                before.insert(consumer, (provider, contract));
                if consumer == to {
                    return Some(Self::walked(&before, from, to));
                }
                open.push_back(consumer);
            }
        }
        None
    }

    fn walked(before: &BTreeMap<&RepoName, (&RepoName, &ContractRef)>, from: &RepoName, to: &RepoName) -> Cycle {
        let (mut links, mut at) = (Vec::new(), to);
        while let Some((provider, contract)) = before.get(at) {
            let (provider, contract) = ((*provider).clone(), (*contract).clone());
            links.push(Link { provider, contract, consumer: at.clone() });
            at = before[at].0;
            if at == from {
                break;
            }
        }
        links.reverse();
        Cycle(links)
    }
}

/// Returns the repositories that a repository relies on through one import, as links. The provider of a contract is its
/// owner or, if it was never published, each repository that exports it.
pub fn links(domain: &DomainSummary, consumer: &RepoName, import: &Import) -> Vec<Link> {
    let exporters = || {
        let exporting = domain.bindings.iter().filter(|(_, part)| part.export(&import.contract).is_some());
        exporting.map(|(repo, _)| repo.clone()).collect::<Vec<_>>()
    };
    let owner = domain.owner(&import.contract).cloned();
    // A repository that imports its own contract relies on no other repository.
    let providers =
        owner.map_or_else(exporters, |owner| vec![owner]).into_iter().filter(|provider| provider != consumer);
    let contract = || reference(&domain.info.name, &import.contract);
    providers.map(|provider| Link { provider, contract: contract(), consumer: consumer.clone() }).collect()
}

fn reference(domain: &DomainName, contract: &ContractName) -> ContractRef {
    ContractRef { domain: domain.clone(), contract: contract.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Parses edges: `a>b` means that a provides something to b.
    fn provision(edges: &str) -> DependencyGraph {
        let mut provision = DependencyGraph::default();
        for edge in edges.split_whitespace() {
            let link = link(edge);
            provision.to.entry(link.provider).or_default().insert(link.consumer, link.contract);
        }
        provision
    }

    fn link(edge: &str) -> Link {
        let (provider, consumer) = edge.split_once('>').unwrap();
        let contract = reference(&"d".parse().unwrap(), &format!("{provider}{consumer}").parse().unwrap());
        Link { provider: provider.parse().unwrap(), contract, consumer: consumer.parse().unwrap() }
    }

    fn shown(edges: &str) -> Vec<String> {
        provision(edges).cycles().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn shortest_cycles_are_found() {
        assert_eq!(shown("a>b b>c c>d a>d"), [""; 0]);
        assert_eq!(shown("z>a a>b b>a b>y"), ["a -(d/ab)-> b -(d/ba)-> a"]);
        assert_eq!(
            shown("a>b b>c c>a x>y y>x b>x"),
            ["a -(d/ab)-> b -(d/bc)-> c -(d/ca)-> a", "x -(d/xy)-> y -(d/yx)-> x"]
        );
    }

    #[test]
    fn closed_by_returns_the_cycle_that_a_link_would_create() {
        let provision = provision("a>b b>c");
        assert_eq!(provision.closed_by(&link("b>a")).unwrap().to_string(), "b -(d/ba)-> a -(d/ab)-> b");
        assert_eq!(provision.closed_by(&link("c>a")).unwrap().links().len(), 3);
        assert_eq!(provision.closed_by(&link("a>c")), None);
    }

    #[test]
    fn a_long_chain_is_judged_in_time() {
        let begun = std::time::Instant::now();
        let chain: Vec<_> = (0..20_000).map(|at| format!("r{at}>r{}", at + 1)).collect();
        assert_eq!(provision(&chain.join(" ")).cycles(), []);
        assert!(begun.elapsed() < std::time::Duration::from_secs(30), "{:?}", begun.elapsed());
    }

    proptest! {
        /// A repository is part of a cycle if and only if it can reach itself.
        #[test]
        fn every_repository_in_a_cycle_is_reported(edges in prop::collection::vec((0..7u8, 0..7u8), 0..16)) {
            let text: Vec<_> = edges.iter().filter(|(a, b)| a != b).map(|(a, b)| format!("r{a}>r{b}")).collect();
            let provision = provision(&text.join(" "));
            let told: BTreeSet<_> =
                provision.cycles().iter().flat_map(|cycle| cycle.0.clone()).map(|link| link.consumer).collect();
            for number in 0..7u8 {
                let repo: RepoName = format!("r{number}").parse().unwrap();
                prop_assert_eq!(told.contains(&repo), provision.shortest(&repo, &repo).is_some());
            }
            for Cycle(links) in provision.cycles() {
                let next = links.iter().cycle().skip(1);
                prop_assert!(links.iter().zip(next).all(|(one, next)| one.consumer == next.provider));
            }
        }
    }
}
