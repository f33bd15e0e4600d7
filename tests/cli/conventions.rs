//! Behavior among other programs: exit codes, streams, colors, paging, unusual text.

use std::ffi::OsStr;

use serde_json::json;

use crate::world::{CONTRACT_FILE, World, contract, snapshot};

/// Returns every command, found by parsing the help.
fn commands(world: &World, path: &[&str], found: &mut Vec<Vec<String>>) {
    let help = world.blue(&world.root(), &[path, &["-h"]].concat()).exits(0);
    assert_eq!(help.stderr, "");
    assert!(help.stdout.contains("Usage: git blue"), "{help}");
    found.push(path.iter().map(|part| (*part).to_owned()).collect());
    let listed = help.stdout.split("Commands:").nth(1).unwrap_or_default();
    for line in listed.lines().skip(1).take_while(|line| line.starts_with("  ")) {
        let name = line.split_whitespace().next().unwrap();
        // A wrapped line is indented further.
        if name != "help" && !line.starts_with("    ") {
            commands(world, &[path, &[name]].concat(), found);
        }
    }
}

#[test]
fn every_command_has_help() {
    let world = World::new();
    let mut found = Vec::new();
    commands(&world, &[], &mut found);
    assert!(found.len() > 25, "{found:?}");
    // One help text as an example; the others change with every new option.
    snapshot("help", &[&world.ok(&world.root(), &["check", "-h"])]);
    let version = world.ok(&world.root(), &["--version"]);
    assert_eq!(version.stdout, format!("git-blue {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn exit_codes_distinguish_no_failure_and_usage() {
    let world = World::pair();
    let dir = world.path("fungal");
    for (code, args) in [
        (0, &["status"][..]),
        (1, &["contract", "get", "s3-access/none"]),
        (1, &["contract", "list", "--domain", "none"]),
        (1, &["contract", "get", "s3-access/s3-permissions", "--version", "9.9.9"]),
        (128, &["status", "--realm", "none"]),
        (129, &["frobnicate"]),
        (129, &["contract", "get", "not-a-ref"]),
        (129, &["contract", "get", "s3-access/s3-permissions", "--version", "1"]),
        (129, &["contract", "retire", "s3-access/s3-permissions", "--reason", " "]),
        (129, &["status", "--frob"]),
        (0, &[]),
        (129, &["contract"]),
    ] {
        let run = world.blue(&dir, args).exits(code);
        assert_eq!(run.stdout.is_empty(), code != 0, "only answers go to stdout: {run}");
        assert_eq!(run.stderr.is_empty(), code == 0, "{run}");
    }
}

#[test]
fn json_errors_go_to_stdout() {
    let world = World::pair();
    let dir = world.path("fungal");
    let mut runs = Vec::new();
    for (exit, code, args) in [
        (1, "unknown-contract", &["contract", "get", "s3-access/none"][..]),
        (128, "unknown-realm", &["status", "--realm", "none"]),
        (129, "usage", &["frobnicate"]),
        (129, "usage", &["contract", "get", "not-a-ref"]),
    ] {
        let run = world.blue(&dir, &[args, &["--json"]].concat()).exits(exit);
        assert_eq!(run.stderr, "");
        let answer = run.json();
        assert_eq!((&answer["status"], &answer["code"]), (&json!("error"), &json!(code)));
        assert!(!answer["message"].as_str().unwrap().is_empty());
        assert!(!answer["next_steps"].as_array().unwrap().is_empty(), "{run}");
        runs.push(run);
    }
    snapshot("json_errors", &runs.iter().collect::<Vec<_>>());
}

#[test]
fn color_follows_git_configuration() {
    let world = World::pair();
    let dir = world.path("fungal");
    let colored = |args: &[&str], vars: &[(&str, &OsStr)]| {
        let run = world.blue_with(&dir, args, vars).exits(0);
        run.stdout.contains('\u{1b}')
    };
    assert!(!colored(&["status"], &[]), "no terminal, no color");
    world.git(&dir, &["config", "color.ui", "always"]);
    assert!(colored(&["status"], &[]));
    assert!(!colored(&["status", "--json"], &[]), "JSON has no color");
    world.git(&dir, &["config", "color.blue", "never"]);
    assert!(!colored(&["status"], &[]), "the nearer key counts");
    world.git(&dir, &["config", "color.blue", "always"]);
    // As in git, an explicit setting wins.
    assert!(colored(&["status"], &[("NO_COLOR", OsStr::new("1"))]));
    world.git(&dir, &["config", "color.blue", "auto"]);
    assert!(!colored(&["status"], &[]));
}

#[test]
fn closed_pipe_is_not_an_error() {
    let world = World::pair();
    let dir = world.path("fungal");
    for args in [&["contract", "list"][..], &["status", "--peek", "--json"], &["-h"], &["realm", "log"]] {
        let run = world.blue_unread(&dir, args).exits(0);
        assert_eq!(run.stderr, "", "{args:?}");
    }
    // The answer was no, whether or not it was read.
    world.blue_unread(&dir, &["contract", "get", "s3-access/none", "--json"]).exits(1);
}

#[test]
fn quiet_omits_next_steps() {
    let world = World::pair();
    world.bump("2.0.0");
    let dir = world.path("access");
    let loud = world.blue(&dir, &["check"]).exits(1);
    let quiet = world.blue(&dir, &["check", "-q"]).exits(1);
    assert!(loud.stdout.contains("next\n") && !quiet.stdout.contains("next\n"), "{quiet}");
    let error = world.blue(&dir, &["-q", "contract", "get", "s3-access/none"]).exits(1);
    assert!(error.stderr.contains("error:") && !error.stderr.contains("hint:"), "{error}");
}

#[test]
fn quiet_omits_success_messages() {
    let world = World::new();
    let dir = world.repo("fungal");
    // man finds the pages.
    world.script("bin/man", "");
    for args in [
        &["init", "--realm", "aperture", "-q"][..],
        &["realm", "admin", "domain", "--name", "s3-access", "--repos", "fungal", "-q"],
        &["session", "start", "-q"],
        &["install", "man", "-q"],
        &["doctor", "-q"],
    ] {
        let run = world.ok(&dir, args);
        assert_eq!((&*run.stdout, &*run.stderr), ("", ""), "{args:?}");
    }
    // Requested output, machine-readable output and errors are printed.
    assert!(world.ok(&dir, &["status", "-q"]).stdout.contains("in the realm aperture"));
    assert!(world.ok(&dir, &["session", "stop", "-q", "--json"]).stdout.contains("\"status\": \"success\""));
    assert!(world.blue(&dir, &["session", "stop", "-q"]).exits(1).stderr.starts_with("error: "));
}

#[test]
fn quiet_prints_warnings_and_dry_runs() {
    let world = World::pair();
    let dir = world.path("fungal");
    let quiet = |args: &[&str]| world.ok(&dir, &[args, &["--quiet"]].concat()).stdout;
    world.write("fungal/payload.json", r#"{"read": []}"#);
    assert_eq!(quiet(&["check"]), "");
    assert_eq!(quiet(&["contract", "validate", "s3-access/s3-permissions", "payload.json"]), "");
    world.ok(&dir, &["install", "man"]);
    // man finds the pages.
    world.script("bin/man", "");
    assert_eq!(quiet(&["hooks", "uninstall"]), "");
    let doctor = quiet(&["doctor"]);
    assert!(doctor.starts_with("warning  hooks") && doctor.lines().count() == 1, "{doctor}");
    assert!(quiet(&["install", "claude", "--dry-run"]).contains("+  \"mcpServers\""));
    assert_eq!(quiet(&["install", "claude"]), "");
    world.bump("2.0.0");
    assert!(quiet(&["contract", "publish", "--dry-run"]).starts_with("would publish "));
    let publish = quiet(&["contract", "publish"]);
    assert!(publish.starts_with("breaks access ") && !publish.contains("published"), "{publish}");
}

#[test]
fn dash_c_changes_the_folder() {
    let world = World::pair();
    let here = world.ok(&world.path("access"), &["status", "--peek"]);
    for args in [&["-C", "access"][..], &["-C", "access/cdk"]] {
        let there = world.ok(&world.root(), &[args, &["status", "--peek"]].concat());
        assert_eq!(there.stdout, here.stdout);
    }
    // So do the next steps.
    for (args, folder) in
        [(&["-C", "access"][..], "access"), (&["-C", "fungal", "-C", "../access"], "fungal/../access")]
    {
        let step = format!("git blue -C {folder} leave --force");
        let refused = world.blue(&world.root(), &[args, &["leave"]].concat()).exits(1);
        assert!(world.next_steps(&refused).contains(&format!("{step}  # leave anyway")), "{refused}");
        let refused = world.json(&world.root(), &[args, &["leave"]].concat());
        assert!(refused["next_steps"].to_string().contains(&step), "{refused}");
    }
    // As in git, paths are then relative to that folder.
    world.write(
        "access/document.yaml",
        &contract("1.1.0").replace("s3-permissions", "mine").replace("fungal", "access"),
    );
    world.ok(
        &world.path("access"),
        &["realm", "admin", "contract", "--domain", "s3-access", "--name", "mine", "--owner", "access"],
    );
    world.ok(&world.root(), &["-C", "access", "contract", "edit", "s3-access/mine", "--file", "document.yaml"]);
}

#[test]
fn pages_of_lists_are_complete() {
    let world = World::solo();
    let dir = world.path("fungal");
    for name in ["a", "b", "c", "d"] {
        world.write(
            &format!("fungal/.blue/contracts/s3-access/{name}.yaml"),
            &contract("1.0.0").replace("s3-permissions", name),
        );
    }
    world.commit("fungal", "Four more");
    let names = |args: &[&str]| -> (Vec<String>, Option<String>) {
        let answer = world.json(&dir, &[&["contract", "list"], args].concat());
        assert_eq!(answer["total"], 5);
        let names = answer["contracts"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned());
        (names.collect(), answer["next_cursor"].as_str().map(str::to_owned))
    };
    let (all, none) = names(&["--all"]);
    assert_eq!((all.len(), none), (5, None));
    let mut joined = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let (page, next) = match &cursor {
            Some(cursor) => names(&["--limit", "2", "--cursor", cursor]),
            None => names(&["--limit", "2"]),
        };
        assert!(page.len() <= 2);
        joined.extend(page);
        match next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(joined, all);
    snapshot("page", &[&world.ok(&dir, &["contract", "list", "--limit", "2"])]);
    world.blue(&dir, &["contract", "list", "--limit", "0"]).exits(129);
    world.blue(&dir, &["contract", "list", "--limit", "2", "--all"]).exits(129);

    // Logs are paged by commit.
    let log = |args: &[&str]| world.json(&dir, &[&["realm", "log"], args].concat());
    let whole = log(&["--all"])["entries"].as_array().unwrap().clone();
    let first = log(&["--limit", "2"]);
    let second = log(&["--limit", "2", "--cursor", first["next_cursor"].as_str().unwrap()]);
    assert_eq!(first["entries"].as_array().unwrap()[..], whole[..2]);
    assert_eq!(second["entries"].as_array().unwrap()[..], whole[2..4]);
}

#[test]
fn handles_paths_in_any_script() {
    let world = World::new();
    let repo = world.repo("räpo ☃ 'x'");
    world.ok(&repo, &["init", "--realm", "aperture", "--repo", "fungal"]);
    world.ok(&repo, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "fungal"]);
    let file = "pfade/ä ☃.py";
    world.write(&format!("räpo ☃ 'x'/{file}"), "");
    let binding = format!("role: provider\nexports: [{{ contract: s3-permissions, source_files: [\"{file}\"] }}]\n");
    world.write("räpo ☃ 'x'/.blue/bindings/s3-access.yaml", &binding);
    world.write(&format!("räpo ☃ 'x'/{CONTRACT_FILE}"), &contract("1.0.0"));
    let commit = world.commit("räpo ☃ 'x'", "Alles");
    assert!(commit.stderr.contains("published s3-access/s3-permissions 1.0.0"), "{commit}");
    let check = world.ok(&repo, &["check"]);
    assert!(!check.stdout.contains("missing-file"), "{check}");
    let status = world.ok(&repo, &["status", "-v"]);
    assert!(status.stdout.contains("räpo ☃ 'x'"), "{status}");
}

/// Control characters, and characters that reorder text.
const EVIL: &str = "\u{1b}]0;owned\u{7}\u{1b}[2Jred\u{202e}txt.exe\u{200b}\u{9b}31m";

/// ASCII JSON: YAML has no raw control characters, but escapes.
fn escaped(value: &serde_json::Value) -> String {
    let spell = |c: char| if c.is_ascii() { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) };
    value.to_string().chars().map(spell).collect()
}

fn assert_harmless(text: &str) {
    let harmful = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
    };
    assert!(!text.contains(harmful), "{text:?}");
}

