//! The result of comparing two documents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Basis, BrokenDirection, SchemaDifference, SchemaReading, SchemaVerdict};
use crate::model::version::Version;

/// The result of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Proved: one side accepts everything that the other one sends.
    Compatible,
    /// Refuted by a value that the validator confirmed on both sides.
    Breaks,
    /// Neither proved nor refuted.
    Unknown,
}

/// The result of comparing two versions of a contract, or an import's `expects` and one version, in one direction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The result.
    pub verdict: Outcome,
    /// The documents that were compared.
    #[serde(default)]
    pub basis: Basis,
    /// The direction that was asked about.
    pub direction: BrokenDirection,
    /// The interpretation of the sending side's schema.
    pub reading: SchemaReading,
    /// The version that is compared from. If `basis` is `expects`, the one that the import's code was written against,
    /// or the new one if that is unknown.
    pub old_version: Version,
    /// The version that is compared to.
    pub new_version: Version,
    /// The first difference, with a value that shows it; null if nothing breaks.
    pub difference: Option<Box<SchemaDifference>>,
    /// The first break of the agreed value, if another part of the contract breaks the import too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_difference: Option<Box<SchemaDifference>>,
    /// The number of further differences that were found in this direction.
    pub more: usize,
    /// Whether there may be more differences than `more` counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more_differences: bool,
    /// The reason that the result is unknown.
    pub reason: Option<String>,
    /// The properties that the import expects, but that are never sent because the contract does not name them, as paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unnamed: Vec<String>,
}

impl Verdict {
    /// Returns the verdict that two versions are compatible.
    pub(super) fn compatible(old: &Version, new: &Version) -> Self {
        Self {
            verdict: Outcome::Compatible,
            basis: Basis::Schemas,
            direction: BrokenDirection::Backwards,
            reading: SchemaReading::Lenient,
            old_version: old.clone(),
            new_version: new.clone(),
            difference: None,
            value_difference: None,
            more: 0,
            more_differences: false,
            reason: None,
            unnamed: Vec::new(),
        }
    }

    /// Returns the verdict that it is unknown whether two versions are compatible.
    pub(super) fn unknown(old: &Version, new: &Version, reason: String) -> Self {
        Self { verdict: Outcome::Unknown, reason: Some(reason), ..Self::compatible(old, new) }
    }

    /// Adds that the agreed value breaks the import too, according to `values`.
    #[must_use]
    pub(super) fn and(self, values: Self) -> Self {
        let more = self.more + values.more;
        Self { value_difference: values.difference, more, ..self }
    }
}

/// Returns the outcome of an answer, with the difference that refutes compatibility, or the reason that it is unknown.
pub(super) fn outcome(answer: &SchemaVerdict) -> (Outcome, Option<Box<SchemaDifference>>, Option<String>) {
    match answer {
        SchemaVerdict::Compatible => (Outcome::Compatible, None, None),
        SchemaVerdict::Incompatible { difference } => (Outcome::Breaks, Some(difference.clone()), None),
        SchemaVerdict::Unknown { reason, .. } => (Outcome::Unknown, None, Some(reason.clone())),
    }
}
