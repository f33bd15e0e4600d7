//! The inputs of `git blue compat`: files, parts of them, standard input and commits, and what is refused.

use serde_json::json;

use crate::{
    compat::{NEW, OLD, world},
    world::World,
};

#[test]
fn home_is_not_needed() {
    let world = world();
    let mut command = world.command("git-blue", &world.root());
    command.args(["compat", "old.json", "new.json"]).env_remove("HOME").env_remove("GIT_BLUE_HOME");
    assert_eq!(command.output().unwrap().status.code(), Some(1));
}

#[test]
fn reads_yaml_and_standard_input() {
    let world = world();
    world.write("old.yaml", "type: string\nminLength: 3\n");
    let run = world.feed("git-blue", &world.root(), &["compat", "old.yaml", "-", "--json"], r#"{"type":"string"}"#);
    let run = run.exits(1);
    let answer = run.json();
    assert_eq!(answer["compatible"], json!(false));
    assert_eq!(answer["backwards"]["strict"]["verdict"], "incompatible");
    assert_eq!(answer["differences"][0]["rule"], "widened-min-length");
    assert_eq!(answer["bump"], "major");
}

#[test]
fn reads_a_part_of_an_openapi_document() {
    let world = world();
    let api = |id: &str| {
        format!(
            "openapi: 3.0.3\ncomponents:\n  schemas:\n    Order:\n      type: object\n      required: [id]\n      \
            properties:\n        id: {{ $ref: '#/components/schemas/Id' }}\n    Id: {id}\n"
        )
    };
    world.write("old.yaml", &api("{ type: string }"));
    world.write("new.yaml", &api("{ type: string, nullable: true }"));
    let part = |file: &str| format!("{file}#/components/schemas/Order");
    let run = world.blue(&world.root(), &["compat", &part("old.yaml"), &part("new.yaml")]).exits(1);
    for text in ["old.yaml#/components/schemas/Order -> new.yaml#", r#"{"id":null}"#, "needs a major version"] {
        assert!(run.stdout.contains(text), "{text}\n{run}");
    }
    let github = world.blue(&world.root(), &["compat", &part("old.yaml"), &part("new.yaml"), "--format", "github"]);
    assert!(github.exits(1).stdout.contains("file=new.yaml,line=9,"), "the line of the definition");
    assert!(run.stdout.contains("--> new.yaml#/components/schemas/Id"), "{run}");
    let unnamed = world.blue(&world.root(), &["compat", "old.yaml", "#/x"]).exits(129);
    assert!(unnamed.stderr.contains("#/x names no file; write FILE#/POINTER"), "{unnamed}");
    for (place, message) in [
        ("old.yaml#/none", "there is nothing at /none; the document has \"components\", \"openapi\""),
        ("old.yaml#/components/schemas/order/x", r#"/components/schemas has "Id", "Order" (did you mean Order?)"#),
        ("none.yaml#/x", "cannot read none.yaml"),
    ] {
        let missing = world.blue(&world.root(), &["compat", place, "new.json"]).exits(128);
        assert!(missing.stderr.contains(message), "{missing}");
    }
    for (at, target) in [("", "schemas/order.json"), (", at: '#/$defs/A'", "schemas/order.json#/$defs/A")] {
        world.write("contract.yaml", &format!("name: order\nschema: {{ file: schemas/order.json{at} }}\n"));
        let refused = world.blue(&world.root(), &["compat", "contract.yaml#/schema", "new.json"]).exits(128);
        let said = format!("contract.yaml#/schema refers to {target}; name that file instead");
        assert!(refused.stderr.contains(&said), "{refused}");
    }
    world.write("other.yaml", "$defs: { a: { $ref: 'old.yaml' } }");
    let other = world.blue(&world.root(), &["compat", "other.yaml#/$defs/a", "new.json"]).exits(128);
    assert!(other.stderr.contains("old.yaml: references to other files are not followed"), "{other}");
}

/// A number in one part does not concern another one, and generated schemas have the bounds of 64-bit integers.
#[test]
fn machine_numbers_are_read_in_every_file_and_part() {
    let world = World::new();
    world.repo("code");
    let dir = world.path("code");
    let both = |old: &str, new: &str, place: &str| {
        for (name, maximum) in [("old", old), ("new", new)] {
            let text = format!("a: {{type: integer, maximum: {maximum}}}\nb: {{type: string}}\n");
            world.write(&format!("code/{name}.yaml"), &text);
            let text = format!(r#"{{"a": {{"type": "integer", "maximum": {maximum}}}, "b": {{"type": "string"}}}}"#);
            world.write(&format!("code/{name}.json"), &text);
        }
        world.commit("code", "Write schemas");
        let sides = ["old", "new"].map(|name| ["json", "yaml"].map(|end| format!("{name}.{end}#{place}")));
        let [old, new] = sides;
        let commit = (format!("HEAD:{}", old[1]), new[0].clone());
        let pairs = old.into_iter().zip(new).chain([commit]);
        pairs.map(|(old, new)| world.blue(&dir, &["compat", &old, &new]).stdout).collect::<Vec<_>>()
    };
    for large in ["9223372036854775807", "18446744073709551615", "1e16", "1e300"] {
        for answer in both(large, large, "/a").into_iter().chain(both(large, "7", "/b")) {
            assert!(answer.contains("the same values are valid"), "{large}: {answer}");
        }
    }
    for answer in both("9007199254740993", "9007199254740992", "/a") {
        assert!(answer.contains("9007199254740993 is greater than the maximum of 9007199254740992"), "{answer}");
    }
    world.write("code/whole.yaml", "maximum: 9223372036854775807\n");
    world.blue(&dir, &["compat", "whole.yaml", "whole.yaml"]).exits(0);
}

#[test]
fn documents_that_are_no_schema_are_named() {
    let world = world();
    for (text, hint) in [
        (r#"{"openapi": "3.1.0", "components": {}}"#, "#/components/schemas/NAME"),
        (r#"{"name": "a", "version": "1.0.0", "owner": "b", "schema": {}}"#, "#/schema"),
        (r#"{"swagger": "2.0", "definitions": {}}"#, "#/definitions/NAME"),
    ] {
        world.write("api.json", text);
        let refused = world.blue(&world.root(), &["compat", "api.json", "api.json"]).exits(128);
        assert!(refused.stderr.contains(&format!("name a schema in it: api.json{hint}")), "{refused}");
    }
    // YAML reads a version without quotes as a number.
    world.write("swagger.yaml", "swagger: 2.0\ndefinitions: {}\n");
    let refused = world.blue(&world.root(), &["compat", "swagger.yaml", "swagger.yaml"]).exits(128);
    assert!(refused.stderr.contains("name a schema in it: swagger.yaml#/definitions/NAME"), "{refused}");
    world.write(
        "api.yaml",
        "openapi: 3.0\ndefault: { type: string, nullable: true }\nbody: { schema: { $ref: '#/default' } }\n",
    );
    world.write("null.json", r#"{"type": "null"}"#);
    world.blue(&world.root(), &["compat", "null.json", "api.yaml#/default", "--direction", "forwards"]).exits(0);
    let body = world.blue(&world.root(), &["compat", "api.yaml#/body", "api.yaml#/body"]).exits(0);
    assert!(body.stdout.contains(r#"every value is valid; "schema" is not a keyword"#), "{body}");
    world.write("data.json", r#"{"version": "1", "port": 80}"#);
    let data = world.blue(&world.root(), &["compat", "data.json", "data.json"]).exits(0);
    assert!(data.stdout.contains(r#"every value is valid; "port" is not a keyword"#), "{data}");
    world.write("broken.json", "{\"type\": \"object\",\n\"default\": }");
    let broken = world.blue(&world.root(), &["compat", "broken.json", "new.json"]).exits(128);
    assert!(broken.stderr.contains("broken.json:2:"), "JSON is not read as YAML: {broken}");
    world.write("invalid.json", "{\"type\": \"object\",\n\"required\": 3}");
    let invalid = world.blue(&world.root(), &["compat", "invalid.json", "new.json"]).exits(128);
    assert!(invalid.stderr.contains("invalid.json:2: not a valid JSON Schema at \"/required\""), "{invalid}");
}

#[test]
fn unsupported_dialects_are_named() {
    let world = world();
    for (uri, said) in [
        ("http://json-schema.org/draft-03/schema#", "$schema names draft-03, which is not supported"),
        ("https://example.com/own", "write the draft that it extends"),
    ] {
        world.write("own.json", &json!({"$schema": uri, "type": "object"}).to_string());
        let refused = world.blue(&world.root(), &["compat", "own.json", "own.json"]).exits(128);
        assert!(refused.stderr.contains(said), "{refused}");
    }
}

#[test]
fn files_at_a_commit_are_read() {
    let world = World::new();
    world.repo("code");
    let (dir, folder) = (world.path("code"), world.path("code/schemas"));
    world.write("code/schemas/a.json", OLD);
    world.commit("code", "Add a schema");
    world.write("code/schemas/a.json", NEW);
    for (dir, old, new) in [
        (&dir, "HEAD:schemas/a.json", "schemas/a.json"),
        (&folder, "HEAD:./a.json", "a.json"),
        (&dir, "HEAD:schemas/a.json#/properties/indent", "schemas/a.json#/properties/indent"),
    ] {
        let run = world.blue(dir, &["compat", old, new, "--output", "sarif=../out.sarif"]).exits(1);
        assert!(run.stdout.contains(&format!("{old} -> {new} breaks forwards")), "{}", run.stdout);
    }
    // Findings are at lines of files that exist.
    let sarif = std::fs::read_to_string(world.path("out.sarif")).unwrap();
    assert!(sarif.contains("schemas/a.json") && !sarif.contains("HEAD:schemas/a.json\""), "{sarif}");
    world.git(&dir, &["add", "-A"]);
    world.blue(&dir, &["compat", ":schemas/a.json", "schemas/a.json"]).exits(0);
    for missing in ["HEAD:b.json", "nowhere:schemas/a.json", "HEAD:schemas"] {
        let run = world.blue(&dir, &["compat", missing, "schemas/a.json"]).exits(128);
        assert!(run.stderr.contains(&format!("cannot read {missing}: ")), "{}", run.stderr);
    }
    let run = world.blue(&world.root(), &["compat", "HEAD:b.json", "HEAD:b.json"]).exits(128);
    assert!(run.stderr.contains("No such file"), "{}", run.stderr);
}

#[test]
fn unreadable_input_is_an_error() {
    let world = world();
    world.write("wrong.json", r#"{"type": "strin"}"#);
    world.write("broken.json", r#"{"type": "#);
    world.write("twice.json", r#"{"type": "string", "type": "null"}"#);
    for file in ["wrong.json", "broken.json", "twice.json", "missing.json"] {
        let run = world.blue(&world.root(), &["compat", "old.json", file]).exits(128);
        assert!(run.all().contains(file), "{}", run.all());
    }
    world.blue(&world.root(), &["compat", "-", "-"]).exits(129);
}

#[test]
fn file_that_cannot_be_read_is_no_incompatible_schema() {
    let world = world();
    world.write("empty.json", "\n");
    world.write("anchor.yaml", "a: &x 1\n");
    let empty = world.blue(&world.root(), &["compat", "old.json", "empty.json"]).exits(128);
    assert!(empty.stderr.contains("empty.json: the file is empty"), "{empty}");
    let part = world.blue(&world.root(), &["compat", "anchor.yaml#/a", "anchor.yaml#/a"]).exits(128);
    assert!(part.stderr.contains("anchor.yaml"), "{part}");
}

#[test]
fn standard_input_is_named_in_words() {
    let world = world();
    world.write("string.json", r#"{"type": "string"}"#);
    let run = world.feed("git-blue", &world.root(), &["compat", "-", "string.json"], r#"{"type": "number"}"#).exits(1);
    assert!(run.stdout.contains("standard input -> string.json breaks backwards compatibility"), "{run}");
    assert!(run.stdout.contains("valid in string.json, invalid in standard input:"), "{run}");
    assert!(run.stdout.contains("--> (standard input)#"), "{run}");
    let empty = world.feed("git-blue", &world.root(), &["compat", "string.json", "-"], "").exits(128);
    assert!(empty.stderr.contains("standard input: the file is empty"), "{empty}");
}
