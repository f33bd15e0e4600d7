//! Next steps are data, and work: every step of every answer is executed.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::{
    client::{Client, LEGACY},
    world::{BINDING_FILE, CONTRACT_FILE, World, contract, importing},
};

/// Executes each step. Steps with a placeholder for the user are skipped.
#[track_caller]
fn follow(world: &World, client: &mut Client, folder: &Path, answer: &Map<String, Value>) -> Vec<String> {
    let mut taken = Vec::new();
    for step in answer["next_steps"].as_array().unwrap() {
        assert!(step["reason"].is_string(), "{step}");
        match (step["tool"].as_str(), step["command"].as_str()) {
            (Some(tool), None) => {
                assert!(step["arguments"].is_object(), "{step}");
                client.ok(tool, step["arguments"].clone());
                taken.push(tool.to_owned());
            }
            (None, Some(command)) => {
                let open = ["NAME", "DOMAIN", "OTHER", "…"].iter().any(|word| command.contains(word));
                let run = world.finish_shell(folder, command);
                assert!(open || run.code == 0, "{command}: {run:?}");
                taken.push(command.to_owned());
            }
            (None, None) => assert!(!step["reason"].as_str().unwrap().starts_with("git "), "{step}"),
            both => panic!("{both:?}"),
        }
    }
    taken
}

const CONTRACT: &str = r#"{"domain": "s3-access", "contract": "s3-permissions"}"#;

fn at() -> Value {
    serde_json::from_str(CONTRACT).unwrap()
}

#[test]
fn broken_consumer_is_led_through_review_to_the_fix() {
    let world = World::pair();
    let access = world.path("access");
    let mut client = Client::start(&world, &access);
    world.bump("2.0.0");
    let status = client.ok("realm_status", json!({}));
    assert_eq!(status["next_steps"][0]["tool"], "realm_review", "{status:?}");
    follow(&world, &mut client, &access, &status);
    for (tool, arguments) in [
        ("realm_check", json!({})),
        ("contract_diff", at()),
        ("contract_impact", at()),
        ("realm_topology", json!({})),
        ("notifications_list", json!({})),
        ("session_start", json!({})),
    ] {
        let answer = client.ok(tool, arguments);
        follow(&world, &mut client, &access, &answer);
    }
    let check = client.ok("realm_check", json!({}));
    assert_eq!(check["next_steps"][0]["tool"], "realm_review");
    let review = client.ok("realm_review", json!({}));
    let step = &review["next_steps"][0];
    assert_eq!(step["command"], "git blue import s3-access/s3-permissions '>=2.0.0, <3.0.0'");
    assert!(step["reason"].as_str().unwrap().contains(BINDING_FILE), "{step}");
    follow(&world, &mut client, &access, &review);
    world.commit("access", "Follow");
    assert_eq!(client.ok("realm_review", json!({}))["imports"], json!([]));
}

