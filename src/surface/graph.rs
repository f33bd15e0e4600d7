//! Renders the topology of a realm as a graph for Graphviz and Mermaid. A repository is a box, a contract is an ellipse
//! in the box of its domain, and arrows lead from providers to consumers. Node ids are numbers, so that no name is
//! parsed as syntax; labels are quoted and escaped.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Write as _},
};

use crate::{
    model::name::RepoName,
    wire::{ContractTopology, ImportHealth, ImportStanding, ImportTopology, RealmTopology},
};

/// Returns the graph in the DOT language of Graphviz.
pub fn dot(body: &RealmTopology) -> String {
    let quote = |text: &str| format!("\"{}\"", escaped(text, |c| matches!(c, '"' | '\\'), |c| format!("\\{c}")));
    let mut text = Writer::default();
    text.line(0, format_args!("digraph {} {{", quote(body.realm.as_str())));
    text.line(1, format_args!("rankdir=LR;"));
    let repos = numbered(body);
    for (repo, id) in &repos {
        text.line(1, format_args!("r{id} [shape=box, label={}];", quote(repo.as_str())));
    }
    let mut contract_id = 0;
    for (id, domain) in body.domains.iter().enumerate() {
        text.line(1, format_args!("subgraph cluster_{id} {{"));
        text.line(2, format_args!("label={};", quote(domain.name.as_str())));
        for contract in &domain.contracts {
            let lost = if contract.owner.is_none() { ", color=red, style=dashed" } else { "" };
            text.line(2, format_args!("c{contract_id} [label={}{lost}];", quote(&label(contract))));
            contract_id += 1;
        }
        text.line(1, format_args!("}}"));
    }
    for edge in edges(body, &repos) {
        match edge {
            Edge::Provides { repo, contract } => text.line(1, format_args!("r{repo} -> c{contract};")),
            Edge::Imports { repo, contract, import } => {
                let look = match import.state {
                    ImportStanding::Broken => ", color=red, fontcolor=red, style=dashed",
                    ImportStanding::Behind | ImportStanding::Unknown => ", color=orange, fontcolor=orange",
                    ImportStanding::Current => "",
                };
                text.line(1, format_args!("c{contract} -> r{repo} [label={}{look}];", quote(&reason(import))));
            }
        }
    }
    text.line(0, format_args!("}}"));
    text.0
}

/// Returns the graph as a Mermaid diagram, which forges draw in Markdown.
pub fn mermaid(body: &RealmTopology) -> String {
    // All but the plainest characters become numeric entities, because Mermaid has no escapes within quotes.
    let is_odd = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, ' ' | '.' | '_' | '-' | '/' | ',' | '(' | ')');
    let quote = |text: &str| format!("\"{}\"", escaped(text, is_odd, |c| format!("#{};", u32::from(c))));
    let mut text = Writer::default();
    text.line(0, format_args!("flowchart LR"));
    let repos = numbered(body);
    for (repo, id) in &repos {
        text.line(1, format_args!("r{id}[{}]", quote(repo.as_str())));
    }
    let (mut contract_id, mut lost) = (0, Vec::new());
    for (id, domain) in body.domains.iter().enumerate() {
        text.line(1, format_args!("subgraph d{id}[{}]", quote(domain.name.as_str())));
        for contract in &domain.contracts {
            text.line(2, format_args!("c{contract_id}([{}])", quote(&label(contract))));
            lost.extend(contract.owner.is_none().then(|| format!("c{contract_id}")));
            contract_id += 1;
        }
        text.line(1, format_args!("end"));
    }
    let mut broken = Vec::new();
    for (number, edge) in edges(body, &repos).into_iter().enumerate() {
        match edge {
            Edge::Provides { repo, contract } => text.line(1, format_args!("r{repo} --> c{contract}")),
            Edge::Imports { repo, contract, import } => {
                let is_broken = import.state == ImportStanding::Broken;
                broken.extend(is_broken.then(|| number.to_string()));
                let arrow = if is_broken { "-.->" } else { "-->" };
                text.line(1, format_args!("c{contract} {arrow}|{}| r{repo}", quote(&reason(import))));
            }
        }
    }
    if !broken.is_empty() {
        text.line(1, format_args!("linkStyle {} stroke:red,color:red", broken.join(",")));
    }
    if !lost.is_empty() {
        text.line(1, format_args!("classDef lost stroke:red,stroke-dasharray:4"));
        text.line(1, format_args!("class {} lost", lost.join(",")));
    }
    text.0
}

fn label(contract: &ContractTopology) -> String {
    match (&contract.version, &contract.owner) {
        (Some(version), _) => format!("{} {version}", contract.name),
        (None, Some(_)) => format!("{} (pre-release)", contract.name),
        (None, None) => format!("{} (missing)", contract.name),
    }
}

fn reason(import: &ImportTopology) -> String {
    match import.health() {
        ImportHealth::Current => import.version_req.to_string(),
        health => format!("{} {}", import.version_req, health.word()),
    }
}

/// Escapes a label and drops control characters: a line end would end the statement.
fn escaped(text: &str, is_odd: impl Fn(char) -> bool, spell: impl Fn(char) -> String) -> String {
    let one = |c: char| match c {
        c if c.is_control() => "?".to_owned(),
        c if is_odd(c) => spell(c),
        c => c.to_string(),
    };
    text.chars().map(one).collect()
}

