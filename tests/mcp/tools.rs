//! Answers of each tool, in each state.

use serde_json::{Value, json};

use crate::{
    client::{Client, LEGACY},
    world::{BINDING_FILE, World, importing},
};

/// Formats an answer for a snapshot.
fn shown(world: &World, name: &str, answer: &impl serde::Serialize) {
    let text = serde_json::to_string_pretty(answer).unwrap();
    let text = text.replace(&world.root().display().to_string(), "[TEMP]");
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(r"notif-[0-9a-f]{12}", "[NOTIFICATION]");
    settings.add_filter(r"\b[0-9a-f]{64}\b", "[HASH]");
    settings.add_filter(r"\b[0-9a-f]{40}\b", "[OID]");
    settings.bind(|| insta::assert_snapshot!(name, text));
}

fn contract() -> Value {
    json!({"domain": "s3-access", "contract": "s3-permissions"})
}

#[test]
fn tools_list() {
    let world = World::solo();
    let mut client = Client::start(&world, &world.path("fungal"));
    shown(&world, "tools_list", &client.request("tools/list", json!({})));
    let mut client = Client::with(&world, &world.path("fungal"), LEGACY, &["--all-realms"], &[]);
    let list = client.request("tools/list", json!({}));
    // These are about the current working tree, or all realms.
    let without = ["session_start", "session_stop", "realm_review", "realm_list", "contract_timeline"];
    for tool in list["tools"].as_array().unwrap() {
        let is_without = without.contains(&tool["name"].as_str().unwrap());
        assert_eq!(tool["inputSchema"]["properties"]["realm"].is_object(), !is_without, "{tool}");
        assert!(tool["inputSchema"]["properties"]["cwd"].is_object(), "{tool}");
    }
    for tool in list["tools"].as_array().unwrap() {
        // One asks a forge over the network.
        assert_eq!(tool["annotations"]["openWorldHint"], tool["name"] == "realm_pr_status", "{tool}");
        for field in tool["outputSchema"]["properties"].as_object().unwrap().values() {
            // Validators warn of lists of types.
            assert!(field["type"].is_string() || field["anyOf"].is_array(), "{}: {field}", tool["name"]);
        }
    }
}

#[test]
fn repository_alone() {
    let world = World::solo();
    let mut client = Client::start(&world, &world.path("fungal"));
    shown(&world, "solo_realm_status", &client.ok("realm_status", json!({})));
    shown(&world, "solo_realm_check", &client.ok("realm_check", json!({})));
    shown(&world, "solo_contract_get", &client.ok("contract_get", contract()));
    shown(&world, "solo_notifications_list", &client.ok("notifications_list", json!({})));
    shown(&world, "solo_realm_log", &client.ok("realm_log", json!({})));
}

#[test]
fn pending_changes() {
    let world = World::pair();
    let path = world.path("access");
    for (n, (tool, arguments)) in [
        ("realm_status", json!({})),
        ("realm_check", json!({"detail": "full"})),
        ("contract_get", contract()),
        ("realm_log", json!({"limit": 2})),
    ]
    .into_iter()
    .enumerate()
    {
        let mut client = Client::with(&world, &path, LEGACY, &[], &[("CLAUDE_CODE_SESSION_ID", tool)]);
        client.told("realm_status", json!({}));
        world.bump(&format!("1.{}.0", n + 1));
        shown(&world, &format!("pending_{tool}"), &client.ok(tool, arguments));
        // The next reader gets what nobody has seen, so the reader must be known.
        client.told("realm_status", json!({}));
    }
    world.bump("1.5.0");
    let mut client = Client::start(&world, &path);
    shown(
        &world,
        "pending_contract_get_full",
        &client.ok(
            "contract_get",
            json!({"domain": "s3-access",
        "contract": "s3-permissions", "detail": "full", "version": "1.1.0"}),
        ),
    );
}

#[test]
fn diff_and_impact_of_a_version() {
    let world = World::pair();
    world.bump("1.1.0");
    let mut client = Client::start(&world, &world.path("access"));
    client.told("realm_status", json!({}));
    shown(&world, "contract_diff", &client.ok("contract_diff", contract()));
    let mut arguments = contract();
    arguments["to"] = json!("2.0.0");
    shown(&world, "contract_impact", &client.ok("contract_impact", arguments));
    shown(&world, "realm_topology", &client.ok("realm_topology", json!({})));
}

