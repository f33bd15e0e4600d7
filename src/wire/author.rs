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
    /// The repository that owns it, whose file was written.
    pub current_repo: RepoName,
    /// The file, from the root of the repository.
    pub file: String,
    /// The version that it begins with.
    pub version: Version,
    /// The number of samples the schema was inferred from.
    pub samples: usize,
    /// Whether the domain was made now.
    pub created_domain: bool,
    /// The repositories that were added to the domain now.
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
    /// The repository that imports it, whose files were written.
    pub current_repo: RepoName,
    /// The file with the JSON Schema of what its code relies on, from the root of the repository.
    pub file: String,
    /// What was done to the file.
    pub change: FileEdit,
    /// The file of the binding, which names it.
    pub binding: String,
    /// What was done to the binding file.
    pub binding_change: FileEdit,
    /// The number of samples the schema was inferred from.
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
    /// The repository that owns it, whose file was changed.
    pub current_repo: RepoName,
    /// The file, from the root of the repository.
    pub file: String,
    /// The version that the realm holds.
    pub published_version: Version,
    /// The version that the file named before.
    pub old_version: Version,
    /// The version that the file names now.
    pub new_version: Version,
    /// The change of version that the content needs, if it was compared.
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
    /// The file, from the root of the repository.
    pub file: String,
    /// What was done to the file.
    pub change: FileEdit,
    /// The role that the file names now; null if it was removed.
    pub role: Option<Role>,
    /// The range that the file imports now; null if it does not import the contract.
    pub version_req: Option<Range>,
}

/// What was done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileEdit {
    /// The file was created.
    Created,
    /// The file's content was changed.
    Changed,
    /// The file already had this content.
    Unchanged,
    /// The file would be empty and was removed.
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
    /// The source its schema was read from.
    pub source: DocumentSource,
    /// The versions that the payloads were checked against.
    pub versions: Vec<Version>,
    /// The number of payloads that were checked.
    pub payloads: usize,
    /// Whether all of them fit in all of the versions; null if that is not known.
    pub valid: Option<bool>,
    /// The places where a payload does not fit, or where that is not known.
    pub failures: Vec<PayloadFailure>,
    /// The number of failures that are not listed.
    pub more_failures: usize,
}

/// One place where a payload does not fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PayloadFailure {
    /// The file of the payload.
    pub file: String,
    /// Its line, if the file holds several.
    pub line: Option<u32>,
    /// The version that it does not fit.
    pub version: Version,
    /// JSON Pointer to the place in the payload.
    pub pointer: String,
    /// JSON Pointer to the keyword of the schema that refuses it.
    pub schema_pointer: String,
    /// The problem there.
    pub message: String,
    /// Whether it is not known if the payload fits.
    pub undecided: bool,
}
