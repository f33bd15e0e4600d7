//! `check` of a pull request judges the merge on top of its base, which is published first, and on top of what was published.

use serde_json::Value;

use crate::{
    check_scope::{codes, pair},
    sync::{second, shared},
    world::{BINDING_FILE, CONTRACT_FILE, World, contract, importing},
};

/// Returns the contract with another property.
fn with_property(version: &str, property: &str) -> String {
    contract(version).replace("  properties:\n", &format!("  properties:\n    {property}\n"))
}

/// Commits a contract to main, without publishing it, and another one to a branch. Returns the check of the branch.
fn check_on_unpublished(main: &str, branch: &str) -> (World, Value) {
    let world = World::pair();
    let provider = world.path("fungal");
    world.git(&provider, &["config", "blue.publish", "off"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), main);
    world.commit("fungal", "On main");
    world.git(&provider, &["switch", "--quiet", "-c", "topic"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), branch);
    world.commit("fungal", "On the branch");
    let answer = world.json(&provider, &["check", "--base", "main"]);
    world.blue(&provider, &["check", "--base", "main"]).exits(1);
    (world, answer)
}

fn first_message(answer: &Value) -> &str {
    answer["errors"][0]["message"].as_str().unwrap()
}

#[test]
fn promise_of_a_base_that_is_not_published_yet_counts() {
    for (main, branch) in [("1.1.0", "1.2.0"), ("2.0.0", "2.1.0")] {
        let (main, branch) =
            (with_property(main, "size: { type: string }"), with_property(branch, "size: { type: integer }"));
        let (world, answer) = check_on_unpublished(&main, &branch);
        let own: Vec<_> = codes(&answer, "errors").into_iter().filter(|(code, _)| code != "import-broken").collect();
        assert_eq!(own, [pair("breaks-promise", "this-change")], "{answer:#}");
        // Publishing both says the same.
        let provider = world.path("fungal");
        world.git(&provider, &["switch", "--quiet", "main"]);
        world.ok(&provider, &["contract", "publish"]);
        world.git(&provider, &["merge", "--quiet", "topic"]);
        let refused = world.blue(&provider, &["contract", "publish"]).exits(1);
        assert!(refused.stderr.contains("breaks its promise"), "{refused}");
    }
}

#[test]
fn version_after_that_of_the_base_is_computed() {
    let (main, branch) =
        (with_property("auto", "size: { type: string }"), with_property("auto", "size: { type: integer }"));
    let (_, answer) = check_on_unpublished(&main, &branch);
    assert_eq!(codes(&answer, "errors"), [pair("import-broken", "this-change")], "{answer:#}");
    assert!(first_message(&answer).contains("this change publishes 2.0.0"), "{answer:#}");
}

#[test]
fn version_below_that_of_the_base_is_refused() {
    let (_, answer) = check_on_unpublished(&contract("2.0.0"), &contract("1.1.0"));
    let found = codes(&answer, "errors");
    assert!(found.contains(&pair("version-down", "this-change")), "{answer:#}");
}

