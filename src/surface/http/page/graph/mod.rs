//! The topology as a drawing: contracts in the middle, and the repositories that provide or import them on both sides,
//! each once. The table beside it has the same content in words.

mod layout;
mod narrow;
mod svg;
mod table;

use std::{
    borrow::Cow,
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use maud::{Markup, html};

pub use narrow::{Filter, around};

use super::{
    links::Site,
    pieces::{Tone, count, empty, grouped, names},
};
use crate::{
    model::name::RepoName,
    wire::{ContractTopology, DomainTopology, RealmTopology},
};

/// The maximum number of contracts that are drawn individually. If there are more, a domain is one box.
const MAX_CONTRACTS: usize = 40;
/// The maximum number of domains that are drawn.
const MAX_DOMAINS: usize = 24;
/// The maximum number of repositories that are drawn.
const MAX_REPOS: usize = 60;
/// The maximum number of lines that are drawn.
const MAX_LINES: usize = 240;

/// The subject of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// A realm.
    Realm,
    /// A repository and its neighbors.
    Repo(&'a RepoName),
    /// A domain.
    Domain,
    /// A contract.
    Contract,
}

/// The content of a drawing.
#[derive(Debug)]
struct Graph<'a> {
    groups: Vec<Group<'a>>,
    nodes: Vec<Node<'a>>,
    /// The number of repositories for which there is no room.
    crowded_out: usize,
    /// The number of domains that are not drawn.
    left_out: usize,
    /// The number of contracts of a domain that are not drawn.
    rows_left_out: usize,
    /// Whether contracts are drawn, or only domains.
    has_contracts: bool,
}

/// A domain.
#[derive(Debug)]
struct Group<'a> {
    domain: &'a DomainTopology,
    rows: Vec<Row<'a>>,
}

impl<'a> Group<'a> {
    /// Returns the drawn contracts.
    fn contracts(&self) -> impl Iterator<Item = &'a ContractTopology> {
        self.rows.iter().filter_map(|row| match row {
            Row::Contract(contract) => Some(*contract),
            Row::Domain => None,
        })
    }
}

/// A row: a contract, or all contracts of a domain.
#[derive(Debug)]
enum Row<'a> {
    Contract(&'a ContractTopology),
    Domain,
}

/// A repository and the rows that it is linked to, each with its worst state.
#[derive(Debug)]
struct Node<'a> {
    repo: &'a RepoName,
    column: Column,
    /// Whether it is the subject of the drawing.
    is_focus: bool,
    links: BTreeMap<Link, Stand>,
}

/// The side on which a repository is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Left,
    Right,
}

/// A link of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Link {
    row: usize,
    /// Whether the repository provides the row; otherwise it imports it.
    is_provided: bool,
}

/// The state of a link, from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stand {
    Current,
    Behind,
    Broken,
}

impl Stand {
    fn of(state: &str) -> Self {
        match state {
            "current" => Self::Current,
            "behind" => Self::Behind,
            _ => Self::Broken,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Behind => "behind",
            Self::Broken => "broken",
        }
    }
}

impl<'a> Graph<'a> {
    fn of(body: &'a RealmTopology, scope: Scope<'_>) -> Self {
        let mut domains: Vec<_> = body.domains.iter().filter(|domain| !domain.contracts.is_empty()).collect();
        let contracts: usize = domains.iter().map(|domain| domain.contracts.len()).sum();
        let has_contracts = contracts <= MAX_CONTRACTS || scope == Scope::Domain;
        let left_out = domains.len().saturating_sub(MAX_DOMAINS);
        if left_out > 0 {
            // Draw domains with broken imports first.
            domains.sort_by_key(|domain| broken(domain) == 0);
            domains.truncate(MAX_DOMAINS);
        }
        let groups: Vec<_> = domains.into_iter().map(|domain| group(domain, has_contracts)).collect();
        let rows_left_out = if has_contracts { contracts.saturating_sub(MAX_CONTRACTS) } else { 0 };
        let (nodes, crowded_out) = Links::of(&groups).most_important(scope);
        Self { groups, nodes, crowded_out, left_out, rows_left_out, has_contracts }
    }

    fn caveats(&self) -> Vec<String> {
        let mut said = Vec::new();
        if !self.has_contracts {
            said.push("Grouped by domain: there are too many contracts to show each one.".to_owned());
        }
        for (left_out, drawn, noun) in
            [(self.left_out, self.groups.len(), "domain"), (self.rows_left_out, MAX_CONTRACTS, "contract")]
        {
            if left_out > 0 {
                let drawn = count(drawn, noun);
                said.push(format!("Showing {drawn}, broken ones first; {} omitted.", grouped(left_out)));
            }
        }
        if self.crowded_out > 0 {
            said.push(format!("{} with the fewest links omitted.", count(self.crowded_out, "repository")));
        }
        said
    }
}

