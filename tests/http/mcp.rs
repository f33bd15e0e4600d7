//! MCP at `/mcp`: the same server as over standard input, for many concurrent clients, with and without a handshake.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
};

use serde_json::{Value, json};

use crate::{
    client::{Daemon, PATIENCE},
    mcp_client::{ACCEPT, Client, Place, post},
    wait::eventually,
    world::World,
};

pub fn started(world: &World) -> Daemon<'_> {
    Daemon::start_with(world, &["--rate-limit", "0"])
}

#[test]
fn each_session_and_the_person_are_notified_once() {
    let world = World::pair();
    let daemon = started(&world);
    let access = world.path("access");
    let (one, two) = (Client::session(&daemon), Client::session(&daemon));
    for client in [&one, &two] {
        assert!(client.told(&access).is_empty());
    }
    world.bump("1.1.0");
    for client in [&one, &two] {
        assert_eq!(client.told(&access), ["1.1.0"]);
        assert!(client.told(&access).is_empty());
    }
    assert!(world.ok(&access, &["status"]).stdout.contains("1 change you have not seen"));
    // The provider is not notified of its own changes.
    assert!(one.told(&world.path("fungal")).is_empty());
    // Receipts are on disk once the daemon has stopped.
    drop(daemon);
    world.git(&world.store(), &["fsck", "--strict", "--no-dangling"]);
}

#[test]
fn client_without_handshake_is_notified_once_over_all_connections() {
    let world = World::pair();
    let daemon = started(&world);
    let access = world.path("access");
    let (one, again, other) =
        (Client::stateless(&daemon, "one"), Client::stateless(&daemon, "one"), Client::stateless(&daemon, "other"));
    for client in [&one, &other] {
        assert!(client.told(&access).is_empty());
    }
    world.bump("1.1.0");
    assert_eq!(one.told(&access), ["1.1.0"]);
    assert!(again.told(&access).is_empty());
    assert_eq!(other.told(&access), ["1.1.0"]);
}

