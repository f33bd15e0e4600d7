//! Places of differences: equal sub-schemas occur in many places, and the right one is named.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use git_blue::model::compatibility::{self, Options, SchemaVerdict};
use serde_json::{Value, json};

use crate::world::{compare, shared_ids};

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

/// Returns the rule, the pointer into the new schema and the message of each difference that breaks forwards.
pub fn differences(old: &Value, new: &Value) -> Vec<(String, String, String)> {
    let options = Options { backwards: false, ..Options::default() };
    let found = compatibility::compare(old, new, &options, &|| Duration::ZERO).unwrap();
    assert!(shared_ids(&found).is_empty(), "{found:#?}");
    let found = found.differences.into_iter();
    found.map(|one| (one.rule, one.new_pointer.unwrap_or_default(), one.message)).collect()
}

/// Asserts the rules and the pointers into the new schema.
#[track_caller]
pub fn differ(old: &Value, new: &Value, expected: &[(&str, &str)]) {
    let found = differences(old, new);
    let found: Vec<_> = found.iter().map(|(rule, pointer, _)| (&**rule, &**pointer)).collect();
    assert_eq!(found, expected, "{old} {new}");
}

#[test]
fn each_place_of_the_same_difference_is_listed() {
    let both = |kind: &str| json!({"properties": {"a": {"type": kind}, "b": {"items": {"type": kind}}}});
    differ(
        &both("string"),
        &both("integer"),
        &[("narrowed-type", "/properties/a/type"), ("narrowed-type", "/properties/b/items/type")],
    );
    // Behind a reference, it is one place.
    let shared = |kind: &str| {
        let to = json!({"$ref": "#/$defs/n"});
        json!({"properties": {"a": to, "b": to}, "$defs": {"n": {"type": kind}}})
    };
    differ(&shared("string"), &shared("integer"), &[("narrowed-type", "/$defs/n/type")]);
    let tree =
        |kind: &str| json!({"properties": {"name": {"type": kind}, "left": {"$ref": "#"}, "right": {"$ref": "#"}}});
    differ(&tree("string"), &tree("integer"), &[("narrowed-type", "/properties/name/type")]);
    let closed = |names: &[&str]| {
        let properties: serde_json::Map<_, _> = names.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
        json!({"type": "object", "properties": properties, "additionalProperties": false})
    };
    let found = differences(&closed(&["a", "b", "c"]), &closed(&["c"]));
    let messages: Vec<_> = found.iter().map(|(_, _, message)| &**message).collect();
    assert_eq!(messages, ["\"a\" is not allowed", "\"b\" is not allowed"]);
}

#[test]
fn members_of_any_name_are_places() {
    let text = |most: u64| json!({"type": "string", "maxLength": most});
    let both = |one: Value, other: Value| json!({"type": "object", "properties": {"a": one, "b": other}});
    let map = |value: Value| json!({"type": "object", "additionalProperties": value});
    let matching = |value: Value| json!({"type": "object", "patternProperties": {"^x-[0-9]+$": value}});
    let list = |value: Value| json!({"type": "array", "items": value});
    let (a, b) = ("/properties/a", "/properties/b");
    let schemas: [(&str, &dyn Fn(Value) -> Value); 4] = [
        ("/additionalProperties", &map),
        ("/patternProperties/^x-[0-9]+$", &matching),
        ("/additionalProperties/items/additionalProperties", &|value| map(list(map(value)))),
        ("/patternProperties/^x-[0-9]+$/additionalProperties", &|value| matching(map(value))),
    ];
    for (place, schema) in schemas {
        let rule = "narrowed-max-length";
        let wanted = |above: &str, below: &str| (rule, format!("{above}{below}/maxLength"));
        let same = |first: (&'static str, String), second: (&'static str, String), old: Value, new: Value| {
            differ(&old, &new, &[(first.0, &first.1), (second.0, &second.1)]);
        };
        let wide = || schema(text(5));
        same(wanted(a, ""), wanted(b, place), both(text(5), wide()), both(text(3), schema(text(3))));
        same(wanted(a, ""), wanted(b, place), both(text(5), wide()), both(text(3), schema(text(4))));
        same(wanted(a, place), wanted(b, place), both(wide(), wide()), both(schema(text(3)), schema(text(3))));
    }
    let map_with = |most: u64| {
        let one = text(most);
        json!({"type": "object", "properties": {"a": one}, "required": ["a"], "additionalProperties": one})
    };
    differ(
        &map_with(5),
        &map_with(4),
        &[
            ("narrowed-max-length", "/properties/a/maxLength"),
            ("narrowed-max-length", "/additionalProperties/maxLength"),
        ],
    );
    // The new schema refuses the same texts at both places, where the old ones differ.
    differ(
        &both(text(4), map(text(5))),
        &both(text(3), map(text(3))),
        &[
            ("narrowed-max-length", "/properties/a/maxLength"),
            ("narrowed-max-length", "/properties/b/additionalProperties/maxLength"),
        ],
    );
}

