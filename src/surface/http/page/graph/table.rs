//! Renders the content of the drawing as a table.

use maud::{Markup, html};

use super::{Graph, broken, word};
use crate::{
    surface::http::page::{
        components::{self, Tone, badge, cell, count, grouped, names, state},
        links::Site,
    },
    wire::{ContractState, ContractTopology, DomainTopology, ImportHealth},
};

/// The maximum number of rows; the list of contracts has all of them.
const MAX_ROWS: usize = 60;
/// The maximum number of consumers that are named in one row.
const MAX_CONSUMERS: usize = 8;

/// Returns the table: by contract if contracts are drawn, otherwise by domain.
pub fn table(site: &Site, graph: &Graph<'_>) -> Markup {
    let contracts = graph.groups.iter().flat_map(|group| group.contracts().map(|one| (group.domain, one)));
    let caption = "Providers and consumers";
    html! {
        @if graph.has_contracts {
            (components::table(caption, &["Contract", "Version", "Provider", "Consumers"], &html! {
                @for (domain, contract) in contracts.take(MAX_ROWS) { (by_contract(site, domain, contract)) }
            }))
        } @else {
            (components::table(caption, &["Domain", "Contracts", "Provider", "Consumers", "Broken imports"], &html! {
                @for group in graph.groups.iter().take(MAX_ROWS) { (by_domain(site, group.domain)) }
            }))
        }
        @if graph.left_out > 0 {
            p.note {
                (count(graph.left_out, "domain")) " more: "
                a href=(site.part("contracts", &[])) { "all contracts" } "."
            }
        }
    }
}

fn by_contract(site: &Site, domain: &DomainTopology, contract: &ContractTopology) -> Markup {
    html! {
        tr {
            th scope="row" { (components::contract(site, &domain.name, &contract.name)) }
            td.version data-column="Version" {
                @match (&contract.version, &contract.owner) {
                    (Some(version), _) => { (version) }
                    (None, Some(_)) => { (badge(Tone::Quiet, "pre-release")) }
                    (None, None) => { (badge(Tone::Bad, "missing")) }
                }
                @if contract.retired { (state(ContractState::Retired)) } @else if contract.yanked { (state(ContractState::Yanked)) }
            }
            (cell("Provider", &names(site, &contract.providers())))
            (cell("Consumers", &importers(site, contract)))
        }
    }
}

fn importers(site: &Site, contract: &ContractTopology) -> Markup {
    html! {
        @if contract.importers.is_empty() { span.none { "nobody" } }
        ul.inline {
            @for import in contract.importers.iter().take(MAX_CONSUMERS) {
                @let health = import.health();
                li {
                    (components::repo(site, &import.repo)) " " code { (import.version_req.to_string()) }
                    @if health != ImportHealth::Current { " " (badge(word(health).1, word(health).0)) }
                }
            }
        }
        @if let Some(more @ 1..) = contract.importers.len().checked_sub(MAX_CONSUMERS) { "and " (more) " more" }
    }
}

fn by_domain(site: &Site, domain: &DomainTopology) -> Markup {
    let mut providers: Vec<_> = domain.contracts.iter().flat_map(ContractTopology::providers).collect();
    let mut consumers: Vec<_> =
        domain.contracts.iter().flat_map(|one| &one.importers).map(|import| &import.repo).collect();
    for repos in [&mut providers, &mut consumers] {
        repos.sort_unstable();
        repos.dedup();
    }
    html! {
        tr {
            th scope="row" { a href=(site.domain(&domain.name)) { (domain.name) } }
            td.number data-column="Contracts" { (grouped(domain.contracts.len())) }
            (cell("Provider", &names(site, &providers)))
            (cell("Consumers", &names(site, &consumers)))
            (cell("Broken imports", &html! {
                @match broken(domain) {
                    0 => { span.none { "none" } }
                    number => { (badge(Tone::Bad, &format!("{} broken", grouped(number)))) }
                }
            }))
        }
    }
}
