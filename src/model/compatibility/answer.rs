//! The answers about two schemas and two agreed values, as they are cached and shown.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{
    contract::{BrokenDirection, SchemaReading, Values},
    hash,
    schema::{PartId, Tree},
    version::{Level, Version},
};

/// The size limit of a witness in a response about contracts, in bytes of JSON.
pub const MAX_WITNESS: usize = 2_048;
/// The length limit of a message, in characters, and of a pointer, in bytes.
const MAX_TEXT: usize = 512;

/// The complete result of comparing two schemas.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Whether every value of the new schema is a value of the old one.
    pub backwards: BothReadings,
    /// Whether every value of the old schema is a value of the new one.
    pub forwards: BothReadings,
    /// The differences by direction, limited by [`Options`](super::Options).
    pub differences: Vec<SchemaDifference>,
    /// Whether there may be further differences.
    pub more: bool,
    /// The bump that the change needs.
    pub bump: VersionBump,
}

/// The answers in both readings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BothReadings {
    /// The answer if only the properties that the schema names are sent.
    pub lenient: SchemaVerdict,
    /// The answer if everything that the schema allows is sent.
    pub strict: SchemaVerdict,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
        /// The reason.
        reason: String,
        /// The limit that was reached: time, memory or steps.
        spent: Option<String>,
    },
}

/// One place where two schemas differ, and a value that shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SchemaDifference {
    /// The rule, as listed in the documentation.
    pub rule: String,
    /// The direction that it breaks.
    pub direction: BrokenDirection,
    /// The reading under which it breaks that direction.
    pub reading: SchemaReading,
    /// The problem with the value.
    pub message: String,
    /// JSON Pointer to the place in the old schema.
    pub old_pointer: Option<String>,
    /// JSON Pointer to the place in the new schema.
    pub new_pointer: Option<String>,
    /// A value that one schema accepts and the other refuses. It is left out (null) if it is too large for the answer,
    /// or if the difference is one between agreed values. The value itself may be null; see `witness_bytes`.
    pub witness: Option<Value>,
    /// The size of that value in bytes of JSON; 0 if agreed values differ.
    pub witness_bytes: usize,
    /// JSON Pointer to the place in the witness.
    pub at: String,
    /// The id of the difference: the first 12 hex digits of a hash of the rule, both places and both schemas there. It
    /// does not depend on the versions. If several differences of one answer have all of these in common, the message
    /// is hashed too. Left out if the documents are not available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

impl SchemaDifference {
    /// Returns whether another difference is about the same place of a value. If that is an object, its messages name the
    /// member.
    pub fn is_same_place(&self, other: &Self) -> bool {
        let is_object = |one: &Self| {
            let value = one.witness.as_ref().and_then(|witness| witness.pointer(&one.at));
            value.is_some_and(Value::is_object)
        };
        self.at == other.at && (!is_object(self) || !is_object(other) || self.message == other.message)
    }
}

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

/// One place where two agreed values differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValueChange {
    /// The rule, as listed in the documentation.
    pub rule: String,
    /// The change, in one sentence.
    pub message: String,
    /// JSON Pointer to the place in the old value.
    pub old_pointer: Option<String>,
    /// JSON Pointer to the place in the new value.
    pub new_pointer: Option<String>,
    /// The smallest version bump that it needs.
    pub bump: VersionBump,
}

/// The smallest version bump that a change needs. Below 1.0.0, a major change raises the minor number, and a minor change the
/// patch number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VersionBump {
    /// It breaks a direction that was asked about.
    Major,
    /// It changes which values are valid, or which properties are named and so sent.
    Minor,
    /// It has the same meaning.
    Patch,
    /// A direction that was asked about is undecided.
    Unknown,
}

impl From<ValueChange> for SchemaDifference {
    fn from(found: ValueChange) -> Self {
        Self {
            rule: found.rule,
            // The new value breaks consumers that rely on the old one.
            direction: BrokenDirection::Backwards,
            reading: SchemaReading::Lenient,
            message: found.message,
            old_pointer: found.old_pointer,
            new_pointer: found.new_pointer,
            witness: None,
            witness_bytes: 0,
            at: String::new(),
            id: None,
        }
    }
}

impl SchemaDifference {
    /// Returns the witness, unless it is left out. In JSON, both the witness `null` and a missing witness are `null`,
    /// so the size tells them apart.
    pub fn witness(&self) -> Option<&Value> {
        const NULL: &Value = &Value::Null;
        self.witness.as_ref().or((self.witness_bytes == "null".len()).then_some(NULL))
    }

    /// Removes whatever is too long for a response about contracts.
    #[must_use]
    pub fn clipped(mut self, max_witness: usize) -> Self {
        if self.witness_bytes > max_witness {
            self.witness = None;
        }
        if self.message.chars().count() > MAX_TEXT {
            self.message = self.message.chars().take(MAX_TEXT).chain(['…']).collect();
        }
        let fits = |pointer: &String| pointer.len() <= MAX_TEXT;
        self.old_pointer = self.old_pointer.filter(fits);
        self.new_pointer = self.new_pointer.filter(fits);
        if !fits(&self.at) {
            self.at = String::new();
        }
        self
    }

