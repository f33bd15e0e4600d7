//! Checks whether the realm is consistent. The candidate, which is one repository's files, is applied to the realm, so
//! that problems are found before they are published.
//!
//! An error is something that does not work, a warning something that is probably wrong.

mod behind;
mod candidate;
mod cause;
pub mod conflicts;
mod contracts;
mod cycles;
mod examination;
mod files;
mod finding;
mod further;
mod imports;
mod refused;
mod report;

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Deserialize;

pub use candidate::unreadable_file;
pub use cause::{Cause, Known};
pub use examination::{Examination, SchemaHashes};
pub use files::unchanged;
pub use finding::{Finding, Severity};
pub use report::{Report, SchemaHash};

use candidate::AppliedDomain;
use cause::JudgedRepos;
use report::sort;

use crate::model::{
    binding::Import,
    candidate::{Judged, contract_of},
    contract::Contract,
    cycle::DependencyGraph,
    domain_summary::DomainSummary,
    domain_view::{Damage, DomainView, Subject},
    name::{ContractName, DomainName, RepoName},
    realm::{Cycles, Repo},
    set_aside::SetAside,
    verdict::{ImportState, Judge, Promise, States},
    version::Version,
};

/// The rules to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Mode {
    /// All rules
    #[default]
    All,
    /// Contracts only
    Contract,
    /// Contracts only, and the owner's scripts that test them
    Exporter,
    /// Imports, and the scripts that test them
    Importer,
    /// Compatibility between versions
    Compatibility,
}

/// The note on an import that was broken before by fewer differences.
const WORSE: &str = "it was broken before, and is broken further now";

/// The input of a check.
#[derive(Debug, Clone, Copy)]
pub struct CheckInput<'a> {
    /// The repositories of the realm.
    pub repos: &'a BTreeMap<RepoName, Repo>,
    /// The repository that asks, if there is one.
    pub me: Option<&'a RepoName>,
    /// The files to apply to the realm together, at most one set per repository.
    pub judged: &'a [Judged<'a>],
    /// Whether all findings are reported, not only those that concern the judged repositories.
    pub all: bool,
    /// The time of the check, used for sunset dates and for the times that a binding would record.
    pub now: jiff::Timestamp,
    /// The rules that apply.
    pub mode: Mode,
    /// Whether to list judged contracts instead of only counting them.
    pub listed: bool,
    /// The realm's policy for cycles.
    pub cycles: Cycles,
    /// Compares schemas and validates values.
    pub judge: &'a Judge<'a>,
}

/// A domain as published.
#[derive(Debug)]
pub struct PublishedDomain<'a> {
    /// Its summary.
    pub summary: &'a DomainSummary,
    /// The result of examining its contracts.
    pub examination: Examination,
    /// The state of each import that is not known to hold.
    pub states: States,
}

/// The result of comparing contract files that are as they were published, and were not read with the others.
#[derive(Debug, Default)]
pub struct UnreadFiles {
    /// The findings.
    pub findings: Vec<Finding>,
    /// The contracts with `version: auto`.
    pub automatic: BTreeSet<ContractName>,
    /// The contracts of the realm that cannot be read.
    pub damage: Vec<Damage>,
}

/// A check in progress, domain by domain.
#[derive(Debug)]
pub struct Check<'a> {
    input: CheckInput<'a>,
    today: Date,
    domains: BTreeSet<DomainName>,
    is_empty: bool,
    provision: DependencyGraph,
    report: Report,
}

impl<'a> Check<'a> {
    /// Starts a check.
    pub fn new(input: CheckInput<'a>) -> Self {
        let today = input.now.to_zoned(jiff::tz::TimeZone::UTC).date();
        Self {
            input,
            today,
            domains: BTreeSet::new(),
            is_empty: true,
            provision: DependencyGraph::default(),
            report: Report::default(),
        }
    }

