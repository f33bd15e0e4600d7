//! What the drawing shows, in words.

use maud::{Markup, html};

use super::{Graph, Stand, broken, domain_href, word};
use crate::{
    model::name::RepoName,
    surface::http::page::{
        links,
        pieces::{self, Tone, badge, count, grouped, heads, names},
    },
    wire::{ContractTopology, DomainTopology, RealmTopology},
};

/// Most rows; the list of contracts has them all.
const MAX_ROWS: usize = 60;
/// Most consumers that are named in one row.
const MAX_CONSUMERS: usize = 8;

/// Returns the table: by contract where these are drawn, else by domain.
pub fn table(body: &RealmTopology, graph: &Graph<'_>) -> Markup {
    let contracts =
        || graph.groups.iter().flat_map(|group| group.domain.contracts.iter().map(|one| (group.domain, one)));
    html! {
        div.scroll role="group" aria-label="Exchanges" tabindex="0" {
            table {
                caption.unseen { "Who provides what, and who relies on it" }
                @if graph.has_contracts {
                    (heads(&["Contract", "Version", "Provided by", "Relied on by"], &[]))
                    tbody {
                        @for (domain, contract) in contracts().take(MAX_ROWS) { (by_contract(body, domain, contract)) }
                    }
                } @else {
                    (heads(&["Domain", "Contracts", "Provided by", "Relied on by", "Broken imports"], &[1, 4]))
                    tbody { @for group in graph.groups.iter().take(MAX_ROWS) { (by_domain(body, group.domain)) } }
                }
            }
        }
        @if graph.left_out > 0 {
            p.note {
                (count(graph.left_out, "domain")) " more: "
                a href=(links::part(&body.realm, "contracts", &[])) { "all contracts" } "."
            }
        }
    }
}

fn by_contract(body: &RealmTopology, domain: &DomainTopology, contract: &ContractTopology) -> Markup {
    html! {
        tr {
            th scope="row" { (pieces::contract(&body.realm, &domain.name, &contract.name)) }
            td.version {
                @match (&contract.version, &contract.owner) {
                    (Some(version), _) => { (version) }
                    (None, Some(_)) => { (badge(Tone::Quiet, "pre-release")) }
                    (None, None) => { (badge(Tone::Bad, "missing")) }
                }
            }
            td { (named(&contract.providers())) }
            td {
                @if contract.importers.is_empty() { span.none { "nobody" } }
                ul.inline {
                    @for import in contract.importers.iter().take(MAX_CONSUMERS) {
                        @let (said, tone) = word(Stand::of(&import.state));
                        li { (import.repo) " " code { (import.version_req.to_string()) } " " (badge(tone, said)) }
                    }
                }
                @if let Some(more @ 1..) = contract.importers.len().checked_sub(MAX_CONSUMERS) { "and " (more) " more" }
            }
        }
    }
}

fn by_domain(body: &RealmTopology, domain: &DomainTopology) -> Markup {
    let mut providers: Vec<_> = domain.contracts.iter().flat_map(ContractTopology::providers).collect();
    let mut consumers: Vec<_> =
        domain.contracts.iter().flat_map(|one| &one.importers).map(|import| &import.repo).collect();
    for repos in [&mut providers, &mut consumers] {
        repos.sort_unstable();
        repos.dedup();
    }
    html! {
        tr {
            th scope="row" { a href=(domain_href(body, &domain.name)) { (domain.name) } }
            td.number { (grouped(domain.contracts.len())) }
            td { (named(&providers)) }
            td { (named(&consumers)) }
            td.number {
                @match broken(domain) {
                    0 => { span.none { "none" } }
                    number => { (badge(Tone::Bad, &format!("{} broken", grouped(number)))) }
                }
            }
        }
    }
}

fn named(repos: &[&RepoName]) -> Markup {
    html! { @if repos.is_empty() { span.none { "nobody" } } @else { (names(repos)) } }
}
