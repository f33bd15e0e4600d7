//! The beginning of a break, changes meanwhile, and its end, in notifications.

use serde_json::{Value, json};

use crate::{
    notifications::told,
    world::{BINDING_FILE, CONTRACT_FILE, World, contract, importing},
};

fn publish(world: &World, text: &str) {
    world.write(&format!("fungal/{CONTRACT_FILE}"), text);
    world.commit("fungal", "Change the contract");
}

/// Returns what a contract requires under another name.
fn renamed(version: &str) -> String {
    contract(version).replace("read]", "paths]").replace("read:", "paths:")
}

/// Returns the line of the pending change, with its import state, rank and `was_broken`, and marks it as seen.
#[track_caller]
fn news(world: &World) -> (String, [Value; 3]) {
    let text = world.ok(&world.path("access"), &["notifications", "list", "--state", "pending"]).stdout;
    let [one] = &told(world, "access")[..] else { panic!("{text}") };
    (text, ["import_state", "rank", "was_broken"].map(|key| one[key].clone()))
}

#[track_caller]
fn assert_news(world: &World, said: &str, expected: [Value; 3]) {
    let (text, keys) = news(world);
    assert!(text.contains(said), "{text}");
    assert_eq!(keys, expected, "{text}");
}

#[test]
fn end_of_a_break_is_told_as_such() {
    let world = World::pair();
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <9.0.0"));
    world.commit("access", "Take any version");
    told(&world, "fungal");
    publish(&world, &renamed("2.0.0"));
    assert_news(&world, "your import is broken (cdk", [json!("broken"), json!("broken"), Value::Null]);
    publish(&world, &renamed("2.1.0"));
    assert_news(&world, "your import is still broken (cdk", [json!("broken"), json!("attention"), json!(true)]);
    let deprecated = renamed("2.1.0") + "deprecated: { since: 2.1.0 }\n";
    publish(&world, &deprecated);
    assert_news(&world, "your import is still broken", [json!("broken"), json!("attention"), json!(true)]);
    publish(&world, &contract("3.0.0"));
    assert_news(&world, "your import holds again", [json!("satisfied"), json!("import"), json!(true)]);
    publish(&world, &contract("3.1.0"));
    assert_news(&world, "your import still holds", [json!("satisfied"), json!("import"), Value::Null]);
}

#[test]
fn end_of_a_break_of_the_range_is_told_as_such() {
    let world = World::pair();
    publish(&world, &contract("2.0.0"));
    assert_news(&world, "your import is broken", [json!("broken"), json!("broken"), Value::Null]);
    let served = contract("2.1.0") + "supported: [\"^1\"]\n";
    publish(&world, &served);
    let said = "your import is no longer broken, but behind: 1.0.0 is still served";
    assert_news(&world, said, [json!("behind"), json!("attention"), json!(true)]);
    publish(&world, &contract("2.1.0"));
    assert_news(&world, "your import is broken", [json!("broken"), json!("broken"), Value::Null]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0"));
    world.commit("fungal", "Go back");
    let rollback = ["contract", "publish", "--rollback", "--reason", "2.x broke the masks"];
    world.ok(&world.path("fungal"), &rollback);
    assert_news(&world, "your import holds again", [json!("satisfied"), json!("import"), json!(true)]);
}

/// What the reader never saw is no former state.
#[test]
fn break_that_ended_before_it_was_seen_is_not_told() {
    let world = World::pair();
    let served = contract("2.0.0") + "supported: [\"^1\"]\n";
    publish(&world, &contract("2.0.0"));
    publish(&world, &served);
    assert_news(&world, "your import is behind: 1.0.0", [json!("behind"), json!("attention"), Value::Null]);
}
