//! Offers of contracts, and lists of what concerns a repository.

use serde_json::json;

use crate::{
    notifications::{listed, told},
    world::{World, contract},
};

fn add(world: &World, name: &str) {
    let text = contract("1.0.0").replace("s3-permissions", name);
    world.write(&format!("fungal/.blue/contracts/s3-access/{name}.yaml"), &text);
    world.commit("fungal", "One more");
}

#[test]
fn new_contract_that_is_offered_is_told_once() {
    let world = World::pair();
    let offer = ["contract", "transfer", "s3-access/extra", "--to", "access"];
    add(&world, "extra");
    world.ok(&world.path("fungal"), &offer);
    let status = world.ok(&world.path("access"), &["status", "--peek"]).stdout;
    assert!(status.contains("1 change you have not seen"), "{status}");
    assert!(status.contains("fungal added s3-access/extra 1.0.0 and offers to hand it over  by"), "{status}");
    let one = &told(&world, "access")[0];
    assert_eq!((&one["change_type"], &one["also"]), (&json!("ContractOffered"), &json!(["ContractAdded"])), "{one}");
    assert_eq!(listed(&world, "access", "pending").len(), 0);
    // Once the contract was seen, the offer is the news.
    add(&world, "more");
    told(&world, "access");
    world.ok(&world.path("fungal"), &["contract", "transfer", "s3-access/more", "--to", "access"]);
    let one = &told(&world, "access")[0];
    assert_eq!((&one["change_type"], &one["also"]), (&json!("ContractOffered"), &json!([])), "{one}");
}

/// If the offer is withdrawn before it was seen, the contract still is new.
#[test]
fn new_contract_whose_offer_was_withdrawn_is_told() {
    let world = World::pair();
    add(&world, "extra");
    let transfer = |args: &[&str]| {
        world.ok(&world.path("fungal"), &[&["contract", "transfer", "s3-access/extra"], args].concat());
    };
    transfer(&["--to", "access"]);
    assert_eq!(listed(&world, "access", "pending").len(), 1);
    transfer(&["--cancel"]);
    assert_eq!(told(&world, "access")[0]["change_type"], "ContractAdded");
}

#[test]
fn list_is_limited_to_a_rank_and_a_contract() {
    let world = World::pair();
    world.bump("1.1.0");
    add(&world, "extra");
    let list = |args: &[&str]| {
        let answer = world.json(&world.path("access"), &[&["notifications", "list"], args].concat());
        let names = answer["notifications"].as_array().unwrap().iter().map(|one| one["contract"].clone());
        (names.collect::<Vec<_>>(), answer["summary"]["total"].clone())
    };
    assert_eq!(list(&[]), (vec![json!("s3-permissions"), json!("extra")], json!(2)));
    assert_eq!(list(&["--rank", "import"]), (vec![json!("s3-permissions")], json!(2)));
    assert_eq!(list(&["--rank", "attention"]), (vec![], json!(2)));
    assert_eq!(list(&["--contract", "s3-access/extra"]), (vec![json!("extra")], json!(2)));
    world.blue(&world.path("access"), &["notifications", "list", "--rank", "urgent"]).exits(129);
}

/// The first look shows only some of the changes, so the others are not new since then.
#[test]
fn changes_that_a_look_left_out_are_not_said_to_be_newer() {
    let world = World::pair();
    for number in 0..8 {
        add(&world, &format!("extra{number}"));
    }
    let first = world.ok(&world.path("access"), &["status"]).stdout;
    let second = world.ok(&world.path("access"), &["status"]).stdout;
    assert!(
        first.contains("8 changes you have not seen") && second.contains("2 changes you have not seen"),
        "{second}"
    );
}
