//! Changes by other repositories are notified once to each reader, with the answers.

use std::time::Duration;

use serde_json::json;

use crate::{
    client::{Client, LEGACY},
    world::World,
};

const CONTRACT: &str = r#"{"domain": "s3-access", "contract": "s3-permissions"}"#;

#[test]
fn publish_in_one_repository_is_notified_once_in_the_other() {
    let world = World::pair();
    let mut provider = Client::start(&world, &world.path("fungal"));
    let mut consumer = Client::with(&world, &world.path("access"), LEGACY, &[], &[("GIT_BLUE_SEED", "2")]);
    let contract = || serde_json::from_str(CONTRACT).unwrap();
    assert!(provider.told("realm_status", json!({})).is_empty());
    assert!(consumer.told("realm_status", json!({})).is_empty());
    world.bump("1.1.0");
    // Any tool delivers notifications, and two concurrent calls deliver them once.
    let ids: Vec<_> =
        (0..5).map(|_| consumer.post("tools/call", json!({"name": "contract_get", "arguments": serde_json::from_str::<serde_json::Value>(CONTRACT).unwrap()}))).collect();
    let told: usize = ids
        .into_iter()
        .map(|id| consumer.answer(id)["result"]["structuredContent"]["notifications"].as_array().unwrap().len())
        .sum();
    assert_eq!(told, 1);
    assert!(consumer.told("realm_status", json!({})).is_empty());
    assert!(provider.told("contract_get", contract()).is_empty());
    let listed = consumer.ok("notifications_list", json!({"state": "seen"}));
    assert_eq!(listed["summary"]["pending"], 0);
    world.bump("1.2.0");
    world.bump("1.3.0");
    let answer = consumer.ok("contract_get", contract());
    assert_eq!(answer["notifications"][0]["version_count"], 2);
    assert_eq!(answer["next_steps"][0]["tool"], "realm_review");
    // Receipts are on disk when the next answer arrives.
    consumer.request("ping", json!({}));
    world.git(&world.store(), &["fsck", "--strict", "--no-dangling"]);
}

#[test]
fn each_session_and_the_person_are_notified() {
    let world = World::pair();
    let start =
        |session| Client::with(&world, &world.path("access"), LEGACY, &[], &[("CLAUDE_CODE_SESSION_ID", session)]);
    let mut one = start("0b0f4a9e-6d3f-4a6b-9a60-000000000001");
    let mut two = start("0b0f4a9e-6d3f-4a6b-9a60-000000000002");
    for client in [&mut one, &mut two] {
        assert!(client.told("realm_status", json!({})).is_empty());
    }
    world.bump("1.1.0");
    for client in [&mut one, &mut two] {
        assert_eq!(client.told("realm_status", json!({})), ["VersionChanged \"1.1.0\""]);
    }
    assert!(world.ok(&world.path("access"), &["status"]).stdout.contains("1 change you have not seen"));
    // A session resumed in another process has seen them; a new one starts at the shared state.
    drop((one, two));
    assert!(start("0b0f4a9e-6d3f-4a6b-9a60-000000000001").told("realm_status", json!({})).is_empty());
    assert!(start("another").told("realm_status", json!({})).is_empty());
}

/// Another reader of the repository may see a change first.
#[test]
fn readers_that_were_there_before_a_change_are_notified() {
    let world = World::pair();
    let start =
        |session| Client::with(&world, &world.path("access"), LEGACY, &[], &[("CLAUDE_CODE_SESSION_ID", session)]);
    let (mut one, mut two) = (start("one"), start("two"));
    world.bump("1.1.0");
    for client in [&mut one, &mut two] {
        assert_eq!(client.told("realm_status", json!({})), ["VersionChanged \"1.1.0\""]);
    }
    // The person joined before the change, and has not looked yet.
    assert!(world.ok(&world.path("access"), &["status"]).stdout.contains("1 change you have not seen"));
    assert!(start("three").told("realm_status", json!({})).is_empty());
}

#[test]
fn unread_answer_is_notified_again() {
    let world = World::pair();
    let session = [("CLAUDE_CODE_SESSION_ID", "one")];
    let mut client = Client::with(&world, &world.path("access"), LEGACY, &[], &session);
    assert!(client.told("realm_status", json!({})).is_empty());
    world.bump("1.1.0");
    // Listing tools, failed calls and calls outside of a repository deliver nothing.
    assert_eq!(client.ok("notifications_list", json!({"state": "pending"}))["total"], 1);
    client.fails("contract_get", json!({"domain": "none", "contract": "none"}));
    let (store, away) = (world.store(), world.path("away.git"));
    std::fs::rename(&store, &away).unwrap();
    client.fails("realm_status", json!({}));
    std::fs::rename(&away, &store).unwrap();
    client.child.kill().unwrap();
    client.child.wait().unwrap();
    let mut client = Client::with(&world, &world.path("access"), LEGACY, &[], &session);
    assert_eq!(client.told("realm_log", json!({})).len(), 1);
    // After the kill nothing is in the way.
    world.bump("1.2.0");
    assert_eq!(world.version(), "1.2.0");
}