    /// Sets the `id` of a difference between these two documents.
    #[must_use]
    pub fn identified(self, old: &Value, new: &Value) -> Self {
        self.identified_by(|side, pointer| [old, new][side].pointer(pointer).map(hash::canonical))
    }

    /// Sets the `id`. `hash` returns the hash of the part of the old schema (0) or the new one (1) at a pointer.
    fn identified_by(self, mut hash: impl FnMut(usize, &str) -> Option<String>) -> Self {
        let places = [&self.old_pointer, &self.new_pointer].map(Option::as_deref);
        let [old, new] = [0, 1].map(|side| places[side].and_then(|place| hash(side, place)).unwrap_or_default());
        let [old_place, new_place] = places.map(Option::unwrap_or_default);
        Self { id: Some(hash::short_id(&[&self.rule, old_place, new_place, &old, &new])), ..self }
    }

    /// Returns the witness and its problem: `{"id":1} (widened-type at /id: 1 is not a string)`. For an agreed value,
    /// returns how it changed.
    pub fn phrase(&self) -> String {
        if self.witness_bytes == 0 {
            let place = self.old_pointer.as_ref().or(self.new_pointer.as_ref()).map_or("", String::as_str);
            return format!("{} ({} at /value{place})", self.message, self.rule);
        }
        let place = if self.at.is_empty() { String::new() } else { format!(" at {}", self.at) };
        let why = format!("{}{place}: {}", self.rule, self.message);
        match self.witness().map(Value::to_string).filter(|witness| witness.len() <= MAX_INLINE) {
            Some(witness) => format!("{witness} ({why})"),
            None => format!("a value of {} bytes ({why})", self.witness_bytes),
        }
    }
}

/// Sets the ids of differences between two schemas of one forest.
pub(super) struct Identifier<'a> {
    schemas: [Tree<'a>; 2],
    /// The hash of each part, since many differences may have the same place.
    hashes: BTreeMap<PartId, String>,
}

impl<'a> Identifier<'a> {
    /// Creates an identifier of differences between these schemas.
    pub fn new(old: Tree<'a>, new: Tree<'a>) -> Self {
        Self { schemas: [old, new], hashes: BTreeMap::new() }
    }

    fn difference(&mut self, difference: SchemaDifference) -> SchemaDifference {
        difference.identified_by(|side, pointer| {
            let part = self.schemas[side].pointer(pointer)?;
            Some(self.hashes.entry(part.id()).or_insert_with(|| hash::canonical(&part)).clone())
        })
    }

    /// Sets the id of the difference of a verdict, if it has one.
    pub fn verdict(&mut self, verdict: SchemaVerdict) -> SchemaVerdict {
        verdict.with_difference(|difference| self.difference(difference))
    }

    /// Sets the ids of all differences of a comparison. Messages tell differences apart that have the same rule, places
    /// and schemas, such as two missing properties.
    pub fn comparison(&mut self, found: Comparison) -> Comparison {
        let found = found.with_differences(&mut |one| self.difference(one));
        let shared = shared(&found.differences);
        found.with_differences(&mut |one| match one.id.as_ref().filter(|id| shared.contains(*id)) {
            Some(id) => SchemaDifference { id: Some(hash::short_id(&[id, &one.message])), ..one },
            None => one,
        })
    }
}

/// Returns the ids that differences with different messages have.
fn shared(differences: &[SchemaDifference]) -> BTreeSet<String> {
    let mut messages = BTreeMap::new();
    let ids = differences.iter().filter_map(|one| Some((one.id.as_ref()?, &one.message)));
    ids.filter(|(id, message)| *messages.entry(*id).or_insert(*message) != *message).map(|(id, _)| id.clone()).collect()
}

/// The size limit of a witness in a sentence, in bytes.
const MAX_INLINE: usize = 160;

impl Comparison {
    /// Returns the comparison of two equal schemas.
    pub fn equal() -> Self {
        Self::with(SchemaVerdict::Compatible, VersionBump::Patch)
    }

    /// Returns an undecided comparison, with the reason and the limit that was reached.
    pub fn unknown(reason: &str, spent: Option<&str>) -> Self {
        Self::with(SchemaVerdict::unknown(reason, spent), VersionBump::Unknown)
    }

    fn with(verdict: SchemaVerdict, bump: VersionBump) -> Self {
        let (backwards, forwards) = (BothReadings::both(verdict.clone()), BothReadings::both(verdict));
        let more = bump == VersionBump::Unknown;
        Self { backwards, forwards, differences: Vec::new(), more, bump }
    }

    /// Returns the verdict in a direction and a reading.
    pub fn of(&self, direction: BrokenDirection, reading: SchemaReading) -> &SchemaVerdict {
        match direction {
            BrokenDirection::Backwards => self.backwards.of(reading),
            BrokenDirection::Forwards => self.forwards.of(reading),
        }
    }