    fn own(&self) -> JudgedRepos<'a> {
        JudgedRepos(self.input.judged)
    }

    /// Returns the versions that the judged files, and the base of a pull request, declare in a domain. They are compared
    /// with the documents published under those versions, so the view must contain these documents.
    pub fn declared(&self, domain: &DomainName) -> Vec<(ContractName, Version)> {
        let candidates = || self.input.judged.iter().map(|judged| judged.candidate);
        let of_files = candidates().flat_map(|candidate| candidate.contracts_in(domain));
        let of_files = of_files.map(|(name, declared)| (name, &declared.document));
        let of_base = candidates().flat_map(|candidate| &candidate.base).filter(|((of, _), _)| of == domain);
        let of_base = of_base.map(|((_, name), document)| (name, document));
        of_files.chain(of_base).map(|(name, document)| (name.clone(), document.version.clone())).collect()
    }

    /// Returns the contracts of a domain that the rules need to apply the judged files: those that the files declare, with
    /// their successors, those whose files were removed, and the imports of changed bindings.
    pub fn contracts(&self, domain: &DomainName) -> BTreeSet<ContractName> {
        let successor = |contract: &Contract| contract.deprecated.as_ref()?.replaced_by.clone();
        let mut names = BTreeSet::new();
        for Judged { candidate, .. } in self.input.judged {
            for (name, declared) in candidate.contracts_in(domain) {
                names.insert(name.clone());
                names.extend(successor(&declared.document));
            }
            let binding = candidate.bindings.get(domain).filter(|declared| declared.changed).into_iter();
            names.extend(binding.flat_map(|one| &one.document.imports).map(|import| import.contract.clone()));
            let removed = candidate.removed_contracts.keys().filter(|(of, _)| of == domain);
            names.extend(removed.map(|(_, name)| name.clone()));
        }
        names
    }

    /// Returns whether the judged files need the documents of a domain: they declare or remove contracts in it, or
    /// change a binding.
    pub fn needs_documents(&self, domain: &DomainName) -> bool {
        self.input.judged.iter().any(|judged| judged.candidate.needs_documents(domain))
    }

    /// Returns whether the judged files mention a domain.
    pub fn is_judged(&self, domain: &DomainName) -> bool {
        self.input.judged.iter().any(|judged| judged.candidate.declares_in(domain))
    }

    /// Returns whether contracts are listed with the hashes of their schemas.
    pub fn is_listed(&self) -> bool {
        self.input.listed
    }

    /// Judges a domain as published. The judged files must not change it, nor declare contracts in it.
    pub fn published(&mut self, published: PublishedDomain<'_>) {
        let CheckInput { judged, mode, .. } = self.input;
        let PublishedDomain { summary, mut examination, states } = published;
        let findings = self.findings((summary, summary), &mut examination, &states, &BTreeSet::new());
        self.take(findings, None, summary);
        let of_files = judged.iter().flat_map(|judged| files::check_binding(summary, *judged));
        self.report.findings.extend(of_files.filter(|finding| is_in_mode(mode, finding)));
        self.count(summary, examination, &states);
    }

    /// Judges a domain with the files applied to it. `part` has the [`contracts`](Self::contracts) that the files need, with the
    /// documents that their importers were written against. `compare` compares the files that were not read with the part
    /// after the files are applied.
    ///
    /// # Errors
    /// Returns the error of `compare`.
    pub fn with_candidate<E>(
        &mut self,
        published: PublishedDomain<'_>,
        part: &DomainView,
        compare: impl FnOnce(&DomainView) -> Result<UnreadFiles, E>,
    ) -> Result<(), E> {
        let CheckInput { judged, now, mode, judge, .. } = self.input;
        let PublishedDomain { summary: before, examination, states: known_states } = published;
        let AppliedDomain { after, findings: mut of_files, is_changed } =
            candidate::apply_candidate((before, part), judged, (now, judge));
        let UnreadFiles { findings, automatic, damage } = compare(&after)?;
        of_files.extend(findings);
        let before = before.with_damage(part.damage.iter().chain(&damage));
        let changed = is_changed.then(|| before.with_part(part, &after));
        let summary = changed.as_ref().unwrap_or(&before);
        let contracts = self.contracts(&before.info.name);
        // Findings that exist without the files are not caused by them.
        let known = is_changed.then(|| {
            let states = states(&known_states, (part, part), &contracts, judge);
            self.findings((&before, &before), &mut examination.clone(), &states, &automatic)
        });
        let mut examination = examination.after((part, &after), judge.values());
        let states = states(&known_states, (part, &after), &contracts, judge);
        let mut findings = self.findings((&before, summary), &mut examination, &states, &automatic);
        approved(part, &after, judge, &mut findings);
        let before = known.map(|known| {
            behind::older_imports(judged, (&before, summary), &known, &mut findings);
            let further = further::broken((part, &after), &known, &findings, judge);
            Known::new(&known, further)
        });
        self.take(findings, before.as_ref(), summary);
        self.report.findings.extend(of_files.into_iter().filter(|finding| is_in_mode(mode, finding)));
        self.count(summary, examination, &states);
        Ok(())
    }

    /// Applies the rules to one domain. `automatic` are the contracts whose files have `version: auto`, besides those in
    /// files that were read.
    fn findings(
        &self,
        (published, domain): (&DomainSummary, &DomainSummary),
        examination: &mut Examination,
        states: &States,
        automatic: &BTreeSet<ContractName>,
    ) -> Vec<Finding> {
        let (CheckInput { repos, mode, .. }, name) = (self.input, &domain.info.name);
        let mut findings: Vec<_> = domain.damage.iter().map(|damage| damaged(damage).domain(name)).collect();
        // Files settle a conflict only once they are published.
        let own = self.input.judged.iter().filter(|judged| Some(judged.repo) == self.input.me);
        let is_auto = |contract: &ContractName| {
            automatic.contains(contract)
                || own
                    .clone()
                    .flat_map(|judged| judged.candidate.contracts_in(name))
                    .any(|(declared, file)| declared == contract && file.document.version.is_auto())
        };
        findings.extend(conflicts::check(published, self.input.me, is_auto));
        if mode != Mode::Importer {
            contracts::check(repos, domain, examination, self.today, &mut findings);
        }
        if !matches!(mode, Mode::Contract | Mode::Exporter) {
            imports::check(repos, (published, domain), states, self.today, &mut findings);
        }
        findings
    }

    /// Determines the cause of each finding, and whom it concerns.
    fn take(&mut self, findings: Vec<Finding>, before: Option<&Known>, domain: &DomainSummary) {
        let own = self.own();
        for mut finding in findings {
            let is_new = before.is_some_and(|before| !before.has(&finding));
            if before.is_some_and(|before| before.is_worse(&finding)) {
                finding.notes.push(WORSE.to_owned());
            }
            finding.caused_by = if is_new { Cause::ThisChange } else { own.cause(&finding, domain) };
            self.sort(finding, |finding| own.is_concerned(finding, domain));
        }
    }

    fn sort(&mut self, mut finding: Finding, is_concerned: impl Fn(&Finding) -> bool) {
        let own = self.own();
        if own.0.is_empty() || self.input.all {
            self.report.findings.push(finding);
        } else if is_concerned(&finding) {
            finding.severity = own.severity(&finding);
            self.report.findings.push(finding);
        } else {
            self.report.elsewhere.push(finding);
        }
    }

    /// Counts the judged contracts and imports.
    fn count(&mut self, domain: &DomainSummary, examination: Examination, states: &States) {
        let name = &domain.info.name;
        self.domains.insert(name.clone());
        self.is_empty &= domain.contracts.is_empty() && domain.versions.is_empty() && domain.bindings.is_empty();
        if !matches!(self.input.mode, Mode::Contract | Mode::Exporter) {
            self.provision.add(domain);
        }
        self.report.count += domain.contracts.len();
        self.report.by_range += states.values().filter(|state| state.is_by_range()).count();
        if !self.input.listed {
            return;
        }
        let changed = self.input.judged.iter().flat_map(|judged| judged.candidate.contracts_in(name));
        let changed = changed.filter(|(_, declared)| declared.changed);
        let mut promised: BTreeMap<_, _> =
            changed.map(|(contract, declared)| (contract, declared.document.compatibility.directions())).collect();
        let Examination { mut schema_hashes, .. } = examination;
        self.report.contracts.extend(domain.contracts.iter().map(|(contract, summary)| SchemaHash {
            domain: name.clone(),
            contract: contract.clone(),
            version: summary.version.clone(),
            owner: summary.owner.clone(),
            schema_hash: schema_hashes.remove(contract).unwrap_or_default(),
            promised: promised.remove(contract).unwrap_or_default(),
        }));
    }

    /// Finishes the check with the findings outside of domains: damaged files, each with whether it concerns the
    /// judged repositories; names shared by two repositories; and commits that broke a rule of the realm itself.
    pub fn finish(mut self, damage: &[(Damage, bool)], twice: &[RepoName], set_aside: &[SetAside]) -> Report {
        for (damage, is_concerned) in damage {
            let finding = Finding { caused_by: Cause::AlreadyInTheRealm, ..damaged(damage) };
            self.sort(finding, |_| *is_concerned);
        }
        for finding in conflicts::of_realm(set_aside, self.input.me) {
            let finding = Finding { caused_by: Cause::AnotherRepository, ..finding };
            self.sort(finding, |finding| finding.severity == Severity::Error);
        }
        for finding in conflicts::names(twice).chain(conflicts::names_but_for_case(self.input.repos)) {
            let finding = Finding { caused_by: Cause::AlreadyInTheRealm, ..finding };
            let judged = self.input.judged;
            self.sort(finding, |one| judged.iter().any(|judged| one.repo.as_ref() == Some(judged.repo)));
        }
        let judged = self.input.judged;
        for (finding, is_own) in cycles::check(&self.provision, self.input.cycles, judged) {
            self.sort(finding, |_| is_own);
        }
        let Self { mut report, domains, .. } = self;
        for judged in judged {
            let mut findings: Vec<_> = candidate::unreadable(*judged).collect();
            findings.extend(candidate::unknown_domains(&domains, damage, *judged));
            let mut missing = candidate::missing_files(*judged);
            missing.retain(|finding| is_in_mode(self.input.mode, finding));
            candidate::in_files_of(judged.repo, &mut findings);
            candidate::in_files_of(judged.repo, &mut missing);
            findings.append(&mut report.findings);
            findings.append(&mut missing);
            report.findings = findings;
            report.findings.iter_mut().for_each(|finding| candidate::locate(finding, *judged));
        }
        let mut found = report.findings.iter().chain(&report.elsewhere);
        if self.is_empty && found.all(|finding| finding.severity == Severity::Warning) {
            report.findings.push(Finding::error(
                "nothing-to-check",
                "nothing was checked: the realm has no contracts or bindings yet".into(),
            ));
        }
        if judged.iter().any(|judged| twice.contains(judged.repo)) {
            // Two repositories have this name, and the files may be in the other one.
            let is_known = |one: &Finding| one.code == "file-removed" && one.caused_by == Cause::AlreadyInTheRealm;
            report.findings.retain(|finding| !is_known(finding));
        }
        if self.input.mode == Mode::Compatibility {
            report.findings.retain(is_about_compatibility);
            report.elsewhere.retain(is_about_compatibility);
        }
        sort(&mut report.findings);
        sort(&mut report.elsewhere);
        report
    }
}