#[test]
fn no_difference_hides_another() {
    let old = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array"}}});
    let mut new = old.clone();
    new["required"] = json!(["b"]);
    new["properties"]["a"]["maxLength"] = json!(3);
    new["properties"]["b"]["maxItems"] = json!(2);
    differ(
        &old,
        &new,
        &[
            ("added-required", "/required"),
            ("narrowed-max-length", "/properties/a/maxLength"),
            ("narrowed-max-items", "/properties/b/maxItems"),
        ],
    );
}

#[test]
fn difference_is_in_the_alternative_that_was_meant() {
    let union = |required: Value, minimum: i64| {
        let item = |kind: &str, value: Value, required: &Value| json!({"type": "object", "required": required, "properties": {"kind": {"const": kind}, "value": value}});
        let number = item("number", json!({"type": "integer", "minimum": minimum}), &json!(["kind"]));
        json!({"items": {"oneOf": [item("text", json!({"type": "string"}), &required), number]}})
    };
    differ(
        &union(json!(["kind"]), 0),
        &union(json!(["kind", "value"]), 1),
        &[
            ("added-required", "/items/oneOf/0/required"),
            ("narrowed-minimum", "/items/oneOf/1/properties/value/minimum"),
        ],
    );
    let nullable = |minimum: i64| json!({"anyOf": [{"type": "integer", "minimum": minimum}, {"type": "null"}]});
    differ(&nullable(0), &nullable(1), &[("narrowed-minimum", "/anyOf/0/minimum")]);
    let found = differences(&json!({"type": "integer"}), &json!({"oneOf": [{"type": "integer"}, {"type": "number"}]}));
    assert_eq!(found[0].2, "0 matches 2 of the alternatives instead of one");
}

#[test]
fn listed_values_of_one_alternative_do_not_tell_it_apart() {
    let item = |kind: &str, more: &Value| {
        let mut item = json!({"type": "object", "required": ["kind"], "properties": {"kind": {"const": kind}}});
        item["properties"].as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
        item
    };
    for choice in ["oneOf", "anyOf"] {
        let union = |first: Value, others: Value| json!({choice: [item("a", &first), item("b", &others), item("c", &json!({}))]});
        let size = |sizes: Value| json!({"size": {"enum": sizes}});
        let place = format!("/{choice}/0/properties/size/enum");
        let sizes = ["narrow", "wide", "open"];
        for others in [json!({}), size(json!(["open"]))] {
            differ(
                &union(size(json!(sizes)), others.clone()),
                &union(size(json!(sizes[..2])), others),
                &[("narrowed-enum", &place)],
            );
        }
        let first =
            |sizes: Value, least: i64| json!({"size": {"enum": sizes}, "count": {"type": "integer", "minimum": least}});
        let least = format!("/{choice}/0/properties/count/minimum");
        let found =
            differences(&union(first(json!(sizes), 0), json!({})), &union(first(json!(sizes[..2]), 2), json!({})));
        let found: BTreeSet<_> = found.iter().map(|(rule, pointer, _)| (&**rule, &**pointer)).collect();
        assert_eq!(found, BTreeSet::from([("narrowed-enum", &*place), ("narrowed-minimum", &*least)]));
    }
}

