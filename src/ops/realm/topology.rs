//! `realm_topology`: lists the providers and importers of each contract.

use std::collections::{BTreeMap, BTreeSet};

use super::status;
use crate::{
    error::OpError,
    model::{
        cycle::DependencyGraph,
        domain_summary::DomainSummary,
        name::{ContractName, DomainName, RepoName},
        verdict::{ImportState, States},
    },
    ops::{Operation, contract::verdict, ctx::Ctx, runs},
    store::overview::{Line, Overview},
    wire::{Answer, ContractTopology, Deprecation, DomainTopology, ImportTopology, RealmTopology},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::reads::<Request>(
    "realm_topology",
    &["realm", "topology"],
    "Show the provider and consumers of each contract",
)
.tool("Show who exports and imports each contract, by domain.")
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

/// Lists the contracts.
///
/// # Errors
/// Returns an error if the realm cannot be read, or has no such domain.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmTopology>, OpError> {
    let here = ctx.realm()?;
    let overview = Overview::open(&*here.store)?;
    let is_wanted = |line: &&Line| request.domain.as_ref().is_none_or(|domain| line.name == *domain);
    let lines: Vec<_> = overview.domains().iter().filter(is_wanted).collect();
    if let (Some(name), true) = (&request.domain, lines.is_empty()) {
        // Distinguishes a missing domain from a damaged one.
        crate::ops::domain::get(&*here.store, name)?;
    }
    let (mut domains, judge) = (Vec::new(), ctx.judge());
    let mut repos: BTreeSet<RepoName> = BTreeSet::new();
    let mut provision = DependencyGraph::default();
    let progress = ctx.progress();
    progress.expect(lines.len());
    for line in lines {
        progress.check()?;
        progress.step();
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
    Ok(if broken > 0 { answer.next("git blue check  # show why") } else { answer })
}

fn domain(view: &DomainSummary, states: &States) -> DomainTopology {
    let imported = view.bindings.values().flat_map(|binding| &binding.imports).map(|import| &import.contract);
    let names: BTreeSet<&ContractName> = view.contracts.keys().chain(view.versions.keys()).chain(imported).collect();
    let (exporters, importers) = (exporters(view), view.all_importers());
    let contract = |name: &ContractName| ContractTopology {
        name: name.clone(),
        version: view.contracts.get(name).map(|contract| contract.version.clone()),
        owner: view.owner(name).cloned(),
        exporters: exporters.get(name).into_iter().flatten().map(|repo| (*repo).clone()).collect(),
        importers: importers
            .get(name)
            .into_iter()
            .flatten()
            .map(|(repo, import)| {
                let state = states.get(&((*repo).clone(), name.clone()));
                ImportTopology {
                    repo: (*repo).clone(),
                    version_req: import.version.clone(),
                    state: state.map_or("broken", ImportState::word).into(),
                    binding: import.binding.clone(),
                    verdict: state.filter(|state| state.is_broken()).and_then(ImportState::between_versions).cloned(),
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

/// Returns who exports each contract.
fn exporters(view: &DomainSummary) -> BTreeMap<&ContractName, BTreeSet<&RepoName>> {
    let mut exporters: BTreeMap<_, BTreeSet<&RepoName>> = BTreeMap::new();
    for (repo, binding) in &view.bindings {
        for export in &binding.exports {
            exporters.entry(&export.contract).or_default().insert(repo);
        }
    }
    exporters
}
