//! Applies a repository's files to the realm, and finds what publishing would refuse, by the same rules.

use std::{borrow::Cow, collections::BTreeSet};

use super::{Cause, Finding, files, refused::Refused};
use crate::model::{
    binding::Binding,
    candidate::{self, Declared, FileProblem, Judged, NOT_IN_LFS, imported_name},
    change::DomainChange,
    contract::Contract,
    domain_summary::DomainSummary,
    domain_view::{Damage, DomainView},
    merge,
    name::{ContractName, DomainName, RepoName},
    nearest, next_version,
    publish::{self, Direction},
    range::Range,
    text::shell_word,
    verdict::{Judge, Verdict},
};

/// Returns findings for files that could not be read, for stray files, and for files that the commit will lack.
pub(super) fn unreadable(judged: Judged<'_>) -> impl Iterator<Item = Finding> {
    let problems = judged.candidate.problems.iter().map(unreadable_file);
    let documents = judged.candidate.documents().map(|path| (path, path));
    let referred = judged.candidate.referred.iter().map(|(file, path)| (&**file, &**path));
    let files = documents.chain(referred);
    let in_lfs = files.clone().filter(move |(file, _)| judged.candidate.in_lfs.contains(*file));
    let in_lfs = in_lfs.map(|(file, path)| {
        let what = if file == path { String::new() } else { format!("it refers to {file}: ") };
        let (domain, contract) = candidate::contract_of(path).unzip();
        let message = format!("{what}a commit will have only a pointer to Git LFS: {NOT_IN_LFS}");
        Finding { domain, contract, ..Finding::error("unreadable-file", message).at(path, None) }
    });
    let ignored = files.filter(move |(file, _)| judged.candidate.ignored.contains(*file));
    let ignored = ignored.map(move |(file, path)| {
        let (up, (domain, contract)) = (&judged.candidate.up, candidate::contract_of(path).unzip());
        let what =
            if file == path { "git ignores it".to_owned() } else { format!("it refers to {file}, which git ignores") };
        let add = shell_word(&format!("{up}{file}"));
        let message = format!("{what}, so no commit contains it: git add --force {add}");
        Finding { domain, contract, ..Finding::warning("ignored-file", message).at(path, None) }
    });
    let strays = judged.candidate.strays.iter();
    problems
        .chain(in_lfs)
        .chain(ignored)
        .chain(strays.map(|stray| Finding::warning("stray-file", stray.message.clone()).at(&stray.path, None)))
}

/// Returns the finding for a file that cannot be read.
pub fn unreadable_file(problem: &FileProblem) -> Finding {
    let finding = Finding::error("unreadable-file", problem.message.clone()).at(problem.file(), problem.line);
    let (domain, contract) = candidate::contract_of(&problem.path).unzip();
    Finding { column: problem.column, domain, contract, ..finding }
}

/// Returns findings for files of a domain that the realm does not have. A domain that cannot be read is reported as
/// damaged instead.
pub(super) fn unknown_domains(
    known: &BTreeSet<DomainName>,
    damage: &[(Damage, bool)],
    judged: Judged<'_>,
) -> Vec<Finding> {
    let is_damaged = |domain: &DomainName| damage.iter().any(|(damage, _)| damage.subject.may_be(domain));
    let unknown = |domain: &&DomainName| !known.contains(*domain) && !is_damaged(domain);
    let found = judged.candidate.domains().into_iter().filter(unknown).map(|domain| {
        let contract = judged.candidate.paths_in(domain).next();
        let file = contract.or_else(|| judged.candidate.bindings.get(domain).map(|declared| declared.path.as_str()));
        // A realm cannot have two domains whose names differ only in case.
        let meant = known.iter().find(|known| known.as_str().eq_ignore_ascii_case(domain.as_str()));
        let near = nearest::nearest(domain, known).filter(|_| meant.is_none());
        let question = if meant.is_some() { String::new() } else { nearest::did_you_mean(domain, known) };
        let message = format!("the realm has no domain {domain}{question}");
        let finding = Finding::error("unknown-domain", message).domain(domain);
        let rename = |meant| format!("rename {domain} to {meant} in the paths under .blue");
        let create = format!("git blue realm admin domain --name {domain} --repos {}  # or create it", judged.repo);
        let resolution = match (meant, near) {
            (Some(meant), _) => vec![format!("{}: case matters in names", rename(meant))],
            (None, Some(near)) => vec![rename(near), create],
            (None, None) => Vec::new(),
        };
        Finding { file: file.map(str::to_owned), resolution, ..finding }
    });
    found.collect()
}

