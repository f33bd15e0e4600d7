//! `realm_topology`: who provides what, and who relies on it.

use std::collections::BTreeSet;

use super::status;
use crate::{
    error::OpError,
    model::{
        cycle::Provision,
        domain_summary::DomainSummary,
        name::{ContractName, DomainName, RepoName},
        verdict::{ImportState, States},
    },
    ops::{Operation, contract::verdict, ctx::Ctx, runs},
    store::overview::{Line, Overview},
    wire::{Answer, ContractTopology, Deprecation, DomainTopology, ImportTopology, RealmTopology},
};

/// Its entry in the table of operations.
pub const OPERATION: Operation = Operation::reads::<Request>(
    "realm_topology",
    &["realm", "topology"],
    "Show who provides and who consumes each contract",
)
.tool("Who exports and imports which contract, per domain.")
.route("GET", "/realms/{realm}/topology");

/// The arguments.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// Only this domain
    #[cfg_attr(feature = "cli", arg(long, value_name = "DOMAIN"))]
    pub domain: Option<DomainName>,
}

runs!(RealmTopology, run);

/// Answers.
///
/// # Errors
/// Returns an error if the realm cannot be read, or has no such domain.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmTopology>, OpError> {
    let here = ctx.here()?;
    let overview = Overview::open(&*here.store)?;
    let is_wanted = |line: &&Line| request.domain.as_ref().is_none_or(|domain| line.name == *domain);
    let lines: Vec<_> = overview.domains().iter().filter(is_wanted).collect();
    if let (Some(name), true) = (&request.domain, lines.is_empty()) {
        // Either there is none, or it cannot be read.
        crate::ops::domain::get(&*here.store, name)?;
    }
    let (mut domains, judge) = (Vec::new(), ctx.judge());
    let mut repos: BTreeSet<RepoName> = BTreeSet::new();
    let mut provision = Provision::default();
    let course = ctx.course();
    course.expect(lines.len());
    for line in lines {
        course.check()?;
        course.step();
        let summary = overview.summary(line)?;
        repos.extend(summary.info.members.iter().chain(summary.bindings.keys()).cloned());
        if request.domain.is_none() {
            provision.add(&summary);
        }
        domains.push(domain(&summary, &verdict::states(&*here.store, &line.tree, &summary, None, &judge)?));
    }
    if request.domain.is_none() {
        repos.extend(overview.repos().keys().cloned());
    }
    let imports = domains.iter().flat_map(|domain| &domain.contracts).flat_map(|contract| &contract.importers);
    let broken = imports.filter(|import| import.state == "broken").count();
    let answer = Answer::new(RealmTopology {
        realm: here.realm.clone(),
        current_repo: here.repo.clone(),
        repos: repos.into_iter().collect(),
        domains,
        broken,
        cycles: provision.cycles().iter().map(ToString::to_string).collect(),
        unreadable: status::unreadable(&overview)?,
    });
    Ok(if broken > 0 { answer.next("git blue check  # says why") } else { answer })
}

fn domain(view: &DomainSummary, states: &States) -> DomainTopology {
    let imported = view.bindings.values().flat_map(|binding| &binding.imports).map(|import| &import.contract);
    let names: BTreeSet<&ContractName> = view.contracts.keys().chain(view.versions.keys()).chain(imported).collect();
    let contract = |name: &ContractName| ContractTopology {
        name: name.clone(),
        version: view.contracts.get(name).map(|contract| contract.version.clone()),
        owner: view.owner(name).cloned(),
        exporters: view
            .bindings
            .iter()
            .filter(|(_, part)| part.export(name).is_some())
            .map(|(repo, _)| repo.clone())
            .collect(),
        importers: view
            .importers(name)
            .map(|(repo, import)| {
                let state = states.get(&(repo.clone(), name.clone()));
                ImportTopology {
                    repo: repo.clone(),
                    version_req: import.version.clone(),
                    state: state.map_or("broken", ImportState::word).into(),
                    binding: import.binding.clone(),
                    verdict: state.filter(|state| state.is_broken()).and_then(ImportState::told).cloned(),
                }
            })
            .collect(),
        deprecated: view.contracts.get(name).and_then(|contract| contract.deprecated.as_ref()).map(Deprecation::from),
    };
    DomainTopology {
        name: view.info.name.clone(),
        members: view.info.members.clone(),
        contracts: names.into_iter().map(contract).collect(),
    }
}
