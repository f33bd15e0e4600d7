//! The topology as a drawing: contracts in the middle, and on both sides the repositories that
//! provide or import them, each once. A table on the same page has the same content as text.

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
    components::{Tone, count, empty, grouped, names},
    links::Site,
};
use crate::{
    model::name::RepoName,
    wire::{ContractTopology, DomainTopology, ImportHealth, ImportStanding, RealmTopology},
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
    Realm,
    /// A repository and its neighbors.
    Repo(&'a RepoName),
    Domain,
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
    links: BTreeMap<Link, ImportHealth>,
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
struct Links<'a>(BTreeMap<&'a RepoName, BTreeMap<Link, ImportHealth>>);

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
            self.add(repo, Link { row, is_provided: true }, ImportHealth::Current);
        }
        for import in &contract.importers {
            self.add(&import.repo, Link { row, is_provided: false }, import.health());
        }
    }

    fn add(&mut self, repo: &'a RepoName, link: Link, health: ImportHealth) {
        let known = self.0.entry(repo).or_default().entry(link).or_insert(health);
        *known = health.max(*known);
    }

    /// Returns the repositories for which there is room, and the number of the others. A repository that provides at
    /// least as much as it imports is on the left; in a drawing of one repository, all others are.
    fn most_important(self, scope: Scope<'_>) -> (Vec<Node<'a>>, usize) {
        let node = |(repo, links): (&'a RepoName, BTreeMap<Link, ImportHealth>)| {
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
                Reverse((node.is_focus, worst == Some(ImportHealth::Broken), node.links.len()))
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
    imports.filter(|import| import.state == ImportStanding::Broken).count()
}

fn is_broken(contract: &ContractTopology) -> bool {
    contract.importers.iter().any(|import| import.state == ImportStanding::Broken)
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
                (empty("There are no contracts yet.", Some("git blue contract new …/… --domain-members …")))
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
fn word(health: ImportHealth) -> (&'static str, Tone) {
    match health {
        ImportHealth::Current => ("in range", Tone::Good),
        ImportHealth::Behind => ("behind, still served", Tone::Warn),
        ImportHealth::Unknown => ("unknown", Tone::Warn),
        ImportHealth::Broken => ("broken", Tone::Bad),
    }
}

#[cfg(test)]
mod tests;
