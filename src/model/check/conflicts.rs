//! What two machines wrote differently, and nobody has resolved yet.

use super::Finding;
use crate::model::{
    conflict::Conflict,
    name::{DomainName, RepoName},
    summary::DomainSummary,
};

/// Those of one domain.
pub(super) fn check(domain: &DomainSummary) -> Vec<Finding> {
    let name = &domain.info.name;
    domain.open_conflicts().iter().map(|conflict| finding(conflict, Some(name)).domain(name)).collect()
}

/// Names that two repositories have.
pub(super) fn names(repos: &[RepoName]) -> impl Iterator<Item = Finding> {
    repos.iter().map(|repo| finding(&Conflict::Repo(repo.clone()), None))
}

fn finding(conflict: &Conflict, domain: Option<&DomainName>) -> Finding {
    let message =
        format!("{}; to resolve it: {}", conflict.meaning(domain), conflict.resolution(domain).join(", then "));
    let finding = Finding::error(conflict.code(), message);
    match conflict {
        Conflict::Contract(name, version) => Finding { version: Some(version.clone()), ..finding.contract(name) },
        Conflict::Binding(repo) | Conflict::Repo(repo) => finding.repo(repo),
    }
}
