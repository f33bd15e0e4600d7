//! Claude Code: it is configured as by a user, starts the server, and reports the connection. Without a login or a
//! network.

use std::{path::PathBuf, process::Command};

use crate::{peers, world::World};

/// Its program, which the install script of its package would copy to `claude`.
fn program() -> PathBuf {
    let folder = peers().join("node_modules/@anthropic-ai");
    let packages = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}: see .ci/run", folder.display()));
    let programs = packages.map(|entry| entry.unwrap().path().join("claude"));
    programs.into_iter().find(|path| path.is_file()).expect("Claude Code is installed: see .ci/run")
}

/// A network namespace without a network. If the system allows none, a proxy that does not exist.
fn without_network() -> Option<Command> {
    let works = Command::new("unshare").args(["--map-root-user", "--net", "true"]).output();
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--net"]);
    works.is_ok_and(|output| output.status.success()).then_some(command)
}

/// Runs Claude Code in the consumer's repository, and asserts success. Returns its output.
fn claude(world: &World, arguments: &[&str]) -> String {
    let (text, has_worked) = tried(world, arguments, &[]);
    assert!(has_worked, "{arguments:?}: {text}");
    text
}

/// Runs Claude Code in the consumer's repository. Returns its output, and whether it succeeded.
fn tried(world: &World, arguments: &[&str], variables: &[(&str, &str)]) -> (String, bool) {
    let program = program();
    let sealed = world.command(program.to_str().unwrap(), &world.path("access"));
    // A daemon outside of the namespace cannot be reached, so only the proxy is used.
    let is_local = variables.iter().any(|(name, _)| *name == "NO_PROXY");
    let mut command = match without_network().filter(|_| !is_local) {
        Some(mut outer) => {
            outer.arg(&program);
            outer
        }
        None => Command::new(&program),
    };
    command.current_dir(world.path("access")).env_clear();
    command.envs(sealed.get_envs().filter_map(|(name, value)| Some((name, value?))));
    for name in ["HTTP_PROXY", "HTTPS_PROXY"] {
        command.env(name, "http://127.0.0.1:9");
    }
    command.env("DISABLE_AUTOUPDATER", "1").env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    let output = command.args(arguments).envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (text, output.status.success())
}

#[test]
fn health_check_connects() {
    let world = World::pair();
    claude(&world, &["mcp", "add", "git-blue", "--", "git-blue", "mcp", "serve", "--debug"]);
    let list = claude(&world, &["mcp", "list"]);
    assert!(list.contains("git-blue: git-blue mcp serve --debug - ✔ Connected"), "{list}");
    // It requested the tools, too.
    let log = world.read("home/blue/mcp.log");
    assert!(log.contains("tools/list"), "{log}");
}

#[test]
fn reads_output_of_generate_config() {
    let world = World::pair();
    let config = world.ok(&world.path("access"), &["mcp", "generate-config", "--client", "claude-code"]);
    world.write("access/.mcp.json", &config.stdout);
    world.write("home/.claude/settings.json", "{\"enableAllProjectMcpServers\": true}");
    let list = claude(&world, &["mcp", "list"]);
    assert!(list.contains("git-blue: git-blue mcp serve - ✔ Connected"), "{list}");
}

#[test]
fn reads_files_of_install_claude() {
    let world = World::pair();
    world.ok(&world.path("access"), &["install", "claude"]);
    world.write("home/.claude/settings.json", "{\"enableAllProjectMcpServers\": true}");
    let list = claude(&world, &["mcp", "list"]);
    assert!(list.contains("git-blue: git-blue mcp serve - ✔ Connected"), "{list}");
    // Beside its own entries, for its user.
    claude(&world, &["mcp", "add", "--scope", "user", "other", "--", "true"]);
    let before = world.read("home/.claude.json");
    world.ok(&world.path("access"), &["install", "claude", "--scope", "user"]);
    world.ok(&world.path("access"), &["uninstall", "claude", "--scope", "project"]);
    let list = claude(&world, &["mcp", "list"]);
    assert!(list.contains("git-blue: git-blue mcp serve - ✔ Connected"), "{list}");
    world.ok(&world.path("access"), &["uninstall", "claude", "--scope", "user"]);
    let servers = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["mcpServers"].clone();
    assert_eq!(servers(&world.read("home/.claude.json")), servers(&before));
}

#[test]
fn session_starts_with_the_greeting() {
    let world = World::pair();
    world.bump("1.1.0");
    world.ok(&world.path("access"), &["install", "claude"]);
    // Without an answer, it starts, runs the hook, and prints that.
    let arguments = ["-p", "hello", "--output-format", "stream-json", "--verbose", "--include-hook-events"];
    let nobody =
        [("ANTHROPIC_API_KEY", "none"), ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9"), ("CLAUDE_CODE_MAX_RETRIES", "0")];
    let (said, _) = tried(&world, &arguments, &nobody);
    for fact in [
        "This repository is access in the realm aperture.",
        "Changed since the code was adapted: s3-access/s3-permissions 1.0.0 -> 1.1.0;",
        "1 change by another repository is pending",
    ] {
        assert!(said.contains(fact), "{fact}: {said}");
    }
}

#[test]
fn validator_accepts_plugin_and_marketplace() {
    let world = World::pair();
    for folder in ["plugin", ""] {
        let path = format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"));
        let said = claude(&world, &["plugin", "validate", "--strict", &path]);
        assert!(said.contains("Validation passed"), "{said}");
    }
}

#[test]
fn calls_the_daemon() {
    let world = World::pair();
    let daemon = crate::http::started(&world);
    let port = daemon.port.to_string();
    let arguments = ["mcp", "generate-config", "--transport", "http", "--client", "claude-code", "--port", &port];
    let config = world.ok(&world.path("access"), &arguments);
    world.write("access/.mcp.json", &config.stdout);
    world.write("home/.claude/settings.json", "{\"enableAllProjectMcpServers\": true}");
    let variables = [("GIT_BLUE_TOKEN", &*daemon.token), ("NO_PROXY", "127.0.0.1")];
    let (list, has_worked) = tried(&world, &["mcp", "list"], &variables);
    assert!(has_worked && list.contains("/mcp (HTTP) - ✔ Connected"), "{list}");
    // With another token the connection fails.
    let (list, _) = tried(&world, &["mcp", "list"], &[("GIT_BLUE_TOKEN", "wrong"), ("NO_PROXY", "127.0.0.1")]);
    assert!(!list.contains("Connected"), "{list}");
}
