//! Does the realm hold together? The candidate, one repository's files, is laid over what the
//! realm holds, so that a break is found before it is published.
//!
//! What counts as an error and what as a warning follows seed 002 ("Error Types", "Warning
//! Types"): an error is something that does not work, a warning something that smells.

mod candidate;
mod cause;
mod conflicts;
mod contracts;
mod cycles;
mod examination;
mod files;
mod imports;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use cause::{Cause, Key};
pub use examination::{Examination, SchemaHashes};

use candidate::LaidOver;
use cause::Own;

use crate::model::{
    candidate::Judged,
    cycle::Provision,
    domain_summary::DomainSummary,
    domain_view::{Damage, DomainView, Subject},
    name::{ContractName, DomainName, RepoName},
    range::Range,
    realm::{Cycles, Repo},
    set_aside::SetAside,
    verdict::{ImportState, Judge, Promise, States, Verdict},
    version::Version,
};

/// What to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Mode {
    /// Everything
    #[default]
    All,
    /// The contracts themselves
    Contract,
    /// What this repository exports, and the scripts that test it
    Exporter,
    /// Who relies on them
    Importer,
    /// Whether versions fit each other, by proof
    Compatibility,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It does not work.
    Error,
    /// It smells.
    Warning,
}

/// One thing that is wrong, with everything needed to find it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Its stable code.
    pub code: Cow<'static, str>,
    /// Whose doing it is.
    pub caused_by: Cause,
    /// The domain it is in.
    pub domain: Option<DomainName>,
    /// The contract it is about.
    pub contract: Option<ContractName>,
    /// The repository it hits.
    pub repo: Option<RepoName>,
    /// The range that is not satisfied.
    #[serde(rename = "version_req")]
    pub requirement: Option<Range>,
    /// The version that was found.
    pub version: Option<Version>,
    /// JSON Pointer into the schema or value.
    pub pointer: Option<String>,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The file of the judged repository that is to be changed, or the stored file.
    pub file: Option<String>,
    /// The line in it, from 1.
    pub line: Option<u32>,
    /// The column in it, from 1.
    pub column: Option<u32>,
    /// What a comparison of two versions said, where that is what is wrong.
    pub verdict: Option<Verdict>,
    /// JSON Pointer into the document that the file holds, by which whoever has the file tells the line.
    #[serde(skip)]
    pub place: Option<String>,
}

impl Finding {
    fn new(severity: Severity, code: &'static str, message: String) -> Self {
        Self {
            severity,
            code: code.into(),
            caused_by: Cause::ThisChange,
            message,
            domain: None,
            contract: None,
            repo: None,
            requirement: None,
            version: None,
            pointer: None,
            file: None,
            line: None,
            column: None,
            verdict: None,
            place: None,
        }
    }

    /// Returns an error of this change.
    pub fn error(code: &'static str, message: String) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// Returns a warning of this change.
    pub fn warning(code: &'static str, message: String) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// Returns it in a domain.
    #[must_use]
    pub fn domain(self, domain: &DomainName) -> Self {
        Self { domain: Some(domain.clone()), ..self }
    }

    /// Returns it about a contract.
    #[must_use]
    pub fn contract(self, contract: &ContractName) -> Self {
        Self { contract: Some(contract.clone()), ..self }
    }

    /// Returns it hitting a repository.
    #[must_use]
    pub fn repo(self, repo: &RepoName) -> Self {
        Self { repo: Some(repo.clone()), ..self }
    }

    /// Returns it at a place of a file.
    #[must_use]
    pub fn at(self, file: &str, line: Option<u32>) -> Self {
        Self { file: Some(file.to_owned()), line, ..self }
    }
}

/// Whose findings are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Those that concern the repositories whose files are judged; the rest is told apart.
    #[default]
    Own,
    /// All of them.
    Everything,
}

/// The question: in which realm, whose files, which day, which rules.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The repositories of the realm.
    pub repos: &'a BTreeMap<RepoName, Repo>,
    /// The repository that asks, if one does.
    pub me: Option<&'a RepoName>,
    /// The files that are laid over it together, of one repository each.
    pub judged: &'a [Judged<'a>],
    /// Whose findings are wanted.
    pub scope: Scope,
    /// The moment the question is asked: for sunsets, and for what a binding would record.
    pub now: jiff::Timestamp,
    /// Which rules.
    pub mode: Mode,
    /// Whether the contracts are listed that were judged, and not only counted.
    pub listed: bool,
    /// What the realm says of cycles.
    pub cycles: Cycles,
    /// What documents are judged by.
    pub judge: &'a Judge<'a>,
}

