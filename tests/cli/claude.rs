//! Setting up Claude Code: changes to user files, and their exact removal.

use std::os::unix::fs::PermissionsExt as _;

use crate::world::{Run, World, snapshot};

/// Existing user files, and what is special about each.
const SETTINGS: [(&str, &str); 9] = [
    ("an object with nothing in it", "{}"),
    ("and with a line end", "{}\n"),
    ("and in two lines", "{\n}\n"),
    ("a list of hooks that is empty", "{\"hooks\": {}}\n"),
    ("tabs, and no line end at the end", "{\n\t\"model\": \"x\"\n}"),
    ("Windows", "{\r\n    \"model\": \"x\"\r\n}\r\n"),
    ("one line", "{\"model\":\"x\",\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"true\"}]}]}}"),
    (
        "another hook for the same",
        "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"matcher\": \"startup\", \"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}\n    ]\n  },\n  \"env\": {\"A\": \"1\"}\n}\n",
    ),
    ("an odd order, odd spaces", "{ \"z\" :[ 1,2 ] ,\n\"a\":\"\\u00e9 {\\\"\"   }\n\n"),
];

fn install(world: &World, more: &[&str]) -> Run {
    world.ok(&world.path("access"), &[&["install", "claude"], more].concat())
}

fn uninstall(world: &World, more: &[&str]) -> Run {
    world.ok(&world.path("access"), &[&["uninstall", "claude"], more].concat())
}

#[test]
fn install_shows_its_changes_and_uninstall_reverts_them() {
    let world = World::pair();
    let shown = install(&world, &["--dry-run"]);
    assert!(!world.path("access/.mcp.json").exists());
    let installed = install(&world, &[]);
    let again = install(&world, &[]);
    let status = world.git(&world.path("access"), &["status", "--short", "-uall"]);
    let taken_out = uninstall(&world, &[]);
    let nothing = uninstall(&world, &[]);
    snapshot("claude_project", &[&shown, &installed, &again, &status, &taken_out, &nothing]);
    assert!(!world.path("access/.mcp.json").exists() && !world.path("access/.claude").exists());
}

#[test]
fn user_files_are_restored_byte_for_byte() {
    let world = World::pair();
    let (mcp, settings) = ("access/.mcp.json", "access/.claude/settings.json");
    for (why, text) in SETTINGS {
        for scope in ["project", "user"] {
            let (mcp, settings) = match scope {
                "project" => (mcp, settings),
                _ => ("home/.claude.json", "home/.claude/settings.json"),
            };
            world.write(mcp, &text.replace("hooks", "mcpServers").replace("[{\"type\"", "[{\"TYPE\""));
            world.write(settings, text);
            let before = (world.read(mcp), world.read(settings));
            install(&world, &["--scope", scope]);
            for path in [mcp, settings] {
                let text = world.read(path);
                assert!(text.contains("git-blue"), "{why}: {text}");
                serde_json::from_str::<serde_json::Value>(&text).unwrap();
            }
            let between = world.read(settings);
            install(&world, &["--scope", scope]);
            assert_eq!(world.read(settings), between, "{why}: installing twice changes nothing");
            uninstall(&world, &["--scope", scope]);
            assert_eq!((world.read(mcp), world.read(settings)), before, "{why}");
        }
    }
}

