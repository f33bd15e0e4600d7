//! Commands that write contracts and bindings.

use serde_json::json;

use crate::world::{BINDING_FILE, CONTRACT_FILE, Run, World, contract, snapshot};

pub const CONTRACT: &str = "s3-access/s3-permissions";
pub const ORDER: &str = "orders/order-placed";
pub const ORDER_FILE: &str = ".blue/contracts/orders/order-placed.yaml";

const EVENTS: &str = r#"{"id": 1, "total": 9.5, "lines": [{"sku": "a", "count": 2}], "note": null}
{"id": 2, "total": 3, "lines": [], "note": "gift"}
"#;

/// Two repositories in an otherwise empty realm.
pub fn two() -> World {
    let world = World::new();
    world.join("shop");
    world.join("billing");
    world
}

#[test]
fn members_that_are_added_to_a_domain_are_named() {
    let world = two();
    let set = |repo: &str| {
        let args = ["realm", "admin", "domain", "--name", "orders", "--repos", repo];
        world.ok(&world.path("shop"), &args).stdout.lines().next().unwrap().to_owned()
    };
    assert_eq!(set("shop"), "created domain orders with shop");
    assert_eq!(set("billing"), "added billing to domain orders (billing, shop)");
    assert_eq!(set("billing"), "found domain orders (billing, shop)");
}

#[test]
fn description_of_a_domain_is_a_change_to_sync() {
    let world = two();
    let shop = world.path("shop");
    world.ok(&shop, &["init", "--url", &world.hub()]);
    world.ok(&shop, &["realm", "admin", "domain", "--name", "orders", "--repos", "shop"]);
    world.ok(&shop, &["sync"]);
    let describe = ["realm", "admin", "domain", "--name", "orders", "--description", "What was ordered"];
    for (verb, is_changed) in [("described", true), ("found", false)] {
        let run = world.ok(&shop, &describe);
        assert_eq!(run.stdout.lines().next(), Some(&*format!("{verb} domain orders (shop)")));
        assert_eq!(run.all().contains("git blue sync"), is_changed, "{run}");
    }
}

#[test]
fn new_contract_from_samples_is_published_by_its_commit() {
    let world = two();
    let dir = world.path("shop");
    world.write("shop/events.jsonl", EVENTS);
    let made =
        world.ok(&dir, &["contract", "new", ORDER, "--from-samples", "events.jsonl", "--domain-members", "billing"]);
    let file = world.read(&format!("shop/{ORDER_FILE}"));
    let shown = world.ok(&dir, &["contract", "bump", "-h"]);
    snapshot("authoring_new", &[&made, &shown]);
    insta::assert_snapshot!("authoring_new_file", file);
    // The first next step is the one to run.
    let step = world.next_step(&made);
    let committed = world.finish_shell(&dir, &step);
    assert_eq!(committed.code, 0, "{committed:?}");
    let again = world.blue(&dir, &["contract", "new", ORDER, "--from-samples", "events.jsonl"]).exits(1);
    assert!(again.stderr.contains(&format!("hint: edit {ORDER_FILE} to change the contract")), "{again}");
    let answer = world.json(&dir, &["contract", "get", ORDER]);
    assert_eq!(answer["contract"]["version"], "1.0.0");
    let required = &answer["contract"]["schema"]["required"];
    assert_eq!(*required, json!(["id", "lines", "note", "total"]));
    assert_eq!(answer["contract"]["schema"]["properties"]["total"]["type"], "number");
    assert_eq!(world.json(&dir, &["realm", "topology"])["domains"][0]["members"], json!(["billing", "shop"]));
    let (domain, contract) = ORDER.split_once('/').unwrap();
    let shouted = format!("{domain}/{}", contract.to_uppercase());
    let refused = world.blue(&dir, &["contract", "new", &shouted]).exits(1);
    let said = format!("{shouted} differs from the existing {contract} only in case; choose another name");
    assert!(refused.stderr.contains(&said), "{refused}");
    assert!(!dir.join(format!(".blue/contracts/{shouted}.yaml")).exists());
}

