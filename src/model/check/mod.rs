//! Does the realm hold together? The candidate, one repository's files, is laid over what the
//! realm holds, so that a break is found before it is published.
//!
//! What counts as an error and what as a warning follows seed 002 ("Error Types", "Warning
//! Types"): an error is something that does not work, a warning something that smells.

mod candidate;
mod contracts;
mod imports;

use std::borrow::Cow;

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    candidate::Judged,
    contract::Contract,
    name::{ContractName, DomainName, RepoName},
    range::Range,
    version::Version,
    view::RealmView,
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

/// The question: which realm, whose candidate, which day, which rules.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The realm as it is.
    pub realm: &'a RealmView,
    /// The files laid over it, if any.
    pub judged: Option<Judged<'a>>,
    /// The moment the question is asked: for sunsets, and for what a binding would record.
    pub now: jiff::Timestamp,
    /// Which rules.
    pub mode: Mode,
}

/// The answer.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// What is wrong: errors first, what the judged repository can mend before the rest.
    pub findings: Vec<Finding>,
    /// The contracts as they were judged, the candidate laid over them.
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

/// Judges the realm.
pub fn check(question: Question<'_>) -> Report {
    let mut findings: Vec<_> = question.realm.damage.iter().map(damaged).collect();
    let mut contracts = Vec::new();
    let mut is_empty = true;
    if let Some(judged) = question.judged {
        findings.extend(candidate::unreadable(judged));
        findings.extend(candidate::unknown_domains(question.realm, judged));
    }
    let today = question.now.to_zoned(jiff::tz::TimeZone::UTC).date();
    for domain in question.realm.domains.values() {
        // Most domains are not the candidate's, and are judged as they are.
        let judged = match question.judged {
            Some(judged) if judged.candidate.says_something_of(&domain.info.name) => {
                Cow::Owned(candidate::lay_over(domain, judged, question.now, &mut findings))
            }
            _ => Cow::Borrowed(domain),
        };
        is_empty &= judged.contracts.is_empty() && judged.bindings.is_empty();
        findings.extend(judged.damage.iter().map(|damage| damaged(damage).domain(&judged.info.name)));
        let hashes: Vec<_> = judged.contracts.values().map(Contract::computed_schema_hash).collect();
        if question.mode != Mode::Importer {
            contracts::check(question.realm, &judged, &hashes, today, &mut findings);
        }
        if question.mode != Mode::Contract {
            imports::check(question.realm, domain, &judged, today, &mut findings);
        }
        contracts.extend(judged.contracts.values().zip(hashes).map(|(contract, schema_hash)| SchemaHash {
            domain: judged.info.name.clone(),
            contract: contract.name.clone(),
            version: contract.version.clone(),
            owner: contract.owner.clone(),
            schema_hash,
        }));
    }
    if let Some(judged) = question.judged {
        findings.extend(candidate::missing_files(judged));
        findings.iter_mut().for_each(|finding| candidate::locate(finding, judged));
    }
    if findings.is_empty() && is_empty {
        findings.push(Finding::error(
            "nothing-to-check",
            "the realm holds no contract and no binding yet, so nothing was checked".into(),
        ));
    }
    // The order of the rules is kept within each group.
    findings.sort_by_key(|finding| (finding.severity, finding.file.is_none()));
    Report { findings, contracts }
}

fn damaged(damage: &super::view::Damage) -> Finding {
    Finding::error("damaged", format!("it cannot be read: {}", damage.problem)).at(&damage.file, None)
}

fn is_past(date: Option<Date>, today: Date) -> bool {
    date.is_some_and(|date| date < today)
}