#[test]
fn steps_are_calls_for_the_same_project() {
    let world = World::pair();
    let access = world.path("access");
    world.bump("2.0.0");
    // The argument of a call, which the server's directory does not replace.
    let mut client = Client::start(&world, &world.path("fungal"));
    let status = client.ok("realm_status", json!({"cwd": access}));
    let step = &status["next_steps"][0];
    assert_eq!((&step["tool"], &step["arguments"]), (&json!("realm_review"), &json!({"cwd": access})), "{status:?}");
    let review = client.ok("realm_review", step["arguments"].clone());
    assert_eq!(review["current_repo"], "access");
    let command = review["next_steps"][0]["command"].as_str().unwrap();
    assert!(command.starts_with(&format!("git blue -C {} import ", access.display())), "{command}");
    let failure = client.fails("contract_get", json!({"cwd": access, "domain": "s3-access", "contract": "nope"}));
    assert_eq!(failure["next_steps"][0]["arguments"], json!({"cwd": access}), "{failure}");
    let failure = client.fails("realm_check", json!({"cwd": access, "rfc": "x"}));
    let step =
        json!({"tool": "realm_worktree_create", "arguments": {"cwd": access, "rfc": "x"}, "reason": "create them"});
    assert_eq!(failure["next_steps"], json!([step]));

    // From outside of any repository, only the argument names the realm.
    let home = world.path("home");
    let mut client = Client::with(&world, &home, LEGACY, &["--all-realms"], &[]);
    let realm = json!("aperture");
    let contract = json!({"realm": realm, "domain": "s3-access", "contract": "s3-permissions",
        "old_version": "1.0.0", "new_version": "2.0.0"});
    for (tool, arguments) in [
        ("contract_diff", contract),
        ("realm_topology", json!({"realm": realm})),
        ("realm_check", json!({"realm": realm, "scope": "published"})),
    ] {
        let answer = client.ok(tool, arguments);
        let steps = answer["next_steps"].as_array().unwrap();
        let mut calls = steps.iter().filter(|step| step["tool"].is_string());
        assert!(calls.all(|step| step["arguments"]["realm"] == realm), "{answer:?}");
        let taken = follow(&world, &mut client, &home, &answer);
        assert!(!taken.is_empty() || tool == "realm_check", "{answer:?}");
    }
    let failure = client.fails("contract_get", json!({"realm": realm, "domain": "s3-access", "contract": "nope"}));
    assert_eq!(failure["next_steps"][0]["arguments"], json!({"realm": realm}), "{failure}");
    world.ok(&home, &["realm", "admin", "init", "--name", "empty"]);
    let list = client.ok("contract_list", json!({"realm": "empty"}));
    assert_eq!(list["next_steps"][0]["command"], "git blue --realm empty contract new …/…", "{list:?}");
}

#[test]
fn each_kind_of_error_has_one_concrete_step() {
    let world = World::pair();
    let access = world.path("access");
    let mut client = Client::start(&world, &access);
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0").replace("s3-permissions", "s3-permission"));
    let check = client.ok("realm_check", json!({"worktree": true}));
    let step = &check["next_steps"][0];
    assert_eq!(
        (&step["tool"], &step["arguments"]),
        (&json!("contract_list"), &json!({"domain": "s3-access"})),
        "{check:?}"
    );
    follow(&world, &mut client, &access, &check);

    world.join("third");
    let third = world.path("third");
    world.write(&format!("third/{BINDING_FILE}"), &importing(">=1.0.0"));
    let mut client = Client::start(&world, &third);
    let check = client.ok("realm_check", json!({"worktree": true}));
    assert_eq!(
        check["next_steps"][0]["command"], "git blue realm admin domain --name s3-access --repos third",
        "{check:?}"
    );
    follow(&world, &mut client, &third, &check);
    assert_eq!(client.ok("realm_check", json!({"worktree": true}))["errors"], json!([]));

    world.write("third/.blue/bindings/queues.yaml", "role: provider\nexports: []\n");
    let check = client.ok("realm_check", json!({"worktree": true}));
    assert_eq!(
        check["next_steps"][0]["command"], "git blue realm admin domain --name queues --repos third",
        "{check:?}"
    );
    follow(&world, &mut client, &third, &check);
    // Steps without a call name a file.
    let check = client.ok("realm_check", json!({"worktree": true}));
    let said = "correct .blue/bindings/queues.yaml";
    assert!(check["next_steps"][0]["reason"].as_str().unwrap().starts_with(said), "{check:?}");

    let fungal = world.path("fungal");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0").replace("masks", "topics"));
    let mut client = Client::start(&world, &fungal);
    let check = client.ok("realm_check", json!({"worktree": true}));
    assert_eq!(check["next_steps"][0]["command"], "git blue contract bump s3-access/s3-permissions", "{check:?}");
    follow(&world, &mut client, &fungal, &check);
    assert_eq!(client.ok("realm_check", json!({"worktree": true}))["errors"], json!([]));
}

