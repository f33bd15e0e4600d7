//! Who provides and who relies on what, as a drawing in three columns: providers, what they provide,
//! consumers. The table beside it says the same in words, for everybody.

mod layout;
mod svg;
mod table;

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::pieces::{Tone, count, empty, grouped, names};
use crate::{
    model::name::{DomainName, RepoName},
    wire::{ContractTopology, DomainTopology, RealmTopology},
};

/// Most contracts that are drawn one by one; where there are more, a domain is one box.
const MAX_CONTRACTS: usize = 40;
/// Most domains that are drawn.
const MAX_DOMAINS: usize = 24;
/// Most repositories of one column.
const MAX_REPOS: usize = 40;

/// What is drawn.
#[derive(Debug)]
struct Graph<'a> {
    groups: Vec<Group<'a>>,
    providers: Vec<Side<'a>>,
    consumers: Vec<Side<'a>>,
    /// Repositories that found no place in their column.
    crowded_out: usize,
    /// Domains that are not drawn.
    left_out: usize,
    /// Whether contracts are drawn, or domains alone.
    has_contracts: bool,
}

/// A domain.
#[derive(Debug)]
struct Group<'a> {
    domain: &'a DomainTopology,
    rows: Vec<Row<'a>>,
}

/// What is provided: a contract, or everything in a domain.
#[derive(Debug)]
enum Row<'a> {
    Contract(&'a ContractTopology),
    Domain,
}

/// A repository on one side, and the rows it is linked to, each with the worst that is to be said.
#[derive(Debug)]
struct Side<'a> {
    repo: &'a RepoName,
    links: BTreeMap<usize, Stand>,
}

/// How a link stands; the worse, the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stand {
    Current,
    Stale,
    Broken,
}

impl Stand {
    fn of(state: &str) -> Self {
        match state {
            "current" => Self::Current,
            "stale" => Self::Stale,
            _ => Self::Broken,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Stale => "stale",
            Self::Broken => "broken",
        }
    }
}

impl<'a> Graph<'a> {
    fn of(body: &'a RealmTopology) -> Self {
        let mut domains: Vec<_> = body.domains.iter().filter(|domain| !domain.contracts.is_empty()).collect();
        let contracts: usize = domains.iter().map(|domain| domain.contracts.len()).sum();
        let has_contracts = contracts <= MAX_CONTRACTS;
        let left_out = domains.len().saturating_sub(MAX_DOMAINS);
        if left_out > 0 {
            // What is broken must be on it.
            domains.sort_by_key(|domain| broken(domain) == 0);
            domains.truncate(MAX_DOMAINS);
        }
        let (mut providers, mut consumers) = (Links::default(), Links::default());
        let mut groups = Vec::new();
        let mut row = 0;
        for domain in domains {
            let first = row;
            for contract in &domain.contracts {
                for repo in contract.providers() {
                    providers.add(repo, row, Stand::Current);
                }
                for import in &contract.importers {
                    consumers.add(&import.repo, row, Stand::of(&import.state));
                }
                row += usize::from(has_contracts);
            }
            row = if has_contracts { row } else { first + 1 };
            let rows = match has_contracts {
                true => domain.contracts.iter().map(Row::Contract).collect(),
                false => vec![Row::Domain],
            };
            groups.push(Group { domain, rows });
        }
        let (providers, more_providers) = providers.most_important();
        let (consumers, more_consumers) = consumers.most_important();
        Self { groups, providers, consumers, crowded_out: more_providers + more_consumers, left_out, has_contracts }
    }

    fn caveats(&self) -> Vec<String> {
        let mut said = Vec::new();
        if !self.has_contracts {
            said.push("Drawn by domain: there are too many contracts to draw each.".to_owned());
        }
        if self.left_out > 0 {
            let drawn = count(self.groups.len(), "domain");
            said.push(format!("{drawn} drawn, those with something broken first; {} are not.", grouped(self.left_out)));
        }
        if self.crowded_out > 0 {
            said.push(format!("{} with fewer links left out.", count(self.crowded_out, "repository")));
        }
        said
    }
}

/// The links of one side as they are found.
#[derive(Debug, Default)]
struct Links<'a>(BTreeMap<&'a RepoName, BTreeMap<usize, Stand>>);

