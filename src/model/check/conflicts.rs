//! Findings for unresolved conflicts: two machines wrote the same thing differently, or a commit broke a rule.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Severity, same_but_for_case};
use crate::model::{
    candidate::contract_path,
    conflict::{Conflict, Standing},
    domain_summary::DomainSummary,
    name::{ContractName, DomainName, RepoName},
    realm::Repo,
    set_aside::SetAside,
    version::{Level, Version},
};

/// Returns the open conflicts of a domain as findings. Those that do not concern `me` are warnings.
/// `is_auto` returns whether the file of a contract says `version: auto`.
pub(super) fn check(
    domain: &DomainSummary,
    me: Option<&RepoName>,
    is_auto: impl Fn(&ContractName) -> bool,
) -> Vec<Finding> {
    let name = &domain.info.name;
    let finding = |conflict: &Conflict| {
        let finding = finding(conflict, Some(name), standing(conflict, domain, me, &is_auto)).domain(name);
        match (conflict, me) {
            (Conflict::SetAside(record), Some(me)) if !concerns(record, domain, me) => {
                Finding { severity: Severity::Warning, ..finding }
            }
            (Conflict::Contract(contract, version), Some(me)) if !is_in_use(domain, contract, version, me) => {
                Finding { severity: Severity::Warning, ..finding }
            }
            _ => finding,
        }
    };
    domain.open_conflicts().iter().map(finding).collect()
}

/// Returns whether a version that was published twice matters to a repository: it is the current one of the owner, or
/// the one that an import gets or is adapted to. One that neither owns nor imports the contract may have lost it.
fn is_in_use(domain: &DomainSummary, contract: &ContractName, version: &Version, me: &RepoName) -> bool {
    if domain.owner(contract).is_none_or(|owner| owner == me) {
        return domain.contracts.get(contract).is_none_or(|held| held.version <= *version);
    }
    let import = domain.bindings.get(me).and_then(|binding| binding.import(contract));
    import.is_none_or(|import| {
        import.adapted() == Some(version) || domain.resolve_import(import).resolved() == Some(version)
    })
}

/// Returns the current state of the contract in conflict, for the repository `me`. `is_auto` returns whether the file
/// of a contract says `version: auto`.
pub fn standing<'d>(
    conflict: &Conflict,
    domain: &'d DomainSummary,
    me: Option<&RepoName>,
    is_auto: impl Fn(&ContractName) -> bool,
) -> Standing<'d> {
    let Conflict::Contract(name, version) = conflict else { return Standing::default() };
    Standing {
        write_version: is_auto(name).then(|| {
            let (next, file) = (next_patch(domain, name, version), contract_path(&domain.info.name, name));
            format!("write version: \"{next}\" in {file}, with the intended content, and commit")
        }),
        elsewhere: domain.owner(name).filter(|owner| me.is_some_and(|me| me != *owner)),
        is_superseded: domain.contracts.get(name).is_some_and(|held| held.version > *version),
    }
}

/// Returns the first patch after `version` that was never published.
fn next_patch(domain: &DomainSummary, name: &ContractName, version: &Version) -> Version {
    let is_known = |version: &Version| domain.versions.get(name).is_some_and(|known| known.contains(version));
    let mut next = version.raised(Level::Patch);
    while is_known(&next) && next != next.raised(Level::Patch) {
        next = next.raised(Level::Patch);
    }
    next
}

/// Returns whether a conflict concerns a repository: it is about the repository itself or one of its domains, or about
/// a commit that broke a rule of the realm.
pub fn is_concerned(conflict: &Conflict, domain: Option<&DomainSummary>, me: &RepoName) -> bool {
    match (conflict, domain) {
        (Conflict::Binding(repo) | Conflict::Repo(repo), _) => repo == me,
        (Conflict::Contract(..) | Conflict::SetAside(_), Some(domain)) => domain.takes_part(me),
        (Conflict::Contract(..) | Conflict::SetAside(_), None) | (Conflict::Lost(_), _) => true,
    }
}

/// Returns whether a commit changed something of `me`, or only things without an owner.
fn is_mine_or_nobodys(record: &SetAside, me: &RepoName) -> bool {
    record.is_owned_by(me) || record.changes.iter().all(|change| change.owners.is_empty())
}

/// Returns whether a commit changed something that `me` owns or imports.
fn concerns(record: &SetAside, domain: &DomainSummary, me: &RepoName) -> bool {
    let imports = domain.bindings.get(me).into_iter().flat_map(|binding| &binding.imports);
    let changed: BTreeSet<_> = record.changes.iter().filter_map(|change| change.contract.as_ref()).collect();
    is_mine_or_nobodys(record, me) || imports.map(|import| &import.contract).any(|name| changed.contains(name))
}

/// Returns findings for names shared by two repositories.
pub(super) fn names(repos: &[RepoName]) -> impl Iterator<Item = Finding> {
    repos.iter().map(|repo| finding(&Conflict::Repo(repo.clone()), None, Standing::default()))
}

/// Returns findings for repositories whose names differ only in case: they joined on two machines at the same time.
pub(super) fn names_but_for_case(repos: &BTreeMap<RepoName, Repo>) -> impl Iterator<Item = Finding> {
    same_but_for_case(repos.keys()).into_iter().map(|(repo, twin)| {
        let message = format!("the repository {repo} differs from {twin} only in case");
        let rename = format!("git blue realm admin rename {repo} …  # choose another name, or rename {twin}");
        Finding { resolution: vec![rename], ..Finding::error("name-collision", message).repo(repo) }
    })
}

/// Returns findings for commits that broke a rule of the realm itself.
pub(super) fn of_realm(records: &[SetAside], me: Option<&RepoName>) -> impl Iterator<Item = Finding> {
    records.iter().map(move |record| {
        let finding = finding(&Conflict::SetAside(record.clone()), None, Standing::default());
        let severity =
            if me.is_some_and(|me| !is_mine_or_nobodys(record, me)) { Severity::Warning } else { Severity::Error };
        Finding { severity, ..finding }
    })
}

/// Returns a conflict as a finding.
pub(super) fn finding(conflict: &Conflict, domain: Option<&DomainName>, standing: Standing<'_>) -> Finding {
    let between = match conflict {
        Conflict::SetAside(_) | Conflict::Lost(_) => ", or ",
        Conflict::Contract(..) if standing.write_version.is_some() => ", then ",
        // The yanked version may be current, so the new one has to be published before.
        Conflict::Contract(..) => " && git commit -am \"Resolve the conflict\" && ",
        Conflict::Binding(_) | Conflict::Repo(_) => " && ",
    };
    let place = standing.elsewhere.map(|owner| format!(" in {owner}")).unwrap_or_default();
    let resolution = conflict.resolution(domain, standing.clone());
    let in_place = conflict.resolution(domain, Standing { elsewhere: None, ..standing });
    let commands: Vec<_> = in_place.iter().map(|step| step.split("  # ").next().unwrap_or_default()).collect();
    let message = format!("{}; to resolve it{place}: {}", conflict.meaning(domain), commands.join(between));
    let finding = Finding { resolution, ..Finding::error(conflict.code(), message) };
    match conflict {
        Conflict::Contract(name, version) => Finding { version: Some(version.clone()), ..finding.contract(name) },
        Conflict::Binding(repo) | Conflict::Repo(repo) => finding.repo(repo),
        Conflict::Lost(lost) => finding.contract(&lost.contract),
        Conflict::SetAside(record) => {
            let contract = record.changes.iter().find_map(|change| change.contract.clone());
            Finding { contract, ..finding }
        }
    }
}