#[test]
fn required_property_does_not_hide_others() {
    let object = |required: Value, others: [&str; 2]| {
        let properties = json!({"v": required, "a": {"type": others[0]}, "c": {"type": others[1]}});
        json!({"type": "object", "properties": properties, "required": ["v"]})
    };
    for (old, new, rule, keyword) in [
        (json!({"const": 1}), json!({"const": 2}), "narrowed-enum", "const"),
        (json!({"type": "integer"}), json!({"type": "null"}), "narrowed-type", "type"),
        (json!({"enum": ["x", "y"]}), json!({"enum": ["z"]}), "narrowed-enum", "enum"),
    ] {
        let (old, new) = (object(old, ["string", "integer"]), object(new, ["integer", "string"]));
        let place = format!("/properties/v/{keyword}");
        let expected =
            [(rule, &*place), ("narrowed-type", "/properties/a/type"), ("narrowed-type", "/properties/c/type")];
        let mut found = differences(&old, &new);
        found.sort_by_key(|(_, pointer, _)| pointer != &place);
        let mut found: Vec<_> = found.iter().map(|(rule, pointer, _)| (&**rule, &**pointer)).collect();
        found[1..].sort_unstable();
        assert_eq!(found, expected, "{old} {new}");
    }
}

/// The pointer to a sub-schema, and a schema that contains it there.
type Container<'a> = (&'a str, &'a dyn Fn(&Value) -> Value);

#[test]
fn two_differences_in_one_item_are_both_listed() {
    let object = |min: Value, more: Value| {
        let mut properties = json!({"a": {"type": "string", "minLength": min}});
        properties.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
        json!({"type": "object", "required": ["a"], "properties": properties, "additionalProperties": false})
    };
    let (old, new) = (object(json!(0), json!({"b": {"type": "integer"}})), object(json!(2), json!({})));
    let containers: [Container<'_>; 5] = [
        ("/items", &|one| json!({"items": one})),
        ("/items", &|one| json!({"prefixItems": [{}], "items": one})),
        ("/additionalProperties", &|one| json!({"additionalProperties": one})),
        ("/patternProperties/^x", &|one| json!({"patternProperties": {"^x": one}})),
        ("/properties/p", &|one| json!({"properties": {"p": one}})),
    ];
    for (place, within) in containers {
        let found = differences(&within(&old), &within(&new));
        let found: BTreeSet<_> = found.iter().map(|(rule, pointer, _)| (&**rule, &**pointer)).collect();
        let (length, closed) = (format!("{place}/properties/a/minLength"), format!("{place}/additionalProperties"));
        assert_eq!(
            found,
            BTreeSet::from([("narrowed-min-length", &*length), ("removed-property", &*closed)]),
            "{place}"
        );
    }
}

#[test]
fn removed_alternative_is_a_difference_of_the_union_and_hides_no_other() {
    let item = |kind: &str, required: Value, types: Value| json!({"type": "object", "required": required, "properties": {"kind": {"const": kind}, "n": {"type": types}}});
    for choice in ["oneOf", "anyOf"] {
        let union = |alternatives: &[Value]| json!({"items": {choice: alternatives}});
        for required in [json!(["kind"]), json!(["kind", "n"])] {
            let a = |types: Value| item("a", required.clone(), types);
            let (b, c) = (item("b", json!(["kind"]), json!("string")), item("c", json!(["kind"]), json!("null")));
            let found = differences(
                &union(&[a(json!(["integer", "string"])), b.clone(), c, json!({"type": "null"})]),
                &union(&[a(json!("integer")), b, json!({"type": "null"})]),
            );
            let found: BTreeSet<_> = found.iter().map(|(rule, pointer, _)| (&**rule, &**pointer)).collect();
            let (union, narrowed) = (format!("/items/{choice}"), format!("/items/{choice}/0/properties/n/type"));
            let expected = BTreeSet::from([("narrowed-alternatives", &*union), ("narrowed-type", &*narrowed)]);
            assert_eq!(found, expected, "{choice} {required}");
        }
    }
}

