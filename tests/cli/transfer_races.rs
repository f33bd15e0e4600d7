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
            let held = world.stored("contracts/s3-permissions.json");
            // Somebody may use the newer version already.
            assert_eq!((&held["owner"], &held["version"]), (&json!("access"), &json!("1.1.0")), "{held}");
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

/// Lets `access`, on the third machine, take the contract over from its own file.
fn accept(world: &World, owner: &str) {
    let text = contract("1.0.0").replace("owner: fungal", "owner: access");
    world.on("third").write(&format!("access/{CONTRACT_FILE}"), &text);
    let commit = world.commit("access", "Take it over");
    assert!(commit.stderr.contains("published s3-access/s3-permissions"), "from {owner}: {commit}");
}

/// Asserts that `access` owns the contract on each machine, and that nobody sees a conflict.
fn is_taken_over(world: &World, machines: &[(&'static str, &PathBuf)]) {
    for (home, dir) in machines {
        assert_eq!(world.on(home).stored("contracts/s3-permissions.json")["owner"], "access", "{home}");
        assert_eq!(world.json(dir, &["status", "--peek"])["conflicts"], json!([]), "{home}");
    }
}

#[test]
fn acceptance_that_crosses_a_rename_of_the_owner_is_kept() {
    for owner_syncs_first in [false, true] {
        let (world, _) = team();
        let fungal = world.path("fungal");
        let access = third_member(&world);
        world.ok(&fungal, &["contract", "transfer", CONTRACT, "--to", "access"]);
        world.ok(&fungal, &["sync"]);
        world.on("third").ok(&access, &["sync"]);
        accept(&world, "fungal");
        world.on("home").ok(&fungal, &["realm", "admin", "rename", "fungal", "mycelium"]);
        world.commit("fungal", "Take the name mycelium");
        let mut machines = [("third", &access), ("home", &fungal)];
        if owner_syncs_first {
            machines.reverse();
        }
        for (home, dir) in [machines[0], machines[1], machines[0]] {
            world.on(home).ok(dir, &["sync"]);
        }
        is_taken_over(&world, &machines);
        let told = world.on("home").ok(&fungal, &["status"]).stdout;
        assert!(told.contains("access took over s3-access/s3-permissions"), "{told}");
    }
}

/// The record of transfers has only the new name of the owner, and the teammate's machine only the former one.
#[test]
fn transfer_after_a_rename_is_no_rivalry() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    let access = third_member(&world);
    let reader = world.on("second").join("reader");
    world.ok(&reader, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "reader"]);
    world.ok(&reader, &["sync"]);
    world.ok(&reader, &["status"]);
    world.on("home").ok(&fungal, &["sync"]);
    world.ok(&fungal, &["realm", "admin", "rename", "fungal", "mycelium"]);
    world.commit("fungal", "Take the name mycelium");
    world.ok(&fungal, &["contract", "transfer", CONTRACT, "--to", "access"]);
    world.ok(&fungal, &["sync"]);
    world.on("third").ok(&access, &["sync"]);
    accept(&world, "mycelium");
    world.ok(&access, &["sync"]);
    world.on("second").ok(&mate, &["contract", "yank", CONTRACT, "1.0.0", "--reason", "bad"]);
    for (home, dir) in [("second", &reader), ("third", &access), ("home", &fungal)] {
        world.on(home).ok(dir, &["sync"]);
    }
    is_taken_over(&world, &[("second", &reader), ("third", &access), ("home", &fungal)]);
    assert_eq!(world.stored("contracts/s3-permissions.json")["yanked"][0]["reason"], "bad");
    let told = world.on("second").ok(&reader, &["status"]).stdout;
    assert!(told.contains("access took over s3-access/s3-permissions"), "{told}");
    assert!(!told.contains("also created"), "{told}");
}

#[test]
fn rename_of_the_receiver_keeps_what_the_owner_decided_meanwhile() {
    for (decision, offered_to) in [(&["--cancel"][..], Value::Null), (&["--to", "reader"], json!("reader"))] {
        let (world, _) = team();
        let fungal = world.path("fungal");
        let access = third_member(&world);
        world.join("reader");
        world.ok(&fungal, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "reader"]);
        world.ok(&fungal, &["contract", "transfer", CONTRACT, "--to", "access"]);
        world.ok(&fungal, &["sync"]);
        world.on("third").ok(&access, &["sync"]);
        let withdraw = ["contract", "transfer", CONTRACT];
        world.on("home").ok(&fungal, &[&withdraw[..], decision].concat());
        world.ok(&fungal, &["sync"]);
        world.on("third").ok(&access, &["realm", "admin", "rename", "access", "shop"]);
        world.commit("access", "Take the name shop");
        let sync = world.ok(&access, &["sync"]);
        assert!(!sync.all().contains("another machine offered it"), "{sync}");
        world.on("home").ok(&fungal, &["sync"]);
        for (home, dir) in [("home", &fungal), ("third", &access)] {
            let held = world.on(home).json(dir, &["contract", "get", CONTRACT]);
            assert_eq!(held["offered_to"], offered_to, "{home}: {held}");
        }
    }
}