#[test]
fn refused_new_contract_leaves_no_files() {
    let world = two();
    let dir = world.path("shop");
    world.write("shop/bad.json", r#"{"type": "objec"}"#);
    world.write("shop/good.yaml", "a: { b~c: { type: object, required: [id] } }\n");
    world.write("shop/value.json", "{}");
    let members = ["--domain-members", "billing"];
    let refused = |args: &[&str]| world.blue(&dir, &[&["contract", "new", ORDER][..], args].concat());
    let unknown = refused(&[]).exits(1);
    let schema = refused(&[&["--schema", "bad.json"], &members[..]].concat()).exits(1);
    let place = refused(&[&["--schema", "good.yaml#/a/x"], &members[..]].concat()).exits(1);
    let value = refused(&[&["--schema", "good.yaml#/a/b~0c", "--value", "value.json"], &members[..]].concat()).exits(1);
    let owner = refused(&[&["--owner", "billing"], &members[..]].concat()).exits(1);
    let member = refused(&["--domain-members", "biling"]).exits(128);
    snapshot("authoring_new_refused", &[&unknown, &schema, &place, &value, &owner, &member]);
    assert!(!dir.join(".blue/contracts").exists());
    assert_eq!(world.json(&dir, &["realm", "topology"])["domains"], json!([]));
    // The command in the first error works.
    let made = world.finish_shell(&dir, &world.next_step(&unknown));
    assert_eq!(made.code, 0, "{made:?}");
    let again = refused(&[]).exits(1);
    assert!(again.stderr.contains("already exists"), "{again:?}");
    let near = world.blue(&dir, &["contract", "new", "order/paid"]).exits(1);
    assert!(near.stderr.contains("did you mean orders?"), "{near:?}");
    assert!(!near.stderr.contains("admin domain"), "{near:?}");
}

#[test]
fn step_that_creates_the_domain_repeats_the_options() {
    let world = two();
    let dir = world.path("shop");
    world.write("shop/sample.json", r#"{"a": "it's"}"#);
    world.write("shop/schema.json", r#"{"$defs": {"x": {"type": "object"}}}"#);
    for (name, options) in [
        ("one", &["--from-samples", "sample.json", "--value", "sample.json", "--flow", "consumer-to-provider"][..]),
        ("two", &["--schema", "schema.json#/$defs/x", "--inline", "--description", "x & y", "--version", "2.1.0"]),
        ("three", &["--schema", "schema.json#/$defs/x"]),
    ] {
        let create = |at: &str, more: &[&str]| world.blue(&dir, &[&["contract", "new", at], options, more].concat());
        create(&format!("known-{name}/x"), &["--domain-members", "billing"]).exits(0);
        let refused = create(&format!("lost-{name}/x"), &[]).exits(1);
        world.finish_shell(&dir, &world.next_step(&refused)).exits(0);
        let file = |domain: &str| world.read(&format!("shop/.blue/contracts/{domain}-{name}/x.yaml"));
        assert_eq!(file("lost"), file("known").replace("known-", "lost-"));
    }
}

#[test]
fn value_that_is_too_large_for_the_contract_file_is_refused() {
    let world = two();
    let dir = world.path("shop");
    let items = |count: usize| format!("{{\"list\": [{}0]}}", "0,".repeat(count - 1));
    let words = format!("{{\"text\": \"{}\"}}", "x".repeat(1 << 20));
    for (text, hint) in [(words, "value: { file: FILE }"), (items(100_000), "100000")] {
        world.write("shop/value.json", &text);
        let new = &["contract", "new", ORDER, "--value", "value.json", "--domain-members", "billing"];
        let refused = world.blue(&dir, new).exits(1);
        let said = format!("{ORDER_FILE} could not be published: ");
        assert!(refused.stderr.contains(&said) && refused.stderr.contains(hint), "{refused}");
        assert!(refused.stderr.contains("run it without --value, then write value: { file: value.json }"), "{refused}");
        assert!(!dir.join(ORDER_FILE).exists());
    }
    // What is wrong in a large schema is said with its file.
    let properties: Vec<_> = (0..30_000).map(|at| format!("\"p{at}\": {{}}")).collect();
    world.write("shop/large.json", &format!("{{\"type\": \"objec\", \"properties\": {{{}}}}}", properties.join(",")));
    let refused =
        world.blue(&dir, &["contract", "new", ORDER, "--schema", "large.json", "--domain-members", "billing"]).exits(1);
    assert!(refused.stderr.contains("the schema is not valid: large.json#/type: "), "{refused}");
}

/// Consumers send requests, so the promise is that new readers accept what they send. A request need not have a property
/// that only the server sends.
#[test]
fn new_contract_of_requests_protects_those_who_send() {
    let world = two();
    let dir = world.path("shop");
    let api = |body: &str| {
        let head = "openapi: 3.0.3\ncomponents: { schemas: { Order: { type: object, ";
        world.write("shop/api.yaml", &format!("{head}{body} }} }} }}\n"));
    };
    api("required: [id, item], properties: { id: { type: string, readOnly: true }, item: { type: string } }");
    let place = "api.yaml#/components/schemas/Order";
    let args = ["--schema", place, "--flow", "consumer-to-provider", "--domain-members", "billing"];
    world.ok(&dir, &[&["contract", "new", ORDER][..], &args].concat());
    let text = world.read(&format!("shop/{ORDER_FILE}"));
    assert!(text.contains("\nflow: consumer-to-provider\n"), "{text}");
    assert!(text.contains("\ncompatibility: { backwards: false, forwards: true }\n"), "{text}");
    world.commit("shop", "Add it");
    let contract = &world.json(&dir, &["contract", "get", ORDER])["contract"];
    assert_eq!(contract["schema"]["required"], json!(["item"]));
    // Clients that send no id were valid, and no longer are.
    api("required: [id, item], properties: { id: { type: string }, item: { type: string } }");
    let diff = world.json(&dir, &["contract", "diff", ORDER, "--worktree"]);
    assert_eq!(diff["bump"], "major", "{diff:#}");
    // A promise of the other direction protects nobody.
    let reversed = text.replace("backwards: false, forwards: true", "backwards: true, forwards: false");
    world.write(&format!("shop/{ORDER_FILE}"), &reversed.replacen("1.0.0", "1.1.0", 1));
    world.git(&dir, &["checkout", "-q", "api.yaml"]);
    let check = world.blue(&dir, &["check", "--worktree", "--json"]).json();
    let warnings = check["warnings"].as_array().unwrap();
    let warning = warnings.iter().find(|one| one["code"] == "wrong-direction").unwrap_or_else(|| panic!("{check:#}"));
    let line = text.lines().position(|line| line.starts_with("compatibility:")).unwrap() + 1;
    assert_eq!((&warning["file"], &warning["line"]), (&json!(ORDER_FILE), &json!(line)));
}

#[test]
fn does_not_write_through_symlinks() {
    let world = two();
    let dir = world.path("shop");
    std::fs::create_dir(world.path("outside")).unwrap();
    std::fs::create_dir(dir.join(".blue/contracts")).unwrap();
    std::os::unix::fs::symlink(world.path("outside"), dir.join(".blue/contracts/orders")).unwrap();
    let run = world.blue(&dir, &["contract", "new", ORDER, "--domain-members", "billing"]).exits(1);
    assert!(run.stderr.contains("symbolic links are not followed"), "{run:?}");
    let world = World::pair();
    let dir = world.path("access");
    std::fs::rename(dir.join(BINDING_FILE), world.path("away.yaml")).unwrap();
    std::os::unix::fs::symlink(world.path("away.yaml"), dir.join(BINDING_FILE)).unwrap();
    let before = world.read("away.yaml");
    let run = world.blue(&dir, &["import", CONTRACT, ">=1.1.0, <2.0.0"]).exits(1);
    assert!(run.stderr.contains("not a regular file"), "{run:?}");
    assert_eq!(world.read("away.yaml"), before);
}

#[test]
fn withdrawing_a_promise_does_not_allow_a_break() {
    let world = World::pair();
    let dir = world.path("fungal");
    let path = format!("fungal/{CONTRACT_FILE}");
    let broken = world.read(&path).replace("type: array", "type: [array, boolean]");
    let withdrawn =
        broken.replace("values: free\n", "values: free\ncompatibility: { backwards: false, forwards: false }\n");
    assert_ne!(broken, withdrawn);
    world.write(&path, &withdrawn);
    let bump = world.json(&dir, &["contract", "bump", CONTRACT]);
    assert_eq!((&bump["needs"], &bump["new_version"]), (&json!("major"), &json!("2.0.0")), "{bump}");
}

#[test]
fn steps_add_files_that_git_ignores() {
    let world = World::pair();
    let (owner, importer) = (world.path("fungal"), world.path("access"));
    let follow = |dir: &std::path::Path, run: &Run| {
        let steps = world.next_steps(run);
        world.finish_shell(dir, steps.iter().rfind(|step| step.starts_with("git add")).unwrap()).exits(0);
        assert_eq!(world.line(dir, &["status", "--porcelain", "--ignored", ".blue"]), "");
    };
    for repo in ["fungal", "access"] {
        world.write(&format!("{repo}/.gitignore"), ".blue\n");
        world.commit(repo, "Ignore the folder");
    }
    let text = world.read(&format!("fungal/{CONTRACT_FILE}")).replace("jobs/*", "tasks/*");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    follow(&owner, &world.ok(&owner, &["contract", "bump", CONTRACT]));
    let check = world.ok(&owner, &["check", "--worktree"]);
    assert!(!check.stdout.contains("git ignores it"), "{check}");
    world.write("fungal/.blue/contracts/s3-access/other.yaml", &text.replace("s3-permissions", "other"));
    let check = world.ok(&owner, &["check", "--worktree"]);
    assert!(
        check.stdout.contains("other.yaml: warning: git ignores it, so no commit contains it: git add --force"),
        "{check}"
    );
    follow(&owner, &world.blue(&owner, &["contract", "bump", "s3-access/other"]).exits(1));
    world.write("good.json", r#"{"read": ["a"]}"#);
    follow(&importer, &world.ok(&importer, &["contract", "expect", CONTRACT, "--from-samples", "../good.json"]));
}

#[test]
fn file_that_cannot_be_edited_in_place_is_left_alone() {
    let world = World::pair();
    let dir = world.path("fungal");
    let path = format!("fungal/{CONTRACT_FILE}");
    let text = r#"{"name": "s3-permissions", "version": "1.0.0", "owner": "fungal", "value": 1}"#;
    world.write(&path, text);
    let run = world.blue(&dir, &["contract", "bump", CONTRACT, "minor"]).exits(1);
    assert!(run.stderr.contains("write version: \"1.1.0\" in"), "{run:?}");
    assert_eq!(world.read(&path), text);
    let elsewhere = world.blue(&world.path("access"), &["contract", "bump", CONTRACT]).exits(1);
    assert!(elsewhere.stderr.contains("run it in fungal"), "{elsewhere:?}");
    let slip = world.blue(&world.path("access"), &["contract", "bump", "s3-access/s3-permisions"]).exits(1);
    assert!(slip.stderr.contains("did you mean s3-permissions?"), "{slip:?}");
}

#[test]
fn import_and_unimport_edit_the_binding() {
    let world = World::solo();
    let dir = world.join("access");
    world.write("access/cdk/stack.py", "# reads\n");
    let made = world.ok(&dir.join("cdk"), &["import", CONTRACT, "--used-in", "stack.py"]);
    insta::assert_snapshot!("authoring_binding_file", world.read(&format!("access/{BINDING_FILE}")));
    // The next steps make it a member and publish the binding.
    for step in world.next_steps(&made) {
        let run = world.finish_shell(&dir.join("cdk"), &step);
        assert_eq!(run.code, 0, "{run:?}");
    }
    let status = world.json(&dir, &["status"]);
    assert_eq!(status["imports"][0]["state"], "current", "{status:#}");
    // Several files are a list, one file is a string again.
    world.write("access/cdk/roles.py", "# reads too\n");
    world.ok(&dir, &["import", CONTRACT, "--used-in", "cdk/stack.py", "cdk/roles.py"]);
    let text = world.read(&format!("access/{BINDING_FILE}"));
    assert!(text.contains("binding: [cdk/stack.py, cdk/roles.py]"), "{text}");
    world.commit("access", "Say where it is used");
    let status = world.json(&dir, &["status"]);
    assert_eq!(status["imports"][0]["binding"], serde_json::json!(["cdk/stack.py", "cdk/roles.py"]), "{status:#}");
    std::fs::remove_file(world.path("access/cdk/roles.py")).unwrap();
    let gone = world.blue(&dir, &["check", "--worktree"]);
    assert!(gone.stdout.contains("cdk/roles.py, which uses s3-access/s3-permissions, does not exist"), "{gone:?}");
    world.ok(&dir, &["import", CONTRACT, "--used-in", "cdk/stack.py"]);
    assert!(world.read(&format!("access/{BINDING_FILE}")).contains("binding: cdk/stack.py\n"));
    world.commit("access", "It is one file again");
    let again = world.ok(&dir, &["import", CONTRACT]);
    let changed = world.ok(&dir, &["import", CONTRACT, ">=2.0.0"]);
    let removed = world.ok(&dir, &["unimport", CONTRACT]);
    let slip = world.blue(&dir, &["import", "s3-access/s3-permission"]).exits(1);
    let domain = world.blue(&dir, &["import", "s3-acess/s3-permissions"]).exits(1);
    let none = world.blue(&dir, &["unimport", CONTRACT]).exits(1);
    snapshot("authoring_import", &[&made, &again, &changed, &removed, &slip, &domain, &none]);
    assert!(!dir.join(BINDING_FILE).exists());
    world.ok(&world.path("fungal"), &["contract", "retire", CONTRACT, "--reason", "moved on", "--force"]);
    let retired = world.blue(&dir, &["import", CONTRACT]).exits(1);
    assert!(retired.stderr.contains("is retired\nhint: git blue contract get"), "{retired:?}");
}

#[test]
fn unknown_domain_and_empty_domain_say_which_domains_there_are() {
    let world = World::pair();
    let dir = world.path("access");
    world.ok(&dir, &["realm", "admin", "domain", "--name", "empty", "--repos", "access"]);
    for (at, message) in [
        ("queues/x", "the realm has no domain queues\n"),
        ("empty/x", "there is no contract empty/x: the domain empty has"),
    ] {
        let refused = world.blue(&dir, &["import", at]).exits(1);
        assert!(refused.stderr.contains(message), "{refused}");
        let shown = world.finish_shell(&dir, &world.next_step(&refused));
        assert!(shown.code == 0 && shown.stdout.contains("domain empty\n  no contracts"), "{shown}");
    }
    let near = world.blue(&dir, &["import", "emty/x"]).exits(1);
    assert!(near.stderr.contains("did you mean empty?"), "{near}");
}

#[test]
fn export_makes_a_consumer_both() {
    let world = World::pair();
    let dir = world.path("access");
    world.ok(&dir, &["contract", "new", "s3-access/stacks"]);
    world.write("access/b.py", "");
    world.ok(&dir, &["export", "s3-access/stacks", "--source", "cdk/access_stack.py"]);
    let export = world.ok(&dir, &["export", "s3-access/stacks", "--source", "b.py"]);
    assert!(export.stdout.contains("exports s3-access/stacks implemented in cdk/access_stack.py, b.py\n"), "{export}");
    insta::assert_snapshot!("authoring_both_file", world.read(&format!("access/{BINDING_FILE}")));
    let other = world.blue(&dir, &["export", CONTRACT]).exits(1);
    assert!(other.stderr.contains("git blue import s3-access/s3-permissions"), "{other:?}");
    world.ok(&dir, &["unexport", "s3-access/stacks"]);
    let text = world.read(&format!("access/{BINDING_FILE}"));
    assert!(text.contains("role: consumer") && !text.contains("stacks"), "{text}");
    world.blue(&dir, &["unexport", "s3-access/stacks"]).exits(1);
}

#[test]
fn validate_checks_payloads_against_selected_versions() {
    let world = World::pair();
    let dir = world.path("fungal");
    world.write("good.json", r#"{"read": ["a"]}"#);
    world.write("lines.jsonl", "{\"read\": [\"a\"]}\n{\"read\": [1]}\n{}\n");
    world.write("good.yaml", "read: [a]\n");
    world.write("broken.json", "{\"read\": [\"a\",\n]}");
    world.write("null.json", "null");
    let check =
        |args: &[&str]| world.blue(&world.root().join("access"), &[&["contract", "validate", CONTRACT], args].concat());
    let good = check(&["../good.json", "../good.yaml"]).exits(0);
    let lines = check(&["../lines.jsonl", "../null.json"]).exits(1);
    let broken = check(&["../broken.json"]).exits(1);
    let unknown = check(&["../good.json", "--version", "9.0.0"]).exits(1);
    let none = check(&["../good.json", "--range", ">=9.0.0"]).exits(1);
    // A version with another schema: only the old one accepts the payload.
    let text = crate::world::contract("2.0.0").replace("read", "input");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    let draft = world.blue(&dir, &["contract", "validate", CONTRACT, "../good.json", "--worktree"]).exits(1);
    world.commit("fungal", "Rename");
    let range = check(&["../good.json", "--range", ">=1.0.0"]).exits(1);
    check(&["../good.json", "--version", "1.0.0"]).exits(0);
    snapshot("authoring_validate", &[&good, &lines, &broken, &unknown, &none, &draft, &range]);
    let answer = world.json(&dir, &["contract", "validate", CONTRACT, "../good.json", "--range", ">=1.0.0"]);
    assert_eq!((&answer["valid"], &answer["versions"]), (&json!(false), &json!(["1.0.0", "2.0.0"])));
    let fed = world.feed("git", &dir, &["blue", "contract", "validate", CONTRACT, "-"], "{\"input\": [\"a\"]}");
    assert_eq!(fed.code, 0, "{fed:?}");
    // MCP gives the same answer.
    let args =
        json!({"domain": "s3-access", "contract": "s3-permissions", "payload": {"read": [1]}, "version": "1.0.0"});
    let answer = world.ok(&dir, &["mcp", "test-tool", "contract_validate", "--args", &args.to_string()]).json();
    assert_eq!(answer["failures"][0]["pointer"], "/read/0", "{answer:#}");
    assert_eq!(answer["next_steps"], json!([]));
    let args = json!({"domain": "s3-access", "contract": "s3-permissions", "payload": "{\"input\": [\"a\"]}"});
    let answer = world.ok(&dir, &["mcp", "test-tool", "contract_validate", "--args", &args.to_string()]).json();
    let hint = "the payload is a string that contains JSON: pass the value, not its text";
    assert_eq!((&answer["valid"], &answer["next_steps"][0]["reason"]), (&json!(false), &json!(hint)), "{answer:#}");
}

#[test]
fn get_prints_the_schema_alone() {
    let world = World::pair();
    let dir = world.path("access");
    let shown = world.ok(&dir, &["contract", "get", CONTRACT, "--schema"]);
    let schema: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!((&schema["type"], &schema["required"]), (&json!("object"), &json!(["read"])));
    let yaml = world.ok(&dir, &["contract", "get", CONTRACT, "--schema", "--format", "yaml"]);
    assert!(yaml.stdout.contains("type: object"), "{yaml:?}");
}

#[test]
fn failures_that_are_not_listed_are_counted() {
    let world = World::pair();
    let members = |value: &str| (0..30).map(|n| format!("\"p{n}\": {value}")).collect::<Vec<_>>().join(", ");
    world.write("payload.json", &format!("{{{}}}", members("1")));
    let text =
        contract("1.1.0").replace("  properties:\n", "  additionalProperties: { type: string }\n  properties:\n");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text.replace("required: [read]", "required: []"));
    let file = world.path("payload.json");
    let arguments = ["contract", "validate", "s3-access/s3-permissions", file.to_str().unwrap(), "--worktree"];
    let answer = world.json(&world.path("fungal"), &arguments);
    assert_eq!(
        (answer["failures"].as_array().map(Vec::len), &answer["more_failures"]),
        (Some(20), &serde_json::json!(10))
    );
    assert!(world.blue(&world.path("fungal"), &arguments).exits(1).stdout.contains("and 10 more"));
}
