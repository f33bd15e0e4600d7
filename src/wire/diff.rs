//! `contract_diff` and `contract_impact`: the changes of another version, and the repositories they affect.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::VersionOrigin;
use crate::model::{
    binding::UsedIn,
    diff::Difference,
    domain_view::ImportStanding,
    name::{ContractName, DomainName, RealmName, RepoName},
    range::Range,
    verdict::{
        Basis, BothReadings, BrokenDirection, ImportState, Outcome, SchemaDifference, SchemaReading, ValuesCompared,
        Verdict, VersionBump,
    },
    version::Version,
};

/// The answer of `contract_diff`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractDiff {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The old version.
    pub old_version: Version,
    /// The new version.
    pub new_version: Version,
    /// The origin of the old version; null if it was not published.
    pub old_origin: Option<VersionOrigin>,
    /// The origin of the new version; null if it was not published.
    pub new_origin: Option<VersionOrigin>,
    /// The source of the old document.
    #[serde(default)]
    pub old_source: DocumentSource,
    /// The source of the new document.
    pub source: DocumentSource,
    /// Whether the schema, value or compatibility differ. These never change within a version.
    pub content_changed: bool,
    /// The differences, each with its location in the document that `contract_get` returns.
    pub changes: Vec<Difference>,
    /// The smallest version bump that the change requires by the contract's promise; null if it requires none.
    pub bump: Option<VersionBump>,
    /// The comparison of the schemas; null if neither document has a schema.
    pub compared: Option<SchemasCompared>,
    /// The verdict that the side which sends the values became the one that receives them; null if it is the same.
    pub flow: Option<Verdict>,
    /// The changes to the agreed value, and whether they break the promise about it; null if the value is the same.
    pub values: Option<ValuesCompared>,
}

/// A comparison of two schemas, in both directions and both readings. Over MCP and HTTP, a witness is at
/// most 2 KB long; `git blue contract diff --json` has longer ones too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SchemasCompared {
    /// The decisive reading, from the contract.
    pub reading: SchemaReading,
    /// The directions that either version promises.
    #[serde(default)]
    pub promised: Vec<BrokenDirection>,
    /// Whether every value of the new schema is a value of the old one.
    pub backwards: BothReadings,
    /// Whether every value of the old schema is a value of the new one.
    pub forwards: BothReadings,
    /// The differences, at most 20 in each direction. The first ones have witnesses.
    pub differences: Vec<SchemaDifference>,
    /// Whether there may be further differences.
    #[serde(default)]
    pub more_differences: bool,
    /// The smallest version bump that the change requires by the contract's promise.
    pub bump: VersionBump,
}

/// The source of a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DocumentSource {
    /// The realm: the document was published.
    #[default]
    Realm,
    /// The current document with the number of an unpublished version.
    Assumed,
    /// A file in the working tree.
    Worktree,
    /// A file in a commit.
    Commit,
    /// The current document with a different schema.
    Schema,
}

/// The answer of `contract_impact`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractImpact {
    /// The realm.
    pub realm: RealmName,
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The current version; null if only pre-releases were published.
    pub current_version: Option<Version>,
    /// The version that is judged as if it were current.
    pub version: Version,
    /// Whether that version was published.
    pub published: bool,
    /// The reason why that version was yanked; null if it was not.
    pub yanked: Option<String>,
    /// The reason why the contract was retired; null if it was not.
    pub retired: Option<String>,
    /// The source of that version's document.
    pub source: DocumentSource,
    /// The repositories that import the contract.
    pub importers: Vec<ImporterImpact>,
    /// The repositories whose bindings cannot be read, so that it is unknown whether they import it. Only present if there
    /// are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable_bindings: Vec<RepoName>,
    /// The number of importers whose import would be broken.
    pub broken: usize,
    /// The owner's promises that the version breaks although its number does not allow that: each broken direction with
    /// a value that shows it. Such a version cannot be published.
    pub breaks_promise: Vec<Verdict>,
}

/// The basis of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JudgedBy {
    /// The version range: it refuses the version, which is not known to break the code, or there is no schema.
    VersionRange,
    /// Both schemas and the range: proved, or refuted by a value.
    Schemas,
    /// The import's `expects`, the schema and the range: proved, or refuted by a value.
    Expects,
    /// Both agreed values and the range: the newer value keeps the promise about the older one, or breaks it.
    Values,
    /// Both flows and the range: the sides that send and receive the values changed places.
    Flow,
}

impl JudgedBy {
    /// Returns the basis of the state of an import.
    pub fn of(state: &ImportState) -> Self {
        let decides = |one: &&Verdict| one.verdict == Outcome::Breaks || state.resolution.resolved().is_some();
        match state.verdict.as_ref().filter(decides).map(|verdict| verdict.basis) {
            None => Self::VersionRange,
            Some(Basis::Schemas) => Self::Schemas,
            Some(Basis::Expects) => Self::Expects,
            Some(Basis::Values) => Self::Values,
            Some(Basis::Flow) => Self::Flow,
        }
    }
}

/// The effect of a version on one repository that imports the contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImporterImpact {
    /// The repository.
    pub repo: RepoName,
    /// The version range of its import.
    pub version_req: Range,
    /// The files of that repository that rely on the contract: a path, or a list of paths.
    pub binding: UsedIn,
    /// `current`, `behind` (an older version is still served), `broken` or `unknown`, if this version were current.
    pub state: ImportStanding,
    /// The basis of the state.
    pub judged_by: JudgedBy,
    /// The effect of the version on the data that the import expects, or on code written against `adapted_version`;
    /// null if that is the same version or unknown.
    pub verdict: Option<Verdict>,
    /// The version that the range selects; null if it accepts none that is served.
    pub resolved_version: Option<Version>,
    /// The version that the repository's code was written against; null if unknown.
    pub adapted_version: Option<Version>,
    /// The current state: `current`, `behind`, `broken`, or `unknown` (the contract cannot be read).
    pub current_state: ImportStanding,
}
