//! `git blue mcp list-tools`, `test-tool` and `generate-config`.

use serde_json::Value;

use crate::{
    client::Client,
    world::{Run, World},
};

fn snapshot(name: &str, runs: &[&Run]) {
    let text = runs.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n");
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn list_tools_matches_tools_list() {
    let world = World::pair();
    let path = world.path("access");
    let text = world.ok(&path, &["mcp", "list-tools"]);
    snapshot("list_tools", &[&text]);
    let listed: Value = serde_json::from_str(&world.ok(&path, &["mcp", "list-tools", "--json"]).stdout).unwrap();
    let mut client = Client::start(&world, &path);
    assert_eq!(listed["tools"], client.request("tools/list", serde_json::json!({}))["tools"]);
}

#[test]
fn test_tool_calls_like_a_client_and_marks_nothing() {
    let world = World::pair();
    world.bump("1.1.0");
    let path = world.path("access");
    let call = |args: &[&str]| world.blue(&path, &[&["mcp", "test-tool"], args].concat());
    let first = call(&["realm_status"]).exits(0);
    assert_eq!(first.json()["notifications"][0]["changes"]["new_version"], "1.1.0");
    assert_eq!(call(&["realm_status"]).json()["notifications"], first.json()["notifications"]);
    let get = r#"{"domain": "s3-access", "contract": "s3-permissions"}"#;
    assert_eq!(call(&["contract_get", "--args", get]).exits(0).json()["contract"]["version"], "1.1.0");
    let raw = call(&["contract_get", "--args", get, "--json"]).exits(0).json();
    assert_eq!(raw["structuredContent"]["contract"]["version"], "1.1.0");
    let failed = call(&["contract_get", "--args", r#"{"domain": "s3-access"}"#]).exits(1);
    let unknown = call(&["realm_destroy"]).exits(129);
    let bad = call(&["realm_status", "--args", "[1]"]).exits(129);
    snapshot("test_tool_refused", &[&failed, &unknown, &bad]);
}

#[test]
fn generate_config_for_the_daemon_contains_no_secret() {
    let world = World::pair();
    let path = world.path("access");
    let over_http = ["mcp", "generate-config", "--transport", "http", "--client"];
    let mut configs: Vec<_> = ["claude-code", "cursor", "vscode"]
        .map(|client| world.ok(&path, &[&over_http[..], &[client, "--port", "7900"]].concat()))
        .into();
    configs.push(world.blue(&path, &[&over_http[..], &["claude-desktop"]].concat()).exits(129));
    snapshot("generate_config_http", &configs.iter().collect::<Vec<_>>());
}

#[test]
fn generate_config_starts_a_working_server() {
    let world = World::pair();
    let path = world.path("access");
    let configs: Vec<_> = ["claude-code", "claude-desktop", "cursor", "vscode"]
        .map(|client| world.ok(&path, &["mcp", "generate-config", "--client", client]))
        .into();
    snapshot("generate_config", &configs.iter().collect::<Vec<_>>());
    for config in &configs {
        let config: Value = serde_json::from_str(&config.stdout).unwrap();
        let servers = config.get("mcpServers").or_else(|| config.get("servers")).unwrap();
        let server = &servers["git-blue"];
        let arguments: Vec<_> = server["args"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
        let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
        let run = world.feed(server["command"].as_str().unwrap(), &path, &arguments, &format!("{hello}\n"));
        assert!(run.stdout.contains("\"serverInfo\"") && run.code == 0, "{run:?}");
    }
}
