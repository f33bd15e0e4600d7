//! The contracts of a repository in its `status`: those that break consumers come first, however many there are.

use serde_json::Value;

use crate::world::World;

/// More than `status` lists.
const MANY: usize = 52;

fn contract(name: &str, version: &str, kind: &str) -> String {
    format!(
        "name: {name}\nversion: \"{version}\"\nowner: fungal\ncompatibility: {{ backwards: false, forwards: false }}\n\
         schema: {{ type: object, required: [id], properties: {{ id: {{ type: {kind} }} }} }}\n"
    )
}

fn publish(world: &World, name: &str, version: &str, kind: &str) {
    world.write(&format!("fungal/.blue/contracts/s3-access/{name}.yaml"), &contract(name, version, kind));
}

fn import(world: &World, repo: &str, names: &[String]) {
    let imports: String =
        names.iter().map(|name| format!("  - {{ contract: {name}, version: \">=1.0.0\" }}\n")).collect();
    world.write(&format!("{repo}/.blue/bindings/s3-access.yaml"), &format!("role: consumer\nimports:\n{imports}"));
    world.commit(repo, "Rely on them");
}

fn own(world: &World) -> (Value, String) {
    let fungal = world.path("fungal");
    (
        world.json(&fungal, &["status", "--peek"])["own_contracts"].take(),
        world.ok(&fungal, &["status", "--peek"]).stdout,
    )
}

#[test]
fn break_within_the_range_comes_first_among_many_contracts() {
    let world = World::pair();
    let names: Vec<_> = (0..MANY).map(|at| format!("p{at:02}")).collect();
    names.iter().for_each(|name| publish(&world, name, "1.0.0", "string"));
    world.commit("fungal", "Many contracts");
    import(&world, "access", &names);
    publish(&world, &names[MANY - 1], "1.1.0", "integer");
    world.commit("fungal", "Break the last one");
    let (own, text) = own(&world);
    assert_eq!(own[0]["contract"], names[MANY - 1].as_str(), "{own:#}");
    assert_eq!(own[0]["broken"], serde_json::json!(["access"]), "{own:#}");
    assert!(text.contains("breaks access"), "{text}");
}

#[test]
fn importer_that_is_not_listed_is_found_if_it_is_broken() {
    let world = World::pair();
    publish(&world, "p", "1.0.0", "string");
    world.commit("fungal", "A contract");
    let repos: Vec<_> = (0..MANY).map(|at| format!("r{at:02}")).collect();
    let (last, others) = repos.split_last().unwrap();
    for repo in &repos {
        world.join(repo);
    }
    let fungal = world.path("fungal");
    world.ok(&fungal, &["realm", "admin", "domain", "--name", "s3-access", "--repos", &repos.join(",")]);
    others.iter().for_each(|repo| import_what_it_expects(&world, repo, "{}"));
    import_what_it_expects(&world, last, "{ properties: { id: { type: string } } }");
    publish(&world, "p", "1.1.0", "integer");
    world.commit("fungal", "Break the last one");
    let (own, _) = own(&world);
    let one = own.as_array().unwrap().iter().find(|one| one["contract"] == "p").unwrap();
    assert_eq!(one["broken"], serde_json::json!([last]), "{one:#}");
    assert_eq!(
        one["importers"].as_array().unwrap().len() as u64 + one["more_importers"].as_u64().unwrap(),
        MANY as u64 - 1
    );
}

fn import_what_it_expects(world: &World, repo: &str, expects: &str) {
    let text = format!("role: consumer\nimports:\n  - {{ contract: p, version: \">=1.0.0\", expects: {expects} }}\n");
    world.write(&format!("{repo}/.blue/bindings/s3-access.yaml"), &text);
    world.commit(repo, "Rely on it");
}