impl<'a> Links<'a> {
    fn add(&mut self, repo: &'a RepoName, row: usize, stand: Stand) {
        let known = self.0.entry(repo).or_default().entry(row).or_insert(stand);
        *known = stand.max(*known);
    }

    /// Returns the repositories that there is room for, and how many others there are.
    fn most_important(self) -> (Vec<Side<'a>>, usize) {
        let mut sides: Vec<_> = self.0.into_iter().map(|(repo, links)| Side { repo, links }).collect();
        let more = sides.len().saturating_sub(MAX_REPOS);
        if more > 0 {
            sides.sort_by_key(|side| {
                let worst = side.links.values().max().copied();
                std::cmp::Reverse((worst == Some(Stand::Broken), side.links.len()))
            });
            sides.truncate(MAX_REPOS);
        }
        (sides, more)
    }
}

fn broken(domain: &DomainTopology) -> usize {
    let imports = domain.contracts.iter().flat_map(|contract| &contract.importers);
    imports.filter(|import| import.state == "broken").count()
}

/// Returns the drawing, the words, and who takes no part.
pub fn section(body: &RealmTopology) -> Markup {
    let graph = Graph::of(body);
    let idle = idle(body);
    html! {
        section aria-labelledby="exchange" {
            h2 #exchange { "Who provides, who relies on it" }
            @if graph.groups.is_empty() {
                (empty("Nothing is exchanged yet.", Some("git blue realm admin domain --name DOMAIN --repos A,B")))
            } @else {
                (svg::figure(body, &graph))
                @for caveat in graph.caveats() { p.note { (caveat) } }
                (table::table(body, &graph))
            }
            @if !idle.is_empty() {
                p.note { "Without a part in any exchange: " (names(&idle)) "." }
            }
        }
    }
}

fn idle(body: &RealmTopology) -> Vec<&RepoName> {
    let contracts = body.domains.iter().flat_map(|domain| &domain.contracts);
    let busy: BTreeSet<&RepoName> = contracts
        .flat_map(|contract| {
            contract.providers().into_iter().chain(contract.importers.iter().map(|import| &import.repo))
        })
        .collect();
    body.repos.iter().filter(|repo| !busy.contains(repo)).collect()
}

/// The legend's words, the same in drawing and table.
fn word(stand: Stand) -> (&'static str, Tone) {
    match stand {
        Stand::Current => ("in range", Tone::Good),
        Stand::Stale => ("behind, still served", Tone::Warn),
        Stand::Broken => ("broken", Tone::Bad),
    }
}

