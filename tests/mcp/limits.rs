//! Limits: large answers are paged, oversized input is refused, and the server waits for a client that does not read.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    client::{Client, Era, LEGACY},
    world::World,
};

#[test]
fn tool_list_stays_small() {
    let world = World::solo();
    for arguments in [&[][..], &["--all-realms"], &["--read-only"]] {
        for era in [LEGACY, Era::Stateless] {
            let mut client = Client::with(&world, &world.path("fungal"), era, arguments, &[]);
            let list = client.request("tools/list", json!({}));
            assert!(list.to_string().len() <= 16_384, "{arguments:?}: {}", list.to_string().len());
            let read = |tool: &Value| {
                let parts = ["name", "description", "inputSchema"].map(|part| (part.to_owned(), tool[part].clone()));
                Value::Object(parts.into_iter().collect()).to_string().len()
            };
            let read: usize = list["tools"].as_array().unwrap().iter().map(read).sum();
            assert!(read <= 8_192, "{arguments:?}: a model reads {read} bytes");
            let kinds = list["tools"].as_array().unwrap().iter().map(|tool| &tool["inputSchema"]["properties"]["kind"]);
            let kinds: Vec<_> = kinds.filter(|kind| !kind.is_null()).map(|kind| kind["enum"].is_array()).collect();
            assert_eq!(kinds, [true, false], "the words are listed once");
        }
    }
}

/// Creates a domain of many contracts, published in one commit.
fn many(world: &World, count: usize) {
    for n in 0..count {
        let name = format!("contract-{n:04}");
        let text = crate::world::contract("1.0.0").replace("s3-permissions", &name);
        world.write(&format!("fungal/.blue/contracts/s3-access/{name}.yaml"), &text);
    }
    world.commit("fungal", "Many");
    world.settle();
}

#[test]
fn pages_of_a_large_realm_are_complete() {
    let world = World::pair();
    many(&world, 600);
    let mut client = Client::start(&world, &world.path("access"));
    let status = client.ok("realm_status", json!({}));
    assert_eq!(status["domains"][0]["more_contracts"], 551);
    let (mut names, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
    loop {
        let answer = client.ok("contract_list", json!({"cursor": cursor}));
        names.extend(answer["contracts"].as_array().unwrap().iter().map(|one| one["name"].to_string()));
        pages += 1;
        cursor = answer["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
        assert!(answer["next_steps"].to_string().contains(cursor.as_str().unwrap()));
    }
    assert!(pages > 1);
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 601);
    for (tool, arguments) in [
        ("realm_check", json!({"detail": "full"})),
        ("realm_log", json!({"limit": 1000})),
        ("notifications_list", json!({"limit": 1000})),
        ("realm_check", json!({"detail": "full", "limit": 7})),
    ] {
        client.ok(tool, arguments);
    }
    // A change between two pages does not matter, since the cursor names a contract.
    let first = client.ok("realm_topology", json!({"limit": 3}))["next_cursor"].clone();
    world.bump("1.1.0");
    let second = client.ok("realm_topology", json!({"limit": 3, "cursor": first}));
    assert!(second["next_cursor"].as_str().unwrap() > first.as_str().unwrap(), "{second:?}");
}

#[test]
fn large_contract_is_truncated_and_readable_in_parts() {
    let world = World::pair();
    let properties: String =
        (0..1_500).map(|n| format!("    field-{n}: {{ type: string, description: \"the field {n}\" }}\n")).collect();
    let text = format!(
        "name: s3-permissions\nversion: \"2.0.0\"\nowner: fungal\nschema:\n  type: object\n  properties:\n{properties}value: {{ read: [a] }}\n"
    );
    world.write(&format!("fungal/{}", crate::world::CONTRACT_FILE), &text);
    world.commit("fungal", "Large");
    let mut client = Client::start(&world, &world.path("access"));
    let arguments = json!({"domain": "s3-access", "contract": "s3-permissions"});
    let answer = client.ok("contract_get", arguments.clone());
    assert_eq!(answer["contract"]["value"], json!({"read": ["a"]}));
    assert!(!answer["cut"].as_array().unwrap().is_empty(), "{answer:?}");
    assert!(answer["next_steps"].to_string().contains("JSON pointer"));
    let mut part = arguments;
    part["pointer"] = json!("/schema/properties/field-1499");
    assert_eq!(client.ok("contract_get", part)["contract"]["part"]["description"], "the field 1499");
}

#[test]
fn long_text_is_readable_in_parts() {
    let world = World::pair();
    let long: String = (0..9_000).map(|n| format!("{n} \u{e4}\u{1f980}\\\" ")).collect();
    let text = json!({"name": "s3-permissions", "version": "2.0.0", "owner": "fungal", "schema": {"type": "object"},
        "value": {"long": long, "number": 3}});
    world.write(&format!("fungal/{}", crate::world::CONTRACT_FILE), &text.to_string());
    world.commit("fungal", "Long");
    let mut client = Client::start(&world, &world.path("access"));
    let mut ask = |at: &str, offset: Value| {
        client.call(
            "contract_get",
            json!({"domain": "s3-access", "contract": "s3-permissions", "pointer": at, "offset": offset}),
        )
    };
    let (mut joined, mut offset, mut parts) = (String::new(), Value::Null, 0);
    loop {
        let answer = ask("/value/long", offset)["structuredContent"].clone();
        assert!(answer["cut"].is_null(), "{answer:#}");
        joined += answer["contract"]["part"].as_str().unwrap();
        parts += 1;
        offset = answer["contract"]["next_offset"].clone();
        if offset.is_null() {
            break;
        }
        assert!(answer["next_steps"].to_string().contains(&format!("offset {offset}")), "{answer:#}");
    }
    assert!(joined == long && (3..40).contains(&parts), "{parts}");
    for (at, offset, said) in [
        ("/value/long", 10_000_000, "unknown-pointer"),
        ("/value/long", 3, "unknown-pointer"),
        ("/value/number", 1, "no text"),
    ] {
        let failure = ask(at, json!(offset));
        assert!(failure["isError"] == true && failure.to_string().contains(said), "{failure}");
    }
}

#[test]
fn long_list_is_readable_in_parts() {
    let world = World::pair();
    let paths: Vec<_> = (0..800).map(|n| format!("/{n}/{}", "x".repeat(60))).collect();
    let text = json!({"name": "s3-permissions", "version": "2.0.0", "owner": "fungal", "schema": {"type": "object"},
        "value": {"deep": {"клю/ч": paths, "other": "x".repeat(60_000)}, "big": ["y".repeat(60_000), "z"]}});
    world.write(&format!("fungal/{}", crate::world::CONTRACT_FILE), &text.to_string());
    world.commit("fungal", "Long");
    let mut client = Client::start(&world, &world.path("access"));
    let mut ask = |at: &str, offset: Value| {
        let arguments = json!({"domain": "s3-access", "contract": "s3-permissions", "pointer": at, "offset": offset});
        Value::Object(client.ok("contract_get", arguments))
    };
    // What was cut is named so that it can be asked for.
    let cut = ask("/value/deep", Value::Null)["cut"].clone();
    assert_eq!(cut, json!(["/contract/value/deep/клю~1ч", "/contract/value/deep/other"]));
    let (mut joined, mut offset) = (Vec::new(), Value::Null);
    loop {
        let answer = ask("/value/deep/клю~1ч", offset);
        assert!(answer["cut"].is_null(), "{answer:#}");
        joined
            .extend(answer["contract"]["part"].as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()));
        offset = answer["contract"]["next_offset"].clone();
        if offset.is_null() {
            break;
        }
        let step = format!("offset {offset} for the rest, of 800 items");
        assert!(answer["next_steps"].to_string().contains(&step), "{answer:#}");
    }
    assert_eq!(joined, paths);
    let big = ask("/value/big", Value::Null);
    assert_eq!((&big["cut"], &big["contract"]["next_offset"]), (&json!(["/contract/value/big/0"]), &json!(1)));
}

