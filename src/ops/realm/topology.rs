//! `realm_topology`: lists the providers and importers of each contract.

use std::collections::{BTreeMap, BTreeSet};

use super::{check, status};
use crate::{
    error::OpError,
    model::{
        cycle::DependencyGraph,
        domain_summary::{ContractSummary, DomainSummary},
        name::{ContractName, DomainName, RepoName},
        verdict::{ImportState, States},
    },
    ops::{Operation, contract::verdict, ctx::Ctx, runs},
    store::overview::{Line, Overview},
    wire::{Answer, ContractTopology, DomainTopology, ImportStanding, ImportTopology, PageRequest, RealmTopology},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::reads::<Request>(
    "realm_topology",
    &["realm", "topology"],
    "Show the provider and consumers of each contract",
)
.reads_past()
.tool("Show who exports and imports each contract, by domain.")
.route("GET", "/realms/{realm}/topology");

/// The arguments.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// Show only this domain
    #[cfg_attr(feature = "cli", arg(long, value_name = "DOMAIN"))]
    pub domain: Option<DomainName>,
    /// The page of contracts; all of them if no limit is given. The cursor is DOMAIN/CONTRACT.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub page: PageRequest,
}

runs!(RealmTopology, run);

/// Lists the contracts. Only those of the requested page are converted, so that a page costs little more than the
/// counts of the whole realm.
///
/// # Errors
/// Returns an error if the realm cannot be read, has no such domain, or the cursor is of another list.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmTopology>, OpError> {
    let here = ctx.realm()?;
    let overview = Overview::open(&*here.store)?;
    let is_wanted = |line: &&Line| request.domain.as_ref().is_none_or(|domain| line.name == *domain);
    let lines: Vec<_> = overview.domains().iter().filter(is_wanted).collect();
    if let (Some(name), true) = (&request.domain, lines.is_empty()) {
        // Distinguishes a missing domain from a damaged one.
        crate::ops::domain::get(&*here.store, name)?;
    }
    let (mut page, judge) = (Page::new(&request.page)?, ctx.judge());
    let (mut total, mut broken) = (0, 0);
    let is_first = request.page.cursor.is_none();
    let mut repos: BTreeSet<RepoName> = BTreeSet::new();
    let mut provision = DependencyGraph::default();
    let progress = ctx.progress();
    progress.expect(lines.len());
    for line in lines {
        progress.check()?;
        progress.step();
        let summary = overview.summary(line)?;
        repos.extend(summary.info.members.iter().chain(summary.bindings.keys()).cloned());
        if request.domain.is_none() && is_first {
            provision.add(&summary);
        }
        let states = verdict::states(&*here.store, &line.tree, &summary, None, &judge)?;
        broken += states.values().filter(|state| state.is_broken()).count();
        let names = names(&summary);
        total += names.len();
        page.add(&summary, names, &states);
    }
    if request.domain.is_none() {
        repos.extend(overview.repos().keys().cloned());
    }
    let answer = Answer::new(RealmTopology {
        realm: here.realm.clone(),
        current_repo: here.repo.clone(),
        repos: repos.into_iter().filter(|_| is_first).collect(),
        domains: page.domains,
        total,
        next_cursor: page.next_cursor,
        broken,
        cycles: if is_first { provision.cycles().iter().map(ToString::to_string).collect() } else { Vec::new() },
        unreadable: if is_first { status::unreadable(&overview)? } else { Vec::new() },
    });
    let check = check::command(here.repo.as_ref());
    Ok(ctx.with_past_steps(answer.next_if(broken > 0, format!("{check}  # show why"))))
}

/// Returns the contracts of a domain, including those that are imported but not provided.
fn names(view: &DomainSummary) -> BTreeSet<&ContractName> {
    let imported = view.bindings.values().flat_map(|binding| &binding.imports).map(|import| &import.contract);
    view.contracts.keys().chain(view.versions.keys()).chain(imported).collect()
}

/// The contracts of a page, by domain.
struct Page<'r> {
    /// The domain and the name of the last contract of the previous page. The name is empty after a domain without
    /// contracts.
    after: Option<(&'r str, &'r str)>,
    /// The number of contracts that still fit. A domain without contracts counts as one.
    left: usize,
    domains: Vec<DomainTopology>,
    next_cursor: Option<String>,
}

impl<'r> Page<'r> {
    fn new(request: &'r PageRequest) -> Result<Self, OpError> {
        let of = |cursor: &'r str| cursor.split_once('/').ok_or_else(|| OpError::stale_cursor(cursor));
        let after = request.cursor.as_deref().map(of).transpose()?;
        let left = request.limit.map_or(usize::MAX, |_| request.limit());
        Ok(Self { after, left, domains: Vec::new(), next_cursor: None })
    }

    /// Adds what belongs to the page. Domains come in order.
    fn add(&mut self, view: &DomainSummary, mut names: BTreeSet<&ContractName>, states: &States) {
        let of = view.info.name.as_str();
        let is_empty = names.is_empty();
        match self.after {
            _ if self.next_cursor.is_some() => return,
            Some((domain, _)) if of < domain => return,
            Some((domain, contract)) if of == domain => names.retain(|name| name.as_str() > contract),
            _ => {}
        }
        let is_started = self.after.is_some_and(|(domain, _)| of == domain);
        if names.is_empty() && (is_started || !is_empty) {
            return;
        }
        if self.left == 0 {
            self.next_cursor = self.domains.last().map(cursor_after);
            return;
        }
        let rest = names.len().saturating_sub(self.left);
        let shown = names.into_iter().take(self.left);
        let domain = domain(view, shown, states);
        self.left -= domain.contracts.len().max(1);
        self.next_cursor = (rest > 0).then(|| cursor_after(&domain));
        self.domains.push(domain);
    }
}

/// Returns the cursor after the last contract of a domain.
fn cursor_after(domain: &DomainTopology) -> String {
    format!("{}/{}", domain.name, domain.contracts.last().map(|contract| contract.name.as_str()).unwrap_or_default())
}

fn domain<'v>(
    view: &'v DomainSummary,
    names: impl Iterator<Item = &'v ContractName>,
    states: &States,
) -> DomainTopology {
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
                    state: state.map_or(ImportStanding::Broken, ImportState::standing),
                    binding: import.binding.clone(),
                    verdict: state.filter(|state| !state.is_proved()).and_then(ImportState::between_versions).cloned(),
                }
            })
            .collect(),
        deprecated: view.contracts.get(name).and_then(|contract| contract.deprecated.clone()),
        retired: view.contracts.get(name).is_some_and(|contract| contract.retired.is_some()),
        yanked: view.contracts.get(name).is_some_and(ContractSummary::is_yanked),
    };
    DomainTopology {
        name: view.info.name.clone(),
        members: view.info.members.iter().cloned().collect(),
        contracts: names.map(contract).collect(),
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
