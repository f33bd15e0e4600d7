//! `realm_check`.

use serde::Serialize;

use super::Notification;
use crate::model::{
    check,
    name::{ContractName, DomainName, RealmName, RepoName},
    range::Range,
    version::Version,
};

/// What `realm_check` answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RealmCheck {
    /// The realm.
    pub realm: RealmName,
    /// The repository whose files were laid over the realm; none where it was looked at alone.
    pub current_repo: Option<RepoName>,
    /// Whether nothing is wrong: no error, and with `--strict` no warning.
    pub valid: bool,
    /// What does not work.
    pub errors: Vec<Finding>,
    /// What smells.
    pub warnings: Vec<Finding>,
    /// The contracts that were looked at, with what they hash to.
    pub schema_hashes: Vec<SchemaHash>,
    /// What this reader has not been told yet, oldest first; reading it here does not tell it.
    pub notifications: Vec<Notification>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Its stable code.
    pub code: &'static str,
    /// The domain it is in.
    pub domain: Option<DomainName>,
    /// The contract it is about.
    pub contract: Option<ContractName>,
    /// The repository it hits.
    pub repo: Option<RepoName>,
    /// The range that is not satisfied.
    pub version_req: Option<Range>,
    /// The version that was found.
    pub version: Option<Version>,
    /// JSON Pointer into the schema or value.
    pub pointer: Option<String>,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The file to change, from the repository's root, or the stored file.
    pub file: Option<String>,
    /// The line in it, from 1.
    pub line: Option<u32>,
    /// The column in it, from 1.
    pub column: Option<u32>,
}

impl From<check::Finding> for Finding {
    fn from(finding: check::Finding) -> Self {
        Self {
            code: finding.code,
            domain: finding.domain,
            contract: finding.contract,
            repo: finding.repo,
            version_req: finding.requirement,
            version: finding.version,
            pointer: finding.pointer,
            message: finding.message,
            file: finding.file,
            line: finding.line,
            column: finding.column,
        }
    }
}

/// A contract and what its schema hashes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SchemaHash {
    /// Where.
    pub domain: DomainName,
    /// What.
    pub contract: ContractName,
    /// At which version.
    pub version: Version,
    /// SHA-256 of its canonical schema.
    pub schema_hash: String,
    /// Who may change it.
    pub owner: RepoName,
}

impl From<check::Looked> for SchemaHash {
    fn from(looked: check::Looked) -> Self {
        Self {
            domain: looked.domain,
            contract: looked.contract,
            version: looked.version,
            schema_hash: looked.schema_hash,
            owner: looked.owner,
        }
    }
}