/// The range to write is only in the step.
#[test]
fn each_import_of_a_page_has_its_step() {
    let world = World::pair();
    many(&world, 20);
    let import = |n: usize| format!("  - {{ contract: contract-{n:04}, version: \"^1.0.0\" }}\n");
    let imports: String = (0..20).map(import).collect();
    world.write(&format!("access/{}", crate::world::BINDING_FILE), &format!("role: consumer\nimports:\n{imports}"));
    world.commit("access", "Import all");
    for n in 0..20 {
        let name = format!("contract-{n:04}");
        let text = crate::world::contract("2.0.0").replace("s3-permissions", &name);
        world.write(&format!("fungal/.blue/contracts/s3-access/{name}.yaml"), &text);
    }
    world.commit("fungal", "Raise all");
    let mut client = Client::start(&world, &world.path("access"));
    let (mut cursor, mut seen) = (Value::Null, 0);
    while seen == 0 || !cursor.is_null() {
        let answer = client.ok("realm_review", json!({"limit": 6, "cursor": cursor}));
        for import in answer["imports"].as_array().unwrap() {
            let command = import["next_step"]["command"].as_str().unwrap();
            let name = import["contract"].as_str().unwrap();
            assert!(command.starts_with(&format!("git blue import s3-access/{name} '")), "{import:#}");
            seen += 1;
        }
        assert!(!answer["next_steps"].to_string().contains("git blue import"), "{answer:?}");
        cursor = answer["next_cursor"].clone();
    }
    assert_eq!(seen, 20);
}

#[test]
fn ten_megabytes_of_arguments_are_refused() {
    let world = World::solo();
    let mut client = Client::start(&world, &world.path("fungal"));
    client.post("tools/call", json!({"name": "realm_status", "arguments": {"cursor": "x".repeat(10 << 20)}}));
    assert_eq!(client.receive()["error"]["code"], -32600);
    for tool in ["realm_topology", "realm_check", "contract_list", "notifications_list", "realm_log"] {
        let failure = client.fails(tool, json!({"cursor": "x".repeat(100_000)}));
        assert_eq!(failure["code"], "stale-cursor", "{tool}");
    }
    client.ok("realm_status", json!({}));
}

