//! The rules for bindings: exports and imports.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;

use super::Finding;
use crate::model::{
    binding::{Binding, Import},
    domain_summary::{ContractSummary, DomainSummary},
    domain_view::ImportResolution,
    name::{ContractName, RepoName},
    nearest::{Suggestions, question},
    realm::Repo,
    successor::Successor,
    verdict::{Basis, ImportState, Outcome, States, Verdict},
    version::Version,
};

/// Checks the bindings of a domain. `published` is the domain without the candidate, which causes all differences from
/// it. `states` has the state of each import that is not at the version it is adapted to.
pub(super) fn check(
    repos: &BTreeMap<RepoName, Repo>,
    (published, domain): (&DomainSummary, &DomainSummary),
    states: &States,
    today: Date,
    findings: &mut Vec<Finding>,
) {
    let names = domain.contract_names();
    for (repo, binding) in &domain.bindings {
        let mut suggestions = Suggestions::among(&names);
        let mut of_binding: Vec<_> = membership(repos, domain, repo).into_iter().collect();
        of_binding.extend(exports((published, domain), repo, binding, &mut suggestions));
        for import in &binding.imports {
            let state = states.get(&(repo.clone(), import.contract.clone()));
            let verdict = state.and_then(|state| state.between_versions());
            let unreadable = state.and_then(|state| unreadable(domain, (repo, import), state));
            of_binding.extend(match unreadable {
                Some(finding) => Some(finding),
                None => standing(published, domain, (repo, import), verdict, &mut suggestions),
            });
            of_binding.extend(own(domain, repo, import));
            let at = format!("{}/{}", domain.info.name, import.contract);
            of_binding.extend(domain.contracts.get(&import.contract).into_iter().flat_map(|contract| {
                life(domain, repo, (&at, import), contract, today)
                    .into_iter()
                    .map(|finding| finding.contract(&import.contract))
            }));
        }
        findings.extend(of_binding.into_iter().map(|finding| finding.domain(&domain.info.name).repo(repo)));
    }
}

fn membership(repos: &BTreeMap<RepoName, Repo>, domain: &DomainSummary, repo: &RepoName) -> Option<Finding> {
    let name = &domain.info.name;
    if !repos.contains_key(repo) {
        Some(Finding::error("unknown-repo", format!("{repo} takes part in {name}, but is not in the realm")))
    } else if !domain.info.has_member(repo) {
        Some(Finding::error("not-member", format!("{repo} has a binding in {name}, but is not a member of it")))
    } else {
        None
    }
}

fn exports(
    (published, domain): (&DomainSummary, &DomainSummary),
    repo: &RepoName,
    binding: &Binding,
    suggestions: &mut Suggestions<'_, ContractName>,
) -> Vec<Finding> {
    let name = &domain.info.name;
    let mut findings = Vec::new();
    if binding.role.provides() && binding.exports.is_empty() {
        let message = format!("{repo} has the role {} in {name}, but exports nothing", role_phrase(binding));
        findings.push(Finding::error("exports-nothing", message));
    }
    if binding.role.consumes() && binding.imports.is_empty() {
        let message = format!("{repo} has the role {} in {name}, but imports nothing", role_phrase(binding));
        findings.push(Finding::warning("imports-nothing", message));
    }
    for export in &binding.exports {
        let contract = &export.contract;
        let finding = match domain.owner(contract) {
            None if domain.is_damaged(contract) => continue,
            None => {
                let meant = question(suggestions.nearest(contract));
                let message = format!("{repo} exports {name}/{contract}, which does not exist{meant}");
                Finding::error("missing-contract", message)
            }
            // The checked files accept the offered contract. Its former owner cannot remove the export before they are
            // published.
            Some(owner) if owner != repo && published.owner(contract) == Some(repo) => {
                let step = format!("git blue unexport {name}/{contract}");
                let message = format!("{repo} still exports {name}/{contract}, which {owner} takes over: {step} there");
                Finding::warning("not-owner", message)
            }
            Some(owner) if owner != repo => {
                let message = format!("{repo} exports {name}/{contract}, which belongs to {owner}");
                Finding::error("not-owner", message)
            }
            Some(_) => continue,
        };
        findings.push(finding.contract(contract));
    }
    findings
}

fn role_phrase(binding: &Binding) -> String {
    match binding.role {
        crate::model::binding::Role::Both => "provider and consumer".into(),
        role => role.to_string(),
    }
}

