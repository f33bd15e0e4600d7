//! `expects` in files of its own, and inferred from samples.

use serde_json::{Value, json};

use crate::{
    expects::{AT, import, reader, write},
    world::{BINDING_FILE, CONTRACT_FILE, World, importing},
};

#[test]
fn expects_may_be_a_file() {
    let world = reader();
    let consumer = world.path("access");
    let schema = |kind: &str| json!({"type": "object", "properties": {"id": {"type": kind}}}).to_string();
    world.write("access/expected.json", &schema("string"));
    import(&world, "expects: { file: expected.json }");
    world.commit("access", "Keep it in a file");
    let held = || world.stored("bindings/access.json")["imports"][0]["expects"]["properties"]["id"]["type"].clone();
    assert_eq!(held(), "string");
    world.blue(&consumer, &["check"]).exits(0);
    // A change of the file alone changes the binding.
    world.write("access/expected.json", &schema("integer"));
    world.blue(&consumer, &["check", "--worktree"]).exits(1);
    let commit = world.commit("access", "Expect a number");
    assert!(commit.stderr.contains("the import does not expect"), "{commit}");
    assert_eq!(held(), "integer");
    let large = json!({"a": {"maximum": i64::MAX}, "b": {"type": "object"}});
    world.write("access/large.json", &large.to_string());
    import(&world, "expects: { file: large.json, at: /b }");
    world.blue(&consumer, &["check", "--worktree"]).exits(0);
    for (expected, said) in [
        ("expects: { file: large.json, at: /a }", "expects: large.json: /a/maximum: many JSON parsers"),
        ("expects: { file: none.json }", "there is no such file in this repository"),
        ("expects: { type: strnig }", "the import of s3-permissions: expects/type:"),
    ] {
        import(&world, expected);
        let check = world.blue(&consumer, &["check", "--worktree"]).exits(1);
        assert!(check.stdout.contains(said) && check.stdout.contains("[unreadable-file]"), "{check}");
    }
}

#[test]
fn expected_document_of_openapi_has_the_direction_of_the_contract() {
    let api = |id: &str| {
        format!(
            "openapi: 3.0.3\nuser:\n  type: object\n  required: [id, name, password]\n  properties:\n    \
            id: {{ type: string{id} }}\n    name: {{ type: string }}\n    password: {{ type: string, writeOnly: true }}\n"
        )
    };
    for (flow, broken) in [("provider-to-consumer", 0), ("consumer-to-provider", 1)] {
        let world = World::pair();
        let write = |version: &str, id: &str| {
            world.write("fungal/api.yaml", &api(id));
            let head = format!("name: s3-permissions\nversion: \"{version}\"\nowner: fungal\nflow: {flow}\n");
            let rest = "compatibility: { backwards: false, forwards: false }\nschema: { file: api.yaml, at: /user }\n";
            world.write(&format!("fungal/{CONTRACT_FILE}"), &format!("{head}{rest}"));
        };
        write("2.0.0", ", readOnly: true");
        world.commit("fungal", "Users");
        // Answers have no password, and requests no id.
        world.write("access/api.yaml", &api(", readOnly: true"));
        import(&world, "expects: { file: api.yaml, at: /user }");
        world.commit("access", "Rely on users");
        world.blue(&world.path("access"), &["check"]).exits(0);
        // From now on, requests need the id.
        write("3.0.0", "");
        let impact = world.json(&world.path("fungal"), &["contract", "impact", AT, "--worktree"]);
        assert_eq!(impact["broken"], json!(broken), "{flow}: {impact}");
    }
}