/// Turns breaks that the owner approved into warnings, because the owner knows of them.
fn approved(domain: &DomainView, after: &DomainView, judge: &Judge<'_>, findings: &mut [Finding]) {
    let is_approved = |name: &ContractName| {
        let (Some(held), Some(document)) = (domain.contracts.get(name), after.contracts.get(name)) else {
            return false;
        };
        let promise = (held != document).then(|| Promise::of(held, document, judge)).flatten();
        promise.is_some_and(|promise| promise.approved(after.approvals.get(name).into_iter().flatten()).is_some())
    };
    let mut known = BTreeMap::new();
    for finding in findings.iter_mut().filter(|one| one.code == "import-broken" && one.verdict.is_some()) {
        let Some(name) = finding.contract.as_ref().filter(|_| finding.is_admitted()) else { continue };
        if *known.entry(name.clone()).or_insert_with_key(is_approved) {
            finding.severity = Severity::Warning;
        }
    }
}

/// Returns the states of the imports in a domain after files are applied to a part of it, or of fewer if the request is
/// cancelled. `published` are those before. Only imports of these contracts, which are in the part, can have other ones.
fn states(
    published: &States,
    (before, after): (&DomainView, &DomainView),
    contracts: &BTreeSet<ContractName>,
    judge: &Judge<'_>,
) -> States {
    let is_same = |repo: &RepoName| before.bindings.get(repo) == after.bindings.get(repo);
    let is_kept = |(repo, contract): &(RepoName, ContractName)| !contracts.contains(contract) && is_same(repo);
    let kept = published.iter().filter(|(import, _)| is_kept(import));
    let mut states: States = kept.map(|(import, state)| (import.clone(), state.clone())).collect();
    let imports = after.bindings.iter().flat_map(|(repo, binding)| binding.imports.iter().map(move |one| (repo, one)));
    let imports = imports.filter(|(_, import)| contracts.contains(&import.contract));
    // Even a comparison whose result is known hashes both schemas.
    let mut known = BTreeMap::new();
    let mut state = |import: &'_ Import| match import.expects {
        Some(_) => ImportState::of(after, import, judge),
        None => {
            let same = (import.contract.clone(), import.version.to_string(), import.adapted().cloned());
            known.entry(same).or_insert_with(|| ImportState::of(after, import, judge)).clone()
        }
    };
    for (repo, import) in imports.take_while(|_| !judge.values().is_cancelled()) {
        states.insert((repo.clone(), import.contract.clone()), state(import));
    }
    states
}

