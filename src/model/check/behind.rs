//! Recognizes imports that are broken only because a branch lacks the newer binding in the realm.

use super::Finding;
use crate::model::{
    candidate::Judged,
    domain_summary::DomainSummary,
    name::{ContractName, RepoName},
};

/// Turns such imports into warnings. The branch did not change the binding, so a merge brings the newer one, whose import
/// holds. `known` are the findings without the files.
pub(super) fn older_imports(
    judged: &[Judged<'_>],
    (published, domain): (&DomainSummary, &DomainSummary),
    known: &[Finding],
    findings: &mut [Finding],
) {
    let name = &published.info.name;
    let version = |domain: &DomainSummary, contract: &ContractName| {
        domain.contracts.get(contract).map(|contract| contract.version.clone())
    };
    let is_broken = |finding: &Finding, repo: &RepoName, contract: &ContractName| {
        finding.code == "import-broken"
            && finding.repo.as_ref() == Some(repo)
            && finding.contract.as_ref() == Some(contract)
    };
    for finding in findings.iter_mut() {
        let (Some(repo), Some(contract)) = (finding.repo.clone(), finding.contract.clone()) else { continue };
        let is_older = |judged: &&Judged<'_>| *judged.repo == repo && judged.candidate.older_bindings.contains(name);
        let holds = published.bindings.get(&repo).is_some_and(|binding| binding.import(&contract).is_some())
            && !known.iter().any(|known| is_broken(known, &repo, &contract))
            && version(published, &contract) == version(domain, &contract);
        let Some(judged) = judged.iter().find(is_older).filter(|_| holds && is_broken(finding, &repo, &contract))
        else {
            continue;
        };
        let message =
            format!("{repo}'s import of {name}/{contract} is older here than in the realm; merge the newer binding");
        let older = Finding::warning("behind", message).domain(name).contract(&contract).repo(&repo);
        let resolution = judged.candidate.behind.get(name).cloned().into_iter().collect();
        *finding = Finding { version: finding.version.take(), resolution, ..older };
    }
}
