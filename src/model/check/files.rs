//! Compares a repository's files with what the realm has from it: missing or different files, and consequences of a
//! new document that no rule refuses.

use super::{Cause, Finding, conflicts};
use crate::model::{
    binding::{Binding, Export, Import},
    candidate::{self, Candidate, Declared, Judged},
    conflict::{Conflict, LostContract, Standing},
    contract::Contract,
    domain_summary::DomainSummary,
    domain_view::{Damage, DomainView, unreadable_bindings},
    effects::{self, Remark},
    name::{ContractName, DomainName},
    next_version, publish,
    text::{comma_separated, shell_word},
    verdict::Judge,
};

/// Checks the files of a repository that were read. `published` is the domain, `domain` the part of it that the files need,
/// and `after` that part with the files applied to it. If the request is cancelled, contracts are left out.
pub(super) fn check(
    published: &DomainSummary,
    (domain, after): (&DomainView, &DomainView),
    judged: Judged<'_>,
    judge: &Judge<'_>,
) -> Vec<Finding> {
    let name = &domain.info.name;
    let mut findings = missing_files(published, judged);
    for (contract, declared) in judged.candidate.contracts_in(name) {
        if judge.values().is_cancelled() {
            break;
        }
        findings.extend(if declared.changed {
            changed((domain, after), (contract, declared), judge)
        } else {
            unchanged(after, judged, (contract, declared), judge)
        });
    }
    findings.extend(of_binding(judged, name, domain.bindings.get(judged.repo), &domain.damage));
    findings
}

/// Does the same as [`check`] for a repository whose files declare no contracts in the domain.
pub(super) fn check_binding(domain: &DomainSummary, judged: Judged<'_>) -> Vec<Finding> {
    let mut findings = missing_files(domain, judged);
    findings.extend(of_binding(judged, &domain.info.name, domain.bindings.get(judged.repo), &domain.damage));
    findings
}

/// Checks the file of a contract that differs from the published one.
fn changed(
    (domain, after): (&DomainView, &DomainView),
    (contract, declared): (&ContractName, &Declared<Contract>),
    judge: &Judge<'_>,
) -> Vec<Finding> {
    let document = next_version::settled(domain, &declared.document, judge);
    let published = after.document(contract, &document.version);
    // If publishing it would be refused, a misspelled keyword may be the reason.
    let mut remarks = match published.filter(|published| published.schema == document.schema) {
        Some(published) => effects::remarks_on_contract((domain, after), published, judge),
        None => effects::remarks_on_document(&document, judge),
    };
    let held = domain.contracts.get(contract);
    remarks.extend(held.and_then(|held| effects::remark_on_prerelease(held, &document)));
    located(remarks, &domain.info.name, declared)
}

/// Compares the file of a contract that is as it was published with the contract in the realm, which may have changed since.
/// The part of the domain needs only this contract, and those that replace it.
pub fn unchanged(
    domain: &DomainView,
    judged: Judged<'_>,
    (contract, declared): (&ContractName, &Declared<Contract>),
    judge: &Judge<'_>,
) -> Vec<Finding> {
    let document = next_version::settled(domain, &declared.document, judge);
    let held = domain.contracts.get(contract);
    let own = held.filter(|held| held.owner == *judged.repo);
    // If one of the repository's own versions was published twice, another finding has the steps for it.
    let in_conflict = own.is_some_and(|held| {
        domain.conflicts.contracts.get(contract).is_some_and(|versions| versions.contains(&held.version))
    });
    let mut remarks = effects::remarks_on_document(&document, judge);
    remarks.extend(effects::remarks_on_deprecation(domain, &document));
    remarks.extend(own.and_then(|held| effects::remark_on_retirement(held, &document)));
    remarks.extend(held.and_then(|held| effects::remark_on_prerelease(held, &document)));
    let is_offered = publish::is_offered(domain, judged.repo, contract);
    let compared = held.filter(|_| !in_conflict);
    let differs = differs((domain, judged), &document, compared, (declared, is_offered));
    let differs = differs.into_iter().map(|finding| finding.domain(&domain.info.name).contract(contract));
    differs.chain(located(remarks, &domain.info.name, declared)).collect()
}

/// Returns the findings about a repository's binding. `held` is the one in the realm.
fn of_binding(judged: Judged<'_>, name: &DomainName, held: Option<&Binding>, damage: &[Damage]) -> Vec<Finding> {
    let Some(declared) = judged.candidate.bindings.get(name) else { return Vec::new() };
    let mut findings: Vec<_> = binding_differs(judged, name, declared, held, damage).into_iter().collect();
    let remarks = located(effects::remarks_on_expectations(&declared.document), name, declared);
    findings.extend(remarks.into_iter().map(|finding| finding.domain(name).repo(judged.repo)));
    findings
}

