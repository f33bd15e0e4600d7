//! The handshake of each protocol version, and the version without one.

use std::time::Duration;

use serde_json::json;

use crate::{
    client::{Client, Era},
    world::World,
};

#[test]
fn every_protocol_version_is_supported() {
    let world = World::pair();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::with(&world, &world.path("access"), Era::Legacy(version), &[], &[]);
        assert_eq!(client.greeting["protocolVersion"], version);
        let instructions = client.greeting["instructions"].as_str().unwrap().to_owned();
        assert!(instructions.len() < 2_000 && instructions.contains("realm_status"));
        assert!(client.request("tools/list", json!({}))["resultType"].is_null());
        client.request("ping", json!({}));
        let result = client.call("realm_status", json!({}));
        assert!(result["resultType"].is_null(), "{result}");
        client.ok("realm_status", json!({}));
    }
    // An unknown version is answered with a known one.
    let client = Client::with(&world, &world.path("access"), Era::Legacy("2030-01-01"), &[], &[]);
    assert_eq!(client.greeting["protocolVersion"], "2025-11-25");
}

#[test]
fn version_without_handshake_is_discovered() {
    let world = World::pair();
    let mut client = Client::with(&world, &world.path("access"), Era::Stateless, &[], &[]);
    let greeting = client.greeting.clone();
    assert!(greeting["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{greeting}");
    assert!(greeting["instructions"].as_str().unwrap().contains("realm_status"));
    assert!(greeting["ttlMs"].as_u64().unwrap() > 0, "{greeting}");
    let list = client.request("tools/list", json!({}));
    assert_eq!(list["resultType"], "complete");
    assert!(list["ttlMs"].as_u64().unwrap() > 0 && list["cacheScope"] == "private", "{list}");
    assert_eq!(client.call("realm_status", json!({}))["resultType"], "complete");
    // A client may still choose the handshake after discovery.
    let mut client = Client::silent(&world, &world.path("access"), &[], &[]);
    client.greet(Era::Stateless, json!({}));
    client.greet(Era::Legacy("2025-06-18"), json!({}));
    client.ok("realm_status", json!({}));
}

#[test]
fn batches_are_answered_only_in_the_version_that_has_them() {
    let world = World::pair();
    let call = |id: &str, method: &str, params: serde_json::Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let status = json!({"name": "realm_status", "arguments": {}});
    let batch = json!([
        call("a", "ping", json!({})),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "b"}},
        call("c", "tools/call", status.clone()),
        call("d", "no/such", json!({})),
        3,
    ]);
    let mut client = Client::with(&world, &world.path("access"), Era::Legacy("2025-03-26"), &[], &[]);
    client.told("realm_status", json!({}));
    world.bump("1.1.0");
    client.send(&batch);
    let answers = client.receive_within(Duration::from_secs(60)).unwrap();
    let of = |id: &str| answers.as_array().unwrap().iter().find(|one| one["id"] == id).unwrap().clone();
    assert_eq!(answers.as_array().unwrap().len(), 4, "{answers:#}");
    assert_eq!((&of("a")["result"], &of("d")["error"]["code"]), (&json!({}), &json!(-32601)));
    assert_eq!(of("c")["result"]["structuredContent"]["realm"], "aperture");
    assert!(answers.as_array().unwrap().iter().any(|one| one["error"]["code"] == -32600), "{answers:#}");
    // An answer in a batch has no notifications: they come with the next single one.
    assert_eq!(of("c")["result"]["structuredContent"]["notifications"], json!([]));
    assert_eq!(client.told("realm_status", json!({})).len(), 1);
    // A batch of notifications gets no answer, and an empty batch is an error.
    client.send(&json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]));
    client.send(&json!([]));
    assert_eq!(client.receive()["error"]["code"], -32600);
    client.request("ping", json!({}));
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut client = Client::with(&world, &world.path("access"), Era::Legacy(version), &[], &[]);
        client.send(&batch);
        assert_eq!(client.receive()["error"]["code"], -32600, "{version}");
        client.request("ping", json!({}));
    }
}
