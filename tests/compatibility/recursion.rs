//! Recursive schemas, deep schemas, and cyclic references.

use serde_json::{Value, json};

use crate::world::{compare, label, letter, unconfirmed};

#[test]
fn a_loop_that_does_not_descend_is_never_proved_by_itself() {
    let loops = [
        json!({"$ref": "#"}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
        json!({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]}}, "$ref": "#/$defs/a"}),
        json!({"$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}),
        json!({"anyOf": [{"$ref": "#"}, {"type": "string"}]}),
    ];
    for schema in loops {
        for other in [json!(false), json!({"type": "string"}), json!({})] {
            for found in [compare(&schema, &other), compare(&other, &schema)] {
                assert_eq!(label(&found), "?/?", "{schema}\n{other}");
            }
        }
    }
}

/// Returns a chain of definitions, `depth` values deep, that ends in `last`.
fn chain(depth: usize, last: Value) -> Value {
    let mut definitions = serde_json::Map::new();
    for level in 0..depth {
        let next = json!({"$ref": format!("#/$defs/n{}", level + 1)});
        definitions.insert(format!("n{level}"), json!({"type": "object", "properties": {"a": next}}));
    }
    definitions.insert(format!("n{depth}"), last);
    json!({"$defs": definitions, "$ref": "#/$defs/n0"})
}

#[test]
fn ten_thousand_levels_do_no_harm() {
    let one = chain(10_000, json!({"type": "integer"}));
    assert_eq!(label(&compare(&one, &one)), "o/o");
    let other = chain(10_000, json!({"type": "number"}));
    // The schemas are too deep to decide. That is reported, and they are never taken for equal.
    assert_eq!(letter(&compare(&one, &other).backwards.strict), '?');
}

#[test]
fn a_difference_a_hundred_levels_down_is_found() {
    let one = chain(100, json!({"type": "integer"}));
    let other = chain(100, json!({"type": "number"}));
    let found = compare(&one, &other);
    assert_eq!(label(&found), "x/o");
    assert_eq!(unconfirmed(&one, &other, &found), Vec::<String>::new());
}

#[test]
fn an_assumption_is_kept_only_as_long_as_it_stands() {
    // Whether `b` has a value depends on `a` having one, and `a` has one only through its second branch. A conclusion
    // about `b` that assumes that `a` is empty must be discarded.
    let schema = |last: Value| {
        json!({"$ref": "#/$defs/a", "$defs": {
            "a": {"anyOf": [
                {"type": "object", "properties": {"b": {"$ref": "#/$defs/b"}}, "required": ["b"]},
                last,
            ]},
            "b": {"type": "array", "items": {"$ref": "#/$defs/a"}, "minItems": 1},
        }})
    };
    let found = compare(&json!({"type": "null"}), &schema(json!({"type": "null"})));
    assert_eq!(label(&found), "x/o");
    let found = compare(&json!(false), &schema(json!(false)));
    assert_eq!(label(&found), "o/o");
    let outer = |last: Value| {
        let mut schema = schema(last);
        schema["$ref"] = json!("#/$defs/b");
        schema
    };
    assert_eq!(label(&compare(&json!(false), &outer(json!({"type": "null"})))), "x/o");
    assert_eq!(label(&compare(&json!(false), &outer(json!(false)))), "o/o");
}

#[test]
fn a_dialect_of_somebody_elses_is_not_guessed() {
    let own = json!({"$schema": "https://example.com/dialect", "type": "string"});
    assert_eq!(label(&compare(&own, &json!({"type": "string"}))), "?/?");
}
