//! `compat`: whether one schema can take the place of another.

pub use crate::model::verdict::{
    BothReadings, BrokenDirection, SchemaDifference, SchemaReading, SchemaVerdict, VersionBump,
};
use schemars::JsonSchema;
use serde::Serialize;

/// What `compat` answers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
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
}

/// The directions that are asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AskedDirection {
    /// Every value of the new schema is a value of the old one.
    Backwards,
    /// Every value of the old schema is a value of the new one.
    Forwards,
    /// Both.
    Both,
}