#[test]
fn session_from_start_to_stop() {
    let world = World::pair();
    let mut client = Client::start(&world, &world.path("fungal"));
    client.told("realm_status", json!({}));
    shown(&world, "error_session_stop", &client.fails("session_stop", json!({})));
    let session = |answer: serde_json::Map<String, Value>, field: &str| {
        let mut answer = answer;
        assert!(answer[field]["id"].as_str().unwrap().starts_with("sess-"));
        answer[field]["id"] = json!("[SESSION]");
        answer
    };
    let started = client.ok("session_start", json!({"active_rfc": "rfc-0042"}));
    shown(&world, "session_start", &session(started, "session"));
    let params = json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "rfc", "value": "rfc"}});
    assert_eq!(client.request("completion/complete", params)["completion"]["values"], json!(["rfc-0042"]));
    world.bump("1.1.0");
    let stopped = client.ok("session_stop", json!({}));
    assert_eq!(stopped["summary"]["contracts_modified"], json!(["s3-access/s3-permissions"]));
    shown(&world, "session_stop", &session(stopped, "summary"));
    // With --read-only there are no sessions.
    let mut client = Client::with(&world, &world.path("fungal"), LEGACY, &["--read-only"], &[]);
    assert_eq!(client.refusal("tools/call", json!({"name": "session_start"})).0, -32602);
}

#[test]
fn local_realms() {
    let world = World::pair();
    world.repo("other");
    world.ok(&world.path("other"), &["init", "--realm", "staging"]);
    let mut client = Client::with(&world, &world.path("access"), LEGACY, &["--all-realms"], &[]);
    assert_eq!(client.ok("realm_list", json!({}))["realms"].as_array().unwrap().len(), 2);
    shown(&world, "realm_compare", &client.ok("realm_compare", json!({"other": "staging"})));
    let timeline = client.ok("contract_timeline", contract());
    assert_eq!((&timeline["entries"][0]["realm"], &timeline["total"]), (&json!("aperture"), &json!(1)));
    let status = client.ok("realm_status", json!({"realm": "staging"}));
    assert_eq!((&status["realm"], &status["current_repo"]), (&json!("staging"), &Value::Null));
    // A folder outside of realms can name a realm.
    let mut client = Client::with(&world, &world.path("home"), LEGACY, &["--all-realms"], &[]);
    assert_eq!(
        client.ok(
            "contract_get",
            json!({"domain": "s3-access", "contract": "s3-permissions",
        "realm": "aperture"})
        )["realm"],
        "aperture"
    );
    client.fails("contract_get", contract());
    let mut client = Client::start(&world, &world.path("access"));
    let failure = client.fails("realm_status", json!({"realm": "staging"}));
    assert!(failure["message"].as_str().unwrap().contains("this server is limited to the realm aperture"), "{failure}");
    // Every tool accepts the current realm.
    for tool in ["realm_status", "realm_check", "realm_review", "session_start", "session_stop", "realm_pr_status"] {
        client.ok(tool, json!({"realm": "aperture"}));
    }
    // From a folder outside of realms, it can be read too.
    let mut client = Client::start(&world, &world.path("home"));
    assert_eq!(client.ok("realm_status", json!({"realm": "staging"}))["realm"], "staging");
    let mut client = Client::start(&world, &world.path("access"));
    assert_eq!(client.refusal("tools/call", json!({"name": "realm_compare", "arguments": {"other": "x"}})).0, -32602);
}

#[test]
fn several_repositories() {
    let world = World::pair();
    let mut client = Client::start(&world, &world.path("access"));
    client.told("realm_status", json!({}));
    let made = client.ok("realm_worktree_create", json!({"rfc": "rfc-0042-new-api"}));
    shown(&world, "realm_worktree_create", &made);
    let again = client.call("realm_worktree_create", json!({"rfc": "rfc-0042-new-api", "repos": ["fungal"]}));
    assert_eq!(again["structuredContent"]["reused"], json!(["fungal"]));
    shown(&world, "realm_pr_status", &client.ok("realm_pr_status", json!({"rfc": "rfc-0042-new-api"})));
    assert_eq!(client.fails("realm_worktree_create", json!({"rfc": "../../x"}))["code"], "usage");
    let failure = client.fails("session_start", json!({"active_rfc": "../x"}));
    assert!(failure["message"].as_str().unwrap().starts_with("active_rfc: "), "{failure}");
    let steps = |client: &mut Client| client.ok("realm_status", json!({}))["next_steps"].to_string();
    assert!(steps(&mut Client::start(&world, &world.path("access"))).contains("session_start"));
    let mut client = Client::with(&world, &world.path("access"), LEGACY, &["--read-only"], &[]);
    assert!(!steps(&mut client).contains("session"), "{}", steps(&mut client));
    assert_eq!(
        client.refusal("tools/call", json!({"name": "realm_worktree_create", "arguments": {"rfc": "x"}})).0,
        -32602
    );
}

