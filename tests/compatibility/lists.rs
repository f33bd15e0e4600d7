//! Lists of differences: what they name, what they leave out, and whether they say so.

use std::time::Duration;

use git_blue::model::{
    compatibility::{self, Options, SchemaVerdict},
    contract::BrokenDirection,
};
use serde_json::{Value, json};

use crate::{
    places::{differ, differences},
    world::compare,
};

/// A value can be as far from an alternative that did not change as from the one that did.
#[test]
fn the_alternative_that_changed_is_explained() {
    let closed = |members: Value| json!({"type": "object", "additionalProperties": false, "properties": members});
    let open = json!({"type": "object", "properties": {"a": {"type": "boolean"}}});
    let either = |one: Value| json!({"anyOf": [one, open]});
    let old = either(closed(json!({"a": {"type": "object"}, "show": {"type": "boolean"}})));
    let new = either(closed(json!({"a": {"type": "object"}})));
    differ(&old, &new, &[("removed-property", "/anyOf/0/additionalProperties")]);
}

/// An alternative of another type is far from a value, however it says so.
#[test]
fn alternatives_of_another_type_do_not_hide_a_change() {
    let object =
        |name: &str| json!({"type": "object", "additionalProperties": false, "properties": {name: {"type": "string"}}});
    for other in [
        json!({"enum": ["x"]}),
        json!({"const": "x"}),
        json!({"oneOf": [{"type": "string", "const": "x"}, {"type": "null"}]}),
        json!({"$ref": "#/$defs/text"}),
    ] {
        let either = |one: Value| {
            let member = json!({"anyOf": [other, one]});
            json!({"properties": {"m": member}, "$defs": {"text": {"anyOf": [{"const": "y"}, {"type": "integer"}]}}})
        };
        let place = "/properties/m/anyOf/1/additionalProperties";
        differ(&either(object("a")), &either(object("b")), &[("removed-property", place)]);
    }
}

/// Properties that only another alternative names were never accepted here.
#[test]
fn a_closed_object_is_listed_once() {
    let branch = |kind: &str, member: Value| {
        let properties = json!({"kind": {"const": kind}, "c": member});
        json!({"type": "object", "required": ["kind"], "additionalProperties": false, "properties": properties})
    };
    let either = |first: Value| {
        let named = json!({"type": "object", "properties": {"p": {}, "q": {}, "r": {}}});
        json!({"oneOf": [branch("A", first), branch("B", named)]})
    };
    let closed = json!({"type": "object", "additionalProperties": false, "properties": {"s": {}}});
    let found = differences(&either(json!({"type": "object"})), &either(closed));
    let places: Vec<_> = found.iter().map(|(rule, pointer, _)| (&**rule, &**pointer)).collect();
    assert_eq!(places, [("closed-object", "/oneOf/0/properties/c/additionalProperties")], "{found:?}");
}

#[test]
fn one_place_does_not_hide_the_others() {
    let schema = |constraints: Value, last: Value| {
        let names = (0..30).map(|at| (format!("p{at:02}"), json!({"enum": [at]})));
        let all: serde_json::Map<_, _> =
            names.chain([("constraints".to_owned(), constraints), ("z".to_owned(), last)]).collect();
        json!({"type": "object", "properties": all})
    };
    let old =
        schema(json!({"type": "object", "additionalProperties": {"type": "string"}}), json!({"enum": ["a", "b"]}));
    let new = schema(json!({"$ref": "#"}), json!({"enum": ["a"]}));
    let options = Options { backwards: false, ..Options::default() };
    let found = compatibility::compare(&old, &new, &options, &|| Duration::ZERO).unwrap();
    let of_z = found.differences.iter().filter(|one| one.new_pointer.as_deref() == Some("/properties/z/enum"));
    assert_eq!(of_z.count(), 1, "{:#?}", found.differences);
    assert!(found.differences.len() < 10 && found.more);
}