/// The part of a domain that files need, with the files applied to it.
pub(super) struct AppliedDomain<'d> {
    /// The part after the files are applied.
    pub after: Cow<'d, DomainView>,
    /// Problems in the files themselves. Documents that publishing would refuse are not applied.
    pub findings: Vec<Finding>,
    /// Whether the files change the domain.
    pub is_changed: bool,
}

/// Applies the files of all judged repositories together to the part of a domain that they need: first their contracts, then
/// their bindings, which may rely on any of the contracts. If the request is cancelled, contracts are left out.
pub(super) fn apply_candidate<'d>(
    (summary, domain): (&DomainSummary, &'d DomainView),
    judged: &[Judged<'_>],
    (now, judge): (jiff::Timestamp, &Judge<'_>),
) -> AppliedDomain<'d> {
    let name = &domain.info.name;
    let mut findings = Vec::new();
    let mut changes = Vec::new();
    for one in judged {
        let before = findings.len();
        let of_base = changes_of_base(domain, *one, judge);
        let published = overlaid(Cow::Borrowed(domain), &of_base);
        changes.extend(of_base);
        for (contract, declared) in changed_contracts(*one, name) {
            if judge.values().is_cancelled() {
                break;
            }
            let document = &*next_version::settled(&published, &declared.document, judge);
            let refusal = match publish::ignoring_promise(&published, one.repo, document, Direction::Forward, judge) {
                Ok(decision) => {
                    changes.extend(decision.changes);
                    // A document that breaks a promise is applied anyway, so that the broken imports are found.
                    let base = one.candidate.base.get(&(name.clone(), contract.clone()));
                    publish::check_promise(&published, &declared.document, judge)
                        .and_then(|()| {
                            base.map_or(Ok(()), |base| publish::keep_content_of_base(domain, base, document, judge))
                        })
                        .err()
                }
                Err(refusal) => {
                    changes.extend(merged_marks(&published, *one, (contract, declared), judge));
                    Some(refusal)
                }
            };
            let refused = |refusal| Refused::new((&published, one.candidate), (contract, declared), refusal);
            findings.extend(refusal.into_iter().flat_map(|refusal| refused(refusal).findings(judge)));
        }
        in_files_of(one.repo, &mut findings[before..]);
    }
    let mut is_changed = !changes.is_empty();
    let mut after = overlaid(Cow::Borrowed(domain), &changes);
    for one in judged {
        let mut changes = Vec::new();
        if let Some(declared) = one.candidate.bindings.get(name).filter(|declared| declared.changed) {
            match publish::binding(&after, one.repo, declared.document.clone(), now) {
                Ok(decision) => changes = decision.changes,
                Err(refusal) => {
                    let finding = Finding::error(refusal.code(), refusal.to_string()).domain(name).repo(one.repo);
                    findings.push(Finding { file_repo: Some(one.repo.clone()), ..finding.at(&declared.path, None) });
                }
            }
        }
        if one.candidate.removed_bindings.contains(name) && domain.has_binding(one.repo) {
            changes.push(DomainChange::RemoveBinding(one.repo.clone()));
        }
        is_changed |= !changes.is_empty();
        after = overlaid(after, &changes);
        findings.extend(files::check(summary, (domain, &after), *one, judge));
    }
    AppliedDomain { after, findings, is_changed }
}

fn changed_contracts<'a>(
    judged: Judged<'a>,
    domain: &'a DomainName,
) -> impl Iterator<Item = (&'a ContractName, &'a Declared<Contract>)> {
    judged.candidate.contracts_in(domain).filter(|(_, declared)| declared.changed)
}