/// Returns findings for contracts that the realm still offers, but whose files are missing. There are none if the
/// repository does not publish from files.
fn missing_files(domain: &DomainSummary, judged: Judged<'_>) -> Vec<Finding> {
    let (name, is_from_files) = (&domain.info.name, domain.sources.contains_key(judged.repo));
    let finding = |of: &ContractName| {
        let path = judged.candidate.missing_file(name, of)?;
        let is_removed = judged.candidate.removed_contracts.contains_key(&(name.clone(), of.clone()));
        if !is_removed && (!is_from_files || judged.candidate.behind.contains_key(name)) {
            return None;
        }
        let importers = comma_separated(domain.importers(of).map(|(repo, _)| repo));
        let message = gone_message((name, of), &path, (is_removed, &importers), judged.candidate);
        let caused_by = if is_removed { Cause::ThisChange } else { Cause::AlreadyInTheRealm };
        let finding = Finding::warning("file-removed", message).domain(name).contract(of).at(&path, None);
        Some(Finding { caused_by, ..finding })
    };
    domain.served_by(judged.repo).filter_map(finding).collect()
}

/// Says that a contract stays in the realm without its file, with the commands that bring back the file or retire the
/// contract, which is refused while there are `importers`.
fn gone_message(
    (name, of): (&DomainName, &ContractName),
    path: &str,
    (is_removed, importers): (bool, &str),
    candidate: &Candidate,
) -> String {
    let (is_imported, uncommitted) = (!importers.is_empty(), candidate.uncommitted.get(path));
    // A contract that was created by a command never had a file.
    let what = match uncommitted {
        Some(Some(_)) => "is not committed",
        _ if is_removed => "was removed",
        _ => "does not exist",
    };
    let bring_back = match uncommitted {
        Some(commit) => commit.clone(),
        None if is_removed && !is_imported => None,
        None => Some(format!("{} writes the file", candidate::write_file(name, of, &candidate.up))),
    };
    let when = match (is_removed, is_imported) {
        (false, false) => "",
        (true, false) => "once this is published: ",
        (false, true) => "once nobody imports it: ",
        (true, true) => "once this is published and nobody imports it: ",
    };
    let retire = format!("{when}git blue contract retire {name}/{of} --reason \"…\"");
    let used = if is_imported { format!("; it is imported by {importers}") } else { String::new() };
    let stays = format!("{path} {what}, but {name}/{of} stays in the realm until it is retired{used}");
    let separator = if when.is_empty() { ":" } else { ";" };
    match bring_back {
        Some(bring_back) if is_imported || uncommitted.is_some() => format!("{stays}: {bring_back}, or {retire}"),
        Some(bring_back) => format!("{stays}{separator} {retire}, or {bring_back}"),
        None => format!("{stays}{separator} {retire}"),
    }
}

/// Converts remarks on a file to findings. Callers that have the file convert a place to its line.
fn located<T>(remarks: Vec<Remark>, domain: &DomainName, declared: &Declared<T>) -> Vec<Finding> {
    let finding = |remark: Remark| {
        let line = declared.lines.get("version").copied().filter(|_| remark.place.is_none());
        let message = format!("{domain}: {}", remark.message);
        let finding = Finding::warning(remark.code, message).at(&declared.path, line).contract(&remark.contract);
        let caused_by = if declared.changed { finding.caused_by } else { Cause::AlreadyInTheRealm };
        Finding { place: remark.place, caused_by, ..finding.domain(domain) }
    };
    remarks.into_iter().map(finding).collect()
}