#[test]
fn a_list_says_whether_it_is_complete() {
    let schema = |count: usize, kind: &str| {
        let all: serde_json::Map<_, _> = (0..count).map(|at| (format!("p{at}"), json!({"type": kind}))).collect();
        json!({"properties": all})
    };
    for (count, listed, more) in [(1, 1, false), (20, 20, false), (21, 20, true)] {
        let (old, new) = (schema(count, "string"), schema(count, "integer"));
        let found = compatibility::compare(&old, &new, &Options::default(), &|| Duration::ZERO).unwrap();
        assert_eq!((found.differences.len(), found.more), (2 * listed, more), "{count}");
    }
}

/// A keyword that was found may occur in an alternative too, which then refuses nothing.
#[test]
fn a_list_is_not_called_complete_if_alternatives_may_hide_something() {
    let schema = |x: Value, most: Value| {
        let union = json!({"anyOf": [{"type": "string"}, {"type": "integer", "maximum": most}]});
        json!({"type": "object", "properties": {"x": x, "y": union}})
    };
    let old = schema(json!({"type": ["string", "integer"]}), json!(9));
    let new = schema(json!({"type": "string"}), json!(4));
    let found = compatibility::compare(&old, &new, &Options::default(), &|| Duration::ZERO).unwrap();
    assert!(found.more || found.differences.len() > 1, "{found:#?}");
    let old = json!({"oneOf": [{"enum": ["a", "b"]}, {"enum": ["c", "d"]}]});
    let new = json!({"oneOf": [{"enum": ["a"]}, {"enum": ["c"]}]});
    let found = compatibility::compare(&old, &new, &Options::default(), &|| Duration::ZERO).unwrap();
    let places: Vec<_> = found.differences.iter().map(|one| one.new_pointer.as_deref()).collect();
    assert!(found.more && !places.contains(&Some("/oneOf")), "{found:#?}");
}

/// A difference that is treated as allowed hides the keyword's other places, so each of them must be tried first.
#[test]
fn a_list_is_not_called_complete_if_places_were_left_out() {
    let most = |length: usize| json!({"maxLength": length});
    let properties = |all: Vec<(String, Value)>| {
        let all: serde_json::Map<_, _> = all.into_iter().collect();
        json!({"properties": all})
    };
    let numbered = |of: &dyn Fn(usize) -> Value, more: Vec<(&str, Value)>| {
        let all = (0..150).map(|at| (format!("p{at:03}"), of(at)));
        properties(all.chain(more.into_iter().map(|(name, one)| (name.to_owned(), one))).collect())
    };
    let last = |at: usize| if at < 140 { json!(false) } else { json!({}) };
    let unchanged =
        |at: usize| json!({"properties": {format!("x{at}"): {"properties": {"y": {"const": at}, "z": {}}}}});
    let two = |length: usize| vec![("q", most(length)), ("z", most(length))];
    let hidden = |b: Value| json!({"properties": {"a": if b["type"].is_null() { json!({}) } else { json!({"minimum": 5}) }, "b": b}});
    for (old, new) in [
        // The first ones are impossible.
        (numbered(&|_| most(3), Vec::new()), numbered(&last, Vec::new())),
        // Too many places to visit.
        (numbered(&unchanged, two(3)), numbered(&unchanged, two(5))),
        // The keyword also makes the other document refuse values.
        (hidden(json!({"type": "string"})), hidden(json!({"not": {"minimum": 5}}))),
        (json!({"properties": {"a": most(3)}, "propertyNames": most(3)}), json!({})),
    ] {
        let found = compatibility::compare(&old, &new, &Options::default(), &|| Duration::ZERO).unwrap();
        let backwards = found.differences.iter().filter(|one| one.direction == BrokenDirection::Backwards);
        let places: Vec<_> = backwards.map(|one| one.old_pointer.as_deref()).collect();
        assert!(found.more || places.len() > 1, "{old}\n{new}\n{places:?}");
    }
}

/// The properties that the sending side names may all fall under one keyword.
#[test]
fn each_property_that_a_map_refuses_is_listed() {
    for map in ["additionalProperties", "patternProperties"] {
        let text = json!({"type": "string"});
        let text = if map == "additionalProperties" { text } else { json!({"^": text}) };
        let old = json!({"type": "object", "properties": {"g": {"type": "integer"}, "h": {"type": "boolean"}}});
        let found = differences(&old, &json!({"type": "object", map: text}));
        let messages: Vec<_> = found.iter().map(|(_, _, message)| &**message).collect();
        assert_eq!(messages, ["0 is not a string", "true is not a string"], "{map}");
    }
}

