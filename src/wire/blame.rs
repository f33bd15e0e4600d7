//! `contract_blame`: which version brought each part of a contract.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    json::Json,
    name::{ContractName, DomainName, RealmName},
    oid::Oid,
    version::Version,
};

/// What `contract_blame` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractBlame {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The version whose parts are listed.
    pub version: Version,
    /// Its parts in the order of the document, each as large as one version brought it; those of this page.
    pub parts: Vec<BlamePart>,
    /// The versions that brought them, newest first.
    pub versions: Vec<BlameVersion>,
    /// Where the next page starts.
    pub next_cursor: Option<String>,
}

/// A part of a contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlamePart {
    /// Where: a JSON Pointer that begins with /schema or /value.
    pub pointer: String,
    /// The version that brought it.
    pub version: Version,
    /// What is there, where that is a text, a number, true, false or null; null otherwise.
    pub value: Json,
}

/// A version that brought some part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlameVersion {
    /// The version.
    pub version: Version,
    /// When it was published, as the commit says.
    pub time: jiff::Timestamp,
    /// Whether that is more than a day ahead of this clock: such a date orders nothing.
    pub ahead_of_clock: bool,
    /// Who published it, as `Name <email>`.
    pub author: String,
    /// From which repository it was published.
    pub repo: Option<String>,
    /// From which commit of that repository.
    pub source_commit: Option<String>,
    /// The commit of the store.
    pub commit: Oid,
}
