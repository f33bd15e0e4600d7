//! The project of a call: each way to name it, and that none lasts beyond its call.

use serde_json::{Value, json};

use crate::{
    client::{Client, Era, LEGACY},
    world::World,
};

fn repo(client: &mut Client, arguments: Value) -> Value {
    client.ok("realm_status", arguments)["current_repo"].clone()
}

#[test]
fn project_sources_have_an_order() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    let [fungal, access] = [&fungal, &access].map(|path| path.to_str().unwrap());
    let home = world.path("home");
    // The folder of the server: the repository that contains it is used.
    world.write("access/deep/er/file", "");
    let mut here = Client::start(&world, &world.path("access/deep/er"));
    assert_eq!(repo(&mut here, json!({})), "access");
    // An argument affects only its call.
    assert_eq!(repo(&mut here, json!({"cwd": fungal})), "fungal");
    assert_eq!(repo(&mut here, json!({})), "access");
    // CLAUDE_PROJECT_DIR precedes the folder, GIT_BLUE_DIR precedes that, -C precedes both.
    let project = ("CLAUDE_PROJECT_DIR", fungal);
    let mut client = Client::with(&world, &world.path("access"), LEGACY, &[], &[project]);
    assert_eq!(repo(&mut client, json!({})), "fungal");
    let variables = [project, ("GIT_BLUE_DIR", access)];
    let mut client = Client::with(&world, &home, LEGACY, &[], &variables);
    assert_eq!(repo(&mut client, json!({})), "access");
    let mut client = Client::with(&world, &home, LEGACY, &["-C", "../fungal"], &variables);
    assert_eq!(repo(&mut client, json!({})), "fungal");
    assert_eq!(repo(&mut client, json!({"cwd": access})), "access");
    // Variables that git set for another command are ignored.
    let git_dir = format!("{fungal}/.git");
    let mut client = Client::with(&world, &world.path("access"), LEGACY, &[], &[("GIT_DIR", &git_dir)]);
    assert_eq!(repo(&mut client, json!({})), "access");
}

/// As on the command line, a submodule or vendored repository does not act for the repository around it.
#[test]
fn repository_inside_of_a_joined_one_is_not_part_of_it() {
    let world = World::pair();
    world.repo("access/vendor");
    let mut client = Client::start(&world, &world.path("access/vendor"));
    let answer = client.fails("realm_status", json!({}));
    assert_eq!(answer["code"], "not-in-realm", "{answer:?}");
}

#[test]
fn client_roots_are_requested_in_each_version() {
    let world = World::pair();
    let home = world.path("home");
    let uri = format!("file://{}", world.path("access").display());
    // With a handshake, the server asks once, until the roots change.
    let mut client = Client::silent(&world, &home, &[], &[]);
    client.greet(LEGACY, json!({"roots": {"listChanged": true}}));
    client.roots = vec!["https://example.com".into(), format!("file://{}", home.display()), uri.clone()];
    assert_eq!(repo(&mut client, json!({})), "access");
    client.roots = vec![format!("file://{}", world.path("fungal").display())];
    assert_eq!(repo(&mut client, json!({})), "access");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    assert_eq!(repo(&mut client, json!({})), "fungal");

    // Without a handshake, the server answers with a request for roots, and the call is repeated.
    let mut client = Client::silent(&world, &home, &[], &[]);
    client.greet(Era::Stateless, json!({"roots": {}}));
    let question = client.call("realm_status", json!({}));
    assert_eq!(question["resultType"], "input_required");
    assert_eq!(question["inputRequests"]["roots"]["method"], "roots/list");
    let responses = json!({"roots": {"roots": [{"uri": uri}]}});
    let answer = client.request("tools/call", json!({"name": "realm_status", "inputResponses": responses}));
    assert_eq!(answer["structuredContent"]["current_repo"], "access");
    // An answer without roots is not requested again.
    let answer = client.request("tools/call", json!({"name": "realm_status", "inputResponses": {}}));
    assert_eq!(answer["isError"], true);
}

