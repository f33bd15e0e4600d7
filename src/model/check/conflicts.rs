//! Findings for unresolved conflicts: two machines wrote the same thing differently, or a commit broke a rule.

use super::{Finding, Severity};
use crate::model::{
    conflict::Conflict,
    domain_summary::DomainSummary,
    name::{DomainName, RepoName},
    set_aside::SetAside,
};

/// Returns the open conflicts of a domain as findings. Those that do not concern `me` are warnings.
pub(super) fn check(domain: &DomainSummary, me: Option<&RepoName>) -> Vec<Finding> {
    let name = &domain.info.name;
    let finding = |conflict: &Conflict| {
        let finding = finding(conflict, Some(name)).domain(name);
        match (conflict, me) {
            (Conflict::SetAside(record), Some(me)) if !concerns(record, domain, me) => {
                Finding { severity: Severity::Warning, ..finding }
            }
            _ => finding,
        }
    };
    domain.open_conflicts().iter().map(finding).collect()
}

/// Returns whether a commit changed something that `me` owns or imports.
fn concerns(record: &SetAside, domain: &DomainSummary, me: &RepoName) -> bool {
    let imports = domain.bindings.get(me).map(|binding| &binding.imports);
    let is_imported = |change: &crate::model::set_aside::Breach| {
        imports.into_iter().flatten().any(|import| change.contract.as_ref() == Some(&import.contract))
    };
    let is_nobodys = record.changes.iter().all(|change| change.owners.is_empty());
    is_nobodys || record.is_owned_by(me) || record.changes.iter().any(is_imported)
}

/// Returns findings for names shared by two repositories.
pub(super) fn names(repos: &[RepoName]) -> impl Iterator<Item = Finding> {
    repos.iter().map(|repo| finding(&Conflict::Repo(repo.clone()), None))
}

/// Returns findings for commits that broke a rule of the realm itself.
pub(super) fn of_realm(records: &[SetAside], me: Option<&RepoName>) -> impl Iterator<Item = Finding> {
    records.iter().map(move |record| {
        let finding = finding(&Conflict::SetAside(record.clone()), None);
        let is_others = |me| !record.is_owned_by(me) && record.changes.iter().any(|change| !change.owners.is_empty());
        let severity = if me.is_some_and(is_others) { Severity::Warning } else { Severity::Error };
        Finding { severity, ..finding }
    })
}

fn finding(conflict: &Conflict, domain: Option<&DomainName>) -> Finding {
    let between = if matches!(conflict, Conflict::SetAside(_)) { ", or " } else { ", then " };
    let message = format!("{}; to resolve it: {}", conflict.meaning(domain), conflict.resolution(domain).join(between));
    let finding = Finding::error(conflict.code(), message);
    match conflict {
        Conflict::Contract(name, version) => Finding { version: Some(version.clone()), ..finding.contract(name) },
        Conflict::Binding(repo) | Conflict::Repo(repo) => finding.repo(repo),
        Conflict::SetAside(record) => match record.changes.iter().find_map(|change| change.contract.as_ref()) {
            Some(contract) => finding.contract(contract),
            None => finding,
        },
    }
}
