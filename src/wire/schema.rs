//! JSON Schemas of the answers, derived from the types that are serialized. They are in `docs/schema/`, tests validate
//! every answer against them, and MCP uses them as output schemas.

use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Answer, Daemon, DaemonOpen, DaemonToken, Failure, Installed};

/// The fields of an answer: a server serializes them, a client deserializes them, and a schema describes them.
pub trait Body: JsonSchema + Serialize + DeserializeOwned {}

impl<T: JsonSchema + Serialize + DeserializeOwned> Body for T {}

/// Deserializes an answer and serializes it again; see [`reread`].
pub type RoundTrip = fn(&str) -> serde_json::Result<Value>;

/// Deserializes an answer as a client does, and serializes it again. Tests check that the result is the same.
///
/// # Errors
/// Returns an error if the text is not an answer of this type.
pub fn reread<T: Serialize + DeserializeOwned>(text: &str) -> serde_json::Result<Value> {
    serde_json::to_value(serde_json::from_str::<T>(text)?)
}

/// Returns the schema of a successful answer with the fields of `T`.
pub fn answer<T: JsonSchema>() -> Schema {
    of::<Answer<T>>()
}

/// Returns the schema of a failure of any operation.
pub fn failure() -> Schema {
    titled(of::<Failure>(), "error", "The error of an operation")
}

/// Returns the schema of the answer of `git blue install …`, which exists only on the command line.
pub fn installed() -> Schema {
    titled(answer::<Installed>(), "install", "The installed files")
}

/// Returns the schemas of the answers of `git blue daemon …`, which exist only on the command line.
pub fn daemon() -> [(&'static str, Schema); 3] {
    [
        ("daemon", titled(answer::<Daemon>(), "daemon", "The state and address of the daemon")),
        (
            "daemon_token",
            titled(answer::<DaemonToken>(), "daemon_token", "The token that authenticates requests to the daemon"),
        ),
        ("daemon_open", titled(answer::<DaemonOpen>(), "daemon_open", "A link that signs a browser in")),
    ]
}

/// Returns the schema with this title and description.
pub fn titled(mut schema: Schema, title: &str, description: &str) -> Schema {
    schema.insert("title".into(), title.into());
    schema.insert("description".into(), description.into());
    schema
}

/// Returns the schema of a type as it is serialized. A field that is always written is required. A later version may
/// add fields, also to the types that deny unknown ones in files.
fn of<T: JsonSchema>() -> Schema {
    let open = RecursiveTransform(|schema: &mut Schema| {
        if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
            schema.remove("additionalProperties");
        }
    });
    SchemaSettings::draft2020_12().for_serialize().with_transform(open).into_generator().into_root_schema_for::<T>()
}
