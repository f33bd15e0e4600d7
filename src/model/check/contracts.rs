//! The rules for contracts.

use std::collections::BTreeMap;

use jiff::civil::Date;

use super::{Examination, Finding, imports, same_but_for_case};
use crate::model::{
    domain_summary::{ContractSummary, DomainSummary},
    domain_view::unreadable_bindings,
    name::{ContractName, RepoName},
    publish,
    range::Range,
    realm::Repo,
};

pub(super) fn check(
    repos: &BTreeMap<RepoName, Repo>,
    domain: &DomainSummary,
    examination: &mut Examination,
    today: Date,
    findings: &mut Vec<Finding>,
) {
    let importers = domain.all_importers();
    let are_known = unreadable_bindings(&domain.damage).next().is_none();
    let in_use = domain.contracts.iter().filter(|(_, contract)| contract.retired.is_none()).map(|(name, _)| name);
    let twins = same_but_for_case(in_use);
    for (name, contract) in &domain.contracts {
        let mut of_contract = Vec::new();
        // The owner of a retired contract may leave.
        if contract.retired.is_none() {
            of_contract.extend(owner(repos, domain, name, &contract.owner));
        }
        of_contract.extend(twins.get(name).map(|twin| collision(domain, name, twin)));
        of_contract.extend(examination.findings.remove(name).unwrap_or_default());
        let importers = importers.get(name).map_or(0, Vec::len);
        of_contract.extend(life(domain, (name, contract), importers, today));
        if contract.retired.is_none() && importers == 0 && are_known {
            of_contract.push(Finding::warning("unused", format!("nobody imports {}/{name}", domain.info.name)));
        }
        findings.extend(of_contract.into_iter().map(|finding| finding.domain(&domain.info.name).contract(name)));
    }
}

fn owner(
    repos: &BTreeMap<RepoName, Repo>,
    domain: &DomainSummary,
    name: &ContractName,
    owner: &RepoName,
) -> Option<Finding> {
    let domain_name = &domain.info.name;
    if !repos.contains_key(owner) {
        let message = format!("{domain_name}/{name} belongs to {owner}, which is not in the realm");
        let resolution = publish::without_owner(owner, false, false);
        Some(Finding { resolution, ..Finding::error("unknown-owner", message) })
    } else if !domain.info.has_member(owner) {
        let message = format!("{domain_name}/{name} belongs to {owner}, which is not a member of {domain_name}");
        let add = format!("git blue realm admin domain --name {domain_name} --repos {owner}  # add it to the members");
        Some(Finding { resolution: vec![add], ..Finding::error("owner-not-member", message) })
    } else {
        None
    }
}

/// Returns the finding for a contract whose name differs from another one only in case: two machines created them at the
/// same time.
fn collision(domain: &DomainSummary, name: &ContractName, twin: &ContractName) -> Finding {
    let domain_name = &domain.info.name;
    let owner = domain.owner(twin).map(|owner| format!(" of {owner}")).unwrap_or_default();
    let message = format!("{domain_name}/{name} differs from {domain_name}/{twin}{owner} only in case");
    let retire = format!(
        "git blue contract retire {domain_name}/{name} --reason \"renamed\"  # or the other one, once it has another name"
    );
    Finding { resolution: vec![retire], ..Finding::error("name-collision", message) }
}

fn life(
    domain: &DomainSummary,
    (name, contract): (&ContractName, &ContractSummary),
    importers: usize,
    today: Date,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(deprecated) = &contract.deprecated
        && contract.retired.is_none()
        && deprecated.is_over(today)
        && importers > 0
    {
        let until = deprecated.sunset.map(|date| date.to_string()).unwrap_or_default();
        let repos = if importers == 1 { "repository" } else { "repositories" };
        let (domain_name, instead) = (&domain.info.name, imports::successor(domain, name));
        let message = format!(
            "{domain_name}/{name} was served until {until}, but is still imported by {importers} {repos}{instead}"
        );
        findings.push(Finding::warning("past-sunset", message));
    }
    findings.extend(unserved(domain, name, contract));
    findings
}

/// Returns findings for ranges of older versions that match no version that can be served.
fn unserved(domain: &DomainSummary, name: &ContractName, contract: &ContractSummary) -> Vec<Finding> {
    let known = domain.versions.get(name);
    let finding = |range: &Range| {
        let mut matching = known.into_iter().flatten().filter(|version| range.matches(version)).peekable();
        let is_empty = matching.peek().is_none();
        if !is_empty && !matching.all(|version| contract.yanked_reason(version).is_some()) {
            return None;
        }
        let why =
            if is_empty { "no published version is in that range" } else { "every version in that range was yanked" };
        let message = format!("{}/{name} supports {range}, but {why}", domain.info.name);
        Some(Finding::warning("supports-nothing", message))
    };
    contract.supported.iter().filter_map(finding).collect()
}
