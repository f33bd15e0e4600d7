//! `contract_diff` and `contract_impact`: what another version changes, and for whom.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    binding::UsedIn,
    diff::Difference,
    name::{ContractName, DomainName, RealmName, RepoName},
    range::Range,
    verdict::{
        Basis, BothReadings, ImportState, SchemaDifference, SchemaReading, ValuesCompared, Verdict, VersionBump,
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
    /// The version that is compared from.
    pub old_version: Version,
    /// The version that is compared to.
    pub new_version: Version,
    /// The source of the document that it is compared with.
    pub source: DocumentSource,
    /// Whether schema, value or compatibility differ: what a version fixes for good.
    pub content_changed: bool,
    /// The differences, with their place in the document that `contract_get` shows.
    pub changes: Vec<Difference>,
    /// What that means for values, with proof; none where neither schema says anything.
    pub compared: Option<SchemasCompared>,
    /// The changes of the agreed value, and whether they break its promise; `null` if it is the same.
    pub values: Option<ValuesCompared>,
}

/// Two schemas against each other, in both directions and both readings. A witness has 2 KB at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SchemasCompared {
    /// The reading that decides, as the contract says.
    pub reading: SchemaReading,
    /// Whether every value of the new schema is a value of the old one.
    pub backwards: BothReadings,
    /// Whether every value of the old schema is a value of the new one.
    pub forwards: BothReadings,
    /// The differences, at most 20 in each direction; the first ones with witnesses.
    pub differences: Vec<SchemaDifference>,
    /// The smallest change of version that the change needs, by what the contract promises.
    pub bump: VersionBump,
}

/// The source of the document that is judged.
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

/// The answer of `contract_impact`.
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
    /// The source of that version's document.
    pub source: DocumentSource,
    /// The repositories that import the contract.
    pub importers: Vec<ImporterImpact>,
    /// How many of them would be broken.
    pub broken: usize,
    /// What the version breaks of what its owner promises, under a number that says otherwise: each direction
    /// with a value that shows it. Publishing refuses it.
    pub breaks_promise: Vec<Verdict>,
}

/// The basis of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JudgedBy {
    /// Whether versions are in ranges: it is refused, or no schema says anything.
    VersionRange,
    /// Both schemas, and the range: proved, or refuted by a value.
    Schemas,
    /// What the import expects, the schema, and the range: proved, or refuted by a value.
    Expects,
    /// Both agreed values, and the range: the newer one breaks what is promised about it.
    Values,
}

impl JudgedBy {
    /// Returns what the state of an import goes by.
    pub fn of(state: &ImportState) -> Self {
        match state.verdict.as_ref().filter(|_| state.standing.resolved().is_some()).map(|verdict| verdict.basis) {
            None => Self::VersionRange,
            Some(Basis::Schemas) => Self::Schemas,
            Some(Basis::Expects) => Self::Expects,
            Some(Basis::Values) => Self::Values,
        }
    }
}

/// The effect of a version on one repository that imports the contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImporterImpact {
    /// The repository.
    pub repo: RepoName,
    /// The versions it works with.
    pub version_req: Range,
    /// The file of that repository that relies on it, or a list of them.
    pub binding: UsedIn,
    /// `current`, `stale` (an older version is still served) or `broken`, if the version were current.
    #[schemars(extend("enum" = ["current", "stale", "broken"]))]
    pub state: Cow<'static, str>,
    /// What the verdict is based on.
    pub judged_by: JudgedBy,
    /// What the version means for what the import expects, or for code that is written against
    /// `adapted_version`; none where that is the same version, or not known.
    pub verdict: Option<Verdict>,
    /// The version that the range accepts; none where it refuses what is served.
    pub resolved_version: Option<Version>,
    /// The version that the repository's code was written against; none where that is not known.
    pub adapted_version: Option<Version>,
    /// The same of today: `current`, `stale` or `broken`.
    #[schemars(extend("enum" = ["current", "stale", "broken"]))]
    pub state_now: Cow<'static, str>,
}