#[test]
fn a_difference_between_drafts_names_them() {
    let schema = |draft: &str| json!({"$schema": draft, "properties": {"a": {"type": "integer"}}});
    let [old, new] = ["http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-04/schema#"];
    let found = differences(&schema(old), &schema(new));
    let messages: Vec<_> = found.iter().map(|(_, _, message)| &**message).collect();
    let changed = "the same keyword means something else in draft-07, the draft of the other schema";
    assert_eq!(messages, [format!("0.0 is not an integer in draft-04; {changed}")]);
    // The draft is not named if something else changed.
    let closed = |draft: &str, names: &[&str]| {
        let properties: serde_json::Map<_, _> = names.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
        json!({"$schema": draft, "properties": properties, "additionalProperties": false})
    };
    let found = differences(&closed(old, &["a", "b"]), &closed("https://json-schema.org/draft/2020-12/schema", &["a"]));
    assert_eq!(found[0].2, "\"b\" is not allowed");
}

/// An alternative that is treated as allowed must not allow everything.
#[test]
fn changes_of_several_alternatives_are_listed() {
    let either = |one: Value, name: &str| {
        let object = json!({"type": "object", "additionalProperties": false, "properties": {name: {"type": "string"}}});
        json!({"properties": {"m": {"anyOf": [one, object]}}})
    };
    let place = |rest: &str| format!("/properties/m/anyOf/{rest}");
    let removed = place("1/additionalProperties");
    let union = "/properties/m/anyOf".to_owned();
    for (old, new, rule, at) in [
        (json!({"enum": ["a", "b"]}), json!({"enum": ["b"]}), "narrowed-enum", place("0/enum")),
        (json!({"type": ["string", "integer"]}), json!({"type": "integer"}), "narrowed-alternatives", union),
    ] {
        let differences = [(rule, &*at), ("removed-property", &*removed)];
        differ(&either(old, "a"), &either(new, "b"), &differences);
    }
    // Values of one type are allowed at first.
    let scalars = |boolean: Value, integer: Value| json!({"properties": {"m": {"oneOf": [boolean, integer]}}});
    differ(
        &scalars(json!({"type": "boolean"}), json!({"type": "integer"})),
        &scalars(json!({"const": true}), json!({"type": "integer", "maximum": 4})),
        &[("narrowed-enum", "/properties/m/oneOf/0/const"), ("narrowed-maximum", "/properties/m/oneOf/1/maximum")],
    );
    // A value that matches two alternatives does not hide the others either.
    let overlapping = |first: Value, list: Value| json!({"properties": {"m": {"oneOf": [first, {"type": "string", "minLength": 2}, {"type": "array", "items": list}]}}});
    differ(
        &overlapping(json!({"type": "string", "maxLength": 1}), json!({"type": "string"})),
        &overlapping(json!({"type": "string", "maxLength": 3}), json!({"type": "integer"})),
        &[("narrowed-alternatives", "/properties/m/oneOf"), ("narrowed-type", "/properties/m/oneOf/2/items/type")],
    );
    // One keyword is one difference, whatever values it refuses.
    let open = |one: Value| json!({"properties": {"m": one}});
    let any = json!({"type": ["string", "null", "array", "object", "number"]});
    differ(&open(any), &open(json!({"type": "string"})), &[("narrowed-type", "/properties/m/type")]);
}

#[test]
fn a_property_that_only_one_schema_names_is_told_apart() {
    let schema = |names: &[&str]| {
        let all: serde_json::Map<_, _> =
            names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        json!({"properties": {"in": {"properties": all}}})
    };
    let message = |old: &Value, new: &Value| match compare(old, new).forwards.strict {
        SchemaVerdict::Incompatible { difference } => difference.message,
        other => panic!("{other:?}"),
    };
    let added = message(&schema(&["a"]), &schema(&["a", "b"]));
    assert_eq!(added, "null is not a string; the other schema does not name \"b\"");
    let open = json!({"properties": {"in": {"properties": {"a": {}}}}});
    assert_eq!(message(&open, &schema(&["a"])), "null is not a string");
}
