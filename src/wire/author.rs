//! What is written into a repository's own files: contracts and bindings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DocumentSource, Role, VersionBump};
use crate::model::{
    name::{ContractName, DomainName, RealmName, RepoName},
    range::Range,
    version::Version,
};

/// What `contract_new` answers.
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
    /// How many samples the schema was inferred from.
    pub samples: usize,
    /// Whether the domain was made now.
    pub created_domain: bool,
    /// The repositories that were added to the domain now.
    pub added: Vec<RepoName>,
}

/// What `contract_expect` answers.
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
    /// What became of it.
    pub change: FileEdit,
    /// The file of the binding, which names it.
    pub binding: String,
    /// What became of the binding.
    pub binding_change: FileEdit,
    /// How many samples the schema was inferred from.
    pub samples: usize,
}

/// What `contract_bump` answers.
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
    /// The change of version that the content needs, where it was compared.
    pub needs: Option<VersionBump>,
    /// Why, in a sentence.
    pub reason: String,
    /// Whether the file was changed.
    pub changed: bool,
}

/// What `import`, `export`, `unimport` and `unexport` answer.
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
    /// What became of the file.
    pub change: FileEdit,
    /// The role that the file names now; none where it was removed.
    pub role: Option<Role>,
    /// The range that the file imports now; none where it does not import the contract.
    pub version_req: Option<Range>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileEdit {
    /// It is new.
    Created,
    /// It says something else now.
    Changed,
    /// It said so already.
    Unchanged,
    /// It would say nothing any more, and was removed.
    Removed,
}

/// What `contract_validate` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractValidate {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// Where its schema was read.
    pub source: DocumentSource,
    /// The versions that the payloads were checked against.
    pub versions: Vec<Version>,
    /// How many payloads were checked.
    pub payloads: usize,
    /// Whether all of them fit in all of the versions; null where that is not known.
    pub valid: Option<bool>,
    /// Where they do not fit, or where that is not known.
    pub failures: Vec<PayloadFailure>,
    /// How many failures are not listed.
    pub more_failures: usize,
}

/// One place where a payload does not fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PayloadFailure {
    /// The file of the payload.
    pub file: String,
    /// Its line, where the file holds several.
    pub line: Option<u32>,
    /// The version that it does not fit.
    pub version: Version,
    /// JSON Pointer to the place in the payload.
    pub pointer: String,
    /// JSON Pointer to the keyword of the schema that refuses it.
    pub schema_pointer: String,
    /// What is wrong there.
    pub message: String,
    /// Whether nobody knows if it fits.
    pub undecided: bool,
}
