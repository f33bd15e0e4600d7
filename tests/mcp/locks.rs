//! Another process holds a lock that an answer needs: other calls are answered, and the answer is sent when the lock is
//! free.

use std::{
    fs::File,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    client::{Client, LEGACY},
    world::World,
};

/// Takes a lock of the store, as another process does.
fn hold(world: &World, name: &str) -> File {
    let folder = world.store().join("blue/locks");
    std::fs::create_dir_all(&folder).unwrap();
    let file = File::options().create(true).truncate(false).write(true).open(folder.join(name)).unwrap();
    file.lock().unwrap();
    file
}

#[test]
fn an_answer_that_waits_for_a_lock_holds_up_no_other() {
    let world = World::pair();
    let mut client = Client::start(&world, &world.path("fungal"));
    client.ok("realm_status", json!({}));
    let lock = hold(&world, "_sessions-fungal");
    let waiting = client.post("tools/call", json!({"name": "session_start", "arguments": {}}));
    let start = Instant::now();
    for _ in 0..10 {
        client.ok("contract_list", json!({}));
    }
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    assert!(client.receive_within(Duration::from_millis(200)).is_none());
    drop(lock);
    assert_eq!(client.answer(waiting)["result"]["structuredContent"]["resumed"], false);
    assert_eq!(client.ok("session_stop", json!({}))["status"], "success");
}

#[test]
fn a_lock_that_stays_is_an_error_that_says_so() {
    let world = World::pair();
    let _lock = hold(&world, "_sessions-fungal");
    let patience = [("GIT_BLUE_LOCK_TIMEOUT_MS", "300")];
    let mut client = Client::with(&world, &world.path("fungal"), LEGACY, &[], &patience);
    let failure = client.fails("session_start", json!({}));
    assert!(
        failure["code"] == "locked" && failure["next_steps"][0]["reason"].as_str().unwrap().starts_with("try again"),
        "{failure}"
    );
    // A cancelled call is not tried again.
    let mut client = Client::start(&world, &world.path("fungal"));
    let id = client.post("tools/call", json!({"name": "session_start", "arguments": {}}));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    client.ok("realm_status", json!({}));
}

#[test]
fn what_cannot_be_recorded_now_is_told_once_all_the_same() {
    let world = World::pair();
    let mut client = Client::start(&world, &world.path("access"));
    client.told("realm_status", json!({}));
    world.bump("1.1.0");
    let lock = hold(&world, "_local");
    assert_eq!(client.told("realm_status", json!({})), ["VersionChanged \"1.1.0\""]);
    let start = Instant::now();
    for _ in 0..5 {
        assert!(client.told("realm_status", json!({})).is_empty());
    }
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    drop(lock);
    // The notifications are recorded in the background, and later ones are delivered.
    std::thread::sleep(Duration::from_millis(500));
    world.bump("1.2.0");
    assert_eq!(client.told("realm_status", json!({})), ["VersionChanged \"1.2.0\""]);
    client.hang_up();
    let mut client = Client::start(&world, &world.path("access"));
    assert!(client.told("realm_status", json!({})).is_empty());
}

#[test]
fn of_two_requests_with_one_id_the_second_is_refused_while_the_first_is_answered() {
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
    // The id can be used again, even after a cancelled call.
    client.send(&call("realm_status", 900));
    assert_eq!(client.receive()["id"], 900);
    let _lock = hold(&world, "_sessions-fungal");
    client.send(&call("session_stop", 901));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 901}}));
    client.send(&call("realm_status", 901));
    assert_eq!(client.receive()["id"], 901);
}
