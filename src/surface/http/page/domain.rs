//! `/r/REALM/domains/DOMAIN`: a domain: its members, their contracts, and its latest changes.

use maud::{Markup, html};

use super::{
    attention,
    components::{Tone, count, names},
    frame::{Page, Part},
    graph::{self, Filter, Scope},
    links::{Query, Site},
    overview::{history, latest, number},
};
use crate::{
    error::OpError,
    model::name::{DomainName, RepoName},
    ops::{ctx::Ctx, realm},
    wire::{LogEntry, RealmTopology},
};

/// The maximum number of log entries.
const MAX_LOG: usize = 12;

/// Returns the page.
///
/// # Errors
/// Returns an error if there is no such domain, or it cannot be read.
pub fn page(site: &Site, ctx: &Ctx, domain: &DomainName, query: &Query) -> Result<Page, OpError> {
    let filter = Filter::of(query)?;
    let request = realm::topology::Request { domain: Some(domain.clone()), ..Default::default() };
    let topology = realm::topology::run(ctx, &request)?.body;
    let log = latest(ctx, Some(domain), MAX_LOG)?;
    let main = render(site, domain, &topology, &log, &filter);
    Ok(Page::new(site, Part::Overview, format!("Domain {domain}"), main))
}

fn render(site: &Site, name: &DomainName, topology: &RealmTopology, log: &[LogEntry], filter: &Filter) -> Markup {
    let of_domain = topology.domains.iter().filter(|domain| domain.name == *name);
    let contracts = of_domain.clone().flat_map(|domain| &domain.contracts);
    let existing = contracts.filter(|contract| contract.owner.is_some()).count();
    let members: Vec<&RepoName> = of_domain.flat_map(|domain| &domain.members).collect();
    let contracts = site.part("contracts", &[("domain", name.as_str())]);
    html! {
        p.crumbs { "Domain" }
        h1 { (name) }
        p.summary { (count(members.len(), "repository")) ": " (names(site, &members)) }
        dl.numbers {
            (number("Contracts", existing, Tone::Quiet, Some(contracts)))
            (number("Broken imports", topology.broken, Tone::Bad, None))
        }
        (attention::section(site, topology, None))
        (graph::section(site, topology, Scope::Domain, filter))
        section aria-labelledby="latest" {
            h2 #latest { "Latest" }
            (history(site, log))
        }
    }
}