/// Returns the changes of the base of a pull request to contracts that the files change further. It is published first.
fn changes_of_base(domain: &DomainView, judged: Judged<'_>, judge: &Judge<'_>) -> Vec<DomainChange> {
    let name = &domain.info.name;
    let changed = changed_contracts(judged, name).take_while(|_| !judge.values().is_cancelled());
    let of_contract = changed.flat_map(|(contract, declared)| {
        let base = judged.candidate.base.get(&(name.clone(), contract.clone()));
        base.map(|base| publish::changes_of_base(domain, judged.repo, base, &declared.document, judge))
            .unwrap_or_default()
    });
    of_contract.collect()
}

/// Returns the changes of a branch that lacks the current version, and that changes what its contract says besides: a merge
/// applies them to the current version.
fn merged_marks(
    domain: &DomainView,
    judged: Judged<'_>,
    (contract, declared): (&ContractName, &Declared<Contract>),
    judge: &Judge<'_>,
) -> Vec<DomainChange> {
    let name = &domain.info.name;
    let before = judged.candidate.before.get(&(name.clone(), contract.clone()));
    let before = before.filter(|before| before.version == declared.document.version);
    let Some((before, current)) = before.zip(domain.contracts.get(contract)) else { return Vec::new() };
    let merged = merge::marks(before, current, &declared.document);
    let decision = publish::ignoring_promise(domain, judged.repo, &merged, Direction::Forward, judge);
    decision.map(|decision| decision.changes).unwrap_or_default()
}

/// Returns a domain with the changes applied. Without changes, the domain is not copied.
fn overlaid<'d>(domain: Cow<'d, DomainView>, changes: &[DomainChange]) -> Cow<'d, DomainView> {
    match changes {
        [] => domain,
        changes => Cow::Owned(publish::overlay(&domain, changes).into_owned()),
    }
}

/// Returns findings for files that bindings name but the commit does not contain.
pub(super) fn missing_files(judged: Judged<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (domain, declared) in &judged.candidate.bindings {
        let Binding { exports, imports, .. } = &declared.document;
        let sources = exports
            .iter()
            .flat_map(|export| export.source_files.iter().map(|file| (&export.contract, "a source file of", file)));
        let uses = imports
            .iter()
            .flat_map(|import| import.binding.files().iter().map(|file| (&import.contract, "which uses", file)));
        for (contract, what, file) in
            sources.chain(uses).filter(|(_, _, file)| judged.candidate.missing.contains(*file))
        {
            let message = format!("{file}, {what} {domain}/{contract}, does not exist");
            let line = declared.lines.get(contract.as_str()).copied();
            let finding = Finding::warning("missing-file", message).domain(domain).contract(contract);
            let caused_by = if declared.changed { Cause::ThisChange } else { Cause::AlreadyInTheRealm };
            findings.push(Finding { caused_by, ..finding.repo(judged.repo).at(&declared.path, line) });
        }
    }
    findings
}

/// Records that the files of findings are a repository's.
pub(super) fn in_files_of(repo: &RepoName, findings: &mut [Finding]) {
    findings.iter_mut().for_each(|finding| finding.file_repo = finding.file.is_some().then(|| repo.clone()));
}

/// Points a finding without a file at the file of the judged repository where it can be fixed: the repository's own
/// import, or its own contract that the imports of others do not accept.
pub(super) fn locate(finding: &mut Finding, judged: Judged<'_>) {
    if finding.file.is_none() {
        point_at_file(finding, judged);
        in_files_of(judged.repo, std::slice::from_mut(finding));
    }
}

