//! `contract_blame`: the version that introduced each part of a contract.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    json::Json,
    name::{ContractName, DomainName, RealmName},
    oid::Oid,
    version::Version,
};

/// The answer of `contract_blame`.
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
    /// The parts of this page, in the order of the document. A part is the largest value that one version introduced.
    pub parts: Vec<BlamePart>,
    /// The versions that introduced these parts, newest first.
    pub versions: Vec<VersionOrigin>,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

/// A part of a contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlamePart {
    /// A JSON Pointer to the part, which begins with /schema or /value.
    pub pointer: String,
    /// The version that introduced it.
    pub version: Version,
    /// The part's value, if it is a string, a number, a boolean or null; null otherwise.
    pub value: Json,
}

/// The origin of a version: who published it, when and from which commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VersionOrigin {
    /// The version.
    pub version: Version,
    /// The time at which it was published, according to the commit.
    pub time: jiff::Timestamp,
    /// Whether that time is more than a day ahead of this machine's clock; such a time is not used for sorting.
    pub in_future: bool,
    /// The author, as `Name <email>`.
    pub author: String,
    /// The repository that it was published from.
    pub repo: Option<String>,
    /// The commit of that repository that it was published from.
    pub source_commit: Option<String>,
    /// The web page of that commit, if the URL of the repository belongs to a known forge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_url: Option<String>,
    /// The commit in the store.
    pub commit: Oid,
}
