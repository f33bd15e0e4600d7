//! Notifications that nobody saw for a long time, and records of those that were seen.

use serde_json::{Value, json};

use crate::{
    notifications::{listed, told},
    world::{BINDING_FILE, CONTRACT_FILE, World, contract, importing},
};

#[test]
fn expired_notifications_are_listed_but_not_shown() {
    let world = World::pair();
    world.bump("1.1.0");
    world.pass_days(8);
    let status = world.json(&world.path("access"), &["status"]);
    assert_eq!(status["notifications"], json!([]));
    let expired = listed(&world, "access", "expired");
    assert_eq!((expired.len(), &expired[0]["state"]), (1, &json!("expired")));
    // They are counted until the reader has seen them.
    for args in [&["status"][..], &[]] {
        let run = world.ok(&world.path("access"), args);
        assert!(run.stdout.contains("1 older change not seen"), "{run}");
    }
    world.pass_days(30);
    assert_eq!(listed(&world, "access", "all"), Vec::<Value>::new());
}

#[test]
fn expired_notification_of_a_break_says_so() {
    let world = World::pair();
    let access = world.path("access");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <3.0.0"));
    world.commit("access", "Accept 2.x");
    told(&world, "access");
    world.write(
        &format!("fungal/{CONTRACT_FILE}"),
        &contract("2.0.0").replace("read]", "paths]").replace("read:", "paths:"),
    );
    world.commit("fungal", "Rename read");
    assert_eq!(listed(&world, "access", "pending")[0]["import_state"], "broken");
    world.pass_days(8);
    let expired = &listed(&world, "access", "expired")[0];
    let of = |key: &str| expired[key].clone();
    assert_eq!([of("import_state"), of("judged_by"), of("rank")], ["broken", "schemas", "broken"].map(Value::from));
    let list = world.ok(&access, &["notifications", "list"]);
    assert!(list.stdout.contains("your import is broken"), "{list}");
    world.ok(&access, &["notifications", "ack", "--all"]);
    let seen = world.ok(&access, &["notifications", "list"]);
    assert!(seen.stdout.contains("your import is broken"), "{seen}");
    assert!(!world.ok(&access, &["status"]).stdout.contains("not seen"));
    assert!(world.next_steps(&list).iter().any(|step| step.starts_with("git blue review")), "{list}");
}

#[test]
fn seen_notifications_are_removed_after_thirty_days() {
    let world = World::pair();
    world.bump("1.1.0");
    assert_eq!(told(&world, "access").len(), 1);
    world.pass_days(29);
    assert_eq!(listed(&world, "access", "all").len(), 1);
    world.pass_days(2);
    let list = || world.json(&world.path("access"), &["notifications", "list"]);
    let left = json!({"total": 0, "pending": 0, "seen": 0, "expired": 0, "expired_cleaned": 1, "dropped": 0});
    assert_eq!((&list()["notifications"], &list()["summary"]), (&json!([]), &left));
    let text = world.ok(&world.path("access"), &["notifications", "list"]).stdout;
    assert_eq!(text, "no notifications in the last 30 days (1 older: git blue realm log)\n");
    world.ok(&world.path("access"), &["gc"]);
    assert_eq!(list()["summary"]["expired_cleaned"], 0);
}

#[test]
fn changes_that_nobody_saw_are_counted_after_thirty_days() {
    let world = World::pair();
    world.bump("1.1.0");
    world.pass_days(31);
    let list = world.json(&world.path("access"), &["notifications", "list"]);
    assert_eq!((&list["notifications"], &list["summary"]["expired_cleaned"]), (&json!([]), &json!(1)));
}