#[test]
fn concurrent_calls_report_notifications_once() {
    let world = World::pair();
    let daemon = started(&world);
    let access = world.path("access");
    let client = Client::session(&daemon);
    client.told(&access);
    for version in ["1.1.0", "1.2.0", "1.3.0"] {
        world.bump(version);
        let told: usize = std::thread::scope(|scope| {
            let asking: Vec<_> = (0..8).map(|_| scope.spawn(|| client.told(&access).len())).collect();
            asking.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(told, 1);
        assert!(client.told(&access).is_empty());
    }
}

#[test]
fn without_a_folder_the_realm_answers_without_notifications() {
    let world = World::pair();
    let daemon = started(&world);
    world.bump("1.1.0");
    for client in [Client::session(&daemon), Client::stateless(&daemon, "one")] {
        let status = client.call("realm_status", json!({}))["structuredContent"].clone();
        assert_eq!((&status["realm"], &status["current_repo"]), (&json!("aperture"), &Value::Null), "{status:#}");
        assert_eq!(status["notifications"], json!([]));
        let contract = json!({"domain": "s3-access", "contract": "s3-permissions"});
        let contract = client.call("contract_get", contract)["structuredContent"].clone();
        assert_eq!(contract["current_version"], "1.1.0");
        let read = client.request("resources/read", json!({"uri": "blue://aperture/status"}));
        assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains("\"realm\":\"aperture\""), "{read:#}");
        // Tools that need a repository say what to do.
        let failed = client.call("session_start", json!({}));
        assert_eq!(failed["isError"], true);
        assert!(failed["content"][0]["text"].as_str().unwrap().contains("cwd"), "{failed:#}");
        // With two realms, one has to be named.
        let wrong = client.call("realm_status", json!({"cwd": "relative"}));
        assert_eq!(wrong["isError"], true);
    }
    world.ok(&world.root(), &["realm", "admin", "init", "--name", "other"]);
    let client = Client::session(&daemon);
    let failed = client.call("realm_status", json!({}));
    let text = failed["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("realm: not given, and there are aperture, other"), "{text}");
    assert_eq!(client.call("realm_status", json!({"realm": "other"}))["structuredContent"]["realm"], "other");
    let list = client.request("resources/list", json!({}))["result"]["resources"].clone();
    let uris: Vec<_> = list.as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect();
    assert_eq!(uris.len(), 5);
    assert!(uris.contains(&"blue://other/status"), "{uris:?}");
    let complete = |name: &str, known: Value| {
        let reference = json!({"type": "ref/resource", "uri": "blue://{realm}/contracts/{domain}/{contract}"});
        let argument = json!({"name": name, "value": ""});
        let params = json!({"ref": reference, "argument": argument, "context": {"arguments": known}});
        client.request("completion/complete", params)["result"]["completion"]["values"].clone()
    };
    assert_eq!(complete("realm", json!({})), json!(["aperture", "other"]));
    assert_eq!(complete("domain", json!({"realm": "aperture"})), json!(["s3-access"]));
}

#[test]
fn roots_are_requested_without_handshake() {
    let world = World::pair();
    let daemon = started(&world);
    world.ok(&world.path("access"), &["status"]);
    let client = Client { capabilities: json!({"roots": {}}), ..Client::stateless(&daemon, "one") };
    let asked = client.call("realm_status", json!({}));
    assert_eq!(asked["resultType"], "input_required", "{asked:#}");
    let roots = json!({"roots": {"roots": [{"uri": format!("file://{}", world.path("access").display())}]}});
    let params = json!({"name": "realm_status", "arguments": {}, "inputResponses": roots});
    let answer = client.request("tools/call", params);
    assert_eq!(answer["result"]["structuredContent"]["current_repo"], "access", "{answer:#}");
}

#[test]
fn invalid_message_is_reported() {
    let world = World::pair();
    let daemon = started(&world);
    let many = format!("[{}]", r#"{"jsonrpc":"2.0","id":1,"method":"ping"},"#.repeat(3).trim_end_matches(','));
    for (body, status, code) in [
        (r#"{"jso"#, 400, -32700),
        ("", 400, -32700),
        ("\u{0}", 400, -32700),
        (&*many, 400, -32600),
        ("3", 400, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, 400, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":3}}"#, 400, -32602),
    ] {
        let said = post(&Place::of(&daemon), ACCEPT, body.as_bytes());
        assert_eq!((said.status, said.messages[0]["error"]["code"].as_i64()), (status, Some(code)), "{body}");
    }
    let list = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for (headers, status) in [
        // No session is named, and no version without a handshake.
        (ACCEPT, 400),
        (
            "Mcp-Session-Id: none\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n",
            404,
        ),
        ("Content-Type: application/json\r\nAccept: text/html\r\n", 406),
        ("Content-Type: text/plain\r\nAccept: application/json, text/event-stream\r\n", 415),
    ] {
        let said = post(&Place::of(&daemon), headers, list);
        assert_eq!(said.status, status, "{} {:?}", said.head, said.messages);
    }
    // A body is refused because of its announced length.
    let head = format!("POST /mcp HTTP/1.1\r\n{}{ACCEPT}Content-Length: {}\r\n\r\n", daemon.headers(), (1 << 20) + 1);
    assert!(daemon.raw(format!("{head}{{").as_bytes()).starts_with("HTTP/1.1 413 "));
    assert!(daemon.is_alive());
}

#[test]
fn sessions_are_limited_and_existing_ones_continue() {
    let world = World::pair();
    let daemon = started(&world);
    let first = Client::session(&daemon);
    let info = json!({"name": "many", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}).to_string();
    let refused = (0..300)
        .find_map(|_| Some(post(&Place::of(&daemon), ACCEPT, hello.as_bytes())).filter(|said| said.status != 200));
    let refused = refused.expect("there is a bound");
    assert_eq!(refused.status, 503);
    assert!(refused.head.contains("retry-after: "), "{}", refused.head);
    first.told(&world.path("access"));
    assert!(Client::stateless(&daemon, "one").told(&world.path("access")).is_empty(), "they hold nothing");
}

/// Reads events until the expected one.
fn wait_for(stream: TcpStream, wanted: impl Fn(&Value) -> bool) -> Value {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    for line in BufReader::new(stream).lines() {
        let line = line.expect("an event comes");
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let Ok(message) = serde_json::from_str::<Value>(data) else { continue };
        if wanted(&message) {
            return message;
        }
    }
    panic!("the stream ended");
}

#[test]
fn change_reaches_listeners_with_and_without_handshake() {
    let world = World::pair();
    let daemon = started(&world);
    let uri = "blue://aperture/contracts/s3-access/s3-permissions";
    let client = Client::session(&daemon);
    let subscribed = client.request("resources/subscribe", json!({"uri": uri}));
    assert!(subscribed["error"].is_null(), "{subscribed:#}");
    let mut stream = daemon.connect();
    let session = client.session.as_ref().unwrap();
    let headers = format!("{}Mcp-Session-Id: {session}\r\nAccept: text/event-stream\r\n", daemon.headers());
    stream.write_all(format!("GET /mcp HTTP/1.1\r\n{headers}\r\n").as_bytes()).unwrap();

    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "listener", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"notifications": {"resourceSubscriptions": [uri]}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}).to_string();
    let mut listening = daemon.connect();
    let era = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n";
    let head = format!("POST /mcp HTTP/1.1\r\n{}{ACCEPT}{era}Content-Length: {}\r\n\r\n", daemon.headers(), body.len());
    listening.write_all(format!("{head}{body}").as_bytes()).unwrap();
    // The subscription is acknowledged first; later changes are sent.
    let copy = listening.try_clone().unwrap();
    wait_for(copy, |message| message["method"] == "notifications/subscriptions/acknowledged");
    world.bump("1.1.0");
    for stream in [stream, listening] {
        let heard = wait_for(stream, |message| message["method"] == "notifications/resources/updated");
        assert_eq!(heard["params"]["uri"], uri);
    }
}

#[test]
fn unknown_or_ended_session_is_refused() {
    let world = World::pair();
    let daemon = started(&world);
    let client = Client::session(&daemon);
    let arguments = json!({"domain": "s3-access", "contract": "s3-permissions"});
    let call = |session: &str| {
        let params = json!({"name": "contract_get", "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": params}).to_string();
        post(&Place::of(&daemon), &format!("{ACCEPT}Mcp-Session-Id: {session}\r\n"), body.as_bytes()).status
    };
    let session = client.session.clone().unwrap();
    assert_eq!(call(&session), 200);
    assert_eq!(call("none"), 404);
    let gone = daemon.ask("DELETE", "/mcp", &format!("Mcp-Session-Id: {session}\r\n"), b"");
    assert_eq!(gone.status, 204, "{gone:?}");
    assert_eq!(call(&session), 404, "its client opens another one then");
    Client::session(&daemon).told(&world.path("access"));
}

#[test]
fn second_request_with_the_same_id_is_refused() {
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
    let send = |tool: &str| client.send(&call(tool), "");
    std::thread::scope(|scope| {
        // Each of the two may come while the other one is answered.
        let first = scope.spawn(|| std::iter::repeat_with(|| send("session_start")).find(|said| said.status != 400));
        let mut second = send("realm_status");
        eventually("the id is in use", || {
            second = send("realm_status");
            second.status == 400
        });
        assert_eq!(second.messages[0]["error"]["code"], -32600, "{:?}", second.messages);
        drop(lock);
        let first = first.join().unwrap().unwrap();
        let answer = first.messages.iter().find(|message| message["id"] == 900).unwrap();
        assert_eq!(answer["result"]["structuredContent"]["resumed"], false, "{answer:#}");
    });
    assert_eq!(client.send(&call("realm_status"), "").status, 200, "it is free again");
}

#[test]
fn rate_limit_says_how_long_to_wait() {
    let world = World::pair();
    let daemon = Daemon::start_with(&world, &["--rate-limit", "30"]);
    let (one, two) = (Client::session(&daemon), Client::session(&daemon));
    let ping = |client: &Client, id: i64| client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}), "");
    let refused = (0..60).map(|id| (id, ping(&one, id))).find(|(_, said)| said.status != 200);
    let (id, refused) = refused.expect("there is a limit");
    let error = &refused.messages[0];
    assert_eq!((refused.status, &error["id"], &error["error"]["code"]), (429, &json!(id), &json!(-32000)), "{error}");
    let wait = error["error"]["data"]["retry_after_seconds"].as_u64().unwrap();
    assert!(wait >= 1 && refused.head.contains(&format!("retry-after: {wait}")), "{}", refused.head);
    assert_eq!(error["error"]["data"]["code"], "too-many-requests");
    // Other sessions, clients and routes are not limited, and a session may still be ended.
    assert_eq!(ping(&two, 900).status, 200);
    Client::stateless(&daemon, "other").call("realm_list", json!({}));
    daemon.get("/realms").is(200);
    let header = format!("Mcp-Session-Id: {}\r\n", one.session.as_ref().unwrap());
    assert_eq!(daemon.ask("DELETE", "/mcp", &header, b"").status, 204);
    // Requests without a session have a limit, too.
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert!((0..60).any(|_| daemon.post("/mcp", &ping).status == 429));
}

