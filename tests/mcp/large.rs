//! A realm of ten thousand contracts: every message stays below the limit, which the client asserts.

use serde_json::{Value, json};

use crate::{
    client::{Client, LEGACY},
    realm,
    world::World,
};

/// Two hundred domains of fifty contracts, with `fungal` in three of them.
fn large() -> World {
    let world = World::new();
    for repo in ["aperture", "fungal", "blue"] {
        world.join(repo);
    }
    let git = world.command("git", &world.root());
    let text = |value: &std::ffi::OsStr| value.to_str().unwrap().to_owned();
    let variables: Vec<_> = git.get_envs().filter_map(|(name, value)| Some((text(name), text(value?)))).collect();
    assert_eq!(realm::generate(&world.store(), (10_000, realm::PER_DOMAIN), &variables), 10_000 / realm::PER_DOMAIN);
    world
}

#[test]
fn pages_of_every_tool_fit_a_message() {
    let world = large();
    let mut client = Client::with(&world, &world.path("fungal"), LEGACY, &["--all-realms"], &[]);
    let contract = json!({"domain": "domain-00000", "contract": "contract-00"});
    let mut asked = Vec::new();
    for (tool, arguments, list, count) in [
        ("realm_status", json!({}), "domains", Some(200)),
        ("contract_list", json!({}), "contracts", Some(10_000)),
        ("contract_list", json!({"domain": "domain-00001"}), "contracts", Some(50)),
        ("realm_topology", json!({"domain": "domain-00001", "limit": 7}), "domains", Some(8)),
        ("realm_log", json!({"limit": 1000}), "entries", None),
        ("realm_list", json!({}), "realms", Some(1)),
        ("realm_compare", json!({"other": "aperture"}), "differences", Some(0)),
        ("notifications_list", json!({"limit": 1000}), "notifications", None),
        ("contract_get", contract.clone(), "bindings", Some(2)),
        ("contract_impact", contract.clone(), "importers", Some(1)),
        ("contract_blame", contract.clone(), "parts", None),
        ("contract_timeline", contract, "entries", Some(1)),
        ("realm_review", json!({}), "imports", None),
        ("realm_pr_status", json!({}), "repos", Some(3)),
        ("session_start", json!({}), "next_steps", None),
        ("session_stop", json!({}), "next_steps", None),
    ] {
        asked.push(tool);
        let (mut found, mut cursor) = (0, Value::Null);
        loop {
            let mut arguments = arguments.clone();
            if !cursor.is_null() {
                arguments["cursor"] = cursor;
            }
            let answer = client.ok(tool, arguments);
            found += answer[list].as_array().unwrap_or_else(|| panic!("{tool}: {answer:?}")).len();
            cursor = answer.get("next_cursor").cloned().unwrap_or_default();
            if cursor.is_null() {
                break;
            }
        }
        assert!(count.is_none_or(|count| count == found), "{tool}: {found}");
    }
    // A prompt has no pages.
    let prompt = client.request("prompts/get", json!({"name": "release_readiness", "arguments": {}}));
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(!text.contains("next_cursor") && text.contains(" entries are listed: realm_check"), "{:.2000}", text);
    let status = client.ok("realm_status", json!({}));
    assert!(!status.contains_key("cut") && status["imports"] == json!([]), "{:?}", status.get("cut"));
    assert!(json!(status["next_steps"]).to_string().contains("150 of 150 imports hold"), "{status:?}");
    // This tool reads everything for each page: the first page, a middle one, and the last.
    asked.push("realm_check");
    let first = client.ok("realm_check", json!({"detail": "full"}));
    let (total, cursor) = (first["total"].as_u64().unwrap(), first["next_cursor"].as_str().unwrap());
    let mark = cursor.split_once('-').unwrap().1;
    for start in [total / 2, total - 10] {
        let page = client.ok("realm_check", json!({"detail": "full", "cursor": format!("{start}-{mark}")}));
        assert_eq!(page["next_cursor"].is_null(), start == total - 10, "{start}");
    }
    // Three tools need particular arguments. `contract_diff` fails, because no contract of this realm has two versions.
    asked.push("realm_worktree_create");
    client.ok("realm_worktree_create", json!({"rfc": "rfc-1", "repos": ["fungal"]}));
    asked.push("contract_validate");
    client.ok("contract_validate", json!({"domain": "domain-00000", "contract": "contract-00", "payload": {}}));
    asked.push("contract_diff");
    assert_eq!(
        client.fails("contract_diff", json!({"domain": "domain-00000", "contract": "contract-00"}))["status"],
        "error"
    );
    let list = client.request("tools/list", json!({}));
    for tool in list["tools"].as_array().unwrap() {
        assert!(asked.contains(&tool["name"].as_str().unwrap()), "{tool}");
    }
    for uri in ["blue://aperture/status", "blue://aperture/topology"] {
        client.request("resources/read", json!({"uri": uri}));
    }
}
