//! Finds the cycles that a new binding would create among repositories that rely on each other. Cycles that the realm
//! does not refuse are only reported. Only local data is used: two machines may create a cycle together, which `check`
//! finds.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    error::{ErrorCode, OpError},
    model::{
        binding::Binding,
        cycle::{self, DependencyGraph},
        domain::Domain,
        domain_summary::DomainSummary,
        domain_view::DomainView,
        name::{DomainName, RepoName},
        realm::Cycles,
    },
    store::{Store, overview::Overview, read},
};

/// A binding that a repository is about to publish.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The domain.
    pub domain: &'a DomainName,
    /// The repository.
    pub repo: &'a RepoName,
    /// Its new binding.
    pub binding: &'a Binding,
}

/// Returns the cycles that these bindings create, as text. `rule` replaces the realm's rule about cycles.
///
/// # Errors
/// Returns an error if there is a cycle and the rule refuses it, or if the realm cannot be read.
pub fn closed(store: &dyn Store, parts: &[Part<'_>], rule: Option<Cycles>) -> Result<Vec<String>, OpError> {
    if parts.iter().all(|part| part.binding.imports.is_empty()) {
        return Ok(Vec::new());
    }
    let overview = Overview::open(store)?;
    let mut domains = Vec::new();
    let mut provision = DependencyGraph::default();
    for line in overview.domains() {
        let summary = overview.summary(line)?;
        provision.add(&summary);
        domains.push(summary);
    }
    let mut shown = Vec::new();
    for part in parts {
        let at = domains.iter().position(|domain| domain.info.name == *part.domain);
        let held = at.unwrap_or_else(|| {
            domains.push(Arc::new((&empty(part.domain)).into()));
            domains.len() - 1
        });
        let before = links(&domains[held], part.repo);
        Arc::make_mut(&mut domains[held]).bindings.insert(part.repo.clone(), part.binding.clone());
        for link in links(&domains[held], part.repo).into_iter().filter(|link| !before.contains(link)) {
            shown.extend(provision.closed_by(&link).map(|cycle| cycle.to_string()));
            provision.insert(link);
        }
    }
    if let (Some(first), Cycles::Refuse) =
        (shown.first(), rule.map_or_else(|| read::realm(store).map(|realm| realm.cycles), Ok)?)
    {
        let message = format!("it would close a dependency cycle, which this realm does not allow: {first}");
        return Err(OpError::no(ErrorCode::Cycle, message).next("git blue realm topology  # show the dependencies"));
    }
    Ok(shown)
}

fn empty(name: &DomainName) -> DomainView {
    DomainView::new(Domain { name: name.clone(), description: String::new(), members: BTreeSet::new(), removed: false })
}

fn links(domain: &DomainSummary, repo: &RepoName) -> Vec<cycle::Link> {
    let imports = domain.bindings.get(repo).into_iter().flat_map(|binding| &binding.imports);
    imports.flat_map(|import| cycle::links(domain, repo, import)).collect()
}