/// The answer.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// What is wrong: errors first, what the judged repository can mend before the rest.
    pub findings: Vec<Finding>,
    /// What is wrong in the realm and is not the business of those who are judged, errors first.
    pub elsewhere: Vec<Finding>,
    /// How many contracts were judged, the candidate laid over them.
    pub count: usize,
    /// How many imports were judged by their version range alone.
    pub by_range: usize,
    /// Which ones, where that was asked for.
    pub contracts: Vec<SchemaHash>,
}

/// A contract that was looked at, with what its schema hashes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SchemaHash {
    /// The place.
    pub domain: DomainName,
    /// What.
    pub contract: ContractName,
    /// At which version.
    pub version: Version,
    /// SHA-256 of its canonical schema as it is, not as the file says.
    pub schema_hash: String,
    /// The repository that may change it.
    pub owner: RepoName,
}

/// Judges a realm, domain by domain.
#[derive(Debug)]
pub struct Check<'a> {
    question: Question<'a>,
    today: Date,
    domains: BTreeSet<DomainName>,
    is_empty: bool,
    provision: Provision,
    report: Report,
}

impl<'a> Check<'a> {
    /// Begins.
    pub fn new(question: Question<'a>) -> Self {
        let today = question.now.to_zoned(jiff::tz::TimeZone::UTC).date();
        Self {
            question,
            today,
            domains: BTreeSet::new(),
            is_empty: true,
            provision: Provision::default(),
            report: Report::default(),
        }
    }

