//! Graphs of realms of all sizes.

use serde_json::json;

use super::*;

fn contract(name: &str, owner: Option<&str>, importers: &[(&str, &'static str)]) -> ContractTopology {
    let import = |(repo, state): &(&str, &'static str)| json!({"repo": repo, "version_req": "^1.0.0", "state": state, "binding": []});
    let importers: Vec<_> = importers.iter().map(import).collect();
    let version = owner.map(|_| "1.0.0");
    let contract = json!({"name": name, "version": version, "owner": owner, "exporters": [], "importers": importers});
    serde_json::from_value(contract).unwrap()
}

fn realm(domains: usize, contracts: impl Fn(usize) -> Vec<ContractTopology>) -> RealmTopology {
    let domain = |at: usize| {
        let name = format!("domain-{at:03}").parse().unwrap();
        DomainTopology { name, members: Vec::new(), contracts: contracts(at) }
    };
    let domains: Vec<_> = (0..domains).map(domain).collect();
    let (total, broken) =
        (domains.iter().map(|domain| domain.contracts.len()).sum::<usize>(), domains.iter().map(broken).sum::<usize>());
    let realm = json!({
        "realm": "aperture", "repos": ["a", "idler"], "total": total, "broken": broken, "domains": domains,
        "unreadable": [],
    });
    serde_json::from_value(realm).unwrap()
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
    let links: Vec<_> = graph.nodes[1].links.values().map(|health| health.word()).collect();
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
        svg::figure(&site(), &Graph::of(&body, Scope::Realm)).into_string().contains(&format!(">{}…<", "n".repeat(27)))
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