    /// Returns whether the verdicts in both directions and readings are known.
    pub fn is_decided(&self) -> bool {
        let is_decided = |one: &BothReadings| one.lenient.is_decided() && one.strict.is_decided();
        is_decided(&self.backwards) && is_decided(&self.forwards)
    }

    /// Returns the differences that break a direction.
    pub fn breaking(
        &self,
        direction: BrokenDirection,
        reading: SchemaReading,
    ) -> impl Iterator<Item = &SchemaDifference> + Clone {
        self.differences.iter().filter(move |one| one.direction == direction && one.reading == reading)
    }

    /// Returns whether both schemas accept the same values.
    pub fn is_same_language(&self) -> bool {
        is_same_language([&self.backwards, &self.forwards])
    }

    /// Returns whether both schemas accept the same values, and senders send the same.
    pub fn is_same(&self) -> bool {
        self.bump == VersionBump::Patch
    }

    /// Removes whatever is too long for a response about contracts.
    #[must_use]
    pub fn clipped(self, max_witness: usize) -> Self {
        self.with_differences(&mut |one| one.clipped(max_witness))
    }

    /// Replaces all differences, including those of the verdicts.
    #[must_use]
    pub fn with_differences(self, replaced: &mut dyn FnMut(SchemaDifference) -> SchemaDifference) -> Self {
        let [backwards, forwards] = [self.backwards, self.forwards].map(|BothReadings { lenient, strict }| {
            let [lenient, strict] = [lenient, strict].map(|one| one.with_difference(&mut *replaced));
            BothReadings { lenient, strict }
        });
        let differences = self.differences.into_iter().map(replaced).collect();
        Self { backwards, forwards, differences, ..self }
    }
}

/// Returns whether the verdicts in both directions say that the same values are valid.
pub fn is_same_language(directions: [&BothReadings; 2]) -> bool {
    directions.iter().all(|one| one.strict.is_compatible())
}

impl BothReadings {
    /// Returns the same verdict in both readings.
    pub fn both(verdict: SchemaVerdict) -> Self {
        Self { lenient: verdict.clone(), strict: verdict }
    }

    /// Returns the verdict of a reading.
    pub fn of(&self, reading: SchemaReading) -> &SchemaVerdict {
        match reading {
            SchemaReading::Strict => &self.strict,
            SchemaReading::Lenient => &self.lenient,
        }
    }
}

impl SchemaVerdict {
    /// Returns an undecided verdict, with the reason and the limit that was reached.
    pub fn unknown(reason: &str, spent: Option<&str>) -> Self {
        Self::Unknown { reason: reason.to_owned(), spent: spent.map(str::to_owned) }
    }

    /// Returns whether compatibility is proved.
    pub fn is_compatible(&self) -> bool {
        matches!(self, Self::Compatible)
    }

    /// Returns whether compatibility is proved or refuted.
    pub fn is_decided(&self) -> bool {
        !matches!(self, Self::Unknown { .. })
    }

    /// Returns whether compatibility is refuted.
    pub fn is_incompatible(&self) -> bool {
        matches!(self, Self::Incompatible { .. })
    }

    /// Removes whatever is too long for a response about contracts.
    #[must_use]
    pub fn clipped(self, max_witness: usize) -> Self {
        self.with_difference(|difference| difference.clipped(max_witness))
    }

    /// Replaces the difference, if it has one.
    fn with_difference(self, replaced: impl FnOnce(SchemaDifference) -> SchemaDifference) -> Self {
        match self {
            Self::Incompatible { difference } => Self::Incompatible { difference: Box::new(replaced(*difference)) },
            other => other,
        }
    }
}

impl VersionBump {
    /// Returns the bump and its reason, phrased as the end of a sentence.
    /// `directions` are the verdicts that need it.
    pub fn phrase(self, directions: [&BothReadings; 2]) -> String {
        let bump = match self {
            Self::Major => "a major version",
            Self::Minor => "a minor version",
            Self::Patch => "at most a patch version",
            Self::Unknown => "a minor version, or a major one if it breaks something",
        };
        format!("{bump}: {}", self.why(is_same_language(directions)))
    }

    /// Returns the reason for the bump. `is_same_language` is whether the same values are valid.
    pub fn why(self, is_same_language: bool) -> &'static str {
        match self {
            Self::Major => "it breaks compatibility",
            Self::Minor if is_same_language => "the same values are valid, but other properties are named, and so sent",
            Self::Minor => "the set of valid values changes",
            Self::Patch => "the same values are valid",
            Self::Unknown => "compatibility is not fully decided",
        }
    }

    /// Returns the version after this bump. Below 1.0.0, a breaking change only raises the minor number.
    pub fn after(self, version: &Version) -> Version {
        match self {
            Self::Major => version.next_breaking(),
            Self::Minor | Self::Unknown => version.next_compatible(),
            Self::Patch => version.raised(Level::Patch),
        }
    }
}