#[test]
fn expects_is_inferred_from_samples() {
    let world = World::pair();
    let consumer = world.path("access");
    let expected = "access/.blue/expects/s3-access/s3-permissions.json";
    world.write("access/one.jsonl", "{\"read\": [\"a\"], \"mark\": 1}\n{\"read\": []}\n");
    let expect = ["contract", "expect", AT, "--from-samples", "one.jsonl"];
    let answer = world.json(&consumer, &expect);
    assert_eq!(
        (&answer["samples"], &answer["change"], &answer["binding_change"]),
        (&json!(2), &json!("created"), &json!("changed")),
        "{answer}"
    );
    let binding = std::fs::read_to_string(world.path(&format!("access/{BINDING_FILE}"))).unwrap();
    assert_eq!(
        binding,
        importing(">=1.0.0, <2.0.0") + "    expects: { file: \".blue/expects/s3-access/s3-permissions.json\" }\n"
    );
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(world.path(expected)).unwrap()).unwrap();
    assert_eq!((&schema["required"], &schema["properties"]["mark"]["type"]), (&json!(["read"]), &json!("integer")));
    world.blue(&consumer, &["check", "--worktree"]).exits(0);
    world.git(&consumer, &["add", "."]);
    world.git(&consumer, &["commit", "--quiet", "--message", "Expect"]);
    let stored = &world.stored("bindings/access.json")["imports"][0]["expects"];
    assert_eq!(stored, &schema);
    // The contract does not name `mark`.
    let warnings = world.json(&consumer, &["check"])["warnings"].clone();
    assert_eq!((&warnings[0]["code"], &warnings[1]), (&json!("expects-unnamed"), &Value::Null));

    // An unpromised property is reported, and existing files are not overwritten.
    world.write("access/two.json", "{\"read\": [], \"mark\": 1}");
    let again = ["contract", "expect", AT, "--from-samples", "two.json"];
    assert!(world.blue(&consumer, &again).exits(1).stderr.contains("already exists, and was not overwritten"));
    let alone = world.ok(&consumer, &[&again[..], &["--replace"]].concat());
    assert!(!alone.stdout.contains("contains a list"), "{alone}");
    world.write("access/list.json", "[{\"read\": []}]");
    let mixed = world.ok(&consumer, &[&again[..], &["list.json", "--replace"]].concat());
    assert!(
        mixed.stdout.contains("list.json contains a list, which is one sample; write one document per line"),
        "{mixed}"
    );
    world.ok(&consumer, &[&again[..], &["--replace"]].concat());
    // A schema that was written by hand is not replaced either.
    world.write("access/mine.json", "{\"required\": [\"mark\"]}");
    world.ok(&consumer, &["import", AT, "--expects", "mine.json"]);
    let refused = world.blue(&consumer, &again).exits(1);
    assert!(refused.stderr.contains("has expectations in mine.json already, which were not replaced"), "{refused}");
    let check = world.blue(&consumer, &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains("1.0.0 allows {\"read\":[]}"), "{check}");
    world.blue(&consumer, &["contract", "expect", "s3-access/other", "--from-samples", "two.json"]).exits(1);
}

#[test]
fn file_of_expects_is_restored_if_the_binding_cannot_be_edited() {
    let world = World::pair();
    let consumer = world.path("access");
    let file = "access/.blue/expects/s3-access/s3-permissions.json";
    world.write("access/one.json", "{\"read\": []}");
    let flow = "{\"role\": \"consumer\", \"imports\": [{\"contract\": \"s3-permissions\", \"version\": \">=1.0.0\"}]}";
    world.write(&format!("access/{BINDING_FILE}"), flow);
    world.write(file, "true\n");
    let replace = ["contract", "expect", AT, "--replace", "--from-samples", "one.json"];
    let refused = world.blue(&consumer, &replace).exits(1);
    assert!(refused.stderr.contains("its layout is not supported; nothing was changed"), "{refused}");
    assert_eq!(world.read(file), "true\n");
}

