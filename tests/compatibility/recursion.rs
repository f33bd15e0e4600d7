//! Recursive schemas, deep ones, and reference loops.

use serde_json::{Value, json};

use crate::world::{compare, label, letter, unconfirmed, validator};

/// The validator lets a reference hold that is reached again for the same value.
#[test]
fn cycle_for_one_value_holds() {
    let cycles = [
        (json!({"$ref": "#"}), json!({})),
        (json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}), json!({})),
        (
            json!({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]}}, "$ref": "#/$defs/a"}),
            json!({"type": "string"}),
        ),
        (json!({"anyOf": [{"$ref": "#"}, {"type": "string"}]}), json!({})),
        (
            json!({"required": ["a"], "properties": {"a": {"$ref": "#"}}, "dependentSchemas": {"a": {"$ref": "#"}}}),
            json!({"required": ["a"], "properties": {"a": {"$ref": "#"}}}),
        ),
    ];
    for (schema, same) in cycles {
        assert_eq!(label(&compare(&schema, &same)), "o/o", "{schema}\n{same}");
        let other = json!({"type": "integer"});
        let found = compare(&schema, &other);
        assert_eq!(unconfirmed(&schema, &other, &found), Vec::<String>::new());
        assert_eq!(letter(&found.forwards.strict), 'x', "{schema}");
    }
}

