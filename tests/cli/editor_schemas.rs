//! `git blue install editor`: the schemas agree with what the program reads.

use std::fs;

use git_blue::{ops::publish::editor_schemas, store::codec};
use serde_json::Value;

use crate::world::{BINDING_FILE, CONTRACT_FILE, World};

fn schema(kind: &str) -> Value {
    let found = editor_schemas::all().into_iter().find(|schema| schema.kind == kind).unwrap();
    found.schema.to_value()
}

fn read(text: &str) -> Value {
    codec::value(text.as_bytes()).unwrap().into()
}

#[test]
fn repository_files_match_their_schemas() {
    let world = World::pair();
    for (kind, file) in [
        ("contract", format!("fungal/{CONTRACT_FILE}")),
        ("binding", format!("fungal/{BINDING_FILE}")),
        ("binding", format!("access/{BINDING_FILE}")),
        ("config", "access/.blue/config.yaml".to_owned()),
    ] {
        let text = fs::read_to_string(world.path(&file)).unwrap();
        let validator = jsonschema::validator_for(&schema(kind)).unwrap();
        assert!(validator.is_valid(&read(&text)), "{file}: {:?}", validator.validate(&read(&text)));
        assert!(!validator.is_valid(&read(&format!("ownr: x\n{text}"))), "{kind}");
    }
}

#[test]
fn schemas_accept_every_form_of_version_and_schema() {
    let validator = jsonschema::validator_for(&schema("contract")).unwrap();
    let fits = |version: &str, schema: &str| {
        validator.is_valid(&read(&format!("name: a\nowner: b\nversion: {version}\nschema: {schema}\n")))
    };
    for version in ["\"1.0.0\"", "\"1.0.0-rc.1\"", "auto", "{ from: package.json }", "{ from: x.json, at: /version }"] {
        assert!(fits(version, "{}"), "{version}");
    }
    for version in ["1.0", "\"01.0.0\"", "latest", "{ form: x }"] {
        assert!(!fits(version, "{}"), "{version}");
    }
    assert!(fits("auto", "{ file: a.json, at: \"#/$defs/A\" }") && fits("auto", "true") && !fits("auto", "text"));
    // Fields that only the realm writes are not in the schema.
    assert!(!validator.is_valid(&read("name: a\nowner: b\nversion: auto\nyanked: []\n")));
}

#[test]
fn new_files_name_their_schema_and_are_publishable() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    world.ok(&fungal, &["install", "editor"]);
    world.ok(&fungal, &["contract", "new", "s3-access/masks"]);
    let text = fs::read_to_string(world.path("fungal/.blue/contracts/s3-access/masks.yaml")).unwrap();
    assert!(text.starts_with("# yaml-language-server: $schema=../../schemas/contract.schema.json\n"), "{text}");
    assert!(world.path("fungal/.blue/contracts/s3-access/../../schemas/contract.schema.json").is_file());
    world.commit("fungal", "Add masks");
    world.ok(&access, &["contract", "get", "s3-access/masks"]);
    // Without the schemas nothing is named.
    world.ok(&access, &["realm", "admin", "domain", "--name", "more", "--repos", "access"]);
    world.ok(&access, &["contract", "new", "more/plain"]);
    let text = fs::read_to_string(world.path("access/.blue/contracts/more/plain.yaml")).unwrap();
    assert!(!text.contains("yaml-language-server"), "{text}");
}

#[test]
fn uninstall_removes_installed_schemas() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let before = "{\n  // mine\n  \"editor.rulers\": [100],\n  \"yaml.schemas\": {\"mine.json\": \"*.yml\"}\n}\n";
    world.write("fungal/.vscode/settings.json", before);
    let wrote = world.ok(&fungal, &["install", "editor", "--vscode"]);
    assert!(wrote.stdout.contains("wrote .blue/schemas/contract.schema.json\n"), "{wrote}");
    assert!(wrote.all().contains("git add .blue/schemas/contract.schema.json"), "{wrote}");
    let settings = || fs::read_to_string(world.path("fungal/.vscode/settings.json")).unwrap();
    assert!(settings().contains("\".blue/schemas/binding.schema.json\": \".blue/bindings/*.yaml\""), "{}", settings());
    let once = settings();
    world.ok(&fungal, &["install", "editor", "--vscode"]);
    assert_eq!(settings(), once);
    let removed = world.ok(&fungal, &["uninstall", "editor"]);
    assert!(removed.stdout.contains("removed .blue/schemas/contract.schema.json\n"), "{removed}");
    let after = settings();
    assert!(after.contains("// mine") && after.contains("mine.json") && !after.contains(".blue/schemas"), "{after}");
    assert_eq!(world.ok(&fungal, &["uninstall", "editor"]).stdout, "nothing to remove\n");
}
