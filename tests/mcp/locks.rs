//! A call that needs a lock of another process waits without blocking other calls.

use std::{
    fs::File,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    client::{Client, LEGACY},
    wait::eventually,
    world::World,
};

/// A wait for a lock that is longer than anything else.
const PATIENT: [(&str, &str); 1] = [("GIT_BLUE_LOCK_TIMEOUT_MS", "60000")];

/// Takes a lock of the store like another process.
fn hold(world: &World, name: &str) -> File {
    let folder = world.store().join("blue/locks");
    std::fs::create_dir_all(&folder).unwrap();
    let file = File::options().create(true).truncate(false).write(true).open(folder.join(name)).unwrap();
    file.lock().unwrap();
    file
}

#[test]
fn call_waiting_for_a_lock_blocks_no_other() {
    let world = World::pair();
    let mut client = Client::with(&world, &world.path("fungal"), LEGACY, &[], &PATIENT);
    client.ok("realm_status", json!({}));
    let lock = hold(&world, "_sessions-fungal");
    let waiting = client.post("tools/call", json!({"name": "session_start", "arguments": {}}));
    let start = Instant::now();
    for _ in 0..10 {
        client.ok("contract_list", json!({}));
    }
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    assert!(client.receive_within(Duration::from_millis(200)).is_none());
    drop(lock);
    assert_eq!(client.answer(waiting)["result"]["structuredContent"]["resumed"], false);
    assert_eq!(client.ok("session_stop", json!({}))["status"], "success");
}

#[test]
fn lasting_lock_is_an_error() {
    let world = World::pair();
    let _lock = hold(&world, "_sessions-fungal");
    let patience = [("GIT_BLUE_LOCK_TIMEOUT_MS", "300")];
    let mut client = Client::with(&world, &world.path("fungal"), LEGACY, &[], &patience);
    let failure = client.fails("session_start", json!({}));
    assert!(
        failure["code"] == "locked" && failure["next_steps"][0]["reason"].as_str().unwrap().starts_with("try again"),
        "{failure}"
    );
    // A cancelled call is not retried.
    let mut client = Client::start(&world, &world.path("fungal"));
    let id = client.post("tools/call", json!({"name": "session_start", "arguments": {}}));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    client.ok("realm_status", json!({}));
}

#[test]
fn notification_that_cannot_be_recorded_is_delivered_once() {
    let world = World::pair();
    let mut client = Client::with(&world, &world.path("access"), LEGACY, &[], &PATIENT);
    client.told("realm_status", json!({}));
    world.bump("1.1.0");
    let lock = hold(&world, "_local");
    assert_eq!(client.told("realm_status", json!({})), ["VersionChanged \"1.1.0\""]);
    let start = Instant::now();
    for _ in 0..5 {
        assert!(client.told("realm_status", json!({})).is_empty());
    }
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    let recorded = || world.git(&world.store(), &["for-each-ref", "refs/blue/local"]).stdout;
    let before = recorded();
    drop(lock);
    // It is recorded while no call is made, and later changes are delivered.
    eventually("it is recorded", || recorded() != before);
    world.bump("1.2.0");
    assert_eq!(client.told("realm_status", json!({})), ["VersionChanged \"1.2.0\""]);
    client.hang_up();
    let mut client = Client::start(&world, &world.path("access"));
    assert!(client.told("realm_status", json!({})).is_empty());
}

#[test]
fn second_request_with_the_same_id_is_refused() {
    let world = World::pair();
    let mut client = Client::start(&world, &world.path("fungal"));
    let call = |tool: &str, id: i64| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": {}}});
    for _ in 0..3 {
        client.ok("realm_status", json!({}));
    }
    let lock = hold(&world, "_sessions-fungal");
    client.send(&call("session_start", 900));
    for tool in ["realm_status", "contract_list", "session_start"] {
        client.send(&call(tool, 900));
        let refused = client.receive();
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(900), &json!(-32600)), "{refused}");
    }
    drop(lock);
    assert_eq!(client.receive()["result"]["structuredContent"]["resumed"], false);
    // The id is free again, also after a cancelled call.
    client.send(&call("realm_status", 900));
    let answer = client.receive();
    assert!(answer["id"] == 900 && answer["result"].is_object(), "{answer}");
    let _lock = hold(&world, "_sessions-fungal");
    client.send(&call("session_stop", 901));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 901}}));
    client.send(&call("realm_status", 901));
    let answer = client.receive();
    assert!(answer["id"] == 901 && answer["result"].is_object(), "{answer}");
}