#[test]
fn negated_cycle_is_undecided() {
    let cycles = [
        json!({"$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}),
        json!({"oneOf": [{"$ref": "#"}, {"type": "string"}]}),
        json!({"if": {"$ref": "#"}, "then": {"type": "string"}}),
        json!({"anyOf": [{"allOf": [{"not": {"anyOf": [{"$ref": "#"}]}}]}, {"type": "string"}]}),
    ];
    for schema in cycles {
        for other in [json!(false), json!({"type": "string"}), json!({})] {
            for found in [compare(&schema, &other), compare(&other, &schema)] {
                assert_eq!(label(&found), "?/?", "{schema}\n{other}");
            }
        }
    }
}

/// Each definition combines others and assertions; `number` selects one of all combinations.
fn entangled(mut number: usize) -> Value {
    let mut pick = |of: usize| {
        let picked = number % of;
        number /= of;
        picked
    };
    let mut definition = || {
        let branches: Vec<_> = (0..2)
            .map(|_| match pick(6) {
                at @ 0..3 => json!({"$ref": format!("#/$defs/{at}")}),
                3 => json!({"type": "string"}),
                4 => json!({"minLength": 2}),
                _ => json!({"required": ["a"], "properties": {"a": {"$ref": "#/$defs/0"}}}),
            })
            .collect();
        json!({ (["anyOf", "allOf"][pick(2)]): branches })
    };
    json!({"$ref": "#/$defs/0", "$defs": {"0": definition(), "1": definition(), "2": definition()}})
}

#[test]
fn cycles_mean_what_they_mean_to_the_validator() {
    let values = [json!(null), json!("a"), json!("ab"), json!({}), json!({"a": "b"}), json!({"a": {}})];
    // A step that is coprime to the number of combinations, so that all parts vary.
    for number in (0..6usize.pow(6) * 8).step_by(3_001) {
        let schema = entangled(number);
        let validator = validator(&schema).unwrap();
        for value in &values {
            let found = compare(&schema, &json!({"enum": [value]}));
            let expected = if validator.is_valid(value) { 'o' } else { 'x' };
            assert_eq!(letter(&found.backwards.strict), expected, "{schema}\n{value}");
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
fn ten_thousand_levels_are_handled() {
    let one = chain(10_000, json!({"type": "integer"}));
    assert_eq!(label(&compare(&one, &one)), "o/o");
    let other = chain(10_000, json!({"type": "number"}));
    // Too deep to decide, which is reported, never treated as equal.
    assert_eq!(letter(&compare(&one, &other).backwards.strict), '?');
}

#[test]
fn finds_a_difference_a_hundred_levels_down() {
    let one = chain(100, json!({"type": "integer"}));
    let other = chain(100, json!({"type": "number"}));
    let found = compare(&one, &other);
    assert_eq!(label(&found), "x/o");
    assert_eq!(unconfirmed(&one, &other, &found), Vec::<String>::new());
}

#[test]
fn assumption_is_dropped_when_refuted() {
    // Whether `b` has a value depends on `a`, which has one only by its second branch: conclusions about `b` under
    // the assumption that `a` is empty must be dropped.
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
fn unknown_dialect_is_not_guessed() {
    let own = json!({"$schema": "https://example.com/dialect", "type": "string"});
    assert_eq!(label(&compare(&own, &json!({"type": "string"}))), "?/?");
}

#[test]
fn what_is_not_understood_is_the_same_only_as_itself() {
    // More branches than are told apart: what remains unevaluated is not known.
    let branches: Vec<_> =
        (0..9).map(|n| json!({"required": [format!("k{n}")], "properties": {format!("p{n}"): {}}})).collect();
    let one = json!({"anyOf": branches, "unevaluatedProperties": false});
    let other = json!({"anyOf": branches, "unevaluatedProperties": {"type": "string"}});
    assert_eq!(label(&compare(&one, &one)), "o/o");
    let found = compare(&one, &other);
    assert!(!found.backwards.strict.is_compatible(), "{{\"k0\": 1}} is new: {found:?}");
    let within = json!({"properties": {"a": one}, "required": ["a"]});
    let outer = json!({"properties": {"a": one}});
    assert_eq!(label(&compare(&within, &outer)).split('/').next_back(), Some("o"));
}

#[test]
fn a_dynamic_reference_means_something_else_on_another_path() {
    let list = |id: &str, item: &str| json!({"$id": id, "$defs": {"item": {"$dynamicAnchor": "item", "type": item}}, "$ref": "list"});
    let definitions = json!({
        "numbers": list("numbers", "number"),
        "strings": list("strings", "string"),
        "list": {
            "$id": "list",
            "items": {"$dynamicRef": "#item"},
            "$defs": {"item": {"$dynamicAnchor": "item"}},
        },
    });
    let schema = |to: &str| json!({"$id": "https://example.com/root", "$ref": to, "$defs": definitions});
    let (one, other) = (schema("numbers"), schema("strings"));
    assert_eq!(label(&compare(&one, &one)), "o/o");
    assert_eq!(label(&compare(&one, &other)), "x/x", "[1] is gone, and [\"\"] is new");
    let mut neither = schema("numbers");
    neither["not"] = json!({"$ref": "strings"});
    assert_eq!(label(&compare(&json!(false), &neither)), "x/o", "[1] is new");
}

#[test]
fn a_plain_reference_to_a_dynamic_anchor_leads_there() {
    let resource = json!({"$id": "res", "$defs": {"u": {"$dynamicAnchor": "U", "type": "integer"}}});
    let old = json!({"$id": "https://example.com/r", "$dynamicAnchor": "U", "type": "object", "$defs": {"res": resource},
        "properties": {"x": {"$ref": "res#U"}, "y": {"$dynamicRef": "#U"}}});
    let new = json!({"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "object"}}});
    assert_eq!(label(&compare(&old, &new)), "x/x");
}

#[test]
fn a_list_that_only_the_validator_reads_is_not_understood() {
    // 2020-12 has no list as `items`, but nothing checks a schema below a word that is no keyword.
    let hidden = json!({"$ref": "#/hidden", "hidden": {"items": [{"type": "string"}], "additionalItems": false}});
    let found = compare(&hidden, &json!({"enum": [["x", 1]], "minItems": 0}));
    assert!(!found.backwards.strict.is_compatible(), "the validator refuses two items: {found:?}");
    assert_eq!(unconfirmed(&hidden, &json!({"enum": [["x", 1]]}), &found), Vec::<String>::new());
}

#[test]
fn a_lenient_writer_does_not_send_every_listed_value() {
    let definitions = json!({
        "item": {"$dynamicAnchor": "item", "type": "integer"},
        "list": {"$id": "list", "additionalProperties": {"$dynamicRef": "#item"}, "$defs": {"item": {"$dynamicAnchor": "item"}}},
    });
    let outer = json!({"$id": "https://example.com/root", "$ref": "list", "$defs": definitions});
    let listed = json!({"enum": [{"a": 1}, {"a": 1, "b": "x"}]});
    let found = compare(&listed, &outer);
    assert_eq!((letter(&found.forwards.strict), letter(&found.forwards.lenient)), ('x', 'x'));
    let mut named = listed.clone();
    named["properties"] = json!({"a": {}});
    let found = compare(&named, &outer);
    assert_eq!(letter(&found.forwards.strict), 'x');
    assert_ne!(letter(&found.forwards.lenient), 'o', "{found:?}");
}

#[test]
fn what_was_concluded_from_an_assumption_is_forgotten_with_it() {
    // `a` is decided first, and depends on `b`, which has no value while `a` is assumed to be empty.
    let schema = json!({
        "type": "object", "required": ["x", "y"],
        "properties": {"x": {"$ref": "#/$defs/a"}, "y": {"$ref": "#/$defs/b"}},
        "$defs": {
            "a": {"type": "object", "anyOf": [
                {"properties": {"b": {"$ref": "#/$defs/b"}}, "required": ["b"]},
                {"properties": {"b": false}, "required": ["z"]},
            ]},
            "b": {"type": "array", "items": {"$ref": "#/$defs/a"}, "minItems": 1},
        },
    });
    assert_eq!(label(&compare(&json!(false), &schema)), "x/o");
}

#[test]
fn conclusion_drawn_from_an_open_goal_is_dropped_with_it() {
    // B is first decided while A is still undecided, so the result depends on A. A differs in q, so B does.
    let definitions = |kind: &str| {
        json!({
            "A": {"type": "object", "properties": {"p": {"$ref": "#/$defs/B"}, "q": {"type": kind}}},
            "B": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}},
        })
    };
    let part = |name: &str, definition: &str| json!({"properties": {name: {"$ref": format!("#/$defs/{definition}")}}});
    let (x, y) = (part("x", "A"), part("y", "B"));
    let old = json!({"type": "object", "required": ["x", "y"], "allOf": [x, y], "$defs": definitions("string")});
    let new = json!({"anyOf": [x, y], "$defs": definitions("integer")});
    let found = compare(&old, &new);
    assert!(found.forwards.strict.is_incompatible(), "{:?}", found.forwards.strict);
    assert_eq!(unconfirmed(&old, &new, &found), Vec::<String>::new());
}