/// Only the publishing branch is published.
#[test]
fn base_that_is_never_published_is_ignored() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.git(&provider, &["config", "blue.publish", "off"]);
    world.git(&provider, &["switch", "--quiet", "-c", "feature"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &with_property("1.1.0", "size: { type: string }"));
    world.commit("fungal", "On the feature branch");
    world.git(&provider, &["switch", "--quiet", "-c", "topic"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &with_property("1.1.0", "size: { type: string, minLength: 1 }"));
    world.commit("fungal", "More of it");
    world.ok(&provider, &["check", "--base", "feature"]);
    let on_runner = [("GITHUB_BASE_REF", "feature".as_ref())];
    world.blue_with(&provider, &["check"], &on_runner).exits(0);
    world.git(&provider, &["branch", "--force", "main", "feature"]);
    world.blue(&provider, &["check", "--base", "feature"]).exits(1);
    // A team that publishes by hand publishes only what main has then.
    world.git(&provider, &["switch", "--quiet", "main"]);
    let config = std::fs::read_to_string(world.path("fungal/.blue/config.yaml")).unwrap();
    world.write("fungal/.blue/config.yaml", &format!("{config}publish: \"off\"\n"));
    world.commit("fungal", "Publish by hand");
    world.git(&provider, &["switch", "--quiet", "topic"]);
    world.git(&provider, &["rebase", "--quiet", "main"]);
    world.ok(&provider, &["check", "--base", "main"]);
}

/// Git merges the lines of both sides.
#[test]
fn branch_that_lacks_the_current_version_is_judged_by_what_it_changes_besides() {
    let world = World::pair();
    let provider = world.path("fungal");
    let renamed = |version: &str| contract(version).replace("read", "input");
    let serving = |text: &str| text.replace("values: free", "values: free\nsupported: [\"^1.0.0\"]");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &serving(&renamed("2.0.0")));
    world.commit("fungal", "Rename it, and serve the older one");
    world.git(&provider, &["switch", "--quiet", "-c", "topic"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &renamed("2.0.0"));
    world.commit("fungal", "Serve only the newer one");
    world.git(&provider, &["switch", "--quiet", "main"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &serving(&renamed("2.1.0")));
    world.commit("fungal", "Another value");
    world.git(&provider, &["switch", "--quiet", "topic"]);
    let answer = world.json(&provider, &["check"]);
    assert_eq!(codes(&answer, "errors"), [pair("import-broken", "this-change")], "{answer:#}");
    assert!(codes(&answer, "warnings").contains(&pair("behind", "this-change")), "{answer:#}");
}

/// The import was adapted to 1.0.0. The binding that was removed since does not say so, but the history of the realm does.
#[test]
fn import_that_returns_is_judged_on_a_runner_as_everywhere() {
    let (world, hub) = shared();
    let consumer = second(&world, &hub);
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0"));
    world.commit("access", "Accept what comes");
    world.git(&consumer, &["rm", "--quiet", BINDING_FILE]);
    world.commit("access", "Rely on nothing");
    world.ok(&consumer, &["sync"]);
    publish_break(&world);
    world.on("second").ok(&consumer, &["sync"]);
    world.git(&consumer, &["switch", "--quiet", "-c", "topic"]);
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0"));
    world.commit("access", "Rely on it again");
    let here = world.json(&consumer, &["check"]);
    assert_eq!(codes(&here, "errors"), [pair("import-broken", "this-change")], "{here:#}");
    let runner = world.on("runner").json(&consumer, &["check", "--realm-url", &hub]);
    assert_eq!(codes(&runner, "errors"), codes(&here, "errors"), "{runner:#}");
}

/// Publishes and pushes a version that renames a property.
fn publish_break(world: &World) {
    world.on("home");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("2.0.0").replace("read", "input"));
    world.commit("fungal", "Rename it");
    world.ok(&world.path("fungal"), &["sync"]);
}

#[test]
fn removal_is_seen_in_a_shallow_clone_that_has_the_base() {
    let (world, hub) = shared();
    let (consumer, code) = (second(&world, &hub), world.bare("code.git"));
    publish_break(&world);
    world.on("second").commit("access", "Later");
    world.git(&consumer, &["push", "--quiet", &code, "main"]);
    world.git(&consumer, &["switch", "--quiet", "-c", "topic"]);
    world.git(&consumer, &["rm", "--quiet", BINDING_FILE]);
    world.commit("access", "Rely on nothing");
    world.git(&consumer, &["push", "--quiet", &code, "topic"]);
    let url = format!("file://{code}");
    world.git(&world.root(), &["clone", "--quiet", "--depth", "2", "--branch", "topic", &url, "shallow"]);
    let check = ["check", "--realm-url", &hub, "--base", "HEAD~1"];
    let answer = world.on("runner").json(&world.path("shallow"), &check);
    let none = Vec::<(String, String)>::new();
    assert_eq!((codes(&answer, "errors"), codes(&answer, "warnings")), (none.clone(), none), "{answer:#}");
}