/// Returns a domain as it is drawn: as one row, or as its contracts. If there are too many, broken ones come first.
fn group(domain: &DomainTopology, has_contracts: bool) -> Group<'_> {
    if !has_contracts {
        return Group { domain, rows: vec![Row::Domain] };
    }
    let mut contracts: Vec<_> = domain.contracts.iter().collect();
    if contracts.len() > MAX_CONTRACTS {
        contracts.sort_by_key(|contract| !is_broken(contract));
        contracts.truncate(MAX_CONTRACTS);
    }
    Group { domain, rows: contracts.into_iter().map(Row::Contract).collect() }
}

/// The links of each repository.
#[derive(Debug, Default)]
struct Links<'a>(BTreeMap<&'a RepoName, BTreeMap<Link, Stand>>);

impl<'a> Links<'a> {
    fn of(groups: &[Group<'a>]) -> Self {
        let (mut links, mut row) = (Self::default(), 0);
        for group in groups {
            for drawn in &group.rows {
                match drawn {
                    Row::Contract(contract) => links.add_contract(contract, row),
                    Row::Domain => group.domain.contracts.iter().for_each(|one| links.add_contract(one, row)),
                }
                row += 1;
            }
        }
        links
    }

    fn add_contract(&mut self, contract: &'a ContractTopology, row: usize) {
        for repo in contract.providers() {
            self.add(repo, Link { row, is_provided: true }, Stand::Current);
        }
        for import in &contract.importers {
            self.add(&import.repo, Link { row, is_provided: false }, Stand::of(&import.state));
        }
    }

    fn add(&mut self, repo: &'a RepoName, link: Link, stand: Stand) {
        let known = self.0.entry(repo).or_default().entry(link).or_insert(stand);
        *known = stand.max(*known);
    }

    /// Returns the repositories for which there is room, and the number of the others. A repository that provides at
    /// least as much as it imports is on the left; in a drawing of one repository, all others are.
    fn most_important(self, scope: Scope<'_>) -> (Vec<Node<'a>>, usize) {
        let node = |(repo, links): (&'a RepoName, BTreeMap<Link, Stand>)| {
            let is_focus = scope == Scope::Repo(repo);
            let provided = links.keys().filter(|link| link.is_provided).count();
            let is_left = if matches!(scope, Scope::Repo(_)) { !is_focus } else { 2 * provided >= links.len() };
            Node { repo, column: if is_left { Column::Left } else { Column::Right }, is_focus, links }
        };
        let mut nodes: Vec<_> = self.0.into_iter().map(node).collect();
        let all = nodes.len();
        if all > MAX_REPOS || nodes.iter().map(|node| node.links.len()).sum::<usize>() > MAX_LINES {
            nodes.sort_by_key(|node| {
                let worst = node.links.values().max().copied();
                Reverse((node.is_focus, worst == Some(Stand::Broken), node.links.len()))
            });
            let mut lines = 0;
            let room = nodes.iter().take_while(|node| {
                lines += node.links.len();
                lines <= MAX_LINES
            });
            let room = room.count().clamp(1, MAX_REPOS);
            nodes.truncate(room);
        }
        let more = all - nodes.len();
        (nodes, more)
    }
}

fn broken(domain: &DomainTopology) -> usize {
    let imports = domain.contracts.iter().flat_map(|contract| &contract.importers);
    imports.filter(|import| import.state == "broken").count()
}

fn is_broken(contract: &ContractTopology) -> bool {
    contract.importers.iter().any(|import| import.state == "broken")
}

/// Returns the drawing, the table, and the repositories without links.
pub fn section(site: &Site, body: &RealmTopology, scope: Scope<'_>, filter: &Filter) -> Markup {
    // Avoid the copy if possible: copying ten thousand contracts takes as long as drawing them.
    let narrowed = if filter.is_set() { Cow::Owned(filter.narrow(body)) } else { Cow::Borrowed(body) };
    let graph = Graph::of(&narrowed, scope);
    let idle = idle(body);
    let heading = if matches!(scope, Scope::Repo(_)) { "Neighbors" } else { "Providers and consumers" };
    html! {
        section.exchange aria-labelledby="exchange" {
            div.headed {
                h2 #exchange { (heading) }
                (filter.form(site, body, scope))
            }
            @if graph.groups.is_empty() && filter.is_set() {
                (empty("Nothing matches.", None))
            } @else if graph.groups.is_empty() {
                (empty("There are no contracts yet.", Some("git blue contract new DOMAIN/CONTRACT --domain-members A,B")))
            } @else {
                (svg::figure(site, &graph))
                @for caveat in graph.caveats() { p.note { (caveat) } }
                details #words {
                    summary { "Show as a table" }
                    (table::table(site, &graph))
                }
            }
            @if !idle.is_empty() && scope == Scope::Realm {
                p.note { "Without exports or imports: " (names(site, &idle)) "." }
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

/// Returns the word for a state, which is the same in legend and table.
fn word(stand: Stand) -> (&'static str, Tone) {
    match stand {
        Stand::Current => ("in range", Tone::Good),
        Stand::Behind => ("behind, still served", Tone::Warn),
        Stand::Broken => ("broken", Tone::Bad),
    }
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
            deprecated: None,
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
            total: domains.iter().map(|domain| domain.contracts.len()).sum(),
            next_cursor: None,
            broken: domains.iter().map(broken).sum(),
            domains,
            cycles: Vec::new(),
            unreadable: Vec::new(),
        }
    }

    fn site() -> Site {
        Site::now(&"aperture".parse().unwrap())
    }

    fn shown(body: &RealmTopology) -> String {
        section(&site(), body, Scope::Realm, &Filter::default()).into_string()
    }

    #[test]
    fn drawing_and_table_have_the_same_content() {
        let body = realm(1, |_| {
            vec![
                contract("one", Some("a"), &[("b", "current"), ("c", "broken")]),
                contract("two", None, &[("b", "behind")]),
            ]
        });
        let shown = shown(&body);
        assert_eq!(shown.matches("class=\"link current\"").count(), 1, "{shown}");
        assert_eq!(shown.matches("class=\"link provided\"").count(), 1, "{shown}");
        assert_eq!(shown.matches("class=\"link broken\"").count(), 1);
        assert_eq!(shown.matches("class=\"link behind\"").count(), 1);
        assert!(shown.contains("class=\"row lost\"") && shown.contains(">missing<"));
        for word in ["in range", "broken", "behind, still served"] {
            assert!(shown.contains(&format!(">{word}<")), "{word}");
        }
        let idle = "Without exports or imports: <a class=\"name\" href=\"/r/aperture/repos/idler\">idler</a>.";
        assert!(shown.contains(idle), "{shown}");
        // Repositories and contracts are links, and each occurs once.
        for href in ["repos/a", "repos/b", "repos/c", "contracts/domain-000/one"] {
            assert_eq!(
                shown.matches(&format!("class=\"repo\" href=\"/r/aperture/{href}\"")).count()
                    + shown.matches(&format!("class=\"row\" href=\"/r/aperture/{href}\"")).count(),
                1,
                "{href}: {shown}"
            );
        }
        assert_eq!(shown.matches("<svg").count(), 1);
    }

    #[test]
    fn a_link_to_a_domain_shows_its_worst_state() {
        let many = |at: usize| {
            let state = if at == 7 { "broken" } else { "current" };
            (0..50)
                .map(|one| contract(&format!("c{one}"), Some("a"), &[("b", if one == 3 { state } else { "current" })]))
                .collect()
        };
        let body = realm(10, many);
        let graph = Graph::of(&body, Scope::Realm);
        assert!(!graph.has_contracts && graph.left_out == 0);
        let links: Vec<_> = graph.nodes[1].links.values().map(|stand| stand.class()).collect();
        assert_eq!(links.iter().filter(|class| **class == "broken").count(), 1);
        assert_eq!(links[7], "broken");
        assert!(shown(&body).contains("Grouped by domain"));
    }

    #[test]
    fn ten_thousand_contracts_give_a_bounded_page() {
        let many = |at: usize| {
            let consumer = format!("consumer-{at}");
            let state = if at == 199 { "broken" } else { "current" };
            (0..50).map(|one| contract(&format!("c{one}"), Some(&format!("p{at}")), &[(&consumer, state)])).collect()
        };
        let body = realm(200, many);
        let shown = shown(&body);
        assert!(shown.len() < 100_000, "{}", shown.len());
        assert!(shown.contains("Showing 24 domains, broken ones first; 176 omitted."), "{shown}");
        assert!(shown.contains("domain-199") && shown.contains("consumer-199"));
    }

    #[test]
    fn too_many_consumers_are_cut_with_a_note() {
        let consumers: Vec<_> = (0..300).map(|at| format!("c{at:03}")).collect();
        let importers: Vec<_> =
            consumers.iter().map(|name| (&**name, if name == "c299" { "broken" } else { "current" })).collect();
        let body = realm(1, |_| vec![contract("one", Some("a"), &importers)]);
        let graph = Graph::of(&body, Scope::Realm);
        assert_eq!(graph.nodes[0].repo.as_str(), "c299");
        let shown = shown(&body);
        assert!(shown.len() < 40_000, "{}", shown.len());
        assert!(shown.contains("241 repositories with the fewest links omitted.") && shown.contains("and 292 more"));
    }

    #[test]
    fn the_longest_names_fit() {
        let long = "n".repeat(64);
        let mut body = realm(1, |_| vec![contract(&long, Some(&long), &[])]);
        body.domains[0].contracts[0].version = None;
        let place = layout::Layout::of(&Graph::of(&body, Scope::Realm));
        let words = layout::MAX_NAME + "pre-release".len();
        assert!((8 * words..10 * words).contains(&place.columns[1].1), "{place:?}");
        assert!(place.columns[0].1 >= 8 * layout::MAX_NAME, "{place:?}");
        assert!(
            svg::figure(&site(), &Graph::of(&body, Scope::Realm))
                .into_string()
                .contains(&format!(">{}…<", "n".repeat(27)))
        );
    }

    #[test]
    fn an_empty_realm_shows_the_first_step() {
        let shown = shown(&realm(0, |_| Vec::new()));
        assert!(shown.contains("There are no contracts yet") && !shown.contains("<svg"), "{shown}");
    }

    /// Returns a topology in which `me` provides to `down`, imports from `up`, and has nothing to do with `far`.
    fn neighbors() -> RealmTopology {
        realm(1, |_| {
            vec![
                contract("mine", Some("me"), &[("down", "broken"), ("up", "current")]),
                contract("theirs", Some("up"), &[("me", "current"), ("far", "broken")]),
                contract("unrelated", Some("far"), &[("down", "current")]),
            ]
        })
    }

    #[test]
    fn a_repository_is_drawn_with_its_neighbors() {
        let me: RepoName = "me".parse().unwrap();
        let around = around(&neighbors(), &me);
        assert_eq!(around.broken, 1, "what is broken elsewhere does not count");
        let graph = Graph::of(&around, Scope::Repo(&me));
        let nodes: Vec<_> = graph.nodes.iter().map(|node| (node.repo.as_str(), node.column)).collect();
        assert_eq!(nodes, [("down", Column::Left), ("me", Column::Right), ("up", Column::Left)]);
        let shown = section(&site(), &around, Scope::Repo(&me), &Filter::default()).into_string();
        assert!(!shown.contains("unrelated") && !shown.contains("repos/far"), "{shown}");
        assert_eq!(shown.matches("class=\"repo focus\"").count(), 1, "{shown}");
    }

    #[test]
    fn the_broken_filter_keeps_only_broken_imports() {
        let query = crate::surface::http::page::links::Query::parse("broken=1&domain=domain-000");
        let shown = section(&site(), &neighbors(), Scope::Realm, &Filter::of(&query).unwrap()).into_string();
        assert!(shown.contains("contracts/domain-000/mine") && !shown.contains("unrelated"), "{shown}");
        assert!(shown.contains("name=\"broken\" value=\"1\" checked"), "{shown}");
        let query = crate::surface::http::page::links::Query::parse("domain=other");
        let shown = section(&site(), &neighbors(), Scope::Realm, &Filter::of(&query).unwrap()).into_string();
        assert!(shown.contains("Nothing matches."), "{shown}");
    }

    #[test]
    fn linked_items_are_side_by_side() {
        // With these names, all lines would cross if the items were ordered by name.
        let body = realm(4, |at| {
            let consumer = format!("z{}", 9 - at);
            vec![contract("one", Some(&format!("a{}", 9 - at)), &[(&consumer, "current")])]
        });
        let graph = Graph::of(&body, Scope::Realm);
        let place = layout::Layout::of(&graph);
        for (at, node) in graph.nodes.iter().enumerate() {
            let row = node.links.keys().next().unwrap().row;
            assert!(place.rows[row].abs_diff(place.anchor(node, at, row)) < 40, "{}: {place:?}", node.repo);
        }
    }
}
