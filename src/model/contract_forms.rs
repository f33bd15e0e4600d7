//! The forms in which the file of a contract may write its version and its schema: in place, or by a reference to a file.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};

use super::version::Version;

/// The file that the version of a contract is read from: `version: { from: package.json }`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VersionFrom {
    /// The file, from the root of the repository.
    pub from: String,
    /// The JSON Pointer to the version in it, if it is not the usual one.
    pub at: Option<String>,
}

/// The accepted forms of a version in a file.
pub const VERSION_FORMS: &str = "a version in quotes, auto, or { from: FILE }";

/// Reads a version in one of its forms.
///
/// # Errors
/// Returns an error if it has none of them.
pub(super) fn version_as_written<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Version, D::Error> {
    struct Written;

    impl<'de> Visitor<'de> for Written {
        type Value = Version;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(VERSION_FORMS)
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Version, E> {
            if text == "auto" { Ok(Version::auto()) } else { text.parse().map_err(E::custom) }
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Version, A::Error> {
            VersionFrom::deserialize(MapAccessDeserializer::new(map)).map(|_| Version::from_file_placeholder())
        }
    }

    deserializer.deserialize_any(Written)
}

/// Describes the forms of a version to editors.
pub(super) fn version_forms(generator: &mut SchemaGenerator) -> Schema {
    let from = generator.subschema_for::<VersionFrom>();
    json_schema!({
        "description": "MAJOR.MINOR.PATCH in quotes; auto, for the version that the change requires; or a file that \
            contains it",
        "anyOf": [{"type": "string", "pattern": SEMVER}, {"const": "auto"}, from],
        "examples": ["1.0.0", "auto", {"from": "package.json"}],
    })
}

/// Describes the forms of a schema to editors.
pub(super) fn schema_forms(generator: &mut SchemaGenerator) -> Schema {
    let file = generator.subschema_for::<FileAt>();
    json_schema!({
        "description": "The data that is exchanged: a JSON Schema, or the file that contains it",
        "anyOf": [file, {"type": ["object", "boolean"]}],
        "examples": [{"file": "schemas/order.schema.json", "at": "#/$defs/Order"}, {"type": "object"}],
    })
}

/// The regular expression for a version by [Semantic Versioning](https://semver.org) 2.0.0.
const SEMVER: &str = r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$";

/// A reference to a schema in a separate file.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it only describes what `ops` reads")]
#[schemars(deny_unknown_fields)]
struct FileAt {
    /// The file, from the root of the repository.
    file: String,
    /// The JSON Pointer to the place in it.
    #[schemars(default)]
    at: Option<String>,
}