#[test]
fn error_lists_every_place_that_was_tried() {
    let world = World::pair();
    world.repo("stranger");
    let nowhere = world.path("nowhere");
    let mut client = Client::with(
        &world,
        &world.path("stranger"),
        LEGACY,
        &["--debug"],
        &[("CLAUDE_PROJECT_DIR", nowhere.to_str().unwrap())],
    );
    let failure = client.fails("realm_status", json!({}));
    assert_eq!(failure["code"], "not-in-realm");
    let message = failure["message"].as_str().unwrap();
    let stranger = world.path("stranger").display().to_string();
    for place in [
        "cwd: not given",
        "-C, GIT_BLUE_DIR: not set",
        "no such directory",
        "roots: the client does not support roots",
        &stranger,
    ] {
        assert!(message.contains(place), "{place}: {message}");
    }
    let steps = failure["next_steps"].to_string();
    assert!(steps.contains("pass cwd") && steps.contains("git blue init"), "{steps}");
    let log = world.read("home/blue/mcp.log");
    assert!(log.contains(&stranger) && log.contains("realm_status"), "{log}");
    use std::os::unix::fs::PermissionsExt as _;
    assert!(log.contains("mcp{pid=") && !log.contains("serve_inner"), "{log}");
    let mode = world.path("home/blue/mcp.log").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// The server's own folder may be another repository.
#[test]
fn step_to_join_is_about_the_named_folder() {
    let world = World::pair();
    let (here, there) = (world.repo("here"), world.repo("there"));
    let mut client = Client::start(&world, &here);
    let failure = client.fails("realm_status", json!({"cwd": there}));
    let step = failure["next_steps"].as_array().unwrap().iter().find(|step| step["command"].is_string()).unwrap();
    let command = format!("git blue -C {} init --realm {}", there.display(), crate::world::REALM);
    assert_eq!(step, &json!({"command": command, "reason": "join the only realm here"}), "{failure:#}");
    assert_eq!(world.finish_shell(&here, &command).code, 0);
    assert!(there.join(".blue/config.yaml").exists() && !here.join(".blue/config.yaml").exists());
}

#[test]
fn removed_configuration_is_restored() {
    let world = World::pair();
    let access = world.path("access");
    world.git(&access, &["rm", "--quiet", ".blue/config.yaml"]);
    world.git(&access, &["commit", "--quiet", "-m", "Remove it"]);
    let mut client = Client::start(&world, &access);
    let failure = client.fails("realm_status", json!({}));
    let step = failure["next_steps"][0]["command"].as_str().unwrap_or_default();
    assert!(step.starts_with("git checkout ") && step.contains(".blue/config.yaml"), "{failure}");
}

#[test]
fn realm_may_be_named_outside_of_repositories() {
    let world = World::pair();
    let mut client = Client::with(&world, &world.path("home"), LEGACY, &["--all-realms"], &[]);
    let failure = client.fails("realm_status", json!({}));
    assert!(failure["next_steps"].to_string().contains("pass realm, such as aperture"), "{failure}");
    client.ok("realm_check", json!({"realm": "aperture", "scope": "published"}));
}

#[test]
fn published_scope_excludes_files() {
    let world = World::pair();
    let mut client = Client::with(&world, &world.path("access"), LEGACY, &[], &[]);
    for more in [json!({"worktree": true}), json!({"rfc": "r1"})] {
        let mut arguments = json!({"scope": "published"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let failure = client.fails("realm_check", arguments);
        assert!(failure["message"].as_str().unwrap().contains("pass one of"), "{failure}");
    }
}

#[test]
fn project_is_determined_for_each_call() {
    let world = World::pair();
    let mut client = Client::start(&world, &world.path("access"));
    let contract = || json!({"domain": "s3-access", "contract": "s3-permissions"});
    client.ok("contract_get", contract());
    let (store, away) = (world.store(), world.path("away.git"));
    std::fs::rename(&store, &away).unwrap();
    client.fails("contract_get", contract());
    std::fs::rename(&away, &store).unwrap();
    client.ok("contract_get", contract());
    // The user's own configuration determines the realms.
    let config = world.store().join("../../config");
    let before = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, before.replace("aperture", "elsewhere")).unwrap();
    client.fails("contract_get", contract());
    std::fs::write(&config, before).unwrap();
    client.ok("contract_get", contract());
    // The file in the working tree is read for each call, too.
    let (file, away) = (world.path("access/.blue/config.yaml"), world.path("away.yaml"));
    std::fs::rename(&file, &away).unwrap();
    std::fs::write(&file, "realm: { name: elsewhere }\n").unwrap();
    client.fails("contract_get", contract());
    std::fs::rename(&away, &file).unwrap();
    client.ok("contract_get", contract());
}

#[test]
fn realm_of_a_newer_format_is_refused_at_once() {
    let world = World::pair();
    let mut client = Client::start(&world, &world.path("access"));
    client.ok("realm_status", json!({}));
    world.plant_in("refs/blue/realm", "realm.json", "{\"format\": 4000, \"name\": \"aperture\"}");
    for tool in ["realm_status", "session_start"] {
        assert_eq!(client.fails(tool, json!({}))["code"], "newer-format", "{tool}");
    }
    assert_eq!(world.line(&world.store(), &["for-each-ref", "refs/blue/sessions/"]), "");
}
