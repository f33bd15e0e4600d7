//! Every keyword under every draft: the engine treats it as an assertion exactly if the validator does.

use serde_json::{Value, json};

use crate::world::{compare, label, unconfirmed, validator};

const DRAFTS: [&str; 5] = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

/// Keywords, and values of which one is refused if the keyword asserts.
fn keywords() -> Vec<(Value, Vec<Value>)> {
    let values = |values: Value| values.as_array().unwrap().clone();
    let strings = values(json!(["", "a", "ab", "2026-01-01", "é", "{", "a b", "%", "@"]));
    let numbers = values(json!([0, 1, 2, 3, 4, 0.5, -1]));
    let arrays = values(json!([[], [null], [1], ["a"], [1, 1], [1, "a"], ["a", 1], [1, 2, 3], ["a", "b"]]));
    let objects = values(json!([{}, {"a": 1}, {"b": 1}, {"a": "x"}, {"a": 1, "b": 1}, {"c": 1}, {"a": 1, "c": "x"}]));
    let mut all = vec![
        (json!({"type": "integer"}), numbers.clone()),
        (json!({"enum": [1, "a"]}), numbers.clone()),
        (json!({"const": 1}), numbers.clone()),
        (json!({"minimum": 2}), numbers.clone()),
        (json!({"maximum": 2}), numbers.clone()),
        (json!({"minimum": 2, "exclusiveMinimum": 2}), numbers.clone()),
        (json!({"minimum": 2, "exclusiveMinimum": true}), numbers.clone()),
        (json!({"exclusiveMinimum": 2}), numbers.clone()),
        (json!({"exclusiveMaximum": 2}), numbers.clone()),
        (json!({"multipleOf": 2}), numbers.clone()),
        (json!({"divisibleBy": 2}), numbers),
        (json!({"minLength": 2}), strings.clone()),
        (json!({"maxLength": 1}), strings.clone()),
        (json!({"pattern": "^a"}), strings.clone()),
        (json!({"contentEncoding": "base64"}), strings.clone()),
        (json!({"contentMediaType": "application/json"}), strings.clone()),
        (json!({"contentMediaType": "application/json", "contentEncoding": "base64"}), strings.clone()),
        (json!({"contentMediaType": "text/html", "contentEncoding": "base64"}), strings.clone()),
        (json!({"contentMediaType": "application/json", "contentEncoding": "x-own"}), strings.clone()),
        (json!({"contentMediaType": "application/json", "contentSchema": {"type": "string"}}), strings.clone()),
        (json!({"items": {"type": "string"}}), arrays.clone()),
        (json!({"items": [{"type": "string"}]}), arrays.clone()),
        (json!({"items": [{"type": "string"}], "additionalItems": {"type": "string"}}), arrays.clone()),
        (json!({"items": {"type": "string"}, "additionalItems": false}), arrays.clone()),
        (json!({"additionalItems": false}), arrays.clone()),
        (json!({"prefixItems": [{"type": "string"}]}), arrays.clone()),
        (json!({"prefixItems": [{"type": "string"}], "items": false}), arrays.clone()),
        (json!({"prefixItems": [{"type": "string"}], "additionalItems": false}), arrays.clone()),
        (json!({"minItems": 1}), arrays.clone()),
        (json!({"maxItems": 1}), arrays.clone()),
        (json!({"uniqueItems": true}), arrays.clone()),
        (json!({"contains": {"type": "string"}}), arrays.clone()),
        (json!({"contains": {"type": "integer"}, "minContains": 2}), arrays.clone()),
        (json!({"contains": {"type": "integer"}, "maxContains": 1}), arrays.clone()),
        (json!({"contains": {"type": "integer"}, "minContains": 0}), arrays.clone()),
        (json!({"minContains": 2}), arrays.clone()),
        (json!({"unevaluatedItems": false}), arrays.clone()),
        (json!({"items": true, "unevaluatedItems": false}), arrays.clone()),
        (json!({"items": [true], "additionalItems": true, "unevaluatedItems": false}), arrays.clone()),
        (
            json!({"anyOf": [{"items": [{"type": "string"}]}, {"items": [{"type": "integer"}, true]}], "unevaluatedItems": false}),
            arrays.clone(),
        ),
        (
            json!({"anyOf": [{"prefixItems": [{"type": "string"}]}, {"prefixItems": [{"type": "integer"}, true]}], "unevaluatedItems": false}),
            arrays.clone(),
        ),
        (json!({"allOf": [{"contains": {"type": "string"}}], "unevaluatedItems": {"type": "integer"}}), arrays.clone()),
        (json!({"contains": {"type": "string"}, "minContains": 0, "unevaluatedItems": false}), arrays.clone()),
        (json!({"contains": {"type": "string"}, "maxContains": 1, "unevaluatedItems": false}), arrays.clone()),
        (json!({"not": {"not": {"prefixItems": [true]}}, "unevaluatedItems": false}), arrays.clone()),
        (json!({"allOf": [{"unevaluatedItems": {"type": "integer"}}], "unevaluatedItems": false}), arrays.clone()),
        (json!({"if": {"prefixItems": [{"type": "string"}]}, "unevaluatedItems": false}), arrays.clone()),
        (json!({"contains": {"type": "string"}, "unevaluatedItems": false}), arrays.clone()),
        (json!({"items": [{"type": "string"}], "unevaluatedItems": false}), arrays.clone()),
        (json!({"prefixItems": [{"type": "string"}], "unevaluatedItems": false}), arrays),
        (json!({"properties": {"a": {"type": "string"}}}), objects.clone()),
        (json!({"patternProperties": {"^a": {"type": "string"}}}), objects.clone()),
        (json!({"additionalProperties": false}), objects.clone()),
        (json!({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}), objects.clone()),
        (json!({"propertyNames": {"enum": ["a"]}}), objects.clone()),
        (json!({"required": ["a"]}), objects.clone()),
        (json!({"minProperties": 1}), objects.clone()),
        (json!({"maxProperties": 1}), objects.clone()),
        (json!({"dependencies": {"a": ["b"]}}), objects.clone()),
        (json!({"dependencies": {"a": {"required": ["b"]}}}), objects.clone()),
        (json!({"dependentRequired": {"a": ["b"]}}), objects.clone()),
        (json!({"dependentSchemas": {"a": {"required": ["b"]}}}), objects.clone()),
        (json!({"unevaluatedProperties": false}), objects.clone()),
        (json!({"additionalProperties": true, "unevaluatedProperties": false}), objects.clone()),
        (json!({"if": {"properties": {"a": {}}}, "unevaluatedProperties": false}), objects.clone()),
        (
            json!({"if": {"required": ["a"], "properties": {"a": {}}}, "then": {"properties": {"c": {}}}, "else": {"properties": {"b": {}}}, "unevaluatedProperties": false}),
            objects.clone(),
        ),
        (json!({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}), objects.clone()),
        (
            json!({"anyOf": [{"properties": {"a": {"type": "string"}}}, {"patternProperties": {"b|c": {}}}], "unevaluatedProperties": false}),
            objects.clone(),
        ),
        (
            json!({"oneOf": [{"required": ["a"], "properties": {"a": {}}}, {"required": ["b"], "properties": {"b": {}}}], "unevaluatedProperties": false}),
            objects.clone(),
        ),
        (json!({"not": {"not": {"properties": {"a": {}}}}, "unevaluatedProperties": false}), objects.clone()),
        (
            json!({"dependentSchemas": {"a": {"properties": {"a": {}, "c": {}}}}, "unevaluatedProperties": false}),
            objects.clone(),
        ),
        (
            json!({"$ref": "#/definitions/x", "unevaluatedProperties": false, "definitions": {"x": {"properties": {"a": {}}}}}),
            objects.clone(),
        ),
        (
            json!({"allOf": [{"unevaluatedProperties": {"type": "integer"}}], "unevaluatedProperties": false}),
            objects.clone(),
        ),
        (json!({"propertyNames": {"enum": ["a"]}, "unevaluatedProperties": false}), objects.clone()),
        (json!({"dependencies": {"a": {"properties": {"a": {}}}}, "unevaluatedProperties": false}), objects.clone()),
        (json!({"properties": {"a": {}}, "unevaluatedProperties": false}), objects.clone()),
        (json!({"allOf": [{"required": ["a"]}]}), objects.clone()),
        (json!({"anyOf": [{"required": ["a"]}]}), objects.clone()),
        (json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}), objects.clone()),
        (json!({"not": {"required": ["a"]}}), objects.clone()),
        (json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}), objects.clone()),
        (
            json!({"$ref": "#/definitions/x", "maxProperties": 0, "definitions": {"x": {"required": ["a"]}}}),
            objects.clone(),
        ),
        (json!({"properties": {"a": {"$recursiveRef": "#"}}, "maxProperties": 1}), objects.clone()),
        (json!({"$dynamicRef": "#/definitions/x", "definitions": {"x": {"required": ["a"]}}}), objects),
    ];
    for format in [
        "date",
        "date-time",
        "time",
        "duration",
        "email",
        "idn-email",
        "hostname",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "uri",
        "uri-reference",
        "iri",
        "iri-reference",
        "uuid",
        "uri-template",
        "json-pointer",
        "relative-json-pointer",
        "regex",
        "color",
        "phone",
        "x-own",
    ] {
        all.push((json!({"format": format}), strings.clone()));
    }
    all
}