/// Returns whether a finding about the file of a contract or a binding is one of the rules to check.
fn is_in_mode(mode: Mode, finding: &Finding) -> bool {
    let is_contract = finding.file.as_deref().and_then(contract_of).is_some();
    match mode {
        Mode::All | Mode::Compatibility => true,
        Mode::Contract | Mode::Exporter => is_contract,
        Mode::Importer => !is_contract,
    }
}

/// Returns whether a finding is about compatibility between versions, or prevents judging it.
fn is_about_compatibility(finding: &Finding) -> bool {
    let is_about_it = matches!(
        &*finding.code,
        "breaks-promise" | "break-approved" | "compatibility-unknown" | "import-broken" | "import-behind"
    );
    let prevents_it = matches!(
        &*finding.code,
        "damaged"
            | "unreadable-file"
            | "unknown-domain"
            | "nothing-to-check"
            | "invalid-contract"
            | "undecided"
            | "invalid-schema"
            | "schema-too-large"
            | "missing-contract"
            | "only-pre-releases"
            | "version-reused"
            | "version-down"
    );
    finding.verdict.is_some() || is_about_it || prevents_it
}

fn damaged(damage: &Damage) -> Finding {
    let finding = Finding::error("damaged", format!("it cannot be read: {}", damage.problem)).at(&damage.file, None);
    match &damage.subject {
        Subject::Contract(name) | Subject::Transfers(name) => finding.contract(name),
        Subject::Binding(repo) | Subject::Source(repo) => finding.repo(repo),
        Subject::Domain(domain) => finding.domain(domain),
        Subject::Domains | Subject::Other => finding,
    }
}

/// Returns the names that differ from another one only in case, each with one of the others.
fn same_but_for_case<'n, N: AsRef<str> + Ord>(names: impl Iterator<Item = &'n N>) -> BTreeMap<&'n N, &'n N> {
    let mut groups = BTreeMap::<String, Vec<&N>>::new();
    for name in names {
        groups.entry(name.as_ref().to_ascii_lowercase()).or_default().push(name);
    }
    let twin = |group: &[&'n N], name: &'n N| group.iter().find(|other| **other != name).map(|other| (name, *other));
    groups.values().flat_map(|group| group.iter().filter_map(|name| twin(group, name))).collect()
}