/// Returns the contracts of a domain, as the list of contracts shows them.
fn domain_href(body: &RealmTopology, domain: &DomainName) -> String {
    super::links::part(&body.realm, "contracts", &[("domain", domain.as_str())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::binding::UsedIn;
    use crate::wire::ImportTopology;

    fn contract(name: &str, owner: Option<&str>, importers: &[(&str, &'static str)]) -> ContractTopology {
        let import = |(repo, state): &(&str, &'static str)| ImportTopology {
            repo: repo.parse().unwrap(),
            version_req: "^1.0.0".parse().unwrap(),
            state: (*state).into(),
            binding: UsedIn::default(),
            verdict: None,
        };
        ContractTopology {
            name: name.parse().unwrap(),
            version: owner.map(|_| "1.0.0".parse().unwrap()),
            owner: owner.map(|owner| owner.parse().unwrap()),
            exporters: Vec::new(),
            importers: importers.iter().map(import).collect(),
        }
    }

    fn realm(domains: usize, contracts: impl Fn(usize) -> Vec<ContractTopology>) -> RealmTopology {
        let domain = |at: usize| DomainTopology {
            name: format!("domain-{at:03}").parse().unwrap(),
            members: Vec::new(),
            contracts: contracts(at),
        };
        let domains: Vec<_> = (0..domains).map(domain).collect();
        RealmTopology {
            realm: "aperture".parse().unwrap(),
            current_repo: None,
            repos: vec!["a".parse().unwrap(), "idler".parse().unwrap()],
            broken: domains.iter().map(broken).sum(),
            domains,
            unreadable: Vec::new(),
        }
    }

    #[test]
    fn drawing_and_table_say_the_same() {
        let body = realm(1, |_| {
            vec![
                contract("one", Some("a"), &[("b", "current"), ("c", "broken")]),
                contract("two", None, &[("b", "stale")]),
            ]
        });
        let shown = section(&body).into_string();
        assert_eq!(shown.matches("class=\"link current\"").count(), 2, "{shown}");
        assert_eq!(shown.matches("class=\"link broken\"").count(), 1);
        assert_eq!(shown.matches("class=\"link stale\"").count(), 1);
        assert!(shown.contains("class=\"row lost\"") && shown.contains(">missing<"));
        for word in ["in range", "broken", "behind, still served"] {
            assert!(shown.contains(&format!(">{word}<")), "{word}");
        }
        assert!(shown.contains("Without a part in any exchange: idler."));
        // The drawing is for eyes alone, and no key leads into it.
        assert!(shown.contains("aria-hidden=\"true\" focusable=\"false\""));
        assert_eq!(shown.matches("<svg").count(), 1);
    }

    #[test]
    fn a_link_shows_the_worst_of_a_domain() {
        let many = |at: usize| {
            let state = if at == 7 { "broken" } else { "current" };
            (0..50)
                .map(|one| contract(&format!("c{one}"), Some("a"), &[("b", if one == 3 { state } else { "current" })]))
                .collect()
        };
        let body = realm(10, many);
        let graph = Graph::of(&body);
        assert!(!graph.has_contracts && graph.left_out == 0);
        let links: Vec<_> = graph.consumers[0].links.values().map(|stand| stand.class()).collect();
        assert_eq!(links.iter().filter(|class| **class == "broken").count(), 1);
        assert_eq!(links[7], "broken");
        assert!(section(&body).into_string().contains("Drawn by domain"));
    }

    #[test]
    fn ten_thousand_contracts_give_a_bounded_page() {
        let many = |at: usize| {
            let consumer = format!("consumer-{at}");
            let state = if at == 199 { "broken" } else { "current" };
            (0..50).map(|one| contract(&format!("c{one}"), Some(&format!("p{at}")), &[(&consumer, state)])).collect()
        };
        let body = realm(200, many);
        let shown = section(&body).into_string();
        assert!(shown.len() < 100_000, "{}", shown.len());
        assert!(shown.contains("24 domains drawn, those with something broken first; 176 are not."), "{shown}");
        assert!(shown.contains("domain-199") && shown.contains("consumer-199"));
    }

    #[test]
    fn a_crowd_of_consumers_is_cut_and_said() {
        let consumers: Vec<_> = (0..300).map(|at| format!("c{at:03}")).collect();
        let importers: Vec<_> =
            consumers.iter().map(|name| (&**name, if name == "c299" { "broken" } else { "current" })).collect();
        let body = realm(1, |_| vec![contract("one", Some("a"), &importers)]);
        let graph = Graph::of(&body);
        assert_eq!(graph.consumers[0].repo.as_str(), "c299");
        let shown = section(&body).into_string();
        assert!(shown.len() < 40_000, "{}", shown.len());
        assert!(shown.contains("260 repositories with fewer links left out.") && shown.contains("and 292 more"));
    }

    #[test]
    fn the_longest_names_have_room() {
        let long = "n".repeat(64);
        let mut body = realm(1, |_| vec![contract(&long, Some(&long), &[])]);
        body.domains[0].contracts[0].version = None;
        let place = layout::Layout::of(&Graph::of(&body));
        let words = layout::MAX_NAME + "pre-release".len();
        assert!((8 * words..10 * words).contains(&place.columns[1].1), "{place:?}");
        assert!(place.columns[0].1 >= 8 * layout::MAX_NAME, "{place:?}");
        assert!(svg::figure(&body, &Graph::of(&body)).into_string().contains(&format!(">{}…<", "n".repeat(27))));
    }

    #[test]
    fn an_empty_realm_says_how_to_begin() {
        let shown = section(&realm(0, |_| Vec::new())).into_string();
        assert!(shown.contains("Nothing is exchanged yet") && !shown.contains("<svg"), "{shown}");
    }
}
