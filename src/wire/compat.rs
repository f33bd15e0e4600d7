//! `compat`: whether one schema can take the place of another.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{compatibility as engine, schema::KeywordWarning};

/// What `compat` answers.
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
    /// Whether the new schema can take the place of the old one, in the directions that were asked
    /// about and the reading that decides; null where that is unknown.
    pub compatible: Option<bool>,
    /// Whether every value of the new schema is a value of the old one.
    pub backwards: BothReadings,
    /// Whether every value of the old schema is a value of the new one.
    pub forwards: BothReadings,
    /// What differs in the directions that were asked about, at most 20 of each.
    pub differences: Vec<SchemaDifference>,
    /// The smallest change of version that the change needs.
    pub bump: VersionBump,
    /// Words in the schemas that look like keywords and assert nothing, at most 50 of each schema.
    pub warnings: Vec<SchemaWarning>,
}

/// A word in a schema that looks like a keyword and asserts nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SchemaWarning {
    /// Its kind: `misspelt-keyword`, `keyword-of-another-draft` or `keyword-of-another-language`.
    pub rule: String,
    /// The schema, as it was named.
    pub schema: String,
    /// JSON Pointer to the word.
    pub pointer: String,
    /// The word.
    pub keyword: String,
    /// What is wrong with it, and what to write instead.
    pub message: String,
    /// What to write instead.
    pub suggestion: String,
}

impl SchemaWarning {
    /// Returns a warning about the schema of this name.
    pub fn of(schema: &str, warning: KeywordWarning) -> Self {
        Self {
            rule: warning.rule().to_owned(),
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
    /// Both.
    Both,
}

/// A direction that a difference breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BrokenDirection {
    /// A value of the new schema is refused by the old one.
    Backwards,
    /// A value of the old schema is refused by the new one.
    Forwards,
}

/// How much a schema is taken to say about what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SchemaReading {
    /// Only the properties that the schema names are sent; objects that name none are open.
    Lenient,
    /// An open object may carry any further property.
    Strict,
}

/// The answers in both readings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BothReadings {
    /// Where only the properties that the schema names are sent.
    pub lenient: SchemaVerdict,
    /// As the schema is written.
    pub strict: SchemaVerdict,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum SchemaVerdict {
    /// It is proved.
    Compatible,
    /// A value refutes it; the validator confirmed it on both sides.
    Incompatible {
        /// The difference, with that value as its witness.
        difference: Box<SchemaDifference>,
    },
    /// It is neither proved nor refuted.
    Unknown {
        /// Why.
        reason: String,
        /// What ran out: time, memory or steps.
        spent: Option<Cow<'static, str>>,
    },
}

/// One place where two schemas differ, and a value that shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SchemaDifference {
    /// The rule, as listed in the documentation.
    pub rule: Cow<'static, str>,
    /// The direction that it breaks.
    pub direction: BrokenDirection,
    /// The reading under which it does.
    pub reading: SchemaReading,
    /// What is wrong with the value.
    pub message: String,
    /// JSON Pointer to the place in the old schema.
    pub old_pointer: Option<String>,
    /// JSON Pointer to the place in the new schema.
    pub new_pointer: Option<String>,
    /// A value that one schema accepts and the other refuses.
    pub witness: Value,
    /// JSON Pointer to the place in the witness.
    pub at: String,
}

/// The smallest change of version that a change needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VersionBump {
    /// It breaks a direction that was asked about.
    Major,
    /// It changes what is valid.
    Minor,
    /// It says the same in other words.
    Patch,
    /// A direction that was asked about is undecided.
    Unknown,
}

impl From<engine::Reading> for SchemaReading {
    fn from(reading: engine::Reading) -> Self {
        match reading {
            engine::Reading::Strict => Self::Strict,
            engine::Reading::Lenient => Self::Lenient,
        }
    }
}

impl From<engine::Direction> for BrokenDirection {
    fn from(direction: engine::Direction) -> Self {
        match direction {
            engine::Direction::Backwards => Self::Backwards,
            engine::Direction::Forwards => Self::Forwards,
        }
    }
}

impl From<engine::Bump> for VersionBump {
    fn from(bump: engine::Bump) -> Self {
        match bump {
            engine::Bump::Major => Self::Major,
            engine::Bump::Minor => Self::Minor,
            engine::Bump::Patch => Self::Patch,
            engine::Bump::Unknown => Self::Unknown,
        }
    }
}

impl From<engine::Difference> for SchemaDifference {
    fn from(found: engine::Difference) -> Self {
        Self {
            rule: found.rule.into(),
            direction: found.direction.into(),
            reading: found.reading.into(),
            message: found.message,
            old_pointer: found.old_pointer,
            new_pointer: found.new_pointer,
            witness: found.witness,
            at: found.at,
        }
    }
}

impl From<engine::Verdict> for SchemaVerdict {
    fn from(verdict: engine::Verdict) -> Self {
        match verdict {
            engine::Verdict::Compatible => Self::Compatible,
            engine::Verdict::Incompatible(found) => Self::Incompatible { difference: Box::new((*found).into()) },
            engine::Verdict::Unknown(why) => Self::Unknown { reason: why.reason, spent: why.spent.map(Into::into) },
        }
    }
}

impl From<engine::Readings> for BothReadings {
    fn from(readings: engine::Readings) -> Self {
        Self { lenient: readings.lenient.into(), strict: readings.strict.into() }
    }
}