    fn own(&self) -> Own<'a> {
        Own(self.question.judged)
    }

    /// Returns the versions that the judged files declare in a domain: the check compares them with what
    /// was published under them, so the documents must be in the view.
    pub fn declared(&self, domain: &DomainName) -> Vec<(ContractName, Version)> {
        let contracts = self.question.judged.iter().flat_map(|judged| judged.candidate.contracts_in(domain));
        contracts.map(|(name, declared)| (name.clone(), declared.document.version.clone())).collect()
    }

    /// Returns whether the judged files say anything of a domain: they are laid over the whole of it then.
    pub fn is_judged(&self, domain: &DomainName) -> bool {
        self.question.judged.iter().any(|judged| judged.candidate.says_something_of(domain))
    }

    /// Returns whether the contracts are listed, with the hashes of their schemas.
    pub fn is_listed(&self) -> bool {
        self.question.listed
    }

    /// Judges a domain as it is. `states` says how its imports stand, of those that are not at the version
    /// that they were written against.
    pub fn published(&mut self, domain: &DomainSummary, mut examination: Examination, states: &States) {
        let findings = self.findings(domain, domain, &mut examination, states);
        self.take(findings, None, domain);
        self.count(domain, examination, states);
    }

    /// Judges a domain with the files laid over it. The documents that its importers were written against
    /// must be in the view. `examined` are the hashes of its schemas, where it was examined without the files and nothing
    /// was found. Returns them where that is found only now.
    pub fn laid_over(&mut self, domain: &DomainView, examined: Option<SchemaHashes>) -> Option<SchemaHashes> {
        let (published, Question { judged, now, judge, .. }) = (DomainSummary::from(domain), self.question);
        let LaidOver { after, findings: of_files, is_other } = candidate::lay_over(domain, judged, (now, judge));
        let laid = is_other.then(|| DomainSummary::from(&*after));
        let summary = laid.as_ref().unwrap_or(&published);
        let was_examined = examined.is_some();
        let mut examination = match examined {
            Some(hashes) => Examination::since(hashes, domain, &after, judge.values()),
            None => Examination::of(&after, judge.values()),
        };
        // What the realm has without the files is not their doing.
        let before = is_other.then(|| {
            let mut examined = examination.before(domain, &after, judge.values());
            let findings = self.findings(&published, &published, &mut examined, &states(domain, judge));
            findings.iter().map(Finding::key).collect::<BTreeSet<_>>()
        });
        let states = states(&after, judge);
        let is_clean = !was_examined && !is_other && examination.is_clean_in(&after, &states);
        let found = is_clean.then(|| examination.schema_hashes.clone());
        let mut findings = self.findings(&published, summary, &mut examination, &states);
        approved(domain, &after, judge, &mut findings);
        self.take(findings, before.as_ref(), summary);
        self.report.findings.extend(of_files);
        self.count(summary, examination, &states);
        found
    }

    /// Applies the rules to one domain.
    fn findings(
        &self,
        published: &DomainSummary,
        domain: &DomainSummary,
        examination: &mut Examination,
        states: &States,
    ) -> Vec<Finding> {
        let (Question { repos, mode, .. }, name) = (self.question, &domain.info.name);
        let mut findings: Vec<_> = domain.damage.iter().map(|damage| damaged(damage).domain(name)).collect();
        findings.extend(conflicts::check(domain, self.question.me));
        if mode != Mode::Importer {
            contracts::check(repos, domain, examination, self.today, &mut findings);
        }
        if !matches!(mode, Mode::Contract | Mode::Exporter) {
            imports::check(repos, (published, domain), states, self.today, &mut findings);
        }
        findings
    }

    /// Says of each finding whose doing it is, and whom it concerns.
    fn take(&mut self, findings: Vec<Finding>, before: Option<&BTreeSet<Key>>, domain: &DomainSummary) {
        let own = self.own();
        for mut finding in findings {
            let is_new = before.is_some_and(|before| !before.contains(&finding.key()));
            finding.caused_by = if is_new { Cause::ThisChange } else { own.cause(&finding, domain) };
            self.sort(finding, |finding| own.is_concerned(finding, domain));
        }
    }

    fn sort(&mut self, mut finding: Finding, is_concerned: impl Fn(&Finding) -> bool) {
        let own = self.own();
        if own.0.is_empty() || self.question.scope == Scope::Everything {
            self.report.findings.push(finding);
        } else if is_concerned(&finding) {
            finding.severity = own.severity(&finding);
            self.report.findings.push(finding);
        } else {
            self.report.elsewhere.push(finding);
        }
    }

    /// Counts what was judged.
    fn count(&mut self, domain: &DomainSummary, examination: Examination, states: &States) {
        let name = &domain.info.name;
        self.domains.insert(name.clone());
        self.is_empty &= domain.contracts.is_empty() && domain.bindings.is_empty();
        if !matches!(self.question.mode, Mode::Contract | Mode::Exporter) {
            self.provision.add(domain);
        }
        self.report.count += domain.contracts.len();
        self.report.by_range += states.values().filter(|state| state.is_by_range()).count();
        if !self.question.listed {
            return;
        }
        let Examination { mut schema_hashes, .. } = examination;
        self.report.contracts.extend(domain.contracts.iter().map(|(contract, summary)| SchemaHash {
            domain: name.clone(),
            contract: contract.clone(),
            version: summary.version.clone(),
            owner: summary.owner.clone(),
            schema_hash: schema_hashes.remove(contract).unwrap_or_default(),
        }));
    }

    /// Ends, with what could not be read outside of the domains, each with whether it concerns the judged
    /// repositories, the names that two repositories have, and the commits that broke a rule of the realm
    /// itself.
    pub fn finish(mut self, damage: &[(Damage, bool)], twice: &[RepoName], set_aside: &[SetAside]) -> Report {
        for (damage, is_concerned) in damage {
            let finding = Finding { caused_by: Cause::AlreadyInTheRealm, ..damaged(damage) };
            self.sort(finding, |_| *is_concerned);
        }
        for finding in conflicts::of_realm(set_aside, self.question.me) {
            let finding = Finding { caused_by: Cause::AnotherRepository, ..finding };
            self.sort(finding, |finding| finding.severity == Severity::Error);
        }
        for finding in conflicts::names(twice) {
            let finding = Finding { caused_by: Cause::AlreadyInTheRealm, ..finding };
            let judged = self.question.judged;
            self.sort(finding, |one| judged.iter().any(|judged| one.repo.as_ref() == Some(judged.repo)));
        }
        let judged = self.question.judged;
        for (finding, is_own) in cycles::check(&self.provision, self.question.cycles, judged) {
            self.sort(finding, |_| is_own);
        }
        let Self { mut report, domains, .. } = self;
        for judged in judged {
            let mut findings: Vec<_> = candidate::unreadable(*judged).collect();
            findings.extend(candidate::unknown_domains(&domains, damage, *judged));
            findings.append(&mut report.findings);
            findings.extend(candidate::missing_files(*judged));
            report.findings = findings;
            report.findings.iter_mut().for_each(|finding| candidate::locate(finding, *judged));
        }
        if report.findings.is_empty() && report.elsewhere.is_empty() && self.is_empty {
            report.findings.push(Finding::error(
                "nothing-to-check",
                "the realm holds no contract and no binding yet, so nothing was checked".into(),
            ));
        }
        if self.question.mode == Mode::Compatibility {
            report.findings.retain(is_about_compatibility);
            report.elsewhere.retain(is_about_compatibility);
        }
        // The order of the rules is kept within each group.
        for findings in [&mut report.findings, &mut report.elsewhere] {
            findings.sort_by_key(|finding| (finding.severity, finding.file.is_none()));
        }
        report
    }
}