fn standing(
    published: &DomainSummary,
    domain: &DomainSummary,
    (repo, import): (&RepoName, &Import),
    verdict: Option<&Verdict>,
    suggestions: &mut Suggestions<'_, ContractName>,
) -> Option<Finding> {
    let (name, contract, range) = (&domain.info.name, &import.contract, &import.version);
    let standing = domain.resolve_import(import);
    if let (Some(_), Some(found)) = (standing.resolved(), verdict.and_then(|one| by_verdict(domain, repo, import, one)))
    {
        return Some(found);
    }
    let was = published.contracts.get(contract).map(|contract| &contract.version);
    let verb =
        |current: &Version| if was == Some(current) { "the current version is" } else { "this change publishes" };
    let finding = match standing {
        ImportResolution::Satisfied(_) => return verdict.and_then(|one| unnamed(domain, repo, import, one)),
        // The damage has its own finding, and it is unknown whether the import is satisfied.
        ImportResolution::Unreadable => return None,
        ImportResolution::Missing => match domain.versions.get(contract).and_then(|versions| versions.last()) {
            Some(version) => {
                let message = format!(
                    "{repo} imports {name}/{contract} {range}, but only pre-releases up to {version} are published"
                );
                Finding { version: Some(version.clone()), ..Finding::error("only-pre-releases", message) }
            }
            None => {
                let meant = question(suggestions.nearest(contract));
                let message = format!("{repo} imports {name}/{contract} {range}, which does not exist{meant}");
                Finding::error("missing-contract", message)
            }
        },
        ImportResolution::Broken { current } if import.is_early(&current) => {
            let wider =
                range.widened(&current).map(|range| format!(", or write \"{range}\" if the code works with {current}"));
            let wait = format!("wait for such a version{}", wider.unwrap_or_default());
            let message = format!("{repo} imports {name}/{contract} {range}, but no such version is published");
            let notes = uses(import).into_iter().chain([wait]);
            Finding { version: Some(current), ..Finding::error("import-broken", message).notes(notes) }
        }
        ImportResolution::Broken { current } => {
            let versions: BTreeSet<_> = import.adapted().into_iter().chain([&current]).collect();
            let yanked: Vec<_> = versions.into_iter().filter(|version| is_yanked(domain, import, version)).collect();
            // No range helps if the other side sends now.
            let is_reversed = verdict.is_some_and(|verdict| verdict.basis == Basis::Flow);
            let is_useless = !yanked.is_empty() || is_reversed || breaks_expectation(import, verdict);
            let wider = range.widened(&current).filter(|_| !is_useless);
            let is_proved = verdict.is_some_and(|verdict| verdict.verdict == Outcome::Compatible);
            let once = if is_proved { String::new() } else { format!(": write it once the code works with {current}") };
            let wider = wider.map(|range| format!("the range \"{range}\" accepts both versions{once}"));
            let yanked: Vec<_> = yanked.into_iter().map(|version| format!("{version} was yanked")).collect();
            let decided = verdict.filter(|verdict| verdict.verdict != Outcome::Unknown);
            let notes = yanked.into_iter().chain(decided.map(consequence)).chain(uses(import)).chain(wider);
            let message = format!("{repo} imports {name}/{contract} {range}, but {} {current}", verb(&current));
            let verdict = verdict.cloned();
            Finding { version: Some(current), verdict, ..Finding::error("import-broken", message).notes(notes) }
        }
        ImportResolution::Behind { current, served } => {
            let is_retired = domain.contracts.get(contract).is_some_and(|contract| contract.retired.is_some());
            let end = if is_retired {
                "and the contract is retired".to_owned()
            } else {
                format!("but {served} is still served")
            };
            let message = format!("{repo} imports {name}/{contract} {range}; {} {current}, {end}", verb(&current));
            let unnamed = verdict.and_then(|one| unnamed(domain, repo, import, one)).map(|finding| finding.message);
            let notes = unnamed.into_iter().chain(uses(import));
            Finding { version: Some(current), ..Finding::warning("import-behind", message).notes(notes) }
        }
    };
    Some(Finding { requirement: Some(range.clone()), ..finding.contract(contract) })
}

/// Returns a finding for an import that cannot be judged because a version that decides its state cannot be read.
fn unreadable(domain: &DomainSummary, (repo, import): (&RepoName, &Import), state: &ImportState) -> Option<Finding> {
    let (unreadable, version) = (state.unreadable.as_ref()?, state.resolution.resolved()?);
    let (name, contract, range) = (&domain.info.name, &import.contract, &import.version);
    let message = format!(
        "{repo} imports {name}/{contract} {range}, but it is unknown whether {version} breaks it: {unreadable} cannot be \
            read"
    );
    Some(Finding { requirement: Some(range.clone()), ..Finding::error("damaged", message).contract(contract) })
}

