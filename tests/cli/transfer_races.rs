//! A contract that is transferred while another machine publishes it.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{
    teamwork::team,
    world::{CONTRACT_FILE, World, contract},
};

const CONTRACT: &str = "s3-access/s3-permissions";

/// Adds `access`, on a third machine, to the members of the domain.
fn third_member(world: &World) -> PathBuf {
    let access = world.on("third").repo("access");
    world.ok(&access, &["init", "--url", &world.hub()]);
    world.ok(&access, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "access"]);
    world.ok(&access, &["sync"]);
    world.on("home").ok(&world.path("fungal"), &["sync"]);
    access
}

/// A contract that its former owner still publishes after the transfer was accepted stays with its new owner, and no
/// version is in conflict.
#[test]
fn accepted_transfer_wins_over_what_the_former_owner_publishes() {
    for former_owner_syncs_first in [false, true] {
        let (world, mate) = team();
        let fungal = world.path("fungal");
        let access = third_member(&world);
        let offer = world.json(&fungal, &["contract", "transfer", CONTRACT, "--to", "access"]);
        world.ok(&fungal, &["sync"]);
        for (home, dir) in [("second", &mate), ("third", &access)] {
            world.on(home).ok(dir, &["sync"]);
        }
        let publish = |world: &World| {
            world.on("second").write(&format!("mate/{CONTRACT_FILE}"), &contract("1.1.0"));
            world.commit("mate", "1.1.0");
        };
        if former_owner_syncs_first {
            publish(&world);
            world.ok(&mate, &["sync"]);
        }
        let steps: Vec<_> = (0..3).map(|at| offer["next_steps"][at]["command"].as_str().unwrap()).collect();
        assert_eq!(steps[0], "git blue sync");
        let step = steps[1];
        let pasted = world.on("third").finish_shell(&access, step);
        assert_eq!(pasted.code, 0, "{pasted}");
        world.commit("access", "Take it over");
        world.ok(&access, &["sync"]);
        if !former_owner_syncs_first {
            publish(&world);
        }
        for (home, dir) in [("second", &mate), ("third", &access), ("second", &mate)] {
            world.on(home).ok(dir, &["sync"]);
            assert_eq!(world.stored("contracts/s3-permissions.json")["owner"], "access");
            let status = world.json(dir, &["status", "--peek"]);
            assert_eq!(status["conflicts"], json!([]), "{status}");
            let checked = world.blue(dir, &["check"]);
            assert!(!checked.all().contains("published twice"), "{checked}");
        }
        let status = world.json(&mate, &["status"]);
        assert_eq!(status["unpublished"], Value::Null, "{status}");
    }
}

/// The former owner, which does not know yet that its offer was accepted, retires the contract. It was transferred, so
/// the mark is kept, and the former owner is told who owns the contract.
#[test]
fn retirement_that_crosses_the_acceptance_is_kept() {
    let (world, _) = team();
    let fungal = world.path("fungal");
    let access = third_member(&world);
    world.ok(&fungal, &["contract", "transfer", CONTRACT, "--to", "access"]);
    world.ok(&fungal, &["sync"]);
    world.on("third").ok(&access, &["sync"]);
    world.write(&format!("access/{CONTRACT_FILE}"), &contract("1.1.0").replace("owner: fungal", "owner: access"));
    world.commit("access", "Take it over");
    world.ok(&access, &["sync"]);
    world.on("home").ok(&fungal, &["contract", "retire", CONTRACT, "--reason", "nobody took it"]);
    world.ok(&fungal, &["status"]);
    world.ok(&fungal, &["sync"]);
    let held = world.stored("contracts/s3-permissions.json");
    assert_eq!((&held["owner"], held["retired"].is_object()), (&json!("access"), true), "{held}");
    let told = world.ok(&fungal, &["status"]).stdout;
    assert!(told.contains("access took over s3-access/s3-permissions"), "{told}");
}

/// Neither looked at the contract before. The new owner need not be told that it took the contract over.
#[test]
fn both_owners_are_told_of_a_retirement_that_crosses_the_acceptance() {
    let (world, _) = team();
    let fungal = world.path("fungal");
    let access = third_member(&world);
    let file = CONTRACT_FILE.replace("permissions", "paths");
    let text = |owner: &str, version: &str| {
        contract(version).replace("s3-permissions", "s3-paths").replace("owner: fungal", &format!("owner: {owner}"))
    };
    world.on("home").write(&format!("fungal/{file}"), &text("fungal", "1.0.0"));
    world.commit("fungal", "Paths");
    world.ok(&fungal, &["contract", "transfer", "s3-access/s3-paths", "--to", "access"]);
    world.ok(&fungal, &["sync"]);
    world.on("third").ok(&access, &["sync"]);
    world.write(&format!("access/{file}"), &text("access", "1.1.0"));
    world.commit("access", "Take it over");
    world.ok(&access, &["sync"]);
    world.on("home").ok(&fungal, &["contract", "retire", "s3-access/s3-paths", "--reason", "nobody took it"]);
    world.ok(&fungal, &["sync"]);
    let told = world.ok(&fungal, &["status"]).stdout;
    assert!(told.contains("access took over s3-access/s3-paths, which is retired"), "{told}");
    world.on("third").ok(&access, &["sync"]);
    let told = world.ok(&access, &["status"]).stdout;
    assert!(told.contains("access retired s3-access/s3-paths  warning: changed by"), "{told}");
}
