//! The report of a check.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cause, Finding, Known, Severity};
use crate::model::{
    contract::BrokenDirection,
    name::{ContractName, DomainName, RepoName},
    version::Version,
};

/// The result of a check.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The findings: errors first, and among them those that the judged repository can fix.
    pub findings: Vec<Finding>,
    /// Findings that do not concern the judged repositories, errors first.
    pub elsewhere: Vec<Finding>,
    /// The number of contracts that were judged, including those of the candidate.
    pub count: usize,
    /// The number of imports that were judged by their version range only.
    pub by_range: usize,
    /// The judged contracts, if the caller wants them listed.
    pub contracts: Vec<SchemaHash>,
}

/// A contract that was checked, with the hash of its schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SchemaHash {
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// Its version.
    pub version: Version,
    /// SHA-256 of its canonical schema, computed from it and not read from the file.
    pub schema_hash: String,
    /// The owner: the only repository that may change it.
    pub owner: RepoName,
    /// The directions in which the owner promises compatibility, if the checked files change the contract.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub promised: Vec<BrokenDirection>,
}

impl Report {
    /// Returns whether there are any errors.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// Removes the name of the repository from findings about files of the checked repository itself.
    pub fn shown_in(&mut self, checked: &RepoName) {
        let own = self.findings.iter_mut().filter(|finding| finding.file_repo.as_ref() == Some(checked));
        own.for_each(|finding| finding.file_repo = None);
    }

    /// Adds findings.
    pub fn add(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.findings.extend(findings);
        sort(&mut self.findings);
    }

    /// Turns findings that existed before into warnings. `before` is the report on the commit to compare with.
    pub fn downgrade_existing(&mut self, before: &Report) {
        let is_error = |finding: &&Finding| finding.severity == Severity::Error;
        let known = Known::new(before.findings.iter().filter(is_error), BTreeMap::new());
        for finding in &mut self.findings {
            if finding.severity == Severity::Error && known.has(finding) {
                finding.severity = Severity::Warning;
                if finding.caused_by == Cause::ThisChange {
                    finding.caused_by = Cause::AlreadyInTheRealm;
                }
            }
        }
        sort(&mut self.findings);
    }
}

/// Sorts findings: errors first, and those about a file before the others. The order of the rules is kept within each
/// group.
pub(super) fn sort(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| (finding.severity, finding.file.is_none()));
}
