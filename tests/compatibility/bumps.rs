//! The bump of a change that keeps the set of valid values.

use git_blue::model::{compatibility::VersionBump, contract::SchemaReading};
use serde_json::{Value, json};

use crate::world::{compare, compare_in};

fn of_order(more: Value) -> Value {
    let mut order = json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}});
    order["properties"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    order
}

#[test]
fn change_of_the_named_properties_is_minor() {
    let payload = of_order(json!({"payload": {"description": "any JSON"}}));
    let data = of_order(json!({"data": {"description": "any JSON"}}));
    let open = json!({"type": "object"});
    let nested = |schema: &Value| json!({"items": {"anyOf": [{"type": "null"}, schema]}});
    let closed = json!({"oneOf": [{"const": 1}, {"type": "object", "additionalProperties": false}, payload]});
    for (old, new) in [
        (payload.clone(), data.clone()),
        (of_order(json!({})), data.clone()),
        (payload.clone(), of_order(json!({}))),
        (nested(&payload), nested(&data)),
        (open.clone(), json!({"type": "object", "properties": {"a": {}}})),
        (json!({"required": ["a"]}), json!({"required": ["a"], "properties": {"a": {}}})),
        (of_order(json!({})), of_order(json!({"m": {"patternProperties": {"^x": true}}}))),
        (closed.clone(), serde_json::from_str(&closed.to_string().replace("payload", "data")).unwrap()),
    ] {
        for (old, new) in [(&old, &new), (&new, &old)] {
            assert_eq!(compare(old, new).bump, VersionBump::Minor, "{old}\n{new}");
            assert_eq!(compare_in(SchemaReading::Strict, old, new).bump, VersionBump::Patch, "{old}\n{new}");
        }
    }
}

#[test]
fn other_words_for_the_same_are_a_patch() {
    let order = of_order(json!({"payload": {"description": "any JSON"}}));
    let split = json!({"allOf": [{"$ref": "#/$defs/Base"}, {"properties": {"payload": {}}}],
        "$defs": {"Base": of_order(json!({}))}});
    let of_words = |word: &Value| {
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": word},
        "additionalProperties": false})
    };
    let text = json!({"type": "string"});
    for (old, new) in [
        (order.clone(), split.clone()),
        (order.clone(), json!({"anyOf": [order]})),
        (json!({"items": order}), json!({"items": {"oneOf": [order, false]}})),
        (of_words(&json!({"enum": ["x"]})), of_words(&json!({"const": "x"}))),
        (
            json!({"type": "object", "additionalProperties": text}),
            json!({"type": "object", "properties": {"a": text}, "additionalProperties": text}),
        ),
        (json!({"type": "string"}), json!({"type": "string", "properties": {"a": {}}})),
        (
            json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false}),
            json!({"type": "object", "properties": {"a": {}, "b": false}, "additionalProperties": false}),
        ),
        (
            json!({"properties": {"next": {"$ref": "#"}, "v": {}}}),
            json!({"$ref": "#/$defs/N", "$defs": {"N": {
            "allOf": [{"properties": {"next": {"$ref": "#/$defs/N"}}}, {"properties": {"v": true}}]}}}),
        ),
    ] {
        for (old, new) in [(&old, &new), (&new, &old)] {
            assert_eq!(compare(old, new).bump, VersionBump::Patch, "{old}\n{new}");
        }
    }
}
