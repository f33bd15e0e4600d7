//! The time at which changes arrive on a machine, and reading without writing.

use serde_json::Value;

use crate::{
    notifications::{listed, pending, told},
    world::{CONTRACT_FILE, World, contract},
};

/// Imports a change that another machine made now, this many days later, with plain git.
fn arrives_after(world: &World, days: i64) {
    let run = std::process::Command::new("cp").arg("-a").args([world.store(), world.path("before.git")]).status();
    assert!(run.unwrap().success());
    world.bump("1.1.0");
    std::fs::rename(world.store(), world.path("elsewhere.git")).unwrap();
    std::fs::rename(world.path("before.git"), world.store()).unwrap();
    world.pass_days(days);
    let refs = "refs/blue/domains/*:refs/blue/domains/*";
    world.git(&world.store(), &["fetch", "--quiet", world.path("elsewhere.git").to_str().unwrap(), refs]);
}

#[test]
fn old_commit_that_arrives_late_is_notified() {
    let world = World::pair();
    arrives_after(&world, 9);
    let recent = ["notifications", "list", "--since", "2 days ago"];
    assert_eq!(world.json(&world.path("access"), &recent)["total"], 1, "it arrives now");
    let told = told(&world, "access");
    assert_eq!(told.len(), 1);
    assert!(told[0]["created_at"].as_str().unwrap().starts_with("2026-01-24"), "{told:?}");
    assert!(told[0]["arrived_at"].as_str().unwrap().starts_with("2026-02-02"), "{told:?}");
}

#[test]
fn age_counts_from_first_arrival_on_this_machine() {
    let world = World::pair();
    arrives_after(&world, 9);
    // Listing it records its arrival, and marks nothing.
    assert_eq!(pending(&world, "access"), 1);
    let seen = world.tip("refs/blue/local/arrivals/s3-access");
    world.pass_days(6);
    assert_eq!(pending(&world, "access"), 1);
    assert_eq!(world.tip("refs/blue/local/arrivals/s3-access"), seen, "seen once is enough");
    // A later local change has its own age.
    world.pass_days(2);
    assert_eq!(pending(&world, "access"), 0);
    assert_eq!(listed(&world, "access", "expired").len(), 1);
    assert_eq!(told(&world, "access"), Vec::<Value>::new());
}

#[test]
fn peek_works_on_a_read_only_store() {
    let world = World::pair();
    arrives_after(&world, 9);
    // Even root cannot create a file where one is in the way.
    std::fs::rename(world.store().join("blue"), world.path("blue")).unwrap();
    std::fs::write(world.store().join("blue"), "").unwrap();
    assert_eq!(pending(&world, "access"), 1);
    let peek = world.json(&world.path("access"), &["status", "--peek"]);
    assert_eq!(peek["notifications"].as_array().unwrap().len(), 1);
}

#[test]
fn status_without_news_writes_nothing() {
    let world = World::pair();
    world.bump("1.1.0");
    assert_eq!(told(&world, "access").len(), 1);
    let refs = || world.git(&world.store(), &["for-each-ref"]).stdout;
    let before = refs();
    world.ok(&world.path("access"), &["status"]);
    world.ok(&world.path("access"), &["notifications", "list"]);
    assert_eq!(refs(), before);
}

/// A machine may not know the time when it starts.
#[test]
fn changes_made_while_the_clock_is_in_the_past_are_notified() {
    let world = World::pair();
    world.bump("1.1.0");
    assert_eq!(told(&world, "access").len(), 1);
    world.set("GIT_BLUE_NOW", "2020-01-01T00:00:00Z");
    world.bump("1.2.0");
    world.bump("2.0.0");
    world.set("GIT_BLUE_NOW", "2026-03-01T00:00:00Z");
    let told = told(&world, "access");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0]["created_at"].as_str().unwrap().starts_with("2020-01-01"), "{told:?}");
    assert!(told[0]["arrived_at"].as_str().unwrap().starts_with("2026-03-01"), "{told:?}");
}

#[test]
fn a_change_that_follows_one_from_the_future_expires() {
    let world = World::pair();
    world.set("GIT_BLUE_NOW", "2099-01-01T00:00:00Z");
    world.bump("1.1.0");
    world.set("GIT_BLUE_NOW", "2026-03-01T00:00:00Z");
    world.bump("1.2.0");
    assert_eq!(pending(&world, "access"), 1);
    assert!(listed(&world, "access", "pending")[0]["arrived_at"].as_str().unwrap().starts_with("2026-03-01"));
    world.set("GIT_BLUE_NOW", "2026-03-09T00:00:00Z");
    assert_eq!(pending(&world, "access"), 0);
}

/// Descriptive text is no news, so it does not turn a pending notification into another one.
#[test]
fn corrected_description_keeps_the_notification() {
    let world = World::pair();
    told(&world, "access");
    world.bump("1.1.0");
    let before = listed(&world, "access", "pending");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0").replace("others read", "others rely on"));
    world.commit("fungal", "Correct the description");
    let after = listed(&world, "access", "pending");
    assert_eq!((after.len(), &after[0]["id"]), (1, &before[0]["id"]), "{after:?}");
}