enum Edge<'a> {
    Provides { repo: usize, contract: usize },
    Imports { repo: usize, contract: usize, import: &'a ImportTopology },
}

/// Returns the number of each repository's box. A repository at an arrow gets a box even if the realm no longer knows it.
fn numbered(body: &RealmTopology) -> BTreeMap<&RepoName, usize> {
    let contracts = body.domains.iter().flat_map(|domain| &domain.contracts);
    let ends = contracts.flat_map(|contract| {
        contract.providers().into_iter().chain(contract.importers.iter().map(|import| &import.repo))
    });
    let repos: BTreeSet<_> = body.repos.iter().chain(ends).collect();
    repos.into_iter().enumerate().map(|(id, repo)| (repo, id)).collect()
}

/// Returns the arrows. Contracts are numbered across all domains.
fn edges<'a>(body: &'a RealmTopology, repos: &BTreeMap<&RepoName, usize>) -> Vec<Edge<'a>> {
    let mut edges = Vec::new();
    for (contract, topology) in body.domains.iter().flat_map(|domain| &domain.contracts).enumerate() {
        let providers = topology.providers().into_iter().filter_map(|repo| repos.get(repo));
        edges.extend(providers.map(|repo| Edge::Provides { repo: *repo, contract }));
        let imports = topology.importers.iter().filter_map(|import| Some((*repos.get(&import.repo)?, import)));
        edges.extend(imports.map(|(repo, import)| Edge::Imports { repo, contract, import }));
    }
    edges
}

#[derive(Default)]
struct Writer(String);

impl Writer {
    fn line(&mut self, depth: usize, line: fmt::Arguments<'_>) {
        // Writing to a String does not fail.
        let _ = writeln!(self.0, "{:1$}{line}", "", depth * 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::binding::UsedIn;
    use crate::wire::DomainTopology;

    fn name<T: std::str::FromStr<Err: fmt::Debug>>(text: &str) -> T {
        text.parse().unwrap()
    }

    /// Returns a realm whose names are keywords of both languages, and a range with special characters of both.
    fn realm() -> RealmTopology {
        let import = |range: &str, state| ImportTopology {
            repo: name("graph"),
            version_req: name(range),
            state,
            binding: UsedIn::default(),
            verdict: None,
        };
        let contract = |text: &str, owner: Option<&str>, import| ContractTopology {
            name: name(text),
            version: owner.map(|_| name("1.0.0")),
            owner: owner.map(name),
            exporters: owner.map(name).into_iter().collect(),
            importers: vec![import],
            deprecated: None,
            retired: false,
            yanked: false,
        };
        RealmTopology {
            realm: name("digraph"),
            current_repo: None,
            repos: vec![name("end"), name("node")],
            domains: vec![DomainTopology {
                name: name("subgraph"),
                members: vec![name("end")],
                contracts: vec![
                    contract("class", Some("end"), import(">=1.0.0, <2.0.0", ImportStanding::Current)),
                    contract("edge", None, import("^1.0.0-x", ImportStanding::Broken)),
                ],
            }],
            total: 1,
            next_cursor: None,
            broken: 1,
            cycles: Vec::new(),
            unreadable: Vec::new(),
        }
    }

    #[test]
    fn graphviz_gets_numbered_nodes_and_quoted_labels() {
        insta::assert_snapshot!(dot(&realm()), @r##"
        digraph "digraph" {
          rankdir=LR;
          r0 [shape=box, label="end"];
          r1 [shape=box, label="graph"];
          r2 [shape=box, label="node"];
          subgraph cluster_0 {
            label="subgraph";
            c0 [label="class 1.0.0"];
            c1 [label="edge (missing)", color=red, style=dashed];
          }
          r0 -> c0;
          c0 -> r1 [label=">=1.0.0, <2.0.0"];
          c1 -> r1 [label="^1.0.0-x broken", color=red, fontcolor=red, style=dashed];
        }
        "##);
    }

    #[test]
    fn mermaid_gets_numbered_nodes_and_quoted_labels() {
        insta::assert_snapshot!(mermaid(&realm()), @r##"
        flowchart LR
          r0["end"]
          r1["graph"]
          r2["node"]
          subgraph d0["subgraph"]
            c0(["class 1.0.0"])
            c1(["edge (missing)"])
          end
          r0 --> c0
          c0 -->|"#62;#61;1.0.0, #60;2.0.0"| r1
          c1 -.->|"#94;1.0.0-x broken"| r1
          linkStyle 2 stroke:red,color:red
          classDef lost stroke:red,stroke-dasharray:4
          class c1 lost
        "##);
    }

    #[test]
    fn labels_cannot_end_a_statement() {
        let evil = "a\"b\\c\n]|<script>`#;";
        let in_dot = escaped(evil, |c| matches!(c, '"' | '\\'), |c| format!("\\{c}"));
        assert_eq!(in_dot, "a\\\"b\\\\c?]|<script>`#;");
        let mut shown = realm();
        shown.domains[0].contracts[0].importers[0].version_req = name("<9.0.0");
        let text = mermaid(&shown);
        assert!(text.contains("|\"#60;9.0.0\"|"), "{text}");
    }
}
