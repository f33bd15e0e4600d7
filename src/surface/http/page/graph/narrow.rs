//! Selects the part of a realm that is drawn: what the user filters for, or the neighbors of a repository.

use maud::{Markup, html};

use super::Scope;
use crate::{
    error::OpError,
    model::name::{DomainName, RepoName},
    surface::http::page::links::{Query, Site},
    wire::{ContractTopology, DomainTopology, ImportHealth, ImportTopology, RealmTopology},
};

/// The maximum number of domains in the selection list. If there are more, users can open each domain's page.
const MAX_CHOICES: usize = 60;

/// The user's filter.
#[derive(Debug, Default)]
pub struct Filter {
    domain: Option<DomainName>,
    broken: bool,
}

impl Filter {
    /// Reads the filter.
    ///
    /// # Errors
    /// Returns an error if the domain name is invalid.
    pub fn of(query: &Query) -> Result<Self, OpError> {
        Ok(Self { domain: query.parsed("domain")?, broken: query.get("broken").is_some() })
    }

    /// Returns whether the filter excludes anything.
    pub fn is_set(&self) -> bool {
        self.domain.is_some() || self.broken
    }

    /// Returns the part of the topology that the filter accepts.
    pub fn narrow(&self, body: &RealmTopology) -> RealmTopology {
        let is_wanted = |domain: &DomainTopology| self.domain.as_ref().is_none_or(|wanted| domain.name == *wanted);
        let import = |import: &ImportTopology| !self.broken || import.health() == ImportHealth::Broken;
        only(body, is_wanted, |contract| {
            let importers: Vec<_> = contract.importers.iter().filter(|one| import(one)).cloned().collect();
            (!self.broken || !importers.is_empty()).then_some(importers)
        })
    }

    /// Returns the form that sets the filter.
    pub fn form(&self, site: &Site, body: &RealmTopology, scope: Scope<'_>) -> Markup {
        let action = match scope {
            Scope::Realm => site.part("", &[]),
            Scope::Repo(repo) => site.repo(repo),
            Scope::Domain => body.domains.first().map(|domain| site.domain(&domain.name)).unwrap_or_default(),
            Scope::Contract => return html! {},
        };
        let domains: Vec<_> = body.domains.iter().filter(|domain| !domain.contracts.is_empty()).collect();
        html! {
            form.choose method="get" action=(action.split('?').next().unwrap_or_default()) {
                @if let Some(past) = &site.past { input type="hidden" name="at" value=(past.said); }
                @if (2..=MAX_CHOICES).contains(&domains.len()) && !matches!(scope, Scope::Domain) {
                    label for="domain" { "Domain" }
                    select #domain name="domain" {
                        option value="" { "all" }
                        @for domain in domains {
                            option value=(domain.name) selected[Some(&domain.name) == self.domain.as_ref()] {
                                (domain.name)
                            }
                        }
                    }
                }
                label.check { input type="checkbox" name="broken" value="1" checked[self.broken]; "Broken only" }
                button.plain type="submit" { "Show" }
            }
        }
    }
}

/// Returns the contracts that a repository provides, with all importers, and those that it imports, with only itself as
/// an importer.
pub fn around(body: &RealmTopology, repo: &RepoName) -> RealmTopology {
    only(
        body,
        |_| true,
        |contract| {
            if contract.providers().contains(&repo) {
                return Some(contract.importers.clone());
            }
            let own: Vec<_> = contract.importers.iter().filter(|import| import.repo == *repo).cloned().collect();
            (!own.is_empty()).then_some(own)
        },
    )
}

/// Returns the wanted domains, with the contracts for which `importers` returns a list.
fn only(
    body: &RealmTopology,
    is_wanted: impl Fn(&DomainTopology) -> bool,
    importers: impl Fn(&ContractTopology) -> Option<Vec<ImportTopology>>,
) -> RealmTopology {
    let contract = |one: &ContractTopology| Some(ContractTopology { importers: importers(one)?, ..one.clone() });
    let domain = |one: &DomainTopology| DomainTopology {
        name: one.name.clone(),
        members: one.members.clone(),
        contracts: one.contracts.iter().filter_map(contract).collect(),
    };
    let domains: Vec<_> = body.domains.iter().filter(|one| is_wanted(one)).map(domain).collect();
    RealmTopology {
        realm: body.realm.clone(),
        current_repo: body.current_repo.clone(),
        repos: body.repos.clone(),
        total: domains.iter().map(|domain| domain.contracts.len()).sum(),
        next_cursor: None,
        broken: domains.iter().map(super::broken).sum(),
        domains,
        cycles: body.cycles.clone(),
        unreadable: body.unreadable.clone(),
    }
}
