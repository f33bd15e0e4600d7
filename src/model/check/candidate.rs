//! Applies a repository's files to the realm, and finds what publishing would refuse, by the same rules.

use std::{borrow::Cow, collections::BTreeSet};

use super::{Cause, Finding, files};
use crate::model::{
    binding::Binding,
    candidate::{self, Candidate, Declared, Judged, imported_name},
    change::DomainChange,
    contract::Contract,
    domain_view::{Damage, DomainView},
    fault::Fault,
    name::{ContractName, DomainName, RepoName},
    nearest, next_version,
    publish::{self, Direction, Reason, Refusal},
    range::Range,
    text::shell_word,
    verdict::{Judge, Verdict},
    version::Version,
};

/// Returns findings for files that could not be read, for stray files, and for files that the commit will lack.
pub(super) fn unreadable(judged: Judged<'_>) -> impl Iterator<Item = Finding> {
    let problems = judged.candidate.problems.iter().map(|problem| {
        let finding = Finding::error("unreadable-file", problem.message.clone()).at(problem.file(), problem.line);
        let (domain, contract) = candidate::contract_of(&problem.path).unzip();
        Finding { column: problem.column, domain, contract, ..finding }
    });
    let documents = judged.candidate.documents().map(|path| (path, path));
    let referred = judged.candidate.referred.iter().map(|(file, path)| (&**file, &**path));
    let ignored = documents.chain(referred).filter(move |(file, _)| judged.candidate.ignored.contains(*file));
    let ignored = ignored.map(move |(file, path)| {
        let (up, (domain, contract)) = (&judged.candidate.up, candidate::contract_of(path).unzip());
        let what =
            if file == path { "git ignores it".to_owned() } else { format!("it refers to {file}, which git ignores") };
        let add = shell_word(&format!("{up}{file}"));
        let message = format!("{what}, so that no commit has it: git add --force {add} adds it");
        Finding { domain, contract, ..Finding::warning("ignored-file", message).at(path, None) }
    });
    let strays = judged.candidate.strays.iter();
    problems
        .chain(ignored)
        .chain(strays.map(|stray| Finding::warning("stray-file", stray.message.clone()).at(&stray.path, None)))
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
        let contract = judged.candidate.contracts_in(domain).map(|(_, declared)| &declared.path).next();
        let file = contract.or_else(|| judged.candidate.bindings.get(domain).map(|declared| &declared.path));
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
        Finding { file: file.cloned(), resolution, ..finding }
    });
    found.collect()
}

/// A domain with files applied to it.
pub(super) struct AppliedDomain<'d> {
    /// The domain after the files are applied.
    pub after: Cow<'d, DomainView>,
    /// Problems in the files themselves. Documents that publishing would refuse are not applied.
    pub findings: Vec<Finding>,
    /// Whether the files change the domain.
    pub is_changed: bool,
}

/// Applies the files of all judged repositories to a domain together: first their contracts, then their bindings,
/// which may rely on any of the contracts. If the request is cancelled, contracts are left out.
pub(super) fn apply_candidate<'d>(
    domain: &'d DomainView,
    judged: &[Judged<'_>],
    (now, judge): (jiff::Timestamp, &Judge<'_>),
) -> AppliedDomain<'d> {
    let name = &domain.info.name;
    let mut findings = Vec::new();
    let mut changes = Vec::new();
    for one in judged {
        let before = findings.len();
        for (contract, declared) in one.candidate.contracts_in(name).filter(|(_, declared)| declared.changed) {
            if judge.values().is_cancelled() {
                break;
            }
            let document = &*next_version::settled(domain, &declared.document, judge);
            match publish::ignoring_promise(domain, one.repo, document, Direction::Forward, judge) {
                Ok(decision) => {
                    changes.extend(decision.changes);
                    // A document that breaks a promise is applied anyway, so that the broken imports are found.
                    let broken = publish::check_promise(domain, &declared.document, judge).err().into_iter();
                    let refused = |refusal| refused((domain, one.candidate), contract, declared, refusal, judge);
                    findings.extend(broken.flat_map(refused));
                }
                Err(refusal) => {
                    findings.extend(refused((domain, one.candidate), contract, declared, refusal, judge));
                }
            }
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
        findings.extend(files::check(domain, &after, *one, judge));
    }
    AppliedDomain { after, findings, is_changed }
}

/// Returns a domain with the changes applied. Without changes, the domain is not copied.
fn overlaid<'d>(domain: Cow<'d, DomainView>, changes: &[DomainChange]) -> Cow<'d, DomainView> {
    match changes {
        [] => domain,
        changes => Cow::Owned(publish::overlay(&domain, changes)),
    }
}

