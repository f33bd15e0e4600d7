//! The results of comparing two schemas, as they are cached and shown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    compatibility::{self, Comparison},
    contract::{Contract, Values},
};
pub use crate::model::{
    compatibility::{BothReadings, MAX_WITNESS, SchemaDifference, SchemaVerdict, ValueChange, VersionBump},
    contract::{BrokenDirection, SchemaReading},
};

/// A comparison of the agreed values of two versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValuesCompared {
    /// The promise about them: the stricter one of both versions.
    pub promised: Values,
    /// The differences, those that break the promise first, at most 20.
    pub differences: Vec<ValueChange>,
    /// The number of further differences.
    pub more: usize,
    /// The smallest version bump that they need.
    pub bump: VersionBump,
}

impl ValuesCompared {
    /// Compares the values of two documents. Returns `None` if they are equal.
    pub fn of(old: &Contract, new: &Contract) -> Option<Self> {
        let promised = super::promised(old, new);
        let compatibility::ValueComparison { differences, more, bump } =
            compatibility::values(&old.value.0, &new.value.0, promised);
        (!differences.is_empty()).then_some(Self { promised, differences, more, bump })
    }
}

/// The comparison of two schemas in both directions, in the compact form for responses about contracts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compared {
    /// Whether every value of the new schema is a value of the old one.
    pub backwards: BothReadings,
    /// Whether every value of the old schema is a value of the new one.
    pub forwards: BothReadings,
    /// The differences, at most 20 in each direction.
    pub differences: Vec<SchemaDifference>,
}

impl Compared {
    /// Returns the comparison of two equal schemas.
    pub fn equal() -> Self {
        let both = || BothReadings { lenient: SchemaVerdict::Compatible, strict: SchemaVerdict::Compatible };
        Self { backwards: both(), forwards: both(), differences: Vec::new() }
    }

    /// Returns an undecided comparison, with the reason.
    pub fn unknown(reason: &str, spent: Option<&str>) -> Self {
        let unknown = || SchemaVerdict::Unknown { reason: reason.to_owned(), spent: spent.map(str::to_owned) };
        let both = || BothReadings { lenient: unknown(), strict: unknown() };
        Self { backwards: both(), forwards: both(), differences: Vec::new() }
    }

    /// Returns the verdict in a direction and a reading.
    pub fn of(&self, direction: BrokenDirection, reading: SchemaReading) -> &SchemaVerdict {
        match direction {
            BrokenDirection::Backwards => self.backwards.of(reading),
            BrokenDirection::Forwards => self.forwards.of(reading),
        }
    }

    /// Returns whether both schemas accept the same values, in both readings.
    pub fn is_same_language(&self) -> bool {
        [&self.backwards, &self.forwards].iter().all(|both| both.strict == SchemaVerdict::Compatible)
    }
}

impl From<Comparison> for Compared {
    fn from(found: Comparison) -> Self {
        let differences = found.differences.into_iter();
        Self {
            differences: differences.map(|one| one.clipped(MAX_WITNESS)).collect(),
            backwards: found.backwards.clipped(),
            forwards: found.forwards.clipped(),
        }
    }
}