#[test]
fn cancelled_call_marks_nothing() {
    let world = World::pair();
    let mut client = Client::start(&world, &world.path("access"));
    assert!(client.told("realm_status", json!({})).is_empty());
    world.bump("1.1.0");
    // In one write, so that the cancellation arrives before the call has run.
    let call = json!({"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": {"name": "realm_status", "arguments": {}}});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 900}});
    client.raw(format!("{call}\n{cancel}\n").as_bytes());
    assert_eq!(client.receive_within(Duration::from_millis(500)), None);
    assert_eq!(client.told("realm_status", json!({})).len(), 1);
}

#[test]
fn more_notifications_come_with_the_next_answer() {
    let world = World::pair();
    let mut client = Client::start(&world, &world.path("access"));
    client.told("realm_status", json!({}));
    for n in 0..45 {
        let name = format!("extra-{n:02}");
        let text = crate::world::contract("1.0.0").replace("s3-permissions", &name);
        world.write(&format!("fungal/.blue/contracts/s3-access/{name}.yaml"), &text);
    }
    world.commit("fungal", "Many");
    let (mut seen, mut answers) = (Vec::new(), 0);
    while seen.len() < 45 {
        let answer = client.ok("realm_status", json!({"limit": 1}));
        let told = answer["notifications"].as_array().unwrap();
        assert!(!told.is_empty() && told.len() <= 20, "{}", told.len());
        seen.extend(told.iter().map(|one| one["contract"].to_string()));
        assert_eq!(answer["more_notifications"], 45 - seen.len());
        answers += 1;
    }
    let told = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!((seen.len(), told, answers), (45, 45, 3));
    assert!(client.told("realm_status", json!({})).is_empty());
}

#[test]
fn answer_includes_earlier_publishes() {
    let world = World::pair();
    let mut provider = Client::start(&world, &world.path("fungal"));
    let mut consumer = Client::with(&world, &world.path("access"), LEGACY, &[], &[("GIT_BLUE_SEED", "2")]);
    let mut other = Client::with(&world, &world.path("access"), LEGACY, &[], &[("GIT_BLUE_SEED", "3")]);
    let contract = || serde_json::from_str(CONTRACT).unwrap();
    for n in 1..=6 {
        for client in [&mut provider, &mut consumer, &mut other] {
            for _ in 0..3 {
                assert!(client.told("contract_get", contract()).is_empty());
            }
        }
        let version = format!("1.{n}.0");
        world.bump(&version);
        assert_eq!(provider.ok("contract_get", contract())["current_version"], *version);
        for client in [&mut consumer, &mut other] {
            let answer = client.ok("contract_get", contract());
            assert_eq!(answer["current_version"], *version);
            assert_eq!(answer["notifications"][0]["changes"]["new_version"], *version, "{answer:?}");
            assert!(client.told("realm_status", json!({})).is_empty());
        }
    }
}

/// A reader that is behind does not show others again what they have seen.
#[test]
fn new_reader_is_not_shown_what_another_has_seen() {
    let world = World::pair();
    for n in 0..12 {
        let text = crate::world::contract("1.0.0").replace("s3-permissions", &format!("paths-{n}"));
        world.write(&format!("fungal/.blue/contracts/s3-access/paths-{n}.yaml"), &text);
    }
    world.commit("fungal", "Many contracts");
    let access = world.path("access");
    let of_session = |session: &str| {
        let mut client = Client::with(&world, &access, LEGACY, &[], &[("CLAUDE_CODE_SESSION_ID", session)]);
        client.ok("realm_status", json!({}))["notifications"].as_array().unwrap().len()
    };
    assert_eq!(of_session("first"), 12);
    // `status` shows only some of them.
    let shown = world.json(&access, &["notifications", "list", "--state", "pending"]);
    let id = shown["notifications"][0]["id"].as_str().unwrap().to_owned();
    world.ok(&access, &["notifications", "ack", &id]);
    assert_eq!(of_session("second"), 0);
}
