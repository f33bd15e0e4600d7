//! What notifications say about an import.

use serde_json::{Value, json};

use crate::{
    notifications::told,
    teamwork::{push, team},
    two_machines::name_user,
    world::{World, contract},
};

#[test]
fn a_yanked_older_version_is_not_what_an_import_relies_on() {
    let world = World::pair();
    world.bump("1.1.0");
    world.ok(&world.path("fungal"), &["contract", "yank", "s3-access/s3-permissions", "1.0.0", "--reason", "leaks"]);
    let text = world.ok(&world.path("access"), &["notifications", "list"]).stdout;
    let line = "1.0.0 -> 1.1.0, and yanked 1.0.0  your import still holds";
    assert!(text.contains(line) && !text.contains("relies on it"), "{text}");
}

#[test]
fn an_import_of_an_added_contract_holds_for_the_first_time() {
    let world = World::pair();
    let file = "access/.blue/bindings/s3-access.yaml";
    let late = format!("{}  - {{ contract: extra, version: \">=1.0.0\" }}\n", world.read(file));
    world.write(file, &late);
    world.commit("access", "Rely on what is to come");
    let extra = contract("1.0.0").replace("s3-permissions", "extra");
    world.write("fungal/.blue/contracts/s3-access/extra.yaml", &extra);
    world.commit("fungal", "One more");
    let text = world.ok(&world.path("access"), &["notifications", "list"]).stdout;
    assert!(text.contains("your import holds"), "{text}");
    assert!(!text.contains("still"), "{text}");
}

#[test]
fn an_import_that_is_behind_is_not_said_to_hold() {
    let world = World::pair();
    let text = contract("2.0.0").replace("values: free", "values: free\nsupported: [\"^1\"]");
    world.write("fungal/.blue/contracts/s3-access/s3-permissions.yaml", &text);
    world.commit("fungal", "A new major version");
    let access = world.path("access");
    let list = world.ok(&access, &["notifications", "list"]).stdout;
    assert!(list.contains("your import is behind: 1.0.0 is still served"), "{list}");
    let answer = world.json(&access, &["notifications", "list"]);
    assert_eq!(answer["notifications"][0]["served_version"], "1.0.0", "{answer}");
    assert_eq!(answer["notifications"][0]["import_state"], "behind", "{answer}");
}

/// `fungal` deprecates the contract before it hands it over.
#[test]
fn what_the_former_owner_changed_is_not_said_of_the_new_one() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let name = "s3-access/s3-permissions";
    let file = ".blue/contracts/s3-access/s3-permissions.yaml";
    let reader = world.join("reader");
    world.ok(&fungal, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "reader"]);
    world.settle();
    let deprecated = contract("1.1.0") + "deprecated: { since: 1.1.0 }\n";
    world.write(&format!("fungal/{file}"), &deprecated);
    world.commit("fungal", "Deprecate it");
    world.ok(&fungal, &["contract", "yank", name, "1.0.0", "--reason", "wrong"]);
    world.ok(&fungal, &["contract", "transfer", name, "--to", "access"]);
    world.write(&format!("access/{file}"), &deprecated.replace("owner: fungal", "owner: access"));
    world.commit("access", "Take it over");
    let list = world.ok(&reader, &["notifications", "list"]).stdout;
    let text = "access took over s3-access/s3-permissions, which went 1.0.0 -> 1.1.0 and had 1.0.0 yanked and is deprecated now";
    assert!(list.contains(text), "{list}");
}

/// `fungal` retires the contract before it hands it over, and `access` publishes it again.
#[test]
fn retired_contract_that_is_taken_over_and_published_again_is_said_so() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let (name, file) = ("s3-access/s3-permissions", ".blue/contracts/s3-access/s3-permissions.yaml");
    let reader = world.join("reader");
    world.ok(&fungal, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "reader"]);
    world.settle();
    world.ok(&fungal, &["contract", "transfer", name, "--to", "access"]);
    world.write(&format!("access/{file}"), &contract("1.0.0").replace("owner: fungal", "owner: access"));
    world.commit("access", "Take it over");
    world.git(&world.path("access"), &["rm", "-q", file]);
    world.ok(&world.path("access"), &["contract", "retire", name, "--reason", "old", "--force"]);
    let list = world.ok(&reader, &["notifications", "list"]).stdout;
    assert!(list.contains("access took over s3-access/s3-permissions, which is retired"), "{list}");
    world.ok(&reader, &["notifications", "ack", "--all"]);
    world.write(&format!("access/{file}"), &contract("1.0.1").replace("owner: fungal", "owner: access"));
    world.commit("access", "Bring it back");
    let list = world.ok(&reader, &["notifications", "list"]).stdout;
    assert!(list.contains("access published s3-access/s3-permissions 1.0.1 again"), "{list}");
}

/// `fungal` retires the contract before `access` accepts it, which publishes it again.
#[test]
fn retired_contract_that_comes_back_by_another_owner_is_told_with_what_else_changed() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let (name, file) = ("s3-access/s3-permissions", ".blue/contracts/s3-access/s3-permissions.yaml");
    let reader = world.join("reader");
    world.ok(&fungal, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "reader"]);
    world.settle();
    world.ok(&fungal, &["contract", "transfer", name, "--to", "access"]);
    world.ok(&fungal, &["contract", "retire", name, "--reason", "old", "--force"]);
    world.ok(&reader, &["notifications", "ack", "--all"]);
    let taken = contract("1.1.0").replace("owner: fungal", "owner: access");
    world.write(&format!("access/{file}"), &(taken + "deprecated: { since: 1.1.0 }\n"));
    world.commit("access", "Take it over");
    world.ok(&world.path("access"), &["contract", "yank", name, "1.0.0", "--reason", "wrong"]);
    let list = world.ok(&reader, &["notifications", "list"]).stdout;
    let text =
        "access took over s3-access/s3-permissions, which is back as 1.1.0 and had 1.0.0 yanked and is deprecated now";
    assert!(list.contains(text), "{list}");
}