#[test]
fn user_edits_after_install_are_kept() {
    let world = World::pair();
    install(&world, &[]);
    let settings = world.read("access/.claude/settings.json");
    world.write("access/.claude/settings.json", &settings.replacen('{', "{\n  \"model\": \"x\",", 1));
    // Another program rewrote the file, and the user gave the server an argument.
    world.write(
        "access/.mcp.json",
        r#"{"mcpServers":{"git-blue":{"command":"/opt/git-blue","args":["mcp","serve","--debug"]},"other":{"command":"x"}}}"#,
    );
    install(&world, &[]);
    assert!(world.read("access/.mcp.json").contains("--debug"), "his entry is his");
    uninstall(&world, &[]);
    assert_eq!(world.read("access/.claude/settings.json"), "{\n  \"model\": \"x\"\n}\n");
    assert_eq!(world.read("access/.mcp.json"), r#"{"mcpServers":{"other":{"command":"x"}}}"#);
}

#[test]
fn uninstall_works_without_its_record() {
    let world = World::pair();
    world.write("access/.claude/settings.json", "{\n  \"model\": \"x\"\n}\n");
    install(&world, &[]);
    std::fs::remove_file(world.path("home/blue/claude.json")).unwrap();
    uninstall(&world, &[]);
    assert_eq!(world.read("access/.claude/settings.json"), "{\n  \"model\": \"x\"\n}\n");
    // Whether it existed before is unknown now.
    assert_eq!(world.read("access/.mcp.json"), "{}\n");
}

#[test]
fn invalid_json_is_refused_unchanged() {
    let world = World::pair();
    let access = world.path("access");
    let mut runs = Vec::new();
    for text in [
        "{\n  // mine\n  \"model\": \"x\"\n}\n",
        "{\"model\": ",
        "[]",
        "{\"hooks\": []}",
        "{\"hooks\": {\"SessionStart\": {}}}",
        "{\"hooks\": {}, \"hooks\": {}}",
    ] {
        world.write("access/.claude/settings.json", text);
        runs.push(world.blue(&access, &["install", "claude"]).exits(1));
        assert_eq!(world.read("access/.claude/settings.json"), text);
        assert!(!world.path("access/.mcp.json").exists(), "all or nothing");
    }
    std::fs::write(world.path("access/.claude/settings.json"), b"{\"a\": \"\xff\"}").unwrap();
    runs.push(world.blue(&access, &["install", "claude"]).exits(1));
    snapshot("claude_refused", &runs.iter().collect::<Vec<_>>());
    let answer = world.json(&access, &["install", "claude"]);
    assert_eq!(answer["code"], "not-text");
}

#[test]
fn first_file_is_restored_if_the_second_cannot_be_written() {
    let world = World::pair();
    let access = world.path("access");
    // A folder cannot be created in place of a link that leads nowhere.
    std::os::unix::fs::symlink("nowhere", world.path("home/.claude")).unwrap();
    for text in [Some("{ \"mine\": 1 }"), None] {
        match text {
            Some(text) => world.write("home/.claude.json", text),
            None => std::fs::remove_file(world.path("home/.claude.json")).unwrap(),
        }
        let refused = world.blue(&access, &["install", "claude", "--scope", "user"]).exits(128);
        assert!(refused.stderr.contains("cannot create") && refused.stderr.contains("home/.claude"), "{refused}");
        assert_eq!(std::fs::read_to_string(world.path("home/.claude.json")).ok().as_deref(), text);
        assert!(!world.read("home/blue/claude.json").contains("inserted"));
    }
}

#[test]
fn repository_symlinks_are_refused_and_dotfile_links_kept() {
    let world = World::pair();
    world.write("outside.json", "{}");
    std::os::unix::fs::symlink(world.path("outside.json"), world.path("access/.mcp.json")).unwrap();
    let run = world.blue(&world.path("access"), &["install", "claude"]).exits(1);
    assert!(run.stderr.contains("is a symbolic link"), "{}", run.stderr);
    assert_eq!(world.read("outside.json"), "{}");
    world.write("dotfiles/settings.json", "{}");
    world.write("home/.claude/x", "");
    std::os::unix::fs::symlink(world.path("dotfiles/settings.json"), world.path("home/.claude/settings.json")).unwrap();
    install(&world, &["--scope", "user"]);
    assert!(world.path("home/.claude/settings.json").is_symlink());
    assert!(world.read("dotfiles/settings.json").contains("claude-session-start"));
    let mode = world.path("home/.claude.json").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "Claude Code keeps keys there");
}

#[test]
fn session_start_prints_one_line_of_names_and_numbers() {
    let world = World::pair();
    let access = world.path("access");
    let start = || world.ok(&access, &["hook", "claude-session-start"]);
    let quiet = start();
    world.bump("1.1.0");
    let pending = start();
    let session: [(&str, &std::ffi::OsStr); 1] = [("CLAUDE_CODE_SESSION_ID", "s-1".as_ref())];
    // It marks nothing as seen, and counts what its own reader has not seen.
    world.ok(&access, &["status"]);
    let told = world.blue_with(&access, &["hook", "claude-session-start"], &session).exits(0);
    world.repo("outside");
    let outside = world.ok(&world.path("outside"), &["hook", "claude-session-start"]);
    assert_eq!(outside.stdout, "");
    std::fs::remove_dir_all(world.store()).unwrap();
    let broken = start();
    assert_eq!((broken.stdout.as_str(), broken.stderr.as_str()), ("", ""));
    snapshot("claude_greeting", &[&quiet, &pending, &told]);
}
