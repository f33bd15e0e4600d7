//! `contract_diff` and `contract_impact`: what another version changes, and for whom.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    diff::Difference,
    name::{ContractName, DomainName, RealmName, RepoName},
    range::Range,
    version::Version,
};

/// What `contract_diff` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractDiff {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The version that is compared from.
    pub old_version: Version,
    /// The version that is compared to.
    pub new_version: Version,
    /// Where the document comes from that is compared to.
    pub source: DocumentSource,
    /// Whether schema, value or compatibility differ: what a version fixes for good.
    pub content_changed: bool,
    /// What differs, with its place in the document that `contract_get` shows.
    pub changes: Vec<Difference>,
}

/// Where the document comes from that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DocumentSource {
    /// It was published.
    Realm,
    /// A version that nobody published yet, with everything else as it is now.
    Guess,
    /// A file of the work tree.
    Worktree,
    /// A file of a commit.
    Commit,
    /// The current document with another schema.
    Schema,
}

/// What `contract_impact` answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractImpact {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The current version; none where only pre-releases were published.
    pub current_version: Option<Version>,
    /// The version that is looked at as if it were current.
    pub version: Version,
    /// Whether that version was published.
    pub published: bool,
    /// Where the document of that version comes from.
    pub source: DocumentSource,
    /// Who imports the contract.
    pub importers: Vec<ImporterImpact>,
    /// How many of them would be broken.
    pub broken: usize,
    /// What this goes by: the ranges of versions that importers accept. Schemas are not compared.
    pub judged_by: JudgedBy,
    /// What the version takes away from the current one under a number that ranges accept all the same: a
    /// guess from the structure of both schemas. Empty where the version was not published.
    pub narrows: Vec<String>,
}

/// What a verdict goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JudgedBy {
    /// Whether versions are in ranges.
    VersionRange,
}

/// What a version means for one repository that imports the contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImporterImpact {
    /// The repository.
    pub repo: RepoName,
    /// The versions it works with.
    pub version_req: Range,
    /// The file of that repository that relies on it.
    pub binding: Option<String>,
    /// `current`, `stale` (an older version is still served) or `broken`, if the version were current.
    #[schemars(extend("enum" = ["current", "stale", "broken"]))]
    pub state: Cow<'static, str>,
    /// The version that the import would resolve to; none where it would be broken.
    pub resolved_version: Option<Version>,
    /// The version that the repository's code was written against; none where that is not known.
    pub adapted_version: Option<Version>,
    /// The same of today: `current`, `stale` or `broken`.
    #[schemars(extend("enum" = ["current", "stale", "broken"]))]
    pub state_now: Cow<'static, str>,
}
