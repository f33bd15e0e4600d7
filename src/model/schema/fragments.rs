//! Encodes references so that the validator accepts them.
//!
//! Generators name definitions after types, such as `#/definitions/X<(number[]|null)>`. The validator accepts only the
//! percent-encoded form `#/definitions/X%3C(number%5B%5D%7Cnull)%3E`.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::rewriting::rewritten;
use crate::model::percent;

/// Returns the schema with the fragments of all references encoded. It is borrowed if none changes.
pub fn encoded(schema: &Value) -> Cow<'_, Value> {
    let encoded = |schema: &Map<String, Value>| schema.get("$ref").and_then(Value::as_str).and_then(encoded_reference);
    rewritten(schema, &|schema| encoded(schema).is_some(), &|schema| {
        if let Some(reference) = encoded(schema) {
            schema.insert("$ref".to_owned(), reference.into());
        }
    })
}

/// Returns a reference with its fragment encoded, if that changes it.
pub(super) fn encoded_reference(reference: &str) -> Option<String> {
    let (before, fragment) = reference.split_once('#')?;
    let encoded = encode_fragment(fragment);
    (encoded != fragment).then(|| format!("{before}#{encoded}"))
}

/// Percent-encodes characters that are not allowed in a fragment (RFC 3986, section 3.5).
fn encode_fragment(fragment: &str) -> String {
    let mut encoded = String::with_capacity(fragment.len());
    let bytes = fragment.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let is_escape = percent::escaped(&bytes[at..]).is_some();
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(byte) || is_escape {
            encoded.push(char::from(*byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_references_that_need_it_are_encoded() {
        let written = "#/definitions/X<(number[]|null)>";
        let schema = json!({"$ref": written, "enum": [{"$ref": written}],
            "properties": {"$ref": {"$ref": "#/a%20b"}, "enum": {"items": [{"$ref": written}]}}});
        let found = encoded(&schema);
        let expected = "#/definitions/X%3C(number%5B%5D%7Cnull)%3E";
        assert_eq!(found["$ref"], expected);
        assert_eq!(found["properties"]["enum"]["items"][0]["$ref"], expected);
        assert_eq!(found["enum"], schema["enum"]);
        assert_eq!(found["properties"]["$ref"], schema["properties"]["$ref"]);
        assert!(matches!(encoded(&json!({"$ref": "other.json#/a%3Cb"})), Cow::Borrowed(_)));
    }
}
