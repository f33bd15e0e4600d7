//! What was answered is given again to who asks the same, as long as it is true, and never any longer.

use serde_json::{Value, json};

use crate::{
    client::{Client, LEGACY},
    world::World,
};

fn contract() -> Value {
    json!({"domain": "s3-access", "contract": "s3-permissions"})
}

/// Asks often enough that an answer is given again.
#[track_caller]
fn settled(client: &mut Client, tool: &str, arguments: &Value) -> Value {
    client.ok(tool, arguments.clone());
    let first = client.call(tool, arguments.clone());
    for _ in 0..3 {
        assert_eq!(client.call(tool, arguments.clone()), first);
    }
    first
}

#[test]
fn a_publish_before_a_request_is_in_its_answer_and_told() {
    let world = World::pair();
    let mut provider = Client::start(&world, &world.path("fungal"));
    let mut consumer = Client::with(&world, &world.path("access"), LEGACY, &[], &[("GIT_BLUE_SEED", "2")]);
    let mut other = Client::with(&world, &world.path("access"), LEGACY, &[], &[("GIT_BLUE_SEED", "3")]);
    for n in 1..=12 {
        for client in [&mut provider, &mut consumer, &mut other] {
            let answer = settled(client, "contract_get", &contract());
            assert_eq!(answer["structuredContent"]["notifications"], json!([]), "{answer:#}");
            settled(client, "realm_status", &json!({}));
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

#[test]
fn it_has_the_id_that_was_asked_with() {
    let world = World::pair();
    let mut client = Client::start(&world, &world.path("access"));
    let result = settled(&mut client, "contract_get", &contract());
    let params = json!({"name": "contract_get", "arguments": contract()});
    for id in [json!(7_001), json!("seven"), json!("s\u{e9}\u{20}ven"), json!(7_002), json!("a\"b"), json!(-3)] {
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
        let answer = client.receive();
        assert_eq!((&answer["id"], &answer["result"]), (&id, &result));
    }
}

#[test]
fn what_decides_the_project_decides_whether_it_is_given_again() {
    let world = World::pair();
    let mut client = Client::start(&world, &world.path("access"));
    settled(&mut client, "contract_get", &contract());
    let (store, away) = (world.store(), world.path("away.git"));
    std::fs::rename(&store, &away).unwrap();
    client.fails("contract_get", contract());
    std::fs::rename(&away, &store).unwrap();
    settled(&mut client, "contract_get", &contract());
    // The user's own records say which realms there are.
    let config = world.store().join("../../config");
    let before = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, before.replace("aperture", "elsewhere")).unwrap();
    client.fails("contract_get", contract());
    std::fs::write(&config, before).unwrap();
    settled(&mut client, "contract_get", &contract());
    // So does the work tree.
    let (file, away) = (world.path("access/.blue/config.yaml"), world.path("away.yaml"));
    std::fs::rename(&file, &away).unwrap();
    std::fs::write(&file, "realm: { name: elsewhere }\n").unwrap();
    client.fails("contract_get", contract());
    std::fs::rename(&away, &file).unwrap();
    settled(&mut client, "contract_get", &contract());
}

#[test]
fn a_session_that_begins_or_ends_is_seen() {
    let world = World::pair();
    let mut client = Client::start(&world, &world.path("fungal"));
    let sessions =
        |client: &mut Client| client.ok("realm_status", json!({}))["sessions"].as_array().map_or(0, Vec::len);
    settled(&mut client, "realm_status", &json!({}));
    let before = sessions(&mut client);
    client.ok("session_start", json!({}));
    assert_eq!(sessions(&mut client), before + 1);
    settled(&mut client, "realm_status", &json!({}));
    client.ok("session_stop", json!({}));
    assert_eq!(sessions(&mut client), before);
}