#[test]
fn changed_discriminator_is_not_a_removed_alternative() {
    let item = |kinds: Value, required: Value| json!({"type": "object", "required": required, "properties": {"kind": {"enum": kinds}}});
    let union =
        |first: Value| json!({"oneOf": [item(first, json!(["kind"])), item(json!(["c"]), json!(["kind", "size"]))]});
    let place = [("narrowed-enum", "/oneOf/0/properties/kind/enum")];
    differ(&union(json!(["a", "b"])), &union(json!(["a"])), &place);
}

#[test]
fn place_in_the_other_schema_is_as_close_as_possible() {
    let base = |required: Value| {
        let base = json!({"$defs": {"base": {"type": "object", "required": required, "properties": {"a": {}}}}});
        let mut schema = json!({"allOf": [{"$ref": "#/$defs/base"}]});
        schema.as_object_mut().unwrap().append(&mut base.as_object().unwrap().clone());
        schema
    };
    let mut old = base(json!([]));
    old["$defs"]["base"].as_object_mut().unwrap().remove("required");
    differ(&base(json!(["a"])), &old, &[]);
    let found = compare(&base(json!(["a"])), &old).differences;
    let pointers = (found[0].old_pointer.as_deref(), found[0].new_pointer.as_deref());
    assert_eq!(pointers, (Some("/$defs/base/required"), Some("/$defs/base")));
    let old = json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false});
    let mut new = old.clone();
    new["patternProperties"] = json!({"^x-": {}});
    let found = compare(&old, &new).differences;
    assert_eq!(found[0].new_pointer.as_deref(), Some("/patternProperties/^x-"));
}

/// Returns the id of each difference by its message.
fn ids(old: &Value, new: &Value) -> BTreeMap<String, String> {
    let found = compatibility::compare(old, new, &Options::default(), &|| Duration::ZERO).unwrap();
    assert!(shared_ids(&found).is_empty(), "{found:#?}");
    found.differences.into_iter().map(|one| (one.message, one.id.unwrap())).collect()
}

#[test]
fn differences_of_one_keyword_have_ids_of_their_own() {
    let old = json!({"minProperties": 4, "required": ["a", "b", "c", "d", "e"]});
    let five = ids(&old, &json!({"minProperties": 5}));
    assert_eq!(five.len(), 5, "{five:?}");
    // The rest of the schemas does not matter.
    let within = |one: Value, rest: u64| json!({"properties": {"o": one, "n": {"type": "integer", "minimum": rest}}});
    let open = json!({"required": ["e"]});
    let [first, second] =
        [[1, 1], [2, 3]].map(|[before, after]| ids(&within(old.clone(), before), &within(open.clone(), after)));
    let is_kept = |(message, id)| second.get(message) == Some(id);
    assert!(first.len() > 3 && first.iter().all(is_kept), "{first:?} {second:?}");
}

/// The keyword alone is a sub-schema of its own, in which it is treated as allowed once it is listed.
#[test]
fn keyword_that_is_a_whole_sub_schema_elsewhere_hides_no_place() {
    let schema = |kind: Value| {
        let [mut id, mut city, mut town] = [json!({}), json!({"maxLength": 40}), json!({"maxLength": 40})];
        for part in [&mut id, &mut city, &mut town] {
            part["type"] = kind.clone();
        }
        json!({"type": "object", "required": ["id"], "properties": {"id": id, "city": city, "town": town}})
    };
    let found = differences(&schema(json!(["string", "null"])), &schema(json!("string")));
    let mut places: Vec<_> = found.iter().map(|(_, place, _)| place.as_str()).collect();
    places.sort_unstable();
    assert_eq!(places, ["/properties/city/type", "/properties/id/type", "/properties/town/type"]);
}
