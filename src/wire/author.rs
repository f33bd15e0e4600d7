//! The answers of commands that edit a repository's own files: contracts and bindings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DocumentSource, Role, VersionBump};
use crate::model::{
    name::{ContractName, DomainName, RealmName, RepoName},
    range::Range,
    version::Version,
};

/// The answer of `contract_new`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractNew {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The repository that owns the contract. Its file was written.
    pub current_repo: RepoName,
    /// The contract file, relative to the root of the repository.
    pub file: String,
    /// The first version of the contract.
    pub version: Version,
    /// The number of samples that the schema was inferred from.
    pub samples: usize,
    /// Whether this call created the domain.
    pub created_domain: bool,
    /// The repositories that this call added to the domain.
    pub added: Vec<RepoName>,
}

/// The answer of `contract_expect`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractExpect {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The repository that imports the contract. Its files were written.
    pub current_repo: RepoName,
    /// The file with the JSON Schema of the data that the code relies on, relative to the root of the repository.
    pub file: String,
    /// The change to the schema file.
    pub change: FileEdit,
    /// The binding file, which refers to the schema file.
    pub binding: String,
    /// The change to the binding file.
    pub binding_change: FileEdit,
    /// The number of samples that the schema was inferred from.
    pub samples: usize,
}

/// The answer of `contract_bump`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractBump {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The repository that owns the contract. Its file was changed.
    pub current_repo: RepoName,
    /// The contract file, relative to the root of the repository.
    pub file: String,
    /// The version that is published in the realm.
    pub published_version: Version,
    /// The version in the file before this call.
    pub old_version: Version,
    /// The version in the file now.
    pub new_version: Version,
    /// The version bump that the content requires, if the content was compared.
    pub needs: Option<VersionBump>,
    /// The reason, in one sentence.
    pub reason: String,
    /// Whether the file was changed.
    pub changed: bool,
}

/// The answer of `import`, `export`, `unimport` and `unexport`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BindingEdit {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The repository whose binding was changed.
    pub current_repo: RepoName,
    /// The binding file, relative to the root of the repository.
    pub file: String,
    /// The change to the file.
    pub change: FileEdit,
    /// The role in the file now; null if the file was removed.
    pub role: Option<Role>,
    /// The version range of the import in the file now; null if the file does not import the contract.
    pub version_req: Option<Range>,
    /// The files that implement the contract, if the file exports it now; null if it does not.
    pub exported_files: Option<Vec<String>>,
}

/// A change to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileEdit {
    /// The file was created.
    Created,
    /// The file's content was changed.
    Changed,
    /// The file already had this content.
    Unchanged,
    /// The file would have been empty and was removed.
    Removed,
}

/// The answer of `contract_validate`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractValidate {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The source of the schema.
    pub source: DocumentSource,
    /// The versions that the payloads were checked against.
    pub versions: Vec<Version>,
    /// The number of payloads that were checked.
    pub payloads: usize,
    /// The number of payloads that are invalid in one of the versions, or not known to be valid.
    pub refused: usize,
    /// Whether all payloads are valid in all of the versions; null if that is unknown.
    pub valid: Option<bool>,
    /// The places where a payload is invalid, or where it is unknown whether it is valid.
    pub failures: Vec<PayloadFailure>,
    /// The number of failures that are not listed.
    pub more_failures: usize,
}

/// A place where a payload is invalid, or where it is unknown whether it is valid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PayloadFailure {
    /// The file that contains the payload.
    pub file: String,
    /// The line of the payload, if the file contains several payloads.
    pub line: Option<u32>,
    /// The version that the payload does not conform to.
    pub version: Version,
    /// A JSON Pointer to the place in the payload.
    pub pointer: String,
    /// A JSON Pointer to the keyword of the schema that refuses the value.
    pub schema_pointer: String,
    /// A description of the problem.
    pub message: String,
    /// Whether the validity of the payload could not be decided.
    pub undecided: bool,
}