fn point_at_file(finding: &mut Finding, judged: Judged<'_>) {
    let Some(domain) = &finding.domain else {
        return;
    };
    let own = finding.repo.as_ref() == Some(judged.repo);
    let is_in_file = |contract| {
        let declared = judged.candidate.bindings.get(domain);
        declared.is_some_and(|declared| declared.document.import(contract).is_some())
    };
    if own && finding.code == "imports-own" && !finding.contract.as_ref().is_some_and(is_in_file) {
        let step = format!("git blue realm admin binding --domain {domain} --repo {} …", judged.repo);
        finding.notes = vec![format!("only the realm has this import; remove it with {step}, leaving it out")];
    }
    if let (true, Some(declared)) = (own, judged.candidate.bindings.get(domain)) {
        let line = |contract: &ContractName| match &*finding.code {
            "missing-contract" => declared.lines.get(&imported_name(contract.as_str())).copied(),
            _ => declared.lines.get(contract.as_str()).copied(),
        };
        finding.line = finding.contract.as_ref().and_then(line);
        finding.file = Some(declared.path.clone());
        return;
    }
    let Some(contract) = &finding.contract else {
        return;
    };
    if let Some(declared) = judged.candidate.contracts.get(&(domain.clone(), contract.clone())) {
        finding.file = Some(declared.path.clone());
        // The files cause only what they change; a line for anything else would blame the wrong commit.
        if declared.changed || finding.caused_by == Cause::ThisChange {
            // A version that the range refuses is itself the cause, whatever else it changes.
            let admits = |range: &Range| finding.version.as_ref().is_some_and(|version| range.matches(version));
            let verdict = finding.verdict.as_ref().filter(|_| finding.requirement.as_ref().is_none_or(admits));
            (finding.line, finding.place) = (declared.line(verdict), verdict.and_then(Verdict::place));
        }
    } else if let Some(path) = judged.candidate.unread.get(&(domain.clone(), contract.clone())) {
        finding.file = Some(path.clone());
        // Callers that have the file convert the place to its line.
        finding.place = (finding.caused_by == Cause::ThisChange).then(|| "/version".to_owned());
    } else if finding.code == "past-sunset"
        && let Some(declared) = judged.candidate.bindings.get(domain)
        && let Some(line) = declared.lines.get(contract.as_str())
    {
        // The contract is another repository's; this one can only drop its import.
        (finding.file, finding.line) = (Some(declared.path.clone()), Some(*line));
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeMap,
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
        time::Duration,
    };

    use super::*;
    use crate::model::{candidate::Candidate, domain::Domain, schema::Budget};

    #[test]
    fn cancelled_request_judges_no_further_contract() {
        let (shop, orders) = ("shop".parse().unwrap(), "orders".parse::<DomainName>().unwrap());
        let members = std::iter::once(&shop).cloned().collect();
        let domain = Domain { name: orders.clone(), description: String::new(), members, removed: false };
        let domain = DomainView::new(domain);
        let declared = |name: &str| {
            let document = Contract::new(name.parse().unwrap(), "shop".parse().unwrap());
            let declared = Declared { path: String::new(), document, lines: BTreeMap::new(), changed: true };
            ((orders.clone(), name.parse().unwrap()), declared)
        };
        let candidate = Candidate { contracts: ["a", "b"].map(declared).into(), ..Candidate::default() };
        let judged = [Judged { repo: &shop, candidate: &candidate }];
        let flag = Arc::new(AtomicBool::new(false));
        let judge = Judge::new(Budget::default().cancelled_by(flag.clone()), || Duration::ZERO, Duration::from_secs(9));
        let summary = DomainSummary::from(&domain);
        let apply = || apply_candidate((&summary, &domain), &judged, (jiff::Timestamp::UNIX_EPOCH, &judge));
        assert_eq!(apply().after.contracts.len(), 2);
        flag.store(true, Ordering::Relaxed);
        assert_eq!((apply().after.contracts.len(), apply().findings), (0, Vec::new()));
    }
}
