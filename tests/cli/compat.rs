//! `git blue compat`: two files, without a realm or repository.

use serde_json::json;

use crate::world::World;

pub const OLD: &str = r#"{"type": "object", "properties": {"indent": {"type": "integer", "maximum": 255}}}"#;
pub const NEW: &str = r#"{"type": "object", "properties": {"indent": {"type": "integer", "maximum": 24}}}"#;

/// Returns a world with both schemas in `old.json` and `new.json`.
pub fn world() -> World {
    let world = World::new();
    world.write("old.json", OLD);
    world.write("new.json", NEW);
    world
}

#[test]
fn break_fails_with_a_witness() {
    let world = world();
    let run = world.blue(&world.root(), &["compat", "old.json", "new.json"]).exits(1);
    for part in [
        "error[narrowed-maximum]: old.json -> new.json breaks forwards compatibility",
        "--> old.json#/properties/indent/maximum",
        "--> new.json#/properties/indent/maximum",
        r#"{"indent":25}"#,
        "at /indent: 25 is greater than the maximum of 24",
        "backwards: compatible",
        "forwards: incompatible",
        "needs a major version",
    ] {
        assert!(run.stdout.contains(part), "{part}\n{}", run.stdout);
    }
}

#[test]
fn compatible_direction_passes() {
    let world = world();
    let run = world.blue(&world.root(), &["compat", "old.json", "new.json", "--direction", "backwards"]).exits(0);
    assert!(!run.stdout.contains("forwards"), "{}", run.stdout);
    world.blue(&world.root(), &["compat", "old.json", "new.json", "--direction", "forwards"]).exits(1);
    world.blue(&world.root(), &["compat", "new.json", "new.json"]).exits(0);
}

#[test]
fn reading_decides() {
    let world = world();
    world.write(
        "more.json",
        r#"{"type": "object", "properties": {"indent": {"type": "integer", "maximum": 255}, "b": {"type": "null"}}}"#,
    );
    world.blue(&world.root(), &["compat", "old.json", "more.json"]).exits(0);
    let strict = world.blue(&world.root(), &["compat", "old.json", "more.json", "--reading", "strict"]).exits(1);
    let decides = "forwards: incompatible (readers of the new schema reject some of what the old one sent)";
    assert!(strict.stdout.contains(&format!("{decides}\n  read leniently: compatible\n")), "{strict:?}");
}

