//! Texts of differences: each names the keyword that refuses the value, and why.

use git_blue::model::{
    compatibility::{SchemaDifference, SchemaVerdict},
    contract::BrokenDirection::{self, Backwards, Forwards},
};
use serde_json::{Value, json};

use crate::world::{compare, unconfirmed};

/// Returns the first difference in a direction: of what is surely sent or, if nothing of it differs, of what may be.
fn difference(old: &Value, new: &Value, direction: BrokenDirection) -> SchemaDifference {
    let found = compare(old, new);
    assert_eq!(unconfirmed(old, new, &found), Vec::<String>::new());
    let readings = if direction == Forwards { found.forwards } else { found.backwards };
    match [readings.lenient, readings.strict] {
        [SchemaVerdict::Incompatible { difference }, _] | [_, SchemaVerdict::Incompatible { difference }] => {
            *difference
        }
        other => panic!("{old} {new}: {other:?}"),
    }
}

/// Asserts the rule, the message and the places in both schemas of the first difference that breaks forwards.
#[track_caller]
fn says(old: &Value, new: &Value, (rule, message): (&str, &str), places: [&str; 2]) {
    says_in(Forwards, old, new, (rule, message), places);
}

#[track_caller]
fn says_in(
    direction: BrokenDirection,
    old: &Value,
    new: &Value,
    (rule, message): (&str, &str),
    [old_place, new_place]: [&str; 2],
) {
    let found = difference(old, new, direction);
    let told = (&*found.rule, &*found.message, found.old_pointer.as_deref(), found.new_pointer.as_deref());
    assert_eq!(told, (rule, message, Some(old_place), Some(new_place)), "{old} {new}");
    for (schema, place) in [(old, old_place), (new, new_place)] {
        assert!(schema.pointer(place).is_some(), "{place}: {schema}");
    }
}

/// Returns a schema with one more keyword.
fn with(mut schema: Value, keyword: &str, value: Value) -> Value {
    schema[keyword] = value;
    schema
}

fn closed(schema: Value) -> Value {
    with(schema, "unevaluatedProperties", json!(false))
}

#[test]
fn long_string_is_too_long_whatever_its_pattern() {
    for pattern in [json!({}), json!({"pattern": "^[a-z]*$"})] {
        let of_length = |most: u64| {
            let mut schema = json!({"type": "string", "maxLength": most});
            schema.as_object_mut().unwrap().extend(pattern.as_object().unwrap().clone());
            schema
        };
        let found = compare(&of_length(10_000_000), &of_length(5_000_000)).forwards.strict;
        let SchemaVerdict::Unknown { reason, .. } = &found else { panic!("{found:?}") };
        assert!(reason.starts_with("strings of 5000001 characters are too long to construct"), "{reason}");
    }
}

