//! A contract: a versioned JSON Schema and value that one repository owns and others rely on.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use super::{
    contract_forms::{schema_forms, version_as_written, version_forms},
    fault::Fault,
    hash,
    json::Json,
    name::{ContractName, RepoName},
    range::Range,
    version::Version,
};

/// One version of a contract, as people write it and as the realm stores it.
///
/// The realm fills in the last four fields. A file that people write must not have them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// Its name within the domain.
    pub name: ContractName,
    /// The version that this document describes. A file may also say `auto`, or name a file that
    /// contains the version: `{ from: package.json }`.
    #[serde(deserialize_with = "version_as_written")]
    #[schemars(schema_with = "version_forms")]
    pub version: Version,
    /// The only repository that may change it.
    pub owner: RepoName,
    /// Its purpose, in one sentence.
    #[serde(default)]
    pub description: String,
    /// The owner's promise about changes.
    #[serde(default)]
    pub compatibility: Compatibility,
    /// The owner's promise about changes to the value. A stored file omits the default, so that files from before the
    /// field was introduced keep their bytes.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(description = "What the owner promises about changes to the value; additive by default.")]
    pub values: Values,
    /// The direction of the data that the schema describes. Stored files omit the default.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(description = "Who sends what the schema describes; the owner by default.")]
    pub flow: Flow,
    /// Older versions that the provider still serves.
    #[serde(default)]
    pub supported: Vec<Range>,
    /// JSON Schema that `value` satisfies.
    #[serde(default = "empty_schema")]
    #[schemars(schema_with = "schema_forms")]
    pub schema: Json,
    /// The agreed value.
    #[serde(default)]
    pub value: Json,
    /// Scripts of the owner and the consumers that test it.
    #[serde(default)]
    pub validation: Validation,
    /// The changes of each version, oldest first.
    #[serde(default)]
    pub evolution: Vec<Evolution>,
    /// The deprecation, if consumers should stop using the contract.
    pub deprecated: Option<Deprecated>,
    /// SHA-256 of the canonical schema, as it was when the realm stored it.
    #[schemars(skip)]
    pub schema_hash: Option<String>,
    /// SHA-256 of canonical schema, value and compatibility, as it was when the realm stored it.
    #[schemars(skip)]
    pub content_hash: Option<String>,
    /// The retirement, if the owner retired the contract.
    #[schemars(skip)]
    pub retired: Option<Retirement>,
    /// The yanked versions, which should not be used.
    #[serde(default)]
    #[schemars(skip)]
    pub yanked: Vec<Yanked>,
}

/// The fields of a contract that a published version fixes. Those added later are left out if they are the default, so
/// that older hashes stay valid.
#[derive(Serialize)]
struct FixedContent<'a> {
    schema: &'a Json,
    value: &'a Json,
    compatibility: &'a Compatibility,
    #[serde(skip_serializing_if = "is_default")]
    values: Values,
    #[serde(skip_serializing_if = "is_default")]
    flow: Flow,
}

fn date_as_written<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<jiff::civil::Date>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    let expected = |text: String| de::Error::custom(format!("expected a date such as 2026-12-31, not {text}"));
    text.map(|text| text.parse().map_err(|_| expected(text))).transpose()
}

fn empty_schema() -> Json {
    serde_json::json!({}).into()
}

/// The owner's promise about the next versions: consumers of a newer version accept old values (`forwards`), consumers
/// of an older version accept new values (`backwards`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Compatibility {
    /// Whether consumers built against the old version accept every value of the new one.
    #[serde(default = "yes")]
    pub backwards: bool,
    /// Whether consumers built against the new version accept every value of the old one.
    #[serde(default)]
    pub forwards: bool,
    /// The interpretation of the sending side's schema; lenient by default.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reading: SchemaReading,
}

impl Compatibility {
    /// Returns the directions that are promised.
    pub fn directions(self) -> Vec<BrokenDirection> {
        let promised = [(BrokenDirection::Backwards, self.backwards), (BrokenDirection::Forwards, self.forwards)];
        promised.into_iter().filter(|(_, is_promised)| *is_promised).map(|(direction, _)| direction).collect()
    }

    /// Describes the promise about the next versions.
    pub fn promise(self) -> String {
        let directions = match (self.backwards, self.forwards) {
            (true, true) => "backwards and forwards compatibility",
            (true, false) => "backwards compatibility",
            (false, true) => "forwards compatibility",
            (false, false) => "nothing",
        };
        let is_strict = self.reading == SchemaReading::Strict && (self.backwards || self.forwards);
        format!("{directions}{}", if is_strict { ", read strictly" } else { "" })
    }
}

