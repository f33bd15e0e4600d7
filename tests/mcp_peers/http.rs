//! The daemon for independent clients.

use std::path::Path;

use crate::{changed, daemon::Daemon, holds, peers, run, script, world::World};

pub fn started(world: &World) -> Daemon<'_> {
    Daemon::start_with(world, &["--rate-limit", "0"])
}

fn url(daemon: &Daemon<'_>) -> String {
    format!("http://127.0.0.1:{}/mcp", daemon.port)
}

#[test]
fn python_sdk_with_and_without_handshake() {
    for (mode, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let world = changed();
        let daemon = started(&world);
        let (python, home) = (peers().join("py/bin/python"), world.path("home"));
        let variables = [("HOME", home.to_str().unwrap()), ("GIT_BLUE_TOKEN", &daemon.token)];
        let found = run(&world, &python, &[&script("client.py"), mode, &url(&daemon)], &variables);
        assert_eq!(found["version"], version);
        holds(&found);
    }
}

#[test]
fn typescript_sdk() {
    let world = changed();
    let daemon = started(&world);
    let client = peers().join("client-http.mjs");
    std::fs::copy(script("client.mjs"), &client).unwrap();
    let arguments = [client.to_str().unwrap(), &url(&daemon)];
    let found = run(&world, Path::new("node"), &arguments, &[("GIT_BLUE_TOKEN", &daemon.token)]);
    holds(&found);
}
