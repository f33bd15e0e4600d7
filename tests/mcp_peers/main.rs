//! Independent clients: the official SDKs for Python and TypeScript, the Inspector and Claude Code, which validate
//! the server's messages against the protocol.
//!
//! They are installed below `target/peers` (by `.ci/run`), or in `GIT_BLUE_PEERS`.

#[path = "../testutils/daemon.rs"]
#[allow(dead_code, reason = "not every suite sends its own requests")]
mod daemon;
#[path = "../testutils/peers.rs"]
mod peers;
#[path = "../testutils/schemas.rs"]
#[allow(dead_code, reason = "it belongs to the world")]
mod schemas;

#[path = "../testutils/world.rs"]
#[allow(dead_code, reason = "not every helper of the command line's tests is needed here")]
mod world;

mod claude;
mod conformance;
mod http;

use std::path::Path;

use serde_json::{Value, json};

use peers::peers;
use world::World;

const SERVER: &str = env!("CARGO_BIN_EXE_git-blue");

/// A realm in which one change is pending for `access`.
fn changed() -> World {
    let world = World::pair();
    world.bump("1.1.0");
    world
}

/// Runs a client in the consumer's repository. Returns its output.
fn run(world: &World, program: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Value {
    let mut command = world.command(program.to_str().unwrap(), &world.path("access"));
    let output = command.args(arguments).envs(variables.iter().copied()).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}: see .ci/run", program.display()));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{program:?} {arguments:?}: {out}\n{err}");
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}"))
}

fn script(name: &str) -> String {
    format!("{}/tests/mcp_peers/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn holds(found: &Value) {
    assert_eq!(found["failed"], true);
    assert_eq!(found["told"][0]["changes"]["new_version"], "1.1.0", "{found:#}");
    assert_eq!(found["status"], "aperture");
    assert!(found["tools"].as_array().unwrap().contains(&json!("realm_status")));
    assert!(found["resources"].as_array().unwrap().contains(&json!("blue://aperture/status")));
}

#[test]
fn python_sdk_with_and_without_handshake() {
    for (mode, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let world = changed();
        let python = peers().join("py/bin/python");
        let found = run(
            &world,
            &python,
            &[&script("client.py"), mode, SERVER, "mcp", "serve", "-C", "."],
            &[("HOME", world.path("home").to_str().unwrap())],
        );
        assert_eq!(found["version"], version);
        holds(&found);
        assert_eq!(found["prompts"].as_array().unwrap().len(), 3);
    }
}

#[test]
fn typescript_sdk() {
    let world = changed();
    // Modules are searched for beside the file that imports them.
    let client = peers().join("client.mjs");
    std::fs::copy(script("client.mjs"), &client).unwrap();
    let found = run(&world, Path::new("node"), &[client.to_str().unwrap(), SERVER, "mcp", "serve"], &[]);
    holds(&found);
    assert_eq!(found["completion"], json!(["s3-access"]));
}

#[test]
fn inspector() {
    let world = changed();
    let inspector = peers().join("node_modules/.bin/mcp-inspector");
    let ask =
        |arguments: &[&str]| run(&world, &inspector, &[&["--cli", SERVER, "mcp", "serve"], arguments].concat(), &[]);
    let tools = ask(&["--method", "tools/list"]);
    assert!(tools["tools"].as_array().unwrap().len() >= 9, "{tools}");
    let answer = ask(&["--method", "tools/call", "--tool-name", "realm_status"]);
    assert_eq!(answer["structuredContent"]["realm"], "aperture");
    assert!(ask(&["--method", "resources/list"])["resources"].as_array().unwrap().len() > 2);
    assert_eq!(ask(&["--method", "prompts/list"])["prompts"].as_array().unwrap().len(), 3);
}