/// The owner's promise about changes to the agreed value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Values {
    /// Any other value may replace it.
    Free,
    /// Values may be added, and existing ones do not change.
    #[default]
    Additive,
    /// It does not change.
    Frozen,
}

/// The direction of the data that a contract describes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Flow {
    /// The owner sends, and consumers read: events, answers, files.
    #[default]
    ProviderToConsumer,
    /// Consumers send, and the owner reads: requests, commands.
    ConsumerToProvider,
}

impl Flow {
    /// Returns the direction in which a change breaks importers of the contract.
    pub fn direction(self) -> BrokenDirection {
        match self {
            Self::ProviderToConsumer => BrokenDirection::Backwards,
            Self::ConsumerToProvider => BrokenDirection::Forwards,
        }
    }
}

/// Returns whether a field has its default value.
pub fn is_default<T: Default + PartialEq>(field: &T) -> bool {
    *field == T::default()
}

fn yes() -> bool {
    true
}

impl Default for Compatibility {
    fn default() -> Self {
        Flow::default().into()
    }
}

impl From<Flow> for Compatibility {
    /// Returns the promise that protects the consumers of such a contract.
    fn from(flow: Flow) -> Self {
        let forwards = flow == Flow::ConsumerToProvider;
        Self { backwards: !forwards, forwards, reading: SchemaReading::Lenient }
    }
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

impl BrokenDirection {
    /// Returns its spelling in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Backwards => "backwards",
            Self::Forwards => "forwards",
        }
    }

    /// Returns what it means that two versions are compatible in this direction. Readers may refuse properties that the
    /// sender's schema allows, but does not name.
    pub fn meaning(self, old: &Version, new: &Version) -> String {
        match self {
            Self::Backwards => format!("readers of {old} accept what {new} sends"),
            Self::Forwards => format!("readers of {new} accept what {old} sent"),
        }
    }
}

/// The interpretation of the sending side's schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum SchemaReading {
    /// Only the properties that the schema names are sent; objects without named properties are open.
    #[cfg_attr(feature = "cli", value(help = "The sender sends only properties that its schema names"))]
    #[default]
    Lenient,
    /// An open object may have any further property.
    #[cfg_attr(feature = "cli", value(help = "The sender may send anything that its schema allows"))]
    Strict,
}

/// Scripts that test a contract, as paths in the repository that runs them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Validation {
    /// Run by the owner.
    pub exporter: Option<String>,
    /// For consumers, as documentation only. Their repositories run only scripts that their own bindings name,
    /// never a script from a realm.
    pub importer: Option<String>,
    /// Run by the owner, in CI only.
    #[serde(default)]
    pub ci_only: Vec<String>,
}

/// The last of the generated changes of a version if it is unknown whether consumers keep working.
pub const UNDECIDED: &str = "it is unknown whether consumers keep working";

/// The changes of one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evolution {
    /// The version.
    pub version: Version,
    /// The changes, in words.
    pub changes: Vec<String>,
    /// Whether consumers of the previous version keep working. Proved when it was published, unless the owner wrote it;
    /// false also if it is unknown, which the last of the changes then says.
    #[serde(default = "yes")]
    pub compatible: bool,
}

impl Evolution {
    /// Returns `breaking` or `unknown`; `None` if the version is compatible with the previous one.
    pub fn mark(&self) -> Option<&'static str> {
        let is_undecided = self.changes.last().is_some_and(|last| last == UNDECIDED);
        (!self.compatible).then_some(if is_undecided { "unknown" } else { "breaking" })
    }
}

/// The deprecation of a contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Deprecated {
    /// The first deprecated version.
    pub since: Version,
    /// The last day it is served.
    #[serde(default, deserialize_with = "date_as_written")]
    pub sunset: Option<jiff::civil::Date>,
    /// The contract of the same domain that replaces it.
    pub replaced_by: Option<ContractName>,
}

impl Deprecated {
    /// Returns whether the last day it is served is past.
    pub fn is_over(&self, today: jiff::civil::Date) -> bool {
        self.sunset.is_some_and(|last| last < today)
    }

    /// Returns until when it is served: `served until 2026-12-31`, or `was served …` if that day is past.
    pub fn service(&self, is_over: bool) -> Option<String> {
        let was = if is_over { "was " } else { "" };
        self.sunset.map(|last| format!("{was}served until {last}"))
    }

    /// Returns since when it is deprecated, until when it is served, and its replacement, if there is one.
    pub fn terms(&self, is_over: bool) -> String {
        let service = self.service(is_over).map(|service| format!(", {service}")).unwrap_or_default();
        let instead = self.replaced_by.as_ref().map(|name| format!(", use {name}")).unwrap_or_default();
        format!("deprecated since {}{service}{instead}", self.since)
    }
}

