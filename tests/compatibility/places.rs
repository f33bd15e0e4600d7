//! Places of differences: equal sub-schemas occur in many places, and the right one is named.

use git_blue::model::compatibility::SchemaVerdict;
use serde_json::{Value, json};

use crate::world::compare;

/// Returns the places where a schema and a copy with another limit differ, on both sides.
fn places(schema: &dyn Fn(Value) -> Value) -> [Option<String>; 2] {
    let limit = |most: u64| schema(json!({"type": "integer", "maximum": most}));
    match compare(&limit(5), &limit(4)).forwards.lenient {
        SchemaVerdict::Incompatible { difference } => [difference.old_pointer, difference.new_pointer],
        other => panic!("{other:?}"),
    }
}

#[test]
fn place_is_where_the_witness_fails() {
    let same = json!({"type": "integer", "maximum": 5});
    let schemas: [(&str, &dyn Fn(Value) -> Value); 9] = [
        ("/properties/b", &|one| json!({"properties": {"a": same, "b": one}})),
        (
            "/$defs/n",
            &|one| json!({"properties": {"a": same, "b": {"$ref": "#/$defs/n"}}, "$defs": {"m": same, "n": one}}),
        ),
        ("/allOf/1/properties/b", &|one| json!({"allOf": [{"properties": {"a": same}}, {"properties": {"b": one}}]})),
        ("/prefixItems/1", &|one| json!({"prefixItems": [same, one]})),
        ("/items", &|one| json!({"prefixItems": [same], "items": one})),
        ("/additionalProperties", &|one| json!({"properties": {"a": same}, "additionalProperties": one})),
        ("/patternProperties/^b", &|one| json!({"properties": {"a": same}, "patternProperties": {"^b": one}})),
        (
            "/then/properties/b",
            &|one| json!({"if": {"required": ["a"]}, "then": {"properties": {"b": one}}, "else": {"properties": {"b": same}}}),
        ),
        (
            "/dependentSchemas/b/properties/c",
            &|one| json!({"dependentSchemas": {"a": {"properties": {"c": same}}, "b": {"properties": {"c": one}}}}),
        ),
    ];
    for (place, schema) in schemas {
        let expected = Some(format!("{place}/maximum"));
        assert_eq!(places(schema), [expected.clone(), expected]);
    }
}
