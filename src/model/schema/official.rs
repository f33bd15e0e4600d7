//! The URIs of the meta-schemas.

use serde_json::Value;

use super::{Draft, uri};

/// The member that [`super::metaschemas`] adds to the root of a schema.
pub const MEMBER: &str = "\u{0}meta-schemas";

/// Returns the draft whose meta-schema, or a part of it, a URI names.
pub fn draft_of(to: &str) -> Option<Draft> {
    match to.rsplit_once("/meta/") {
        Some(("https://json-schema.org/draft/2019-09", _)) => Some(Draft::D2019),
        Some(("https://json-schema.org/draft/2020-12", _)) => Some(Draft::D2020),
        _ => Draft::of(to).filter(|draft| draft.uri().trim_end_matches('#') == to),
    }
}

/// Returns whether a schema refers to the meta-schema of a draft other than its own, which the
/// validator does not look for.
pub fn needs_other_drafts(schema: &Value) -> bool {
    let own = schema.get("$schema").and_then(Value::as_str).and_then(Draft::of).unwrap_or(Draft::D2020);
    refers_to(schema, &|to| draft_of(uri::split(to).0).is_some_and(|draft| draft != own))
}

fn refers_to(schema: &Value, is_wanted: &dyn Fn(&str) -> bool) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(name, member)| match member {
            Value::String(to) => name == "$ref" && is_wanted(to),
            _ => refers_to(member, is_wanted),
        }),
        Value::Array(items) => items.iter().any(|item| refers_to(item, is_wanted)),
        _ => false,
    }
}