/// The retirement of a contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retirement {
    /// The reason, in the owner's words.
    pub reason: String,
}

/// A version that must no longer be used, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Yanked {
    /// The version.
    pub version: Version,
    /// The reason, in the owner's words.
    pub reason: String,
}

impl Contract {
    /// Creates an empty contract: version 0.1.0, schema `{}`, value null.
    pub fn new(name: ContractName, owner: RepoName) -> Self {
        Self {
            name,
            owner,
            version: Version::first(),
            description: String::new(),
            compatibility: Compatibility::default(),
            values: Values::default(),
            flow: Flow::default(),
            supported: Vec::new(),
            schema: empty_schema(),
            value: Json::default(),
            validation: Validation::default(),
            evolution: Vec::new(),
            deprecated: None,
            schema_hash: None,
            content_hash: None,
            retired: None,
            yanked: Vec::new(),
        }
    }

    /// Computes the hash of the current schema.
    pub fn computed_schema_hash(&self) -> String {
        hash::canonical(&self.schema)
    }

    /// Computes the hash of everything that a published version fixes: schema, value and compatibility, and also
    /// `values` and `flow` if they are not the default.
    pub fn computed_content_hash(&self) -> String {
        let &Self { ref schema, ref value, ref compatibility, values, flow, .. } = self;
        hash::canonical(&FixedContent { schema, value, compatibility, values, flow })
    }

    /// Returns whether another document has the same content: everything that a published version fixes.
    pub fn has_same_content(&self, other: &Self) -> bool {
        self.computed_content_hash() == other.computed_content_hash()
    }

    /// Returns the contract with both hashes recomputed from its content.
    pub fn sealed(mut self) -> Self {
        self.schema_hash = Some(self.computed_schema_hash());
        self.content_hash = Some(self.computed_content_hash());
        self
    }

    /// Returns the document to publish under this version, without fields that may change later.
    pub fn as_published(&self) -> Self {
        Self { retired: None, yanked: Vec::new(), ..self.clone() }
    }

    /// Returns whether the contract is empty: its schema accepts any value, and it has no value.
    pub fn is_empty(&self) -> bool {
        self.value.is_null() && (self.schema == empty_schema() || self.schema == serde_json::Value::from(true).into())
    }

    /// Returns why `version` was yanked, if it was.
    pub fn yanked_reason(&self, version: &Version) -> Option<&str> {
        self.yanked.iter().find(|yanked| yanked.version == *version).map(|yanked| yanked.reason.as_str())
    }

    /// Returns the first contradiction in the document, if any.
    pub fn contradiction(&self) -> Option<Fault> {
        let mut seen = BTreeSet::new();
        for (index, entry) in self.evolution.iter().enumerate() {
            let fault = |message| Some(Fault::at(format!("/evolution/{index}/version"), message));
            if !seen.insert(&entry.version) {
                return fault(format!("evolution names version {} twice", entry.version));
            }
            if entry.version > self.version {
                let (later, own) = (&entry.version, &self.version);
                return fault(format!("evolution names version {later}, later than version {own}"));
            }
        }
        if let Some(deprecated) = &self.deprecated
            && deprecated.replaced_by.as_ref() == Some(&self.name)
        {
            return Some(Fault::at("/deprecated/replaced_by", "deprecated.replaced_by names the contract itself"));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contract() -> Contract {
        Contract::new("paths".parse().unwrap(), "fungal".parse().unwrap())
    }

    #[test]
    fn content_hash_covers_only_what_a_version_fixes() {
        let base = contract().computed_content_hash();
        let described = Contract { description: "words".into(), ..contract() };
        assert_eq!(described.computed_content_hash(), base);
        let other = Contract { value: serde_json::json!(1).into(), ..contract() };
        assert_ne!(other.computed_content_hash(), base);
        let promise = Compatibility { backwards: false, ..Compatibility::default() };
        assert_ne!(Contract { compatibility: promise, ..contract() }.computed_content_hash(), base);
        assert_ne!(Contract { values: Values::Frozen, ..contract() }.computed_content_hash(), base);
        assert_ne!(Contract { flow: Flow::ConsumerToProvider, ..contract() }.computed_content_hash(), base);
    }

    #[test]
    fn evolution_must_not_contradict_the_version() {
        let entry = |version: &str| Evolution { version: version.parse().unwrap(), changes: vec![], compatible: true };
        let twice = Contract { evolution: vec![entry("0.1.0"), entry("0.1.0")], ..contract() };
        assert!(twice.contradiction().unwrap().message.contains("twice"));
        let later = Contract { evolution: vec![entry("0.2.0")], ..contract() };
        assert!(later.contradiction().unwrap().message.contains("later"));
    }
}