#[test]
fn import_names_the_file_of_expects() {
    let world = World::pair();
    let consumer = world.path("access");
    world.write("access/src/expected.yaml", "type: object\nrequired: [read]\n");
    let import = ["import", AT, "--expects", "src/expected.yaml"];
    let text = world.ok(&consumer, &import).stdout;
    assert!(text.contains("git blue check --worktree  # check that the contract meets the expectations"), "{text}");
    assert!(world.ok(&consumer, &import).stdout.starts_with("unchanged"));
    world.blue(&consumer, &["check", "--worktree"]).exits(0);
    world.write("access/src/none.json", "{\"type\": 1}");
    let refused = world.blue(&consumer, &["import", AT, "--expects", "src/none.json"]).exits(1);
    assert!(refused.stderr.contains("expects/type"), "{refused}");
    world.blue(&consumer, &["import", AT, "--expects", "../fungal/README.md"]).exits(1);
    // In flow style, and with another range.
    let flow = "role: consumer\nimports: [{ contract: s3-permissions, version: \">=1.0.0\" }]\n";
    world.write(&format!("access/{BINDING_FILE}"), flow);
    world.ok(&consumer, &["import", AT, ">=1.0.0, <2.0.0", "--expects", "src/expected.yaml"]);
    let binding = std::fs::read_to_string(world.path(&format!("access/{BINDING_FILE}"))).unwrap();
    let expected = "role: consumer\nimports: [{ contract: s3-permissions, version: \">=1.0.0, <2.0.0\", expects: { file: src/expected.yaml } }]\n";
    assert_eq!(binding, expected);
    // A part of a file.
    world.write("access/src/api.yaml", "components: { schemas: { Paths: { type: object, required: [read] } } }\n");
    world.ok(&consumer, &["import", AT, "--expects", "src/api.yaml#/components/schemas/Paths"]);
    let binding = std::fs::read_to_string(world.path(&format!("access/{BINDING_FILE}"))).unwrap();
    let part = "{ file: src/api.yaml, at: \"#/components/schemas/Paths\" }";
    assert_eq!(binding, expected.replace("{ file: src/expected.yaml }", part));
    world.blue(&consumer, &["check", "--worktree"]).exits(0);
    let missing = world.blue(&consumer, &["import", AT, "--expects", "src/api.yaml#/none"]).exits(1);
    assert!(missing.stderr.contains("src/api.yaml: there is nothing at /none"), "{missing}");
}

#[test]
fn broken_expectation_names_the_file_to_edit() {
    let world = reader();
    let consumer = world.path("access");
    world.write("access/ids.json", r#"{"id": "a"}"#);
    world.ok(&consumer, &["contract", "expect", AT, "--replace", "--from-samples", "ids.json"]);
    world.commit("access", "Expect it in a file");
    write(&world, "3.0.0", "{ id: { type: integer }, note: { type: string } }");
    world.commit("fungal", "Numbers");
    let file = ".blue/expects/s3-access/s3-permissions.json";
    let review = world.blue(&consumer, &["review"]);
    assert!(review.stdout.contains("s3-permissions 2.0.0 -> 3.0.0 broken"), "{review}");
    let step = world.next_step(&review);
    assert!(step.starts_with("git blue check --worktree") && step.contains(file), "{step}");
    // Recording that the code is adapted does not settle it; the next step still names the file.
    world.ok(&consumer, &["contract", "adapted", AT, "3.0.0"]);
    let review = world.blue(&consumer, &["review"]);
    assert!(review.stdout.contains("s3-permissions 3.0.0 broken") && review.stdout.contains(file), "{review}");
    // A wider range would not settle it either.
    write(&world, "9.0.0", "{ id: { type: integer }, note: { type: string } }");
    let check = world.ok(&world.path("fungal"), &["check", "--worktree"]);
    assert!(check.stdout.contains("publishes 9.0.0") && !check.stdout.contains("accepts both"), "{check}");
    // Once the file is edited, nothing is broken.
    let expected = world.read(&format!("access/{file}")).replace("string", "integer");
    world.write(&format!("access/{file}"), &expected);
    world.blue(&consumer, &["check", "--worktree"]).exits(0);
}
