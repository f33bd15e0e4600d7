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
    /// The old schema, as named in the request.
    pub old: String,
    /// The new schema, as named in the request.
    pub new: String,
    /// The requested directions.
    pub direction: AskedDirection,
    /// The decisive reading.
    pub reading: SchemaReading,
    /// Whether the new schema can replace the old one, in the requested directions and the decisive reading; null if
    /// that is unknown.
    pub compatible: Option<bool>,
    /// Whether every value of the new schema is a value of the old one.
    pub backwards: BothReadings,
    /// Whether every value of the old schema is a value of the new one.
    pub forwards: BothReadings,
    /// The differences in the requested directions, at most 20 per direction, with pointers into the files.
    pub differences: Vec<SchemaDifference>,
    /// Whether there may be further differences.
    #[serde(default)]
    pub more_differences: bool,
    /// The smallest version bump that the change requires.
    pub bump: VersionBump,
    /// The words in the schemas that look like keywords but have no effect, at most 50 per schema.
    pub warnings: Vec<SchemaWarning>,
}

/// A word in a schema that looks like a keyword but has no effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SchemaWarning {
    /// The kind of warning: `misspelt-keyword`, `keyword-of-another-draft`, `keyword-of-another-language`,
    /// `assumed-draft`, `external-reference`, `no-keyword`, `pattern-not-ecma-262`, `format-not-compared`,
    /// `nothing-valid` or `children-not-compared`.
    pub rule: Cow<'static, str>,
    /// The schema, as named in the request.
    pub schema: String,
    /// A JSON Pointer to the word in the file.
    pub pointer: String,
    /// The word.
    pub keyword: String,
    /// A description of the problem, and what to write instead.
    pub message: String,
    /// The text to write instead.
    pub suggestion: String,
}

impl SchemaWarning {
    /// Returns a warning about the schema with this name.
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

/// The requested directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum AskedDirection {
    /// Every value of the new schema is a value of the old one.
    Backwards,
    /// Every value of the old schema is a value of the new one.
    Forwards,
    /// Both directions.
    Both,
}

impl AskedDirection {
    /// Returns the directions.
    pub fn directions(self) -> &'static [BrokenDirection] {
        match self {
            Self::Backwards => &[BrokenDirection::Backwards],
            Self::Forwards => &[BrokenDirection::Forwards],
            Self::Both => &[BrokenDirection::Backwards, BrokenDirection::Forwards],
        }
    }
}
