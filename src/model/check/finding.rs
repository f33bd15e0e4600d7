//! A finding of a check.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cause::Cause;
use crate::model::{
    approval::Fingerprint,
    name::{ContractName, DomainName, RepoName},
    range::Range,
    verdict::Verdict,
    version::Version,
};

/// The severity of a finding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// An error: something does not work.
    #[default]
    Error,
    /// A warning: something is probably wrong.
    Warning,
}

/// One problem, with everything needed to find it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Its severity.
    pub severity: Severity,
    /// Its stable code.
    pub code: Cow<'static, str>,
    /// Its cause.
    pub caused_by: Cause,
    /// The domain.
    pub domain: Option<DomainName>,
    /// The contract.
    pub contract: Option<ContractName>,
    /// The repository that it affects.
    pub repo: Option<RepoName>,
    /// The range that is not satisfied.
    #[serde(rename = "version_req")]
    pub requirement: Option<Range>,
    /// The version that was found.
    pub version: Option<Version>,
    /// JSON Pointer into the schema or value.
    pub pointer: Option<String>,
    /// The problem, in one sentence.
    pub message: String,
    /// Details: a value that shows the problem, the files it affects, a range to write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The file to change in the checked repository, or in `file_repo`, or the stored file.
    pub file: Option<String>,
    /// The repository that the file is in, if it is another one, whose branch was checked too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_repo: Option<RepoName>,
    /// The line in the file, from 1.
    pub line: Option<u32>,
    /// The column in the line, from 1.
    pub column: Option<u32>,
    /// The comparison of two versions that found the problem, if one did.
    pub verdict: Option<Verdict>,
    /// The fingerprint of a change that breaks a promise, for `contract approve`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
    /// JSON Pointer into the document in the file, from which a caller that has the file computes the line.
    #[serde(skip)]
    pub place: Option<String>,
    /// The version that resolves the finding, if a new version can.
    #[serde(skip)]
    pub bump: Option<Version>,
    /// The file that the version of the contract is read from, unless it is the contract's own. A caller that has the
    /// files fills it in.
    #[serde(skip)]
    pub version_in: Option<String>,
    /// The commands that resolve a conflict, each with its reason.
    #[serde(skip)]
    pub resolution: Vec<String>,
}

impl Finding {
    pub(super) fn new(severity: Severity, code: impl Into<Cow<'static, str>>, message: String) -> Self {
        Self { severity, code: code.into(), message, ..Self::default() }
    }

    /// Creates an error that this change causes.
    pub fn error(code: impl Into<Cow<'static, str>>, message: String) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// Creates a warning that this change causes.
    pub fn warning(code: impl Into<Cow<'static, str>>, message: String) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// Returns the message and all notes, for output that shows a finding as one text.
    pub fn text(&self) -> String {
        std::iter::once(&self.message).chain(&self.notes).map(String::as_str).collect::<Vec<_>>().join("; ")
    }

    /// Returns the file, the line and the column, after the repository that the file is in if it is another one.
    pub fn location(&self) -> Option<String> {
        let repo = self.file_repo.as_ref().map(|repo| format!("{repo}: ")).unwrap_or_default();
        let numbers = [self.line, self.column].into_iter().flatten();
        self.file.as_ref().map(|file| numbers.fold(format!("{repo}{file}"), |place, n| format!("{place}:{n}")))
    }

    /// Returns whether the range of the import accepts the version that was found.
    pub(super) fn is_admitted(&self) -> bool {
        let admits = |range: &Range| self.version.as_ref().is_some_and(|version| range.matches(version));
        self.requirement.as_ref().is_some_and(admits)
    }

    /// Adds notes.
    #[must_use]
    pub fn notes(self, notes: impl IntoIterator<Item = String>) -> Self {
        Self { notes: notes.into_iter().collect(), ..self }
    }

    /// Sets the domain.
    #[must_use]
    pub fn domain(self, domain: &DomainName) -> Self {
        Self { domain: Some(domain.clone()), ..self }
    }

    /// Sets the contract.
    #[must_use]
    pub fn contract(self, contract: &ContractName) -> Self {
        Self { contract: Some(contract.clone()), ..self }
    }

    /// Sets the repository that is affected.
    #[must_use]
    pub fn repo(self, repo: &RepoName) -> Self {
        Self { repo: Some(repo.clone()), ..self }
    }

    /// Sets the file and line.
    #[must_use]
    pub fn at(self, file: &str, line: Option<u32>) -> Self {
        Self { file: Some(file.to_owned()), line, ..self }
    }
}