#[test]
fn broken_imports() {
    let world = World::pair();
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=3.0.0"));
    let mut client = Client::start(&world, &world.path("access"));
    assert_eq!(client.ok("realm_check", json!({}))["valid"], true);
    shown(&world, "broken_realm_check", &client.ok("realm_check", json!({"worktree": true})));
    shown(&world, "error_contract_get", &client.fails("contract_get", json!({"domain": "s3-access", "contract": "x"})));
    let nowhere = world.path("home").display().to_string();
    shown(&world, "error_realm_status", &client.fails("realm_status", json!({"cwd": nowhere})));
}

#[test]
fn past_realm_is_read() {
    let world = World::pair();
    let head = world.line(&world.path("fungal"), &["rev-parse", "HEAD"]);
    world.bump("1.1.0");
    world.bump("2.0.0");
    let mut client = Client::start(&world, &world.path("access"));
    let at = |tool: &str, more: Value| {
        let is_of_one = tool.starts_with("contract_") && tool != "contract_list";
        let mut arguments = if is_of_one { contract() } else { json!({}) };
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    let then = json!({"at": "2026-01-24"});
    assert_eq!(client.ok("contract_get", at("contract_get", json!({})))["current_version"], "2.0.0");
    // A commit of its owner selects the time too.
    let mut owner = Client::start(&world, &world.path("fungal"));
    assert_eq!(owner.ok("contract_get", at("contract_get", json!({"at": head})))["current_version"], "1.0.0");
    assert_eq!(client.ok("contract_get", at("contract_get", json!({"at": "1.1.0"})))["current_version"], "1.1.0");
    for tool in ["realm_status", "realm_check", "realm_topology", "realm_log", "contract_list", "contract_impact"] {
        client.ok(tool, at(tool, then.clone()));
    }
    assert_eq!(client.ok("realm_check", json!({}))["valid"], false);
    for (tool, more, code) in [
        ("realm_status", json!({"at": "2020-01-01"}), "before-realm"),
        ("contract_get", json!({"at": "no such moment"}), "unknown-commit"),
        ("contract_get", json!({"at": "9.0.0"}), "unknown-version"),
        ("contract_list", json!({"at": "1.1.0"}), "unknown-commit"),
        ("realm_review", json!({"at": "2026-01-24"}), "usage"),
    ] {
        assert_eq!(client.fails(tool, at(tool, more))["code"], code, "{tool}");
    }
    // Later calls are about the present again.
    assert_eq!(client.ok("contract_get", at("contract_get", json!({})))["current_version"], "2.0.0");
}

#[test]
fn breaking_version_leads_owner_and_importer_to_different_steps() {
    let world = World::pair();
    world.bump("2.0.0");
    let reason = |answer: serde_json::Map<String, Value>| answer["next_steps"][0].clone();
    let mut consumer = Client::start(&world, &world.path("access"));
    consumer.told("realm_status", json!({}));
    let step = reason(consumer.ok("contract_impact", contract()));
    assert_eq!(step["tool"], "realm_review", "{step}");
    assert_eq!(step["reason"], "2.0.0 is compatible, but outside of the range: raise the range");
    let mut to = contract();
    to["to"] = json!("3.0.0");
    let step = reason(consumer.ok("contract_impact", to));
    assert!(
        step["reason"].as_str().unwrap().starts_with("3.0.0 is outside of the range: review cdk/access_stack.py"),
        "{step}"
    );
    let mut owner = Client::start(&world, &world.path("fungal"));
    let step = reason(owner.ok("contract_impact", contract()));
    assert!(
        step["reason"].as_str().unwrap().contains("to `supported`, until these repositories are adapted to 2.0.0"),
        "{step}"
    );
    // A repository that is neither gets the affected consumers, and no step.
    world.join("third");
    let mut third = Client::start(&world, &world.path("third"));
    let answer = third.ok("contract_impact", contract());
    assert_eq!((&answer["broken"], &answer["next_steps"]), (&json!(1), &json!([])));
}
