//! What was answered at `/mcp` is given again to who asks the same, as long as it is true.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    mcp::{ACCEPT, Client, Place, post, started},
    world::World,
};

fn contract(world: &World) -> Value {
    json!({"domain": "s3-access", "contract": "s3-permissions", "cwd": world.path("access")})
}

/// Asks often enough that an answer is given again.
#[track_caller]
fn settled(client: &Client, arguments: &Value) -> Value {
    client.call("contract_get", arguments.clone());
    let first = client.call("contract_get", arguments.clone());
    assert_eq!(first["isError"], false, "{first:#}");
    for _ in 0..3 {
        assert_eq!(client.call("contract_get", arguments.clone()), first);
    }
    first
}

#[test]
fn a_publish_before_a_request_is_in_its_answer_and_told_to_each() {
    let world = World::pair();
    let daemon = started(&world);
    let clients = [Client::stateless(&daemon, "one"), Client::stateless(&daemon, "two"), Client::session(&daemon)];
    let arguments = contract(&world);
    let everywhere = json!({"domain": "s3-access", "contract": "s3-permissions"});
    for n in 1..=12 {
        for client in &clients {
            assert_eq!(settled(client, &arguments)["structuredContent"]["notifications"], json!([]));
            settled(client, &everywhere);
        }
        let version = format!("1.{n}.0");
        world.bump(&version);
        for client in &clients {
            let without = &client.call("contract_get", everywhere.clone())["structuredContent"];
            assert_eq!((&without["current_version"], &without["notifications"]), (&json!(version), &json!([])));
            let told = &client.call("contract_get", arguments.clone())["structuredContent"];
            assert_eq!(told["current_version"], *version);
            assert_eq!(told["notifications"][0]["changes"]["new_version"], *version, "{told:#}");
            let again = &client.call("contract_get", arguments.clone())["structuredContent"];
            assert_eq!(again["notifications"], json!([]), "{again:#}");
        }
    }
}

#[test]
fn it_has_the_id_that_was_asked_with_and_is_for_the_same_headers_alone() {
    let world = World::pair();
    let daemon = started(&world);
    let client = Client::stateless(&daemon, "one");
    let arguments = json!({"domain": "s3-access", "contract": "s3-permissions"});
    let result = settled(&client, &arguments);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "one", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": "contract_get", "arguments": arguments, "_meta": meta});
    let body = |id: &Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string();
    let era = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: contract_get\r\n";
    for id in [json!(7_001), json!("seven"), json!("s\u{e9}\u{20}ven"), json!("a\"b"), json!(-3)] {
        let said = post(&Place::of(&daemon), &format!("{ACCEPT}{era}"), body(&id).as_bytes());
        assert_eq!((said.status, &said.messages[0]["id"], &said.messages[0]["result"]), (200, &id, &result));
    }
    // Whatever else is wrong with a request is said as before.
    let named = era.replace("contract_get", "contract_list");
    for (headers, status) in [
        (format!("{ACCEPT}{named}"), 400),
        (ACCEPT.to_owned(), 400),
        (format!("{ACCEPT}{}", era.replace("2026-07-28", "1999-01-01")), 400),
        (format!("Content-Type: application/json\r\nAccept: text/html\r\n{era}"), 406),
        (format!("Content-Type: text/plain\r\nAccept: application/json, text/event-stream\r\n{era}"), 415),
    ] {
        let said = post(&Place::of(&daemon), &headers, body(&json!(1)).as_bytes());
        assert_eq!(said.status, status, "{headers} {} {:?}", said.head, said.messages);
    }
}

#[test]
fn who_has_no_session_is_given_nothing() {
    let world = World::pair();
    let daemon = started(&world);
    let client = Client::session(&daemon);
    let arguments = json!({"domain": "s3-access", "contract": "s3-permissions"});
    settled(&client, &arguments);
    let call = |session: &str| {
        let params = json!({"name": "contract_get", "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": params}).to_string();
        post(&Place::of(&daemon), &format!("{ACCEPT}Mcp-Session-Id: {session}\r\n"), body.as_bytes()).status
    };
    let session = client.session.clone().unwrap();
    assert_eq!(call(&session), 200);
    assert_eq!(call("none"), 404);
    let gone = daemon.ask("DELETE", "/mcp", &format!("Mcp-Session-Id: {session}\r\n"), b"");
    assert!((200..300).contains(&gone.status), "{gone:?}");
    assert_eq!(call(&session), 404);
}

#[test]
fn a_realm_that_is_gone_or_another_is_noticed() {
    let world = World::pair();
    let daemon = started(&world);
    let client = Client::stateless(&daemon, "one");
    let arguments = contract(&world);
    settled(&client, &arguments);
    let (store, away) = (world.store(), world.path("away.git"));
    std::fs::rename(&store, &away).unwrap();
    assert_eq!(client.call("contract_get", arguments.clone())["isError"], true);
    std::fs::rename(&away, &store).unwrap();
    settled(&client, &arguments);
    let config = world.store().join("../../config");
    let before = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, before.replace("aperture", "elsewhere")).unwrap();
    assert_eq!(client.call("contract_get", arguments.clone())["isError"], true);
    std::fs::write(&config, before).unwrap();
    settled(&client, &arguments);
}

#[test]
fn of_two_requests_with_one_id_in_a_session_the_second_is_refused() {
    let world = World::pair();
    let daemon = started(&world);
    let client = Client::session(&daemon);
    let folder = world.store().join("blue/locks");
    std::fs::create_dir_all(&folder).unwrap();
    let lock = std::fs::File::options().create(true).truncate(false).write(true).open(folder.join("_sessions-access"));
    let lock = lock.unwrap();
    lock.lock().unwrap();
    let access = world.path("access");
    let call = |tool: &str| {
        let params = json!({"name": tool, "arguments": {"cwd": access}});
        json!({"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": params})
    };
    std::thread::scope(|scope| {
        let first = scope.spawn(|| client.send(&call("session_start"), ""));
        std::thread::sleep(Duration::from_millis(500));
        let second = client.send(&call("realm_status"), "");
        assert_eq!(
            (second.status, &second.messages[0]["error"]["code"]),
            (400, &json!(-32600)),
            "{:?}",
            second.messages
        );
        drop(lock);
        let first = first.join().unwrap();
        let answer = first.messages.iter().find(|message| message["id"] == 900).unwrap();
        assert_eq!(answer["result"]["structuredContent"]["resumed"], false, "{answer:#}");
    });
    assert_eq!(client.send(&call("realm_status"), "").status, 200, "it is free again");
}