/// An open object allows both names, but a sender sends only the one that its schema names.
#[test]
fn renamed_property_without_constraints_needs_a_minor_version() {
    let world = world();
    world.write("payload.json", r#"{"type": "object", "properties": {"payload": {"title": "Any JSON"}}}"#);
    world.write("data.json", r#"{"type": "object", "properties": {"data": {"title": "Any JSON"}}}"#);
    let needs = |reading: &str| {
        let run = world.blue(&world.root(), &["compat", "payload.json", "data.json", "--reading", reading]).exits(0);
        run.stdout.lines().last().unwrap_or_default().to_owned()
    };
    let other = "needs a minor version: the same values are valid, but other properties are named, and so sent";
    assert_eq!(needs("lenient"), other);
    assert_eq!(needs("strict"), "needs at most a patch version: the same values are valid");
}

#[test]
fn property_in_a_condition_is_named() {
    let world = world();
    let us = r#""if": {"properties": {"land": {"const": "US"}}, "required": ["land"]}, "then": {"required": ["zip"]}"#;
    world.write("old.json", &format!(r#"{{"properties": {{"id": {{"type": "string"}}}}, {us}}}"#));
    world.write(
        "new.json",
        &format!(r#"{{"properties": {{"id": {{"type": "string"}}, "land": {{"enum": ["US"]}}}}, {us}}}"#),
    );
    let run = world.blue(&world.root(), &["compat", "old.json", "new.json", "--direction", "forwards"]).exits(1);
    assert!(run.stdout.contains("at /land: null is not \"US\"\n"), "{run}");
}

#[test]
fn variants_are_told_apart_by_their_discriminator() {
    let world = world();
    let api = |bark: &str| {
        format!(
            "openapi: 3.0.3\ncomponents:\n  schemas:\n    Pet:\n      oneOf:\n        - $ref: '#/components/schemas/Cat'\n        \
            - $ref: '#/components/schemas/Dog'\n      discriminator: {{ propertyName: kind }}\n    \
            Cat: {{ type: object, required: [kind], properties: {{ kind: {{ type: string }} }} }}\n    \
            Dog: {{ type: object, required: [kind], properties: {{ kind: {{ type: string }}, bark: {{ type: {bark} }} }} }}\n"
        )
    };
    world.write("old.yaml", &api("boolean"));
    world.write("new.yaml", &api("string"));
    let changed =
        world.blue(&world.root(), &["compat", "old.yaml#/components/schemas/Pet", "new.yaml#/components/schemas/Pet"]);
    let changed = changed.exits(1);
    assert!(changed.stdout.contains(r#""kind":"Dog""#), "{changed}");
}

/// The example of OpenAPI 3.0.3. The children refer to their parent, which does not refer to them.
#[test]
fn children_of_a_discriminator_are_named() {
    let world = World::new();
    let dog = "{ allOf: [{ $ref: '#/components/schemas/Pet' }, { properties: { bark: { type: boolean } } }] }";
    let api = format!(
        "openapi: 3.0.3\ncomponents:\n  schemas:\n    Pet:\n      type: object\n      required: [kind]\n      \
         discriminator: {{ propertyName: kind }}\n      properties: {{ kind: {{ type: string }} }}\n    Dog: {dog}\n    \
         Cat: {dog}\n    Alone: {{ type: object, discriminator: {{ propertyName: kind }} }}\n"
    );
    world.write("v1.yaml", &api);
    world.write("v2.yaml", &api.replace("boolean", "string"));
    let warnings = |name: &str| {
        let sides = ["v1", "v2"].map(|file| format!("{file}.yaml#/components/schemas/{name}"));
        world.json(&world.root(), &["compat", &sides[0], &sides[1], "--direction", "forwards"])["warnings"].clone()
    };
    let pet = warnings("Pet");
    assert_eq!(pet[1]["pointer"], "/components/schemas/Pet/discriminator", "{pet}");
    assert_eq!((&pet[1]["rule"], &pet[1]["keyword"]), (&json!("children-not-compared"), &json!("discriminator")));
    assert_eq!(pet[1]["suggestion"], "compare a oneOf of Cat, Dog", "{pet}");
    assert_eq!(warnings("Alone"), json!([]));
    let dog =
        world.blue(&world.root(), &["compat", "v1.yaml#/components/schemas/Dog", "v1.yaml#/components/schemas/Dog"]);
    assert!(!dog.stdout.contains("warning"), "{dog}");
}

#[test]
fn empty_required_of_draft_04_is_compared() {
    let world = world();
    let draft = "http://json-schema.org/draft-04/schema#";
    for (file, kind) in [("four.json", "string"), ("changed.json", "integer")] {
        let schema = json!({"$schema": draft, "properties": {"a": {"type": kind}}, "required": []});
        world.write(file, &schema.to_string());
    }
    world.blue(&world.root(), &["compat", "four.json", "four.json"]).exits(0);
    let found = world.blue(&world.root(), &["compat", "four.json", "changed.json", "--json"]).exits(1).json();
    assert_eq!(found["differences"][0]["new_pointer"], "/properties/a/type");
}

#[test]
fn warns_of_misspelled_keywords() {
    let world = world();
    world.write("slip.json", r#"{"type": "object", "properties": {"indent": {"type": "integer", "maximun": 24}}}"#);
    let run = world.blue(&world.root(), &["compat", "old.json", "slip.json", "--direction", "forwards"]).exits(0);
    for part in [
        "warning[misspelt-keyword]: slip.json#/properties/indent/maximun",
        r#""maximun" is not a keyword and has no effect; did you mean "maximum"?"#,
    ] {
        assert!(run.stdout.contains(part), "{part}\n{}", run.stdout);
    }
    let answer = world.blue(&world.root(), &["compat", "slip.json", "slip.json", "--json"]).exits(0).json();
    assert_eq!(answer["warnings"].as_array().unwrap().len(), 2);
    assert_eq!(answer["warnings"][0]["keyword"], "maximun");
    let run = world.blue(&world.root(), &["compat", "old.json", "new.json", "--json"]).exits(1);
    assert_eq!(run.json()["warnings"], json!([]));
}

/// Two closed objects that must both hold. With `required`, nothing is valid; without it, only `{}`.
fn closed(required: bool, bark: &str) -> String {
    let part = |name: &str, kind: &str| {
        let required = if required { format!(r#""required": ["{name}"],"#) } else { String::new() };
        let property = format!(r#""properties": {{"{name}": {{"type": "{kind}"}}}}"#);
        format!(r#"{{"type": "object", {required} {property}, "additionalProperties": false}}"#)
    };
    let (dog, base) = (part("bark", bark), part("id", "string"));
    format!(r##"{{"allOf": [{{"$ref": "#/$defs/Base"}}, {dog}], "$defs": {{"Base": {base}}}}}"##)
}

#[test]
fn warns_of_schemas_that_allow_nothing() {
    let world = world();
    let warned = |old: &str, new: &str| {
        world.write("old.json", old);
        world.write("new.json", new);
        let run = world.blue(&world.root(), &["compat", "old.json", "new.json"]);
        assert_eq!(run.stdout.matches("warning[nothing-valid]").count(), run.stdout.matches("is valid:").count());
        run.stdout
    };
    let found = warned(&closed(true, "boolean"), &closed(true, "string"));
    for part in [
        "warning[nothing-valid]: old.json#/$defs/Base/additionalProperties",
        "warning[nothing-valid]: new.json#/$defs/Base/additionalProperties",
        r#"no value is valid: "bark" is required, but not allowed here"#,
    ] {
        assert!(found.contains(part), "{part}\n{found}");
    }
    let found = warned(&closed(false, "boolean"), OLD);
    assert!(found.contains(r#"no object with a property is valid: "bark" is named, but not allowed here"#), "{found}");
    let endless = r##"{"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}"##;
    world.write("old.json", endless);
    let run = world.blue(&world.root(), &["compat", "old.json", "old.json"]).exits(0);
    assert!(run.stdout.contains("warning[nothing-valid]: old.json#\n      no value is valid\n"), "{run}");
    for schema in [
        r#"{"type": "object", "additionalProperties": false}"#,
        r#"{"type": ["string", "object"], "properties": {"a": false}}"#,
        r#"{"type": "string", "properties": {"a": {}}}"#,
        r#"{"properties": {"a": {}}, "maxProperties": 0}"#,
        r#"{"oneOf": [{"type": "object", "properties": {"a": {}}, "additionalProperties": false}, {"type": "null"}]}"#,
        r#"{"$ref": "https://example.com/other.json", "properties": {"a": {}}, "required": ["a"]}"#,
        "false",
    ] {
        let found = warned(schema, schema);
        assert!(!found.contains("nothing-valid"), "{found}");
    }
}

#[test]
fn follows_references_named_after_types() {
    let world = world();
    let with = |maximum: u64| {
        let list = json!({"type": "array", "items": {"type": "integer", "maximum": maximum}});
        json!({"$ref": "#/$defs/List<number|null>", "$defs": {"List<number|null>": list}}).to_string()
    };
    world.write("wide.json", &with(9));
    world.write("narrow.json", &with(3));
    let run = world.blue(&world.root(), &["compat", "wide.json", "narrow.json", "--json"]).exits(1);
    assert_eq!(run.json()["differences"][0]["witness"], json!([4]));
}

#[test]
fn what_is_outside_of_a_schema_is_not_known() {
    let world = world();
    let schema =
        |target: &str, b: &str| format!(r#"{{"properties": {{"a": {{"$ref": "{target}"}}, "b": {{"type": "{b}"}}}}}}"#);
    let compare = |old: &str, new: &str| {
        world.write("old.json", old);
        world.write("new.json", new);
        let run = world.blue(&world.root(), &["compat", "old.json", "new.json", "--json"]);
        let answer = run.json();
        let verdict = |direction: &str| answer[direction]["strict"]["verdict"].as_str().unwrap_or_default().to_owned();
        let reason = answer["backwards"]["strict"]["reason"].as_str().unwrap_or_default().to_owned();
        let rules = answer["warnings"].as_array().unwrap().iter().map(|one| one["rule"].as_str().unwrap().to_owned());
        ([verdict("backwards"), verdict("forwards")], reason, rules.collect::<Vec<_>>(), run.code)
    };
    let (there, other) = ("https://example.com/a.json#/$defs/a", "https://example.com/b.json");
    // The same target has the same values, and the other parts are compared.
    let (verdicts, _, warnings, code) = compare(&schema(there, "integer"), &schema(there, "number"));
    assert_eq!((verdicts, code), (["incompatible", "compatible"].map(str::to_owned), 1));
    assert_eq!(warnings, ["external-reference", "external-reference"]);
    let (verdicts, reason, _, code) = compare(&schema(there, "integer"), &schema(other, "integer"));
    assert_eq!((verdicts, code), (["unknown", "unknown"].map(str::to_owned), 0));
    assert!(reason.ends_with("is outside the schemas (at /properties/a)"), "{reason}");
    // A file beside the schema may have changed with it.
    let beside = schema("./a.json", "integer");
    let (verdicts, reason, ..) = compare(&beside, &beside);
    assert_eq!(
        (verdicts, &*reason),
        (["unknown", "unknown"].map(str::to_owned), "\"./a.json\" is outside the new schema (at /properties/a)")
    );
    let itself = world.blue(&world.root(), &["compat", "old.json", "old.json"]).exits(0);
    assert!(itself.stdout.contains("warning[external-reference]: old.json#/properties/a/$ref"), "{itself}");
    assert!(itself.stdout.contains("forwards: compatible"), "{itself}");
    // A value that proves a break does not depend on what is not known.
    let required = r#"{"properties": {"a": {"$ref": "https://example.com/a.json"}}, "required": ["a"]}"#;
    let (verdicts, ..) = compare(required, &required.replace("true", "false").replace("[\"a\"]", "[\"a\", \"b\"]"));
    assert_eq!(verdicts, ["compatible", "unknown"]);
    // The place is named also if both schemas share it.
    let shared =
        r#"{"required": ["a", "b"], "properties": {"a": {"$ref": "https://example.com/a.json"}, "b": {"enum": [1]}}}"#;
    let (_, reason, ..) = compare(shared, &shared.replace("[1]", "[1, 2]"));
    assert_eq!(reason, "\"https://example.com/a.json\" is outside the schemas (at /properties/a)");
    // Nor is it known which properties it names, and so what a sender sends.
    let named = r#"{"properties": {"b": {"type": "string"}}, "anyOf": [{"$ref": "https://example.com/a.json"}, {"required": ["c"]}]}"#;
    world.write("old.json", &named.replace(r#""b": {"type": "string"}"#, r#""a": true"#));
    world.write("new.json", &named.replace(r#""b""#, r#""a": true, "b""#));
    let lenient = world.json(&world.root(), &["compat", "old.json", "new.json"]);
    assert_eq!(lenient["forwards"]["lenient"]["verdict"], "unknown", "{lenient}");
    let negated = r#"{"not": {"$ref": "https://example.com/a.json"}, "minimum": 1}"#;
    let (verdicts, ..) = compare(negated, &negated.replace('1', "2"));
    assert_eq!(verdicts, ["compatible", "unknown"]);
    // A URI with a fragment is still that of the schema itself.
    let own = r##"{"$schema": "http://json-schema.org/draft-07/schema", "$id": "https://example.com/a#b",
        "$ref": "#/definitions/c", "definitions": {"c": {"type": "string"}}}"##;
    let (verdicts, _, warnings, _) = compare(own, &own.replace("string", "null"));
    assert_eq!((verdicts, warnings.len()), (["incompatible", "incompatible"].map(str::to_owned), 0));
    let latest = r#"{"$schema": "http://json-schema.org/schema#", "id": "x", "maximum": 1}"#;
    let (verdicts, ..) = compare(latest, &latest.replace('1', "2"));
    assert_eq!(verdicts, ["incompatible", "compatible"]);
}

#[test]
fn unknown_fails_only_with_strict() {
    let world = world();
    // An automaton cannot handle a back-reference.
    world.write("pairs.json", r#"{"type": "string", "pattern": "^(?:(a|b)\\1)*$"}"#);
    world.write("even.json", r#"{"type": "string", "pattern": "^(?:aa|bb)*$"}"#);
    let run = world.blue(&world.root(), &["compat", "pairs.json", "even.json"]).exits(0);
    assert!(run.stdout.contains("unknown") && run.stdout.contains("undecided:"), "{}", run.stdout);
    world.blue(&world.root(), &["compat", "pairs.json", "even.json", "--strict"]).exits(1);
}

#[test]
fn changed_formats_are_named_unless_they_are_compared() {
    let world = World::new();
    for (api, is_compared) in [("openapi: 3.0.3", false), ("openapi: 3.1.0", false), ("asyncapi: 3.0.0", true)] {
        for (name, format) in [("old", "date-time"), ("new", "date")] {
            let schema = format!("{{ type: object, properties: {{ at: {{ type: string, format: {format} }} }} }}");
            world.write(&format!("{name}.yaml"), &format!("{api}\ncomponents: {{ schemas: {{ A: {schema} }} }}\n"));
        }
        let [old, new] = ["old", "new"].map(|name| format!("{name}.yaml#/components/schemas/A"));
        let run = world.blue(&world.root(), &["compat", &old, &new]);
        let said = "\"format\" was not compared, since 2020-12 does not assert it; it changed from \"date-time\" to \
                    \"date\": ask those who rely on it";
        let at = "warning[format-not-compared]: new.yaml#/components/schemas/A/properties/at/format";
        let has_both =
            run.stdout.split_whitespace().collect::<Vec<_>>().join(" ").contains(said) && run.stdout.contains(at);
        assert_eq!(has_both, !is_compared, "{api}: {run}");
        assert_eq!(run.stdout.contains("needs a major version"), is_compared, "{api}: {run}");
    }
}
