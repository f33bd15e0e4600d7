//! `realm_topology`: who provides what, and who relies on it.

use std::collections::BTreeSet;

use super::{Operation, ctx::Ctx};
use crate::{
    error::OpError,
    model::{
        name::{ContractName, DomainName, RepoName},
        view::{DomainView, RealmView},
    },
    store::read,
    wire::{Answer, ContractTopology, DomainTopology, ImportTopology, RealmTopology},
};

/// Its entry in the table.
pub const OPERATION: Operation = Operation::read::<RealmTopology>(
    "realm_topology",
    &["realm", "topology"],
    "Show who provides what, and who relies on it",
);

/// What is asked.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Only this domain.
    pub domain: Option<DomainName>,
}

/// Answers.
///
/// # Errors
/// Where the realm cannot be read, or has no such domain.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmTopology>, OpError> {
    let here = ctx.here()?;
    let mut view = match &request.domain {
        Some(name) => {
            let domain = super::domain::get(&*here.store, name)?;
            RealmView { domains: [(name.clone(), domain)].into(), ..RealmView::default() }
        }
        None => read::view(&*here.store)?,
    };
    let unreadable = unreadable(&view);
    let domains: Vec<_> = view.domains.values().map(domain).collect();
    let imports = || domains.iter().flat_map(|domain| &domain.contracts).flat_map(|contract| &contract.importers);
    let broken = imports().filter(|import| import.state == "broken").count();
    let named = view.domains.values().flat_map(|domain| domain.info.members.iter().chain(domain.bindings.keys()));
    let mut repos: BTreeSet<RepoName> = named.cloned().collect();
    repos.extend(std::mem::take(&mut view.repos).into_keys());
    let answer = Answer::new(RealmTopology {
        realm: here.realm.clone(),
        current_repo: here.repo.clone(),
        repos: repos.into_iter().collect(),
        domains,
        broken,
        unreadable,
    });
    Ok(if broken > 0 { answer.next("git blue check: say why") } else { answer })
}

/// Returns every stored file that cannot be read, with what is wrong.
pub fn unreadable(view: &RealmView) -> Vec<String> {
    let domains = view.domains.values().flat_map(|domain| &domain.damage);
    view.damage.iter().chain(domains).map(|damage| format!("{}: {}", damage.file, damage.problem)).collect()
}

fn domain(view: &DomainView) -> DomainTopology {
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
            .map(|(repo, import)| ImportTopology {
                repo: repo.clone(),
                version_req: import.version.clone(),
                state: view.standing(import).word(),
            })
            .collect(),
    };
    DomainTopology {
        name: view.info.name.clone(),
        members: view.info.members.clone(),
        contracts: names.into_iter().map(contract).collect(),
    }
}
