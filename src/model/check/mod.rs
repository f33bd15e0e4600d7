//! Does the realm hold together? The candidate, one repository's files, is laid over what the
//! realm holds, so that a break is found before it is published.
//!
//! What counts as an error and what as a warning follows seed 002 ("Error Types", "Warning
//! Types"): an error is something that does not work, a warning something that smells.

mod candidate;
mod conflicts;
mod contracts;
mod cycles;
mod examination;
mod imports;

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;

pub use examination::Examination;

use super::{
    candidate::Judged,
    cycle::{Cycles, Provision},
    name::{ContractName, DomainName, RepoName},
    range::Range,
    realm::Repo,
    schema::Budget,
    set_aside::SetAside,
    summary::DomainSummary,
    version::Version,
    view::{Damage, DomainView},
};

/// What to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Everything.
    #[default]
    All,
    /// The contracts themselves.
    Contract,
    /// Who relies on them.
    Importer,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It does not work.
    Error,
    /// It smells.
    Warning,
}

/// One thing that is wrong, with everything needed to find it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// How bad it is: answers list errors and warnings apart.
    #[serde(skip)]
    pub severity: Severity,
    /// Its stable code.
    pub code: &'static str,
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
}

impl Finding {
    fn new(severity: Severity, code: &'static str, message: String) -> Self {
        Self {
            severity,
            code,
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
        }
    }

    fn error(code: &'static str, message: String) -> Self {
        Self::new(Severity::Error, code, message)
    }

    fn warning(code: &'static str, message: String) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    fn domain(self, domain: &DomainName) -> Self {
        Self { domain: Some(domain.clone()), ..self }
    }

    fn contract(self, contract: &ContractName) -> Self {
        Self { contract: Some(contract.clone()), ..self }
    }

    fn repo(self, repo: &RepoName) -> Self {
        Self { repo: Some(repo.clone()), ..self }
    }

    fn at(self, file: &str, line: Option<u32>) -> Self {
        Self { file: Some(file.to_owned()), line, ..self }
    }
}

/// The question: in which realm, whose candidate, which day, which rules.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The repositories of the realm.
    pub repos: &'a BTreeMap<RepoName, Repo>,
    /// The repository that asks, if one does.
    pub me: Option<&'a RepoName>,
    /// The files laid over it, if any.
    pub judged: Option<Judged<'a>>,
    /// The moment the question is asked: for sunsets, and for what a binding would record.
    pub now: jiff::Timestamp,
    /// Which rules.
    pub mode: Mode,
    /// Whether the contracts are listed that were judged, and not only counted.
    pub listed: bool,
    /// What the realm says of cycles.
    pub cycles: Cycles,
    /// How long values may be judged.
    pub budget: &'a Budget,
}

/// The answer.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// What is wrong: errors first, what the judged repository can mend before the rest.
    pub findings: Vec<Finding>,
    /// How many contracts were judged, the candidate laid over them.
    pub count: usize,
    /// Which ones, where that was asked for.
    pub contracts: Vec<SchemaHash>,
}

/// A contract that was looked at, with what its schema hashes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SchemaHash {
    /// Where.
    pub domain: DomainName,
    /// What.
    pub contract: ContractName,
    /// At which version.
    pub version: Version,
    /// SHA-256 of its canonical schema as it is, not as the file says.
    pub schema_hash: String,
    /// Who may change it.
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
    findings: Vec<Finding>,
    count: usize,
    contracts: Vec<SchemaHash>,
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
            findings: Vec::new(),
            count: 0,
            contracts: Vec::new(),
        }
    }

    /// Returns whether the candidate says anything of a domain: it is laid over the whole of it
    /// then.
    pub fn is_judged(&self, domain: &DomainName) -> bool {
        self.question.judged.is_some_and(|judged| judged.candidate.says_something_of(domain))
    }

    /// Returns whether the contracts are listed, with the hashes of their schemas.
    pub fn is_listed(&self) -> bool {
        self.question.listed
    }

    /// Judges a domain as it is.
    pub fn published(&mut self, domain: &DomainSummary, examination: Examination) {
        self.judge(domain, domain, examination);
    }

    /// Judges a domain with the candidate laid over it.
    pub fn laid_over(&mut self, domain: &DomainView) {
        let Question { judged, now, budget, .. } = self.question;
        match judged {
            Some(judged) => {
                let after = candidate::lay_over(domain, judged, (now, budget), &mut self.findings);
                self.judge(&domain.into(), &DomainSummary::from(&after), Examination::of(&after, budget));
            }
            None => self.published(&domain.into(), Examination::of(domain, budget)),
        }
    }

    fn judge(&mut self, published: &DomainSummary, domain: &DomainSummary, mut examination: Examination) {
        let (Question { repos, mode, .. }, name) = (self.question, &domain.info.name);
        self.domains.insert(name.clone());
        self.is_empty &= domain.contracts.is_empty() && domain.bindings.is_empty();
        self.findings.extend(domain.damage.iter().map(|damage| damaged(damage).domain(name)));
        self.findings.extend(conflicts::check(domain, self.question.me));
        if mode != Mode::Importer {
            contracts::check(repos, domain, &mut examination, self.today, &mut self.findings);
        }
        if mode != Mode::Contract {
            imports::check(repos, published, domain, self.today, &mut self.findings);
            self.provision.add(domain);
        }
        self.count += domain.contracts.len();
        if !self.question.listed {
            return;
        }
        let Examination { mut schema_hashes, .. } = examination;
        self.contracts.extend(domain.contracts.iter().map(|(contract, summary)| SchemaHash {
            domain: name.clone(),
            contract: contract.clone(),
            version: summary.version.clone(),
            owner: summary.owner.clone(),
            schema_hash: schema_hashes.remove(contract).unwrap_or_default(),
        }));
    }

    /// Ends, with what could not be read outside of the domains, the names that two repositories
    /// have, and the commits that broke a rule of the realm itself.
    pub fn finish(self, damage: &[Damage], twice: &[RepoName], set_aside: &[SetAside]) -> Report {
        let mut findings: Vec<_> = damage.iter().map(damaged).chain(conflicts::names(twice)).collect();
        findings.extend(conflicts::of_realm(set_aside, self.question.me));
        if let Some(judged) = self.question.judged {
            findings.extend(candidate::unreadable(judged));
            findings.extend(candidate::unknown_domains(&self.domains, damage, judged));
        }
        findings.extend(self.findings);
        findings.extend(cycles::check(&self.provision, self.question.cycles, self.question.judged));
        if let Some(judged) = self.question.judged {
            findings.extend(candidate::missing_files(judged));
            findings.iter_mut().for_each(|finding| candidate::locate(finding, judged));
        }
        if findings.is_empty() && self.is_empty {
            findings.push(Finding::error(
                "nothing-to-check",
                "the realm holds no contract and no binding yet, so nothing was checked".into(),
            ));
        }
        // The order of the rules is kept within each group.
        findings.sort_by_key(|finding| (finding.severity, finding.file.is_none()));
        Report { findings, count: self.count, contracts: self.contracts }
    }
}

fn damaged(damage: &Damage) -> Finding {
    Finding::error("damaged", format!("it cannot be read: {}", damage.problem)).at(&damage.file, None)
}

fn is_past(date: Option<Date>, today: Date) -> bool {
    date.is_some_and(|date| date < today)
}