/// Returns a finding for an import whose range accepts the version, unless the verdict is compatible.
fn by_verdict(domain: &DomainSummary, repo: &RepoName, import: &Import, verdict: &Verdict) -> Option<Finding> {
    let (name, contract, range) = (&domain.info.name, &import.contract, &import.version);
    let version = &verdict.new_version;
    let finding = match verdict.verdict {
        Outcome::Compatible => return None,
        Outcome::Breaks => {
            let message = format!("{repo} imports {name}/{contract} {range}, and {version} breaks it");
            Finding::error("import-broken", message)
        }
        Outcome::Unknown => {
            let message = format!(
                "{repo} imports {name}/{contract} {range}, which accepts {version}, but it is unknown whether \
                    {version} breaks it"
            );
            Finding::warning("compatibility-unknown", message)
        }
    };
    let expects = (verdict.verdict == Outcome::Breaks && import.expects.is_none())
        .then(|| format!("if its code works with {version} too, state what it needs under `expects` in the import"));
    let finding = finding.notes(std::iter::once(verdict.phrase()).chain(uses(import)).chain(expects));
    let finding = Finding { version: Some(version.clone()), verdict: Some(verdict.clone()), ..finding };
    Some(Finding { requirement: Some(range.clone()), ..finding.contract(contract) })
}

/// Returns a finding for an import that expects properties which are never sent.
fn unnamed(domain: &DomainSummary, repo: &RepoName, import: &Import, verdict: &Verdict) -> Option<Finding> {
    let (name, contract, version) = (&domain.info.name, &import.contract, &verdict.new_version);
    let message = format!(
        "{repo} expects {} of {name}/{contract}, but {version} does not name {}",
        verdict.unnamed.join(", "),
        if verdict.unnamed.len() == 1 { "it, so it is never sent" } else { "them, so they are never sent" }
    );
    (!verdict.unnamed.is_empty()).then(|| {
        let finding = Finding::warning("expects-unnamed", message).notes(uses(import));
        Finding { version: Some(version.clone()), ..finding.contract(contract) }
    })
}

/// Returns whether a version of the imported contract was yanked.
fn is_yanked(domain: &DomainSummary, import: &Import, version: &Version) -> bool {
    domain.contracts.get(&import.contract).is_some_and(|contract| contract.yanked_reason(version).is_some())
}

/// Returns whether a version does not satisfy what an import expects, regardless of its range.
fn breaks_expectation(import: &Import, verdict: Option<&Verdict>) -> bool {
    import.expects.is_some() && verdict.is_some_and(|verdict| verdict.verdict == Outcome::Breaks)
}

/// Returns a finding if a repository imports its own contract, whose changes it already knows.
fn own(domain: &DomainSummary, repo: &RepoName, import: &Import) -> Option<Finding> {
    let contract = &import.contract;
    let is_own = domain.owner(contract) == Some(repo);
    let name = format!("{}/{contract}", domain.info.name);
    is_own.then(|| {
        let finding = Finding::warning("imports-own", format!("{repo} imports {name}, which it owns"));
        finding.contract(contract).notes([format!("git blue unimport {name} removes the import")])
    })
}

/// Describes the consequences of a version that the range refuses.
fn consequence(verdict: &Verdict) -> String {
    match verdict.verdict {
        Outcome::Compatible => format!("the schemas are compatible: {}", verdict.phrase()),
        _ => verdict.phrase(),
    }
}

/// Returns the note that names the files which rely on an import.
fn uses(import: &Import) -> Option<String> {
    (!import.binding.is_empty()).then(|| format!("used in {}", import.binding))
}

/// Returns further warnings about a contract that satisfies the import: deprecated, retired or yanked.
fn life(
    domain: &DomainSummary,
    repo: &RepoName,
    (name, import): (&str, &Import),
    contract: &ContractSummary,
    today: Date,
) -> Vec<Finding> {
    let version = &contract.version;
    let mut findings = Vec::new();
    // The reasons are free text from the realm.
    let why = format!("git blue contract get {name} shows why");
    let instead = successor(domain, &import.contract);
    if contract.retired.is_some() {
        let message = format!("{repo} imports {name}, which was retired{instead}; {why}");
        findings.push(Finding::warning("import-retired", message));
    }
    if contract.is_yanked() && import.version.matches(version) {
        let message = format!("{repo} imports {name}, whose version {version} was yanked; {why}");
        findings.push(Finding::warning("import-yanked", message));
    }
    if let Some(deprecated) = &contract.deprecated
        && contract.retired.is_none()
        && !deprecated.is_over(today)
    {
        let until = deprecated.sunset.map(|date| format!(", served until {date}")).unwrap_or_default();
        let message = format!("{repo} imports {name}, deprecated since {}{until}{instead}", deprecated.since);
        findings.push(Finding::warning("import-deprecated", message));
    }
    findings
}

/// Returns the end of a message that names the successor of a deprecated contract, if there is one.
pub(super) fn successor(domain: &DomainSummary, name: &ContractName) -> String {
    match domain.successor(name) {
        Some(Successor::Last(other)) if domain.has_contract(other) => format!("; move to {other}"),
        Some(Successor::Last(other)) => format!("; its successor {other} does not exist"),
        Some(Successor::Retired(other)) => format!("; its successor {other} is retired"),
        Some(Successor::Circle(other)) => format!("; its successor {other} is deprecated too, and leads back to it"),
        None => String::new(),
    }
}