#[test]
fn union_that_refuses_is_named_before_unevaluated_properties() {
    says(
        &json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}}),
        &closed(json!({"type": "object", "oneOf": [
            {"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}}]})),
        ("narrowed-alternatives", "{\"a\":\"\"} matches 2 of the alternatives instead of one"),
        ["", "/oneOf"],
    );
    let one = json!({"properties": {"a": {}}});
    says(
        &one,
        &closed(json!({"oneOf": [one, one]})),
        ("narrowed-alternatives", "null matches 2 of the alternatives instead of one"),
        ["", "/oneOf"],
    );
}

#[test]
fn unevaluated_item_is_named() {
    let first = "the item at index 0 is not allowed: no keyword that applies here evaluates it";
    let second = "the item at index 1 is not allowed: no keyword that applies here evaluates it";
    let closed = |schema: &Value| with(schema.clone(), "unevaluatedItems", json!(false));
    let contains = json!({"type": "array", "contains": {"type": "integer"}});
    says(&contains, &closed(&contains), ("narrowed-items", first), ["", "/unevaluatedItems"]);
    let prefix = json!({"type": "array", "prefixItems": [{}], "contains": {"type": "integer"}});
    says(&prefix, &closed(&prefix), ("narrowed-items", second), ["", "/unevaluatedItems"]);
    let either = json!({"type": "array", "anyOf": [
        {"prefixItems": [{"type": "string"}]}, {"prefixItems": [{}, {"type": "string"}]}]});
    says(&either, &closed(&either), ("narrowed-items", second), ["", "/unevaluatedItems"]);
    let typed = with(prefix.clone(), "unevaluatedItems", json!({"type": "string"}));
    let found = difference(&prefix, &typed, Forwards);
    let told = (&*found.message, &*found.at, found.new_pointer.as_deref());
    assert_eq!(told, ("null is not a string", "/1", Some("/unevaluatedItems/type")));
}

#[test]
fn unevaluated_property_is_named_beside_conditions() {
    let refused = "\"a\" is not allowed: no keyword that applies here evaluates it";
    let old = json!({"type": "object", "properties": {"c": {}, "a": {}}});
    let dependent = closed(json!({"type": "object", "properties": {"c": {}}, "dependentSchemas": {
        "c": {"properties": {"a": {}}}}}));
    let places = ["/properties/a", "/unevaluatedProperties"];
    says(&old, &dependent, ("removed-property", refused), places);
    let [new_place, old_place] = places;
    says_in(Backwards, &dependent, &old, ("added-property", refused), [old_place, new_place]);
    // A condition that requires a property is written elsewhere.
    let nested = closed(json!({"type": "object", "properties": {"c": {}}, "allOf": [
        {"required": ["c"]}, {"dependentSchemas": {"x": {"required": ["c"], "properties": {"a": {}}}}}]}));
    let old = json!({"type": "object", "properties": {"c": {}, "a": {}}, "required": ["c"]});
    says(&old, &nested, ("removed-property", refused), places);
    let k = json!({"k": {"enum": ["x", "y"]}});
    says(
        &json!({"type": "object", "properties": {"k": {"enum": ["x", "y"]}, "a": {}, "b": {}}}),
        &closed(json!({"type": "object", "properties": k,
            "if": {"properties": {"k": {"const": "x"}}, "required": ["k"]},
            "then": {"properties": {"a": {}}}, "else": {"properties": {"b": {}}}})),
        ("removed-property", refused),
        places,
    );
    let typed = |schema: &Value| with(schema.clone(), "unevaluatedProperties", json!({"type": "string"}));
    says(
        &json!({"type": "object", "properties": {"a": {"type": "integer"}}}),
        &typed(&dependent),
        ("narrowed-type", "0 is not a string"),
        ["/properties/a/type", "/unevaluatedProperties/type"],
    );
}

#[test]
fn each_of_many_conditional_properties_is_listed() {
    let names: Vec<_> = (0..6).map(|at| format!("p{at}")).collect();
    let properties: serde_json::Map<_, _> = names.iter().map(|name| (name.clone(), json!({}))).collect();
    let branch = |name: &String| json!({"required": ["k"], "properties": {name: {}}});
    let old = json!({"type": "object", "properties": properties});
    let new =
        closed(json!({"type": "object", "anyOf": names.iter().map(branch).chain([json!({})]).collect::<Vec<_>>()}));
    let found = compare(&old, &new);
    let forwards = found.differences.iter().filter(|one| one.direction == Forwards);
    let told: Vec<_> = forwards.map(|one| (&*one.rule, &*one.message, one.new_pointer.as_deref())).collect();
    let message = |at: u32| format!("\"p{at}\" is not allowed: no keyword that applies here evaluates it");
    let messages = [message(0), message(1), message(2)];
    let expected = messages.iter().map(|one| ("removed-property", &**one, Some("/unevaluatedProperties")));
    assert_eq!(told, expected.collect::<Vec<_>>());
}

#[test]
fn target_of_a_dynamic_reference_is_the_place() {
    let list = |kind: &str| {
        json!({"$id": "https://e.com/list-of", "$ref": "list", "$defs": {
            "item": {"$dynamicAnchor": "T", "type": kind},
            "list": {"$id": "list", "type": "array", "items": {"$dynamicRef": "#T"}, "$defs": {
                "T": {"$dynamicAnchor": "T", "not": {}}}}}})
    };
    let place = "/$defs/item/type";
    says(&list("number"), &list("integer"), ("narrowed-type", "0.5 is not an integer"), [place, place]);
}

#[test]
fn reference_to_a_meta_schema_is_the_place() {
    let draft = "http://json-schema.org/draft-07/schema#";
    let old = json!({"$schema": draft, "type": ["object", "boolean"]});
    let found = difference(&old, &json!({"$schema": draft, "$ref": draft}), Forwards);
    assert_eq!(found.new_pointer.as_deref(), Some("/$ref"));
    assert!(found.message.contains("; see http://json-schema.org/draft-07/schema#/"), "{found:?}");
    let within = |target: &str| json!({"$schema": draft, "properties": {"s": {"$ref": target}}});
    let found = difference(&json!({"$schema": draft}), &within(draft), Forwards);
    assert_eq!(found.new_pointer.as_deref(), Some("/properties/s/$ref"));
    assert!(found.message.ends_with("; see http://json-schema.org/draft-07/schema#"), "{found:?}");
    let all = compare(&old, &json!({"$schema": draft, "$ref": draft}));
    assert!(!format!("{all:?}").contains("\\0"), "{all:?}");
}

#[test]
fn changed_condition_is_named() {
    let schema = |condition: Value| {
        json!({"properties": {"country": {}, "zip": {"type": "string"}},
            "if": {"properties": {"country": condition}, "required": ["country"]},
            "then": {"properties": {"zip": {"pattern": "^\\d{5}$"}}}})
    };
    let place = "/then/properties/zip/pattern";
    let [us, more] = [json!({"const": "US"}), json!({"enum": ["US", "PR"]})];
    says(
        &schema(us.clone()),
        &schema(more),
        ("narrowed-pattern", "\"\" does not match \"^\\\\d{5}$\"; it applies because /if changed"),
        [place, place],
    );
    let mut stricter = schema(us.clone());
    stricter["then"]["properties"]["zip"]["pattern"] = json!("^[0-4]{5}$");
    let found = difference(&schema(us), &stricter, Forwards);
    assert!(!found.message.contains("changed"), "{found:?}");
}

#[test]
fn encoding_is_named() {
    let any = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "string"});
    for (keywords, message) in [
        (json!({"contentEncoding": "base64"}), "is not base64"),
        (json!({"contentMediaType": "application/json"}), "is not JSON"),
        (json!({"contentEncoding": "base64", "contentMediaType": "application/json"}), "is not JSON in base64"),
    ] {
        let mut new = any.clone();
        new.as_object_mut().unwrap().extend(keywords.as_object().unwrap().clone());
        let found = difference(&any, &new, Forwards);
        assert!(found.message.ends_with(message), "{found:?}");
    }
}

#[test]
fn meaning_in_another_draft_is_told() {
    let draft = |number: &str, mut schema: Value| {
        schema["$schema"] = json!(format!("http://json-schema.org/draft-{number}/schema#"));
        schema
    };
    let integer = draft("04", json!({"type": "integer"}));
    says_in(
        Backwards,
        &integer,
        &draft("04", json!({"enum": [1, 2]})),
        ("widened-type", "1.0 is not an integer in draft-04"),
        ["/type", ""],
    );
    says(
        &draft("04", json!({"const": 1})),
        &draft("06", json!({"const": 1})),
        ("narrowed-enum", "null is not 1; \"const\" is not a keyword of draft-04, the draft of the other schema"),
        ["", "/const"],
    );
}