impl Report {
    /// Returns whether anything that does not work was found.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// Adds what else was found.
    pub fn add(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.findings.extend(findings);
        self.findings.sort_by_key(|finding| (finding.severity, finding.file.is_none()));
    }

    /// Turns what was wrong before, too, into warnings: `before` is what is wrong at the commit that the
    /// judged one is compared with.
    pub fn forgive(&mut self, before: &Report) {
        let is_error = |finding: &&Finding| finding.severity == Severity::Error;
        let known: BTreeSet<Key> = before.findings.iter().filter(is_error).map(Finding::key).collect();
        for finding in &mut self.findings {
            if finding.severity == Severity::Error && known.contains(&finding.key()) {
                finding.severity = Severity::Warning;
                if finding.caused_by == Cause::ThisChange {
                    finding.caused_by = Cause::AlreadyInTheRealm;
                }
            }
        }
        self.findings.sort_by_key(|finding| (finding.severity, finding.file.is_none()));
    }
}

/// Whoever approved a break knows whom it breaks: it does not fail his checks.
fn approved(domain: &DomainView, after: &DomainView, judge: &Judge<'_>, findings: &mut [Finding]) {
    let is_approved = |name: &ContractName| {
        let (Some(held), Some(document)) = (domain.contracts.get(name), after.contracts.get(name)) else {
            return false;
        };
        let promise = (held != document).then(|| Promise::of(held, document, judge)).flatten();
        promise.is_some_and(|promise| promise.approved(after.approvals.get(name).into_iter().flatten()).is_some())
    };
    for finding in findings.iter_mut().filter(|one| one.code == "import-broken" && one.verdict.is_some()) {
        let admits = |range: &Range| finding.version.as_ref().is_some_and(|version| range.matches(version));
        if finding.requirement.as_ref().is_some_and(admits) && finding.contract.as_ref().is_some_and(is_approved) {
            finding.severity = Severity::Warning;
        }
    }
}

/// Returns how the imports of a domain stand.
fn states(domain: &DomainView, judge: &Judge<'_>) -> States {
    let imports = domain.bindings.iter().flat_map(|(repo, binding)| binding.imports.iter().map(move |one| (repo, one)));
    let key = |repo: &RepoName, contract: &ContractName| (repo.clone(), contract.clone());
    imports.map(|(repo, one)| (key(repo, &one.contract), ImportState::of(domain, one, judge))).collect()
}

/// Returns whether a finding says something of how versions fit each other, or stands in the way of telling.
fn is_about_compatibility(finding: &Finding) -> bool {
    let stands_in_the_way = matches!(
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
            | "version-reused"
            | "version-down"
    );
    finding.verdict.is_some()
        || stands_in_the_way
        || matches!(
            &*finding.code,
            "breaks-promise" | "break-approved" | "compatibility-unknown" | "import-broken" | "import-behind"
        )
}

fn damaged(damage: &Damage) -> Finding {
    let finding = Finding::error("damaged", format!("it cannot be read: {}", damage.problem)).at(&damage.file, None);
    match &damage.subject {
        Subject::Contract(name) => finding.contract(name),
        Subject::Binding(repo) | Subject::Source(repo) => finding.repo(repo),
        Subject::Domain(domain) => finding.domain(domain),
        Subject::Domains | Subject::Other => finding,
    }
}

fn is_past(date: Option<Date>, today: Date) -> bool {
    date.is_some_and(|date| date < today)
}