/// Returns a finding for a file that is unchanged since it was published, if the realm has changed since.
fn differs(
    (view, judged): (&DomainView, Judged<'_>),
    document: &Contract,
    held: Option<&Contract>,
    (declared, is_offered): (&Declared<Contract>, bool),
) -> Vec<Finding> {
    let (domain, name) = (&view.info.name, &document.name);
    let Some(held) = held.filter(|held| !document.version.is_prerelease() && !is_same(held, document)) else {
        return Vec::new();
    };
    let (path, up) = (&declared.path, &judged.candidate.up);
    if held.owner != *judged.repo && !is_offered && view.was_created_twice(judged.repo, name) {
        let lost = LostContract { contract: name.clone(), owner: held.owner.clone(), file: path.clone() };
        let finding = conflicts::finding(&Conflict::Lost(lost), Some(domain), Standing::default());
        let finding = finding.at(path, declared.lines.get("owner").copied());
        return vec![Finding { caused_by: Cause::AlreadyInTheRealm, ..finding }];
    }
    let there = candidate::update_file(domain, name, up);
    let message = match document.version == held.version {
        _ if is_offered => format!(
            "{path} is older than the offer of {domain}/{name} to {}: {} writes the new file; committing it accepts \
                the offer",
            judged.repo,
            candidate::unless_edited(format!("{up}{path}")) + &candidate::write_file_of(judged.repo, domain, name, up)
        ),
        _ if held.owner != *judged.repo => format!(
            "{path} is no longer needed, because {domain}/{name} belongs to {} now: git rm {up}{path} removes it",
            held.owner
        ),
        true => format!(
            "{path} differs from {domain}/{name} {} in the realm, which is newer: {there} updates the file; git blue \
                contract edit {domain}/{name} --file {up}{path} updates the realm",
            held.version
        ),
        // With `version: auto`, the next commit that changes the file publishes its whole content.
        false if declared.document.version.is_auto() => format!(
            "{path} differs from {domain}/{name} {} in the realm, which is newer: {there} updates the file; \
                otherwise, the next change to the file publishes its content as {}",
            held.version, document.version
        ),
        false => format!(
            "{path} is at {}, and the realm has {domain}/{name} {}, which is newer: {there} updates the file; to keep \
                the file, give it a version above {}, and commit",
            document.version, held.version, held.version
        ),
    };
    let finding = Finding::warning("file-differs", message).at(path, declared.lines.get("version").copied());
    vec![Finding { caused_by: Cause::AlreadyInTheRealm, version: Some(held.version.clone()), ..finding }]
}

/// Returns whether both documents are equal, ignoring the fields that only the realm writes.
fn is_same(held: &Contract, document: &Contract) -> bool {
    let plain = |contract: &Contract| Contract {
        schema_hash: None,
        content_hash: None,
        retired: None,
        yanked: Vec::new(),
        evolution: Vec::new(),
        ..contract.clone()
    };
    // The realm adds entries to `evolution` that the owner did not write.
    let is_told = document.evolution.iter().all(|one| held.evolution.contains(one));
    held.version == document.version && is_told && plain(held) == plain(document)
}

fn binding_differs(
    judged: Judged<'_>,
    name: &DomainName,
    declared: &Declared<Binding>,
    held: Option<&Binding>,
    damage: &[Damage],
) -> Option<Finding> {
    if declared.changed
        || held.is_some_and(|held| held.as_written() == declared.document.as_written())
        || unreadable_bindings(damage).any(|repo| repo == judged.repo)
    {
        return None;
    }
    let (path, repo) = (&declared.path, judged.repo);
    let there = if fits_on_a_command_line(&declared.document) {
        format!("{} updates the realm", set_binding(name, judged, declared))
    } else {
        "a commit that changes the file updates the realm".to_owned()
    };
    let message = format!(
        "{path} differs from the binding of {repo} in {name} in the realm, which is newer: update the file to match; \
            {there}"
    );
    let finding = Finding::warning("file-differs", message).domain(name).repo(repo).at(path, None);
    Some(Finding { caused_by: Cause::AlreadyInTheRealm, ..finding })
}

/// Returns whether the options of a command can say all that a binding does. They separate files by commas.
fn fits_on_a_command_line(binding: &Binding) -> bool {
    let is_plain = |import: &Import| import.expects.is_none() && import.validation.is_none();
    let sources = binding.exports.iter().flat_map(|export| &export.source_files);
    let mut files = sources.chain(binding.imports.iter().flat_map(|import| import.binding.files()));
    binding.imports.iter().all(is_plain) && !files.any(|file| file.contains(','))
}

/// Returns the command that writes the file's binding into the realm, quoted for a shell.
fn set_binding(domain: &DomainName, judged: Judged<'_>, declared: &Declared<Binding>) -> String {
    let binding = &declared.document;
    let part = |option: &str, of: String, files: &[String]| {
        let files = if files.is_empty() { String::new() } else { format!(":{}", files.join(",")) };
        format!(" --{option} {}", shell_word(&format!("{of}{files}")))
    };
    let export = |export: &Export| part("export", export.contract.to_string(), &export.source_files);
    let import =
        |import: &Import| part("import", format!("{}@{}", import.contract, import.version), import.binding.files());
    let (exports, imports) = (binding.exports.iter().map(export), binding.imports.iter().map(import));
    let parts: String = exports.chain(imports).collect();
    format!("git blue realm admin binding --domain {domain} --repo {} --role {}{parts}", judged.repo, binding.role)
}