/// Returns the steps if the files have an older version than the realm, as after `git revert`. `needed` is the version that
/// they need to be newer.
fn steps_down(at: &str, current: &Version, needed: Option<&Version>) -> Vec<String> {
    let parts = |version: &Version| (version.semver().major, version.semver().minor);
    let level = needed.map(|needed| match (parts(needed), parts(current)) {
        ((major, _), (held, _)) if major != held => "major",
        ((_, minor), (_, held)) if minor != held => "minor",
        _ => "patch",
    });
    let bump = level.map(|level| format!("git blue contract bump {at} {level}  # or publish it as a newer version"));
    let rollback =
        "git blue contract publish --rollback --reason \"…\"  # once the publishing branch has it: publish it again";
    [rollback.to_owned()].into_iter().chain(bump).collect()
}

/// Converts a refusal to findings. A branch that only lacks recently published changes is not reported as broken.
fn refused(
    (domain, candidate): (&DomainView, &Candidate),
    contract: &ContractName,
    declared: &Declared<Contract>,
    refusal: Refusal,
    judge: &Judge<'_>,
) -> Vec<Finding> {
    let name = &domain.info.name;
    let line = declared.lines.get(refusal.field().unwrap_or("version")).copied();
    // If the version went down, suggest the one that the content needs.
    let needed =
        || Some(next_version::needed(domain, domain.contracts.get(contract)?, &declared.document, judge).version);
    let bump = match *refusal.reason {
        Reason::Down { .. } => needed(),
        _ => refusal.bump().cloned(),
    };
    let current = domain.contracts.get(contract).filter(|_| refusal.field() == Some("version"));
    let merge = current.and_then(|current| candidate.merge_first(name, current));
    // What the branch lacks counts as removed, so that the message may name too high a version.
    let unless_older = match current.map(|current| &current.version) {
        Some(version) if merge.is_some() => format!("; this branch lacks the published {version}: merge it first"),
        Some(version) if candidate.unknown.contains(name) => {
            format!("; this shallow clone cannot tell whether the branch lacks {version}: git fetch --unshallow")
        }
        _ => String::new(),
    };
    let older_line = current.and_then(|current| candidate.of_older_line(name, current));
    let removal = refusal.remove_file(&declared.path).filter(|_| merge.is_none());
    let given_up = if removal.is_none() && merge.is_none() { refusal.of_given_up() } else { Vec::new() };
    let is_undecided = given_up.is_empty()
        && matches!(&*refusal.reason, Reason::Republished { needed, .. } if needed.if_breaking.is_some());
    let levels = [("major", "if it may break consumers, which is unknown"), ("minor", "if it does not")];
    let levels = levels.map(|(level, when)| format!("git blue contract bump {name}/{contract} {level}  # {when}"));
    let levels = levels.into_iter().filter(|_| is_undecided && merge.is_none());
    // The file is from before the owner changed the contract.
    let is_offered = publish::is_offered(domain, &declared.document.owner, contract);
    let going_down = match &*refusal.reason {
        Reason::Down { is_published: true, .. } if is_offered => {
            let to = &declared.document.owner;
            let write = candidate::write_file_of(to, name, contract, &candidate.up);
            vec![format!(
                "{write}  # the file lacks what the owner changed; committing the new one accepts the contract"
            )]
        }
        Reason::Down { current, is_published: true, .. }
            if !candidate.behind.contains_key(name) && !candidate.unknown.contains(name) =>
        {
            steps_down(&format!("{name}/{contract}"), current, bump.as_ref())
        }
        _ => Vec::new(),
    };
    let resolution: Vec<_> = merge
        .into_iter()
        .chain(older_line)
        .map(str::to_owned)
        .chain(removal)
        .chain(given_up)
        .chain(levels)
        .chain(going_down)
        .collect();
    let place = |finding: Finding| {
        let finding = finding.domain(name).contract(contract).at(&declared.path, line);
        Finding { bump: bump.clone(), resolution: resolution.clone(), ..finding }
    };
    match &*refusal.reason {
        Reason::Down { version, current, is_published: true, .. } => {
            // If the files never had the newer version, this is not a downgrade.
            let message = |what| format!("{name}/{contract} is {version} here and {current} in the realm; {what}");
            let finding = if candidate.behind.contains_key(name) {
                Finding::warning("behind", message("merge the newer versions".to_owned()))
            } else if candidate.unknown.contains(name) {
                let unshallow = "this shallow clone cannot tell which is newer: git fetch --unshallow";
                Finding::warning("behind", message(unshallow.to_owned()))
            } else {
                // Publishing refuses the whole commit.
                let what = if is_offered {
                    "take its content from the realm to accept it".to_owned()
                } else {
                    format!("publish it with --rollback, or write a version above {current}")
                };
                Finding::error(refusal.code(), message(what))
            };
            vec![place(finding)]
        }
        Reason::Republished { version, .. } if is_newer((domain, candidate), contract, version) => {
            let message = format!(
                "{name}/{contract} {version} was published with different content in the meantime: merge the published \
                 commit, then raise the version"
            );
            vec![place(Finding::error(refusal.code(), message))]
        }
        // Callers that have the file add the lines.
        Reason::Invalid(faults) | Reason::Undecided(faults) => faults
            .iter()
            .map(|Fault { pointer, message }| Finding {
                line: None,
                place: Some(pointer.clone()),
                ..place(Finding::error(refusal.code(), format!("{name}/{contract}: {message}")))
            })
            .collect(),
        Reason::BreaksPromise { promise, version, current, bump } => promise
            .each()
            .map(|broken| {
                let verdict = broken.broken.first().cloned();
                let reason = Reason::BreaksPromise {
                    current: current.clone(),
                    version: version.clone(),
                    bump: bump.clone(),
                    promise: Box::new(broken),
                };
                let broken = Refusal { reason: Box::new(reason), ..refusal.clone() };
                let finding = place(Finding::error(refusal.code(), format!("{broken}{unless_older}")));
                let line = declared.line(verdict.as_ref());
                let place = verdict.as_ref().and_then(Verdict::place);
                let fingerprint = Some(promise.fingerprint());
                Finding { line, place, verdict, version: Some(version.clone()), fingerprint, ..finding }
            })
            .collect(),
        Reason::UndecidedVersion { minor, major, .. } => {
            let finding = place(Finding::error(refusal.code(), format!("{refusal}{unless_older}")));
            vec![Finding { version: Some(minor.clone()), bump: Some(major.clone()), ..finding }]
        }
        _ => vec![place(Finding::error(refusal.code(), format!("{refusal}{unless_older}")))],
    }
}

/// Returns whether a version was published after these files diverged from the published ones, which did not have its
/// content then.
fn is_newer((domain, candidate): (&DomainView, &Candidate), contract: &ContractName, version: &Version) -> bool {
    let name = &domain.info.name;
    let before = candidate.before.get(&(name.clone(), contract.clone())).filter(|before| before.version == *version);
    let hash = |document: &Contract| document.computed_content_hash();
    candidate.behind.contains_key(name) && before.map(hash) != domain.document(contract, version).map(hash)
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
        finding.notes = vec![format!("{step} without it removes the import, which only the realm has")];
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
    use crate::model::{domain::Domain, schema::Budget};

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
        let apply = || apply_candidate(&domain, &judged, (jiff::Timestamp::UNIX_EPOCH, &judge));
        assert_eq!(apply().after.contracts.len(), 2);
        flag.store(true, Ordering::Relaxed);
        assert_eq!((apply().after.contracts.len(), apply().findings), (0, Vec::new()));
    }
}