/// This clone published it, although its user never looked since, so only what the other clone changed is new.
#[test]
fn contract_that_this_clone_published_is_not_new_to_it() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    let file = ".blue/contracts/s3-access/s3-paths.yaml";
    let text = contract("1.0.0").replace("s3-permissions", "s3-paths");
    world.write(&format!("fungal/{file}"), &text);
    world.commit("fungal", "Paths");
    push(&world);
    name_user(&world, &mate, "mate");
    world.on("second").git(&mate, &["pull", "--quiet"]);
    world.ok(&mate, &["sync"]);
    world.write(&format!("mate/{file}"), &format!("{text}deprecated: {{ since: 1.0.0 }}\n"));
    world.commit("mate", "Deprecate it");
    world.ok(&mate, &["sync"]);
    world.on("home").ok(&fungal, &["sync"]);
    let told = world.ok(&fungal, &["status"]).stdout;
    let line = "fungal deprecated s3-access/s3-paths  by mate <mate@example.com>, in another clone of fungal";
    assert!(told.contains(line), "{told}");
}

#[test]
fn changed_deprecation_is_not_told_as_a_new_one() {
    let world = World::pair();
    let write = |fields: &str| {
        let text = format!("{}deprecated: {{ since: 1.0.0{fields} }}\n", contract("1.0.0"));
        world.write("fungal/.blue/contracts/s3-access/s3-permissions.yaml", &text);
        world.commit("fungal", "Deprecate it");
        let list = world.ok(&world.path("access"), &["notifications", "list", "--state", "pending"]).stdout;
        let one = told(&world, "access").remove(0);
        (list, one["was_deprecated"].clone())
    };
    let (list, before) = write("");
    assert!(list.contains("fungal deprecated s3-access/s3-permissions  your import relies on it"), "{list}");
    assert_eq!(before, Value::Null);
    let (list, before) = write(", sunset: 2030-12-31");
    let line =
        "fungal changed the deprecation of s3-access/s3-permissions (served until 2030-12-31)  your import relies";
    assert!(list.contains(line), "{list}");
    assert_eq!(before, true);
}

/// The owner of a contract is told who imports it and who no longer does, even if many bindings changed.
#[test]
fn owner_is_told_who_imports_its_contracts() {
    let world = World::pair();
    let (access, other) = (world.path("access"), world.join("other"));
    world.ok(&access, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "other"]);
    told(&world, "fungal");
    let extra = contract("1.0.0").replace("s3-permissions", "extra");
    world.write("fungal/.blue/contracts/s3-access/extra.yaml", &extra);
    world.commit("fungal", "One more");
    let binding = "access/.blue/bindings/s3-access.yaml";
    let before = world.read(binding);
    world.write(binding, &format!("{before}  - {{ contract: extra, version: \">=1.0.0\" }}\n"));
    world.commit("access", "Rely on it");
    let status = world.ok(&world.path("fungal"), &["status", "--peek"]).stdout;
    assert!(status.contains("access imports s3-access/extra >=1.0.0  by"), "{status}");
    let one = told(&world, "fungal").remove(0);
    let imports = json!([{"contract": "extra", "version_req": ">=1.0.0"}]);
    assert_eq!((&one["rank"], &one["imports"]), (&json!("contract"), &imports), "{one}");
    let list = world.ok(&other, &["notifications", "list"]).stdout;
    assert!(list.contains("access published its binding in s3-access"), "{list}");
    world.git(&access, &["rm", "-q", ".blue/bindings/s3-access.yaml"]);
    world.commit("access", "Rely on nothing");
    let list = world.ok(&world.path("fungal"), &["notifications", "list", "--state", "pending"]).stdout;
    assert!(list.contains("access no longer imports s3-access/extra, s3-access/s3-permissions  by"), "{list}");
    // Its range is not worth a line of its own among many.
    let imported = |range: &str| before.replace(">=1.0.0, <2.0.0", range);
    world.write(binding, &imported(">=1.0.0"));
    world.commit("access", "Rely on it again");
    told(&world, "fungal");
    world.write(binding, &imported(">=1.0.0, <3.0.0"));
    world.commit("access", "Accept more");
    let one = told(&world, "fungal").remove(0);
    assert_eq!((&one["rank"], &one["imports"]), (&json!("binding"), &Value::Null), "{one}");
}

/// Its first version was yanked before anybody looked.
#[test]
fn contract_that_is_new_and_yanked_is_told_with_both() {
    let world = World::pair();
    world.write("fungal/.blue/contracts/s3-access/other.yaml", &contract("1.0.0").replace("s3-permissions", "other"));
    world.commit("fungal", "Another contract");
    world.ok(&world.path("fungal"), &["contract", "yank", "s3-access/other", "1.0.0", "--reason", "wrong paths"]);
    let told = world.ok(&world.path("access"), &["status"]).stdout;
    assert!(told.contains("added s3-access/other 1.0.0, and yanked 1.0.0"), "{told}");
}
