//! `realm_check`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Notification, Unpublished};
use crate::model::{
    check::{Finding, SchemaHash},
    name::{ContractName, DomainName, RealmName, RepoName, RfcName},
    oid::Oid,
};

/// The answer of `realm_check`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmCheck {
    /// The realm.
    pub realm: RealmName,
    /// The repository whose files were checked together with the realm; null if the realm was checked alone.
    pub current_repo: Option<RepoName>,
    /// The reason this clone is read-only, and what to do about it; null if it may write, and in CI.
    pub read_only: Option<String>,
    /// The scope of the check.
    pub judged: Judged,
    /// The RFC whose branches were checked together with the realm; null if there is only one repository.
    pub rfc: Option<RfcName>,
    /// Those branches, except that of the repository that asks.
    pub branches: Vec<RfcBranch>,
    /// The number of the repository's contract and binding files; null if the realm was checked alone.
    pub files: Option<usize>,
    /// The commit that was compared with. Problems that it already has are warnings.
    pub base: Option<Oid>,
    /// Whether there is no error and, with `--strict`, no warning.
    pub valid: bool,
    /// The errors that were found.
    pub errors: Vec<Finding>,
    /// The warnings that were found.
    pub warnings: Vec<Finding>,
    /// Problems in the realm that this repository cannot fix. They do not fail the check.
    pub elsewhere: Elsewhere,
    /// The content of the publishing branch that the realm lacks; null if it lacks nothing.
    pub unpublished: Option<Unpublished>,
    /// The number of contracts that were checked.
    pub contracts: usize,
    /// The number of imports that were judged by their version range alone, because there is no schema or the version
    /// that their code was written against is not known.
    pub imports_by_range: usize,
    /// These contracts with their schema hashes; empty if only their number was requested.
    pub schema_hashes: Vec<SchemaHash>,
    /// The results of the scripts that this repository's own files name as tests of contracts. Servers and hooks run
    /// none.
    pub scripts: Vec<ScriptRun>,
    /// The notifications that this reader has not seen, most important first. They remain unseen.
    pub notifications: Vec<Notification>,
}

/// The result of a script that tests a contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScriptRun {
    /// The domain of the contract.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The script's role in the contract or binding.
    pub role: ScriptRole,
    /// Its path, from the root of the repository.
    pub script: String,
    /// The outcome of the run.
    pub outcome: ScriptOutcome,
    /// Its exit code; null if it was not run or did not exit by itself.
    pub exit_code: Option<i32>,
    /// The end of its output, or the reason it was not run: at most 2 KB.
    pub output: String,
}

/// The role of a script that tests a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScriptRole {
    /// A test by the contract's owner.
    Exporter,
    /// A test of the owner that only CI runs.
    Ci,
    /// A test by a repository that imports it.
    Importer,
}

/// The outcome of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScriptOutcome {
    /// Its exit code is 0: the contract holds.
    Passed,
    /// Its exit code is neither 0 nor 2: the contract does not hold, or the script cannot be run.
    Failed,
    /// Its exit code is 2: it cannot decide.
    Undecided,
    /// It was not run: not requested, or not allowed here.
    NotRun,
}

/// The scope of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Judged {
    /// The exports and imports of one repository.
    Repository,
    /// The whole realm, with that repository's files.
    Everything,
    /// The branches of an RFC together.
    Rfc,
    /// The realm as published.
    Realm,
}

/// A branch of an RFC in one repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RfcBranch {
    /// The repository.
    pub repo: RepoName,
    /// The full name of the ref: a local branch, or a remote-tracking one.
    pub branch: String,
    /// Its commit.
    pub commit: Oid,
}

/// Problems in the realm that do not concern the repository that was judged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Elsewhere {
    /// The number of errors.
    pub errors: usize,
    /// The number of warnings.
    pub warnings: usize,
    /// The first of them, errors before warnings; `--all` lists every one.
    pub findings: Vec<Finding>,
}
