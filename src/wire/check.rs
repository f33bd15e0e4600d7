//! `realm_check`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Behind, Notification, Unpublished};
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
    /// The reason this clone is read-only, and how to fix that; null if it may write, and in CI.
    pub read_only: Option<String>,
    /// The scope of the check.
    pub judged: Judged,
    /// The RFC whose branches were checked together with the realm, if any.
    pub rfc: Option<RfcName>,
    /// The branches of the RFC, except the one of the current repository.
    pub branches: Vec<RfcBranch>,
    /// The number of the repository's contract and binding files; null if the realm was checked alone.
    pub files: Option<usize>,
    /// The commit that the files were compared with. Problems that already exist in that commit are reported as
    /// warnings.
    pub base: Option<Oid>,
    /// The revision that the files should have been compared with, if this clone does not have it and there are errors.
    /// All of these errors may already exist in that revision.
    pub missing_base: Option<String>,
    /// Whether there is no error and, with `--strict`, no warning.
    pub valid: bool,
    /// The errors that were found.
    pub errors: Vec<Finding>,
    /// The warnings that were found.
    pub warnings: Vec<Finding>,
    /// Problems in the realm that this repository cannot fix. They do not fail the check.
    pub elsewhere: Elsewhere,
    /// The part of the publishing branch that the realm does not have yet; null if it has all of it.
    pub unpublished: Option<Unpublished>,
    /// The published commit that this clone lacks, if it has nothing to publish and has to be pulled; else null.
    pub behind: Option<Behind>,
    /// The number of contracts that were checked.
    pub contracts: usize,
    /// The number of imports that were judged by their version range alone, because there is no schema, or because the
    /// version that their code was written against is unknown.
    pub imports_by_range: usize,
    /// The checked contracts with their schema hashes; empty if only their number was requested.
    pub schema_hashes: Vec<SchemaHash>,
    /// The results of the scripts that this repository's own files name as tests of contracts. Servers and hooks run no
    /// scripts.
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
    /// The role of the script.
    pub role: ScriptRole,
    /// The path of the script, relative to the root of the repository.
    pub script: String,
    /// The outcome of the run.
    pub outcome: ScriptOutcome,
    /// The exit code; null if the script was not run or did not exit by itself.
    pub exit_code: Option<i32>,
    /// The end of the output, or the reason that the script was not run: at most 2 KB.
    pub output: String,
}

/// The role of a script that tests a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScriptRole {
    /// A test by the contract's owner.
    Exporter,
    /// A test by the contract's owner that only CI runs.
    Ci,
    /// A test by a repository that imports the contract.
    Importer,
}

/// The outcome of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScriptOutcome {
    /// The exit code is 0: the contract holds.
    Passed,
    /// The exit code is neither 0 nor 2: the contract does not hold, or the script cannot be run.
    Failed,
    /// The exit code is 2: the script cannot decide.
    Undecided,
    /// The script was not run, because this was not requested or is not allowed here.
    NotRun,
}

/// The scope of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Judged {
    /// The exports and imports of one repository.
    Repository,
    /// The whole realm, with the files of one repository.
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
    /// The full name of the ref: a local branch, or a remote-tracking one. It is the default branch once that has all
    /// commits of the RFC's.
    pub branch: String,
    /// The commit of the branch.
    pub commit: Oid,
}

/// Problems in the realm that do not concern the repository that was judged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Elsewhere {
    /// The number of errors.
    pub errors: usize,
    /// The number of warnings.
    pub warnings: usize,
    /// The first findings, errors before warnings; `--all` lists all of them.
    pub findings: Vec<Finding>,
}
