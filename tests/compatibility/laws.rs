//! Changes that cannot change the answer, and changes that can only widen a schema.

use serde_json::{Value, json};

use crate::world::{compare, label, letter};

/// Schemas of many kinds, without references that a change would affect.
fn samples() -> Vec<Value> {
    vec![
        json!({"type": "string", "minLength": 2, "pattern": "^a"}),
        json!({"type": ["integer", "null"], "minimum": 3, "multipleOf": 2}),
        json!({"enum": [1, "a", null, {"a": [1]}]}),
        json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x"]}}, "required": ["a"]}),
        json!({"type": "object", "patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": false}),
        json!({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}, "minItems": 1}),
        json!({"type": "array", "contains": {"const": 1}, "maxContains": 2, "uniqueItems": true}),
        json!({"oneOf": [{"type": "integer"}, {"type": "object", "properties": {"k": {"const": 1}}, "required": ["k"]}]}),
        json!({"if": {"type": "string"}, "then": {"maxLength": 3}, "else": {"not": {"type": "array"}}}),
        json!({"type": "object", "properties": {"a": {}}, "dependentRequired": {"a": ["b"]}, "minProperties": 1}),
        json!({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}], "propertyNames": {"maxLength": 3}}),
        json!({"type": "object", "allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}),
        json!({"not": {"anyOf": [{"type": "string"}, {"minimum": 5}]}}),
        json!({"type": "object", "properties": {"next": {"$ref": "#"}, "v": {"type": "integer"}}}),
    ]
}

/// Moves a schema below `$defs` and refers to it.
fn behind_a_reference(schema: &Value) -> Value {
    let text = schema.to_string().replace("\"#\"", "\"#/$defs/moved\"");
    json!({"$defs": {"moved": serde_json::from_str::<Value>(&text).unwrap()}, "$ref": "#/$defs/moved"})
}

#[test]
fn equivalent_schemas_are_equal() {
    for schema in samples() {
        let is_recursive = schema.to_string().contains("$ref");
        let mut same = vec![schema.clone(), behind_a_reference(&schema)];
        if !is_recursive {
            same.push(json!({"anyOf": [schema]}));
            same.push(json!({"allOf": [schema, schema]}));
            same.push(json!({"oneOf": [schema, false]}));
            same.push(json!({"not": {"not": schema}}));
            same.push(json!({"if": true, "then": schema}));
        }
        // One keyword each, combined again.
        let members = schema.as_object().unwrap();
        let depend = ["additionalProperties", "items", "maxContains", "then", "else", "unevaluatedProperties"];
        if !is_recursive && !members.keys().any(|name| depend.contains(&name.as_str())) {
            let split: Vec<_> = members.iter().map(|(name, value)| json!({name: value})).collect();
            same.push(json!({"allOf": split}));
        }
        let mut titled = schema.clone();
        titled["title"] = json!("a title");
        same.push(titled);
        for other in same {
            assert_eq!(label(&compare(&schema, &other)), "o/o", "{schema}\n{other}");
        }
    }
}

#[test]
fn removing_a_keyword_allows_more() {
    for schema in samples() {
        for name in schema.as_object().unwrap().keys() {
            // Keywords that depend on these may allow less without them.
            let is_read_by_others =
                ["properties", "patternProperties", "prefixItems", "contains", "allOf", "if", "then", "else"];
            if is_read_by_others.contains(&name.as_str()) {
                continue;
            }
            let mut wider = schema.clone();
            wider.as_object_mut().unwrap().remove(name);
            let found = compare(&schema, &wider);
            assert_eq!(letter(&found.forwards.strict), 'o', "without {name}: {schema}");
        }
    }
}

#[test]
fn both_directions_mirror_each_other() {
    let samples = samples();
    for one in &samples {
        for other in &samples {
            let (there, back) = (compare(one, other), compare(other, one));
            let read = |found: &git_blue::model::compatibility::SchemaVerdict| letter(found);
            assert_eq!(read(&there.backwards.strict), read(&back.forwards.strict), "{one}\n{other}");
            assert_eq!(read(&there.forwards.strict), read(&back.backwards.strict), "{one}\n{other}");
        }
    }
}
