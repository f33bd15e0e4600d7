//! Setting up Claude Code: what it writes into files of other people, and that it takes out no more.

use std::os::unix::fs::PermissionsExt as _;

use crate::world::{Run, World, snapshot};

/// Files that users have, and why each is special.
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
fn it_shows_what_it_writes_and_takes_it_out_again() {
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
fn what_users_wrote_comes_back_byte_for_byte() {
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
fn what_its_user_changed_meanwhile_stays() {
    let world = World::pair();
    install(&world, &[]);
    let settings = world.read("access/.claude/settings.json");
    world.write("access/.claude/settings.json", &settings.replacen('{', "{\n  \"model\": \"x\",", 1));
    // Another program wrote it anew, and he gave the server an argument.
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
fn without_the_note_of_what_was_put_in_it_is_found_all_the_same() {
    let world = World::pair();
    world.write("access/.claude/settings.json", "{\n  \"model\": \"x\"\n}\n");
    install(&world, &[]);
    std::fs::remove_file(world.path("home/blue/claude.json")).unwrap();
    uninstall(&world, &[]);
    assert_eq!(world.read("access/.claude/settings.json"), "{\n  \"model\": \"x\"\n}\n");
    // Whether it was there before is not known any more.
    assert_eq!(world.read("access/.mcp.json"), "{}\n");
}

#[test]
fn what_is_no_plain_json_is_refused_and_nothing_is_written() {
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
fn nothing_is_written_through_a_link_of_a_repository_and_dotfiles_stay_links() {
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
fn a_session_starts_with_a_line_of_names_and_numbers() {
    let world = World::pair();
    let access = world.path("access");
    let start = || world.ok(&access, &["hook", "claude-session-start"]);
    let quiet = start();
    world.bump("1.1.0");
    let pending = start();
    let session: [(&str, &std::ffi::OsStr); 1] = [("CLAUDE_CODE_SESSION_ID", "s-1".as_ref())];
    // It tells nobody, and counts what its own reader was not told.
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