#[test]
fn keywords_assert_where_the_validator_does() {
    let (mut wrong, mut undecided) = (Vec::new(), Vec::new());
    for draft in DRAFTS {
        for (keyword, values) in keywords() {
            let mut schema = keyword.clone();
            schema["$schema"] = json!(draft);
            let anything = json!({"$schema": draft});
            let Some(validator) = validator(&schema) else { continue };
            let found = compare(&schema, &anything);
            let asserts = values.iter().any(|value| !validator.is_valid(value));
            let expected = if asserts { "x/o" } else { "o/o" };
            if label(&found).contains('?') {
                undecided.push(format!("{draft} {keyword}"));
            } else if label(&found) != expected {
                wrong.push(format!("{draft} {keyword}: {expected}, found {}", label(&found)));
            }
            wrong.extend(unconfirmed(&schema, &anything, &found));
            // Each value by name: the engine's own evaluation of the keyword.
            for value in &values {
                let one = json!({"$schema": draft, "enum": [value]});
                let found = compare(&one, &schema);
                // 1 is 1.0 too, which is not an integer in draft-04.
                let spelled = value.as_i64().map(|n| json!(n as f64));
                let is_valid = spelled.iter().chain([value]).all(|value| validator.is_valid(value));
                let expected = if is_valid { 'o' } else { 'x' };
                let letter = crate::world::letter(&found.forwards.strict);
                if letter != expected && letter != '?' {
                    wrong.push(format!("{draft} {keyword} of {value}: {expected}, found {letter}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(undecided.is_empty(), "undecided:\n{}", undecided.join("\n"));
}