#[test]
fn owner_is_led_to_impact_and_worktrees_to_sessions() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let mut client = Client::start(&world, &fungal);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("2.0.0"));
    let check = client.ok("realm_check", json!({"worktree": true}));
    let step = &check["next_steps"][0];
    assert_eq!((&step["tool"], &step["arguments"]["worktree"]), (&json!("contract_impact"), &json!(true)), "{check:?}");
    follow(&world, &mut client, &fungal, &check);
    world.git(&fungal, &["checkout", "--quiet", "."]);
    let made = client.ok("realm_worktree_create", json!({"rfc": "rfc-9"}));
    let steps = made["next_steps"].as_array().unwrap();
    let session = steps.iter().find(|step| step["tool"] == "session_start").unwrap_or_else(|| panic!("{made:?}"));
    assert!(session["arguments"]["cwd"].as_str().unwrap().starts_with('/'), "{session}");
    assert_eq!(session["arguments"]["active_rfc"], "rfc-9");
    follow(&world, &mut client, &fungal, &made);
}

#[test]
fn unjoined_folder_gets_the_command_with_the_realm_name() {
    let world = World::pair();
    let stranger = world.repo("stranger");
    let mut client = Client::start(&world, &stranger);
    let failure = client.fails("realm_status", json!({}));
    let steps = failure["next_steps"].as_array().unwrap();
    let command = steps.iter().find_map(|step| step["command"].as_str()).unwrap();
    assert_eq!(command, "git blue init --realm aperture");
    assert_eq!(client.ok("realm_list", json!({}))["realms"][0]["name"], "aperture");
    assert_eq!(world.finish_shell(&stranger, command).code, 0);
    client.ok("realm_status", json!({}));
}

#[test]
fn realm_in_the_environment_is_served_from_anywhere() {
    let world = World::pair();
    std::fs::create_dir(world.path("outside")).unwrap();
    let variables = [("GIT_BLUE_REALM", "aperture")];
    let mut client = Client::with(&world, &world.path("outside"), LEGACY, &[], &variables);
    assert_eq!(client.ok("realm_status", json!({}))["realm"], "aperture");
}

#[test]
fn session_starts_with_open_problems_and_repeats_them_after_compaction() {
    let world = World::pair();
    let access = world.path("access");
    let variables = [("CLAUDE_CODE_SESSION_ID", "one")];
    let mut client = Client::with(&world, &access, LEGACY, &[], &variables);
    assert_eq!(client.greeting["instructions"].as_str().unwrap().matches("Broken").count(), 0);
    world.bump("1.1.0");
    client.ok("realm_status", json!({}));
    client.request("ping", json!({}));
    let line = |source: &str| {
        format!("echo '{{\"source\":\"{source}\"}}' | CLAUDE_CODE_SESSION_ID=one git blue hook claude-session-start")
    };
    let told = "Shown before, but not adapted to yet: s3-access/s3-permissions 1.1.0.";
    for (source, expected) in [("compact", true), ("resume", true), ("startup", false)] {
        let text = world.finish_shell(&access, &line(source)).stdout;
        assert_eq!(text.contains(told), expected, "{source}: {text}");
    }
    world.bump("2.0.0");
    let mut client = Client::with(&world, &access, LEGACY, &[], &variables);
    let instructions = client.greeting["instructions"].as_str().unwrap();
    assert!(instructions.contains("Now: ") && instructions.contains("Broken: s3-access/s3-permissions"));
    assert!(instructions.chars().count() < 2_000);
    // Only the newest version is repeated.
    client.ok("realm_status", json!({}));
    client.request("ping", json!({}));
    let text = world.finish_shell(&access, &line("compact")).stdout;
    assert!(text.contains("Shown before, but not adapted to yet: s3-access/s3-permissions 2.0.0."), "{text}");
}