#[test]
fn control_characters_from_a_realm_are_escaped() {
    let world = World::pair();
    let (provider, consumer) = (world.path("fungal"), world.path("access"));
    let mut document = json!({
        "name": "s3-permissions", "version": "1.1.0", "owner": "fungal", "description": EVIL, "values": "free",
        "schema": {
            "title": EVIL, "type": "object", "required": ["read"],
            "properties": { "read": { "type": "array", "items": { "type": "string" } } },
        },
        "value": { "read": [], (EVIL): EVIL },
        "evolution": [{ "version": "1.1.0", "changes": [EVIL] }],
    });
    world.write("evil.json", &escaped(&document));
    let evil = world.path("evil.json");
    world.ok(&provider, &["contract", "edit", "s3-access/s3-permissions", "--file", evil.to_str().unwrap()]);
    world.ok(&provider, &["contract", "yank", "s3-access/s3-permissions", "1.0.0", "--reason", EVIL]);
    world.ok(&provider, &["contract", "retire", "s3-access/s3-permissions", "--reason", EVIL, "--force"]);
    world.ok(&provider, &["realm", "admin", "domain", "--name", "s3-access", "--description", EVIL]);
    for args in [
        &["status", "--peek"][..],
        &["check"],
        &["contract", "get", "s3-access/s3-permissions"],
        &["contract", "get", "s3-access/s3-permissions", "--version", "1.1.0"],
        &["contract", "list"],
        &["contract", "log", "s3-access/s3-permissions"],
        &["contract", "diff", "s3-access/s3-permissions", "1.0.0", "1.1.0"],
        &["contract", "impact", "s3-access/s3-permissions"],
        &["realm", "topology"],
        &["realm", "log"],
        &["notifications", "list"],
    ] {
        assert_harmless(&world.ok(&consumer, args).all());
        let json = world.ok(&consumer, &[args, &["--json"]].concat());
        assert_harmless(&json.all());
    }
    for format in ["dot", "mermaid"] {
        assert_harmless(&world.ok(&consumer, &["realm", "topology", "--format", format]).all());
    }
    // The text is escaped, not lost.
    let get = world.json(&consumer, &["contract", "get", "s3-access/s3-permissions"]);
    assert_eq!(get["contract"]["description"], EVIL);
    assert_eq!(get["contract"]["retired"]["reason"], EVIL);

    // Refused text is quoted as safely as accepted text.
    document["version"] = json!(EVIL);
    world.write("evil.json", &escaped(&document));
    let refused = world
        .blue(&provider, &["contract", "edit", "s3-access/s3-permissions", "--file", evil.to_str().unwrap()])
        .exits(1);
    assert_harmless(&refused.all());
    for args in [&["contract", "get", EVIL][..], &["status", "--realm", EVIL], &[EVIL]] {
        assert_harmless(&world.blue(&provider, args).exits(129).all());
        assert_harmless(&world.blue(&provider, &[args, &["--json"]].concat()).exits(129).all());
    }
    // Written with plain git, without validation.
    world.plant("contracts/s3-permissions.json", &format!("{{\"oops\": \"{EVIL}"));
    for args in [&["status", "--peek"][..], &["check"], &["contract", "get", "s3-access/s3-permissions"]] {
        assert_harmless(&world.blue(&consumer, args).all());
    }
}

/// An alias has options that its user overrides.
#[test]
fn the_last_of_equal_options_counts() {
    let world = World::pair();
    let dir = world.path("access");
    let check = world.ok(&dir, &["check", "--format", "json", "--format", "human", "--strict", "--strict"]);
    assert!(check.stdout.starts_with("ok: "), "{check}");
}

#[test]
fn texts_may_begin_with_a_hyphen() {
    let world = World::pair();
    let dir = world.path("fungal");
    world.ok(&dir, &["contract", "yank", "s3-access/s3-permissions", "1.0.0", "--reason", "- wrong paths"]);
    assert_eq!(world.stored("contracts/s3-permissions.json")["yanked"][0]["reason"], "- wrong paths");
}