#[test]
fn thousand_concurrent_calls_are_answered() {
    let world = World::pair();
    let mut client = Client::start(&world, &world.path("access"));
    client.told("realm_status", json!({}));
    world.bump("1.1.0");
    let ids: Vec<_> = (0..1_000)
        .map(|_| client.post("tools/call", json!({"name": "realm_log", "arguments": {"limit": 1}})))
        .collect();
    let mut told = 0;
    for id in ids {
        let answer = client.answer(id);
        told += answer["result"]["structuredContent"]["notifications"].as_array().unwrap().len();
    }
    assert_eq!(told, 1);
}

#[test]
fn client_that_stops_reading_costs_no_memory_and_is_dropped() {
    let world = World::pair();
    let mut command = world.command("git-blue", &world.path("access"));
    command.args(["mcp", "serve"]).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let written = Arc::new(AtomicUsize::new(0));
    let count = written.clone();
    let writer = std::thread::spawn(move || {
        use std::io::Write as _;
        let greeting = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
            "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
        writeln!(input, "{greeting}").unwrap();
        for id in 1..20_000 {
            let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
                "params": {"name": "realm_status", "arguments": {}}});
            if writeln!(input, "{call}").is_err() {
                return;
            }
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    // This many are in progress, some wait in the pipe, and then the client has to wait.
    let mut before = 0;
    let taken = loop {
        std::thread::sleep(Duration::from_secs(1));
        match written.load(Ordering::Relaxed) {
            now if now > 0 && now == before => break now,
            now => before = now,
        }
    };
    assert!(taken < 2_000, "{taken} requests were taken");
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB").trim();
    let peak: u64 = peak.trim_end_matches(" kB").parse().unwrap();
    // A debug build needs more memory from the start.
    let most = if cfg!(debug_assertions) { 80_000 } else { 60_000 };
    assert!(peak < most, "{peak} kB");
    // Nobody reads any more, so it ends.
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    writer.join().unwrap();
}

#[test]
fn notification_that_is_too_large_is_cut_and_blocks_no_other() {
    let world = World::pair();
    let files: Vec<_> = (0..600).map(|n| format!("src/some/long/folder/name/module-{n}.py")).collect();
    for file in &files {
        world.write(&format!("access/{file}"), "");
    }
    let binding =
        crate::world::importing(">=1.0.0, <2.0.0").replace("cdk/access_stack.py", &format!("[{}]", files.join(", ")));
    world.write(&format!("access/{}", crate::world::BINDING_FILE), &binding);
    world.commit("access", "Use it everywhere");
    world.settle();
    let mut client = Client::start(&world, &world.path("access"));
    assert!(client.told("realm_status", json!({})).is_empty());
    let aside = crate::world::contract("1.0.0").replace("s3-permissions", "aside");
    world.write("fungal/.blue/contracts/s3-access/aside.yaml", &aside);
    world.bump("2.0.0");
    let first = client.ok("contract_list", json!({}));
    let listed = first["notifications"].as_array().unwrap();
    let contracts: Vec<_> = listed.iter().map(|one| one["contract"].as_str().unwrap()).collect();
    assert_eq!((contracts, &first["more_notifications"]), (vec!["s3-permissions"], &json!(1)));
    assert!(listed[0]["binding"].as_array().unwrap().len() > 10, "{first:?}");
    assert!(first["cut"].to_string().contains("/notifications/0/binding"), "{first:?}");
    assert!(first["next_steps"].to_string().contains("notifications_list returns what was cut"), "{first:?}");
    client.request("ping", json!({}));
    assert_eq!(client.told("contract_list", json!({})), ["ContractAdded \"1.0.0\""]);
}

/// An owner of many contracts wants to see the problems, not pages of hashes.
#[test]
fn concise_check_leaves_out_many_hashes() {
    let world = World::pair();
    let fungal = world.path("fungal");
    for n in 0..20 {
        let name = format!("c{n}");
        world.ok(
            &fungal,
            &["realm", "admin", "contract", "--domain", "s3-access", "--name", &name, "--owner", "fungal"],
        );
    }
    let mut client = Client::start(&world, &fungal);
    let concise = client.ok("realm_check", json!({}));
    assert_eq!(concise["schema_hashes"], json!([]));
    let said = json!({"reason": "21 schema hashes are left out: detail full lists them"});
    assert!(concise["next_steps"].as_array().unwrap().contains(&said), "{concise:?}");
    let (mut found, mut arguments) = (0, json!({"detail": "full"}));
    loop {
        let page = client.ok("realm_check", arguments);
        found += page["schema_hashes"].as_array().unwrap().len();
        match page.get("next_cursor") {
            Some(Value::String(cursor)) => arguments = json!({"detail": "full", "cursor": cursor}),
            _ => break,
        }
    }
    assert_eq!(found, 21);
}
