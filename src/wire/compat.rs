//! `compat`: whether one schema can replace another.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::schema::KeywordWarning;
pub use crate::model::verdict::{
    BothReadings, BrokenDirection, SchemaDifference, SchemaReading, SchemaVerdict, VersionBump,
};

/// The answer of `compat`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compat {
    /// The old schema, as it was named.
    pub old: String,
    /// The new schema, as it was named.
    pub new: String,
    /// The directions that were asked about.
    pub direction: AskedDirection,
    /// The reading that decides.
    pub reading: SchemaReading,
    /// Whether the new schema can replace the old one, in the directions that were asked about and the reading that
    /// decides; null if that is unknown.
    pub compatible: Option<bool>,
    /// Whether every value of the new schema is a value of the old one.
    pub backwards: BothReadings,
    /// Whether every value of the old schema is a value of the new one.
    pub forwards: BothReadings,
    /// The differences in the directions that were asked about, at most 20 of each.
    pub differences: Vec<SchemaDifference>,
    /// The smallest version bump that the change needs.
    pub bump: VersionBump,
    /// Words in the schemas that look like keywords and have no effect, at most 50 of each schema.
    pub warnings: Vec<SchemaWarning>,
}

/// A word in a schema that looks like a keyword and has no effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SchemaWarning {
    /// Its kind: `misspelt-keyword`, `keyword-of-another-draft` or `keyword-of-another-language`.
    pub rule: Cow<'static, str>,
    /// The schema, as it was named.
    pub schema: String,
    /// JSON Pointer to the word.
    pub pointer: String,
    /// The word.
    pub keyword: String,
    /// The problem, and what to write instead.
    pub message: String,
    /// The text to write instead.
    pub suggestion: String,
}

impl SchemaWarning {
    /// Returns a warning about the schema of this name.
    pub fn of(schema: &str, warning: KeywordWarning) -> Self {
        Self {
            rule: warning.rule().into(),
            schema: schema.to_owned(),
            message: warning.message(),
            pointer: warning.pointer,
            keyword: warning.keyword,
            suggestion: warning.suggestion,
        }
    }
}

/// The directions that are asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AskedDirection {
    /// Every value of the new schema is a value of the old one.
    Backwards,
    /// Every value of the old schema is a value of the new one.
    Forwards,
    /// Both directions.
    Both,
}