#[test]
fn rate_limit_of_zero_is_none() {
    let world = World::solo();
    let daemon = Daemon::start_with(&world, &["--rate-limit", "0"]);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert!((0..150).all(|_| daemon.post("/mcp", &ping).status != 429));
}

#[test]
fn check_without_repository_says_what_it_judged() {
    let world = World::pair();
    let daemon = started(&world);
    let client = Client::stateless(&daemon, "one");
    // A missing repository is not replaced by another one.
    let refused: Value =
        serde_json::from_str(client.call("realm_check", json!({}))["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(refused["code"], "repo-undetermined", "{refused}");
    assert_eq!(refused["message"], "nothing was checked: no repository was named");
    let steps = refused["next_steps"].as_array().unwrap();
    assert_eq!((&steps[0]["tool"], &steps[0]["arguments"]), (&json!("realm_check"), &json!({"scope": "published"})));
    assert!(steps[1]["reason"].as_str().unwrap().starts_with("pass cwd"), "{refused}");
    let check = client.call("realm_check", json!({"scope": "published"}))["structuredContent"].clone();
    assert_eq!((&check["judged"], &check["current_repo"]), (&json!("realm"), &Value::Null), "{check:#}");
    let check = client.ok("realm_check", &world.path("access"));
    assert_eq!((&check["judged"], &check["current_repo"]), (&json!("repository"), &json!("access")));
}

#[test]
fn batch_is_answered_in_the_version_that_has_them() {
    let world = World::pair();
    let daemon = started(&world);
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "realm_status", "arguments": {"cwd": world.path("access")}}},
    ]);
    let ask = |client: &Client| {
        let session = format!("Mcp-Session-Id: {}\r\n", client.session.as_ref().unwrap());
        let headers = format!("{session}{ACCEPT}");
        daemon.ask("POST", "/mcp", &headers, batch.to_string().as_bytes())
    };
    let answer = ask(&Client::session_of(&daemon, "2025-03-26"));
    let all: Vec<Value> = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!((answer.status, all.len()), (200, 2), "{all:?}");
    assert_eq!((&all[0]["result"], &all[1]["id"]), (&json!({}), &json!(2)));
    assert_eq!(all[1]["result"]["structuredContent"]["current_repo"], "access");
    assert_eq!(ask(&Client::session(&daemon)).status, 400);
}
