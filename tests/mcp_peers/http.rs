//! The daemon for independent clients.

use std::path::Path;

use crate::{changed, holds, peers, run, script, world::World};

/// A daemon of a world, which stops when dropped.
pub struct Daemon<'a> {
    world: &'a World,
    /// Its address, without a path.
    pub address: String,
    /// Its token.
    pub token: String,
}

impl<'a> Daemon<'a> {
    pub fn start(world: &'a World) -> Self {
        let started = world.json(&world.root(), &["daemon", "start", "--port", "0", "--rate-limit", "0"]);
        let url = started["url"].as_str().unwrap_or_else(|| panic!("{started:#}"));
        let token = world.ok(&world.root(), &["daemon", "token"]).stdout.trim().to_owned();
        Self { world, address: url.trim_start_matches("http://").trim_end_matches('/').to_owned(), token }
    }

    fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        self.world.blue(&self.world.root(), &["daemon", "stop"]);
    }
}

#[test]
fn python_sdk_with_and_without_handshake() {
    for (mode, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let world = changed();
        let daemon = Daemon::start(&world);
        let (python, home) = (peers().join("py/bin/python"), world.path("home"));
        let variables = [("HOME", home.to_str().unwrap()), ("GIT_BLUE_TOKEN", &daemon.token)];
        let found = run(&world, &python, &[&script("client.py"), mode, &daemon.url()], &variables);
        assert_eq!(found["version"], version);
        holds(&found);
    }
}

#[test]
fn typescript_sdk() {
    let world = changed();
    let daemon = Daemon::start(&world);
    let client = peers().join("client-http.mjs");
    std::fs::copy(script("client.mjs"), &client).unwrap();
    let arguments = [client.to_str().unwrap(), &daemon.url()];
    let found = run(&world, Path::new("node"), &arguments, &[("GIT_BLUE_TOKEN", &daemon.token)]);
    holds(&found);
}
