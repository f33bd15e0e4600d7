//! Every JSON answer in every test matches the schema in `docs/schema/`, and can be read by its type in `wire`, also
//! with fields that a later version adds.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use git_blue::{
    ops,
    surface::cli,
    wire::{self, schema},
};
use jsonschema::Validator;
use serde_json::Value;

use crate::world::World;

/// Validators of the schemas, by name.
static VALIDATORS: LazyLock<BTreeMap<&str, Validator>> = LazyLock::new(|| {
    let strict = |(name, schema): (&'static str, schemars::Schema)| {
        let mut schema = schema.to_value();
        close(&mut schema);
        (name, jsonschema::validator_for(&schema).unwrap())
    };
    ops::schemas().into_iter().map(strict).collect()
});

/// Clients must accept new fields; we must not add one without changing the schema.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(close);
            if object.get("properties").is_some_and(Value::is_object) {
                object.insert("additionalProperties".into(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// Validates the output of a command, if it is a JSON answer.
#[track_caller]
pub fn hold(args: &[&str], stdout: &str) {
    if args.first() == Some(&"mcp") {
        // Answers of other protocols.
        return;
    }
    if !args.contains(&"--json") {
        return;
    }
    // A closed pipe gets no output, and help is text.
    let Ok(answer) = serde_json::from_str::<Value>(stdout) else { return };
    let name = if answer["status"] == "success" { operation(args) } else { "error".to_owned() };
    let validator = VALIDATORS.get(&*name).unwrap_or_else(|| panic!("{args:?} has no schema"));
    let problems: Vec<_> =
        validator.iter_errors(&answer).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(problems.is_empty(), "{args:?} does not fit {name}.json: {problems:#?}\n{answer:#}");
    hold_to_type(&name, &answer);
}

/// A field that no version has.
const LATER: &str = "field_of_a_later_version";

/// Reads an answer as a client: nothing is lost or changed, and unknown fields are ignored everywhere.
#[track_caller]
fn hold_to_type(name: &str, answer: &Value) {
    // Not in optimised builds: see `Operation::reread`.
    let Some(reread) = reread(name) else { return };
    let read = reread(&answer.to_string());
    assert_eq!(read.as_ref().map_err(ToString::to_string), Ok(answer), "as {name}");
    let mut later = answer.clone();
    each_object(&mut later, &|object| drop(object.insert(LATER.into(), "later".into())));
    let mut read = reread(&later.to_string()).unwrap_or_else(|error| panic!("{name}: {error}: {later:#}"));
    // Content written by owners is kept unchanged.
    each_object(&mut read, &|object| drop(object.remove(LATER)));
    assert_eq!(&read, answer, "as {name}, with fields of a later version");
}

/// Returns a function that reads an answer with its `wire` type, and writes it again.
fn reread(name: &str) -> Option<schema::RoundTrip> {
    match name {
        "error" => Some(schema::reread::<wire::Failure>),
        "install" => Some(schema::reread::<wire::Answer<wire::Installed>>),
        "daemon" => Some(schema::reread::<wire::Answer<wire::Daemon>>),
        "daemon_token" => Some(schema::reread::<wire::Answer<wire::DaemonToken>>),
        "daemon_open" => Some(schema::reread::<wire::Answer<wire::DaemonOpen>>),
        _ => ops::TABLE.iter().find(|operation| operation.name == name).unwrap().reread,
    }
}

fn each_object(value: &mut Value, change: &impl Fn(&mut serde_json::Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            object.values_mut().for_each(|below| each_object(below, change));
            change(object);
        }
        Value::Array(items) => items.iter_mut().for_each(|below| each_object(below, change)),
        _ => {}
    }
}

/// Returns the operation of a command line, by the path of its command.
fn operation(args: &[&str]) -> String {
    let line = ["git-blue"].iter().chain(args);
    let matches = cli::command().try_get_matches_from(line).unwrap();
    let (mut path, mut at) = (Vec::new(), &matches);
    while let Some((name, below)) = at.subcommand() {
        path.push(name);
        at = below;
    }
    match path[..] {
        ["leave"] => "realm_admin_leave".into(),
        ["status"] => "realm_status".into(),
        ["check"] => "realm_check".into(),
        ["review"] => "realm_review".into(),
        ["sync"] => "realm_sync".into(),
        ["install" | "uninstall", "man" | "completions"] | ["daemon", "install"] => "install".into(),
        ["daemon", "start" | "stop" | "status"] => "daemon".into(),
        _ => path.join("_").replace('-', "_"),
    }
}

#[test]
fn finds_a_field_missing_from_a_schema() {
    let answer = r#"{"status":"success","realms":[],"next_steps":[]}"#;
    hold(&["realm", "list", "--json"], answer);
    for wrong in [answer.replace("realms", "realm"), answer.replace("[]}", "[],\"more\":1}")] {
        assert!(std::panic::catch_unwind(|| hold(&["realm", "list", "--json"], &wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn every_operation_matches_its_schema() {
    let world = World::pair();
    let (provider, consumer) = (world.path("fungal"), world.path("access"));
    world.bump("1.1.0");
    let contract = "s3-access/s3-permissions";
    world.write("new.yaml", &crate::world::contract("1.2.0"));
    let file = world.path("new.yaml");
    world.write("plan.yaml", "repos: [{ name: planned }]\ndomains: [{ name: planned, repos: [planned] }]\n");
    world.write("old.json", "{\"type\": \"integer\"}");
    world.write("new.json", "{\"type\": [\"integer\", \"string\"]}");
    world.write("payload.json", "{\"read\": []}");
    world.repo("third");
    world.ok(&world.root(), &["realm", "admin", "init", "--name", "other"]);
    let hub = world.hub();
    let calls: &[(&str, &[&str])] = &[
        ("access", &["status", "--peek"]),
        ("access", &["check"]),
        ("access", &["init"]),
        ("access", &["realm", "status", "--peek"]),
        ("access", &["realm", "check"]),
        ("access", &["review"]),
        ("access", &["prime"]),
        ("access", &["realm", "review"]),
        ("access", &["realm", "list"]),
        ("access", &["realm", "log"]),
        ("access", &["realm", "topology"]),
        ("access", &["realm", "compare", "other"]),
        ("access", &["init", "--url", &hub]),
        ("access", &["realm", "admin", "domain", "--name", "unsent", "--repos", "access,fungal"]),
        ("access", &["status"]),
        ("access", &["realm", "sync"]),
        ("access", &["realm", "admin", "reseed"]),
        (".", &["realm", "admin", "init", "--name", "third"]),
        ("third", &["realm", "admin", "join", "aperture"]),
        ("third", &["realm", "admin", "reclaim", "--reason", "ours"]),
        ("third", &["realm", "admin", "leave"]),
        ("access", &["realm", "admin", "domain", "--name", "more", "--repos", "access,fungal"]),
        ("access", &["realm", "admin", "contract", "--domain", "more", "--name", "c", "--owner", "access"]),
        ("access", &["realm", "admin", "binding", "--domain", "more", "--repo", "access", "--role", "both"]),
        ("access", &["realm", "admin", "bootstrap", "--from", "../plan.yaml"]),
        ("access", &["realm", "admin", "cache", "stats"]),
        ("access", &["realm", "admin", "cache", "clear"]),
        ("access", &["realm", "worktree", "create", "--rfc", "rfc-1"]),
        ("access", &["realm", "worktree", "list"]),
        ("access", &["realm", "pr", "status", "--rfc", "rfc-1"]),
        ("access", &["realm", "pr", "prepare", "--rfc", "rfc-1", "--message", "m"]),
        ("access", &["realm", "pr", "create", "--rfc", "rfc-1", "--title", "t"]),
        ("access", &["realm", "worktree", "remove", "--rfc", "rfc-1"]),
        ("access", &["session", "start"]),
        ("access", &["session", "status"]),
        ("access", &["session", "list"]),
        ("access", &["session", "stop"]),
        (".", &["compat", "old.json", "new.json"]),
        ("access", &["contract", "list"]),
        ("access", &["contract", "get", contract]),
        ("access", &["contract", "log", contract]),
        ("access", &["contract", "timeline", contract]),
        ("access", &["contract", "blame", contract]),
        ("access", &["contract", "diff", contract]),
        ("access", &["contract", "impact", contract]),
        ("fungal", &["contract", "publish"]),
        ("fungal", &["contract", "validate", contract, "../payload.json"]),
        ("fungal", &["contract", "bump", contract, "minor"]),
        ("access", &["contract", "new", "more/d", "--from-samples", "../payload.json"]),
        ("access", &["export", "more/d"]),
        ("access", &["unexport", "more/d"]),
        ("access", &["import", "more/c", ">=0.1.0"]),
        ("access", &["contract", "expect", "more/c", "--from-samples", "../payload.json"]),
        ("access", &["unimport", "more/c"]),
        ("fungal", &["contract", "edit", contract, "--file", file.to_str().unwrap()]),
        ("access", &["notifications", "list"]),
        ("access", &["notifications", "ack", "--all"]),
        ("fungal", &["contract", "yank", contract, "1.0.0", "--reason", "wrong"]),
        ("fungal", &["contract", "retire", contract, "--reason", "moved", "--force"]),
        ("access", &["contract", "adapted", contract, "1.0.0"]),
        ("fungal", &["contract", "transfer", contract, "--to", "access"]),
        ("fungal", &["realm", "admin", "remove-member", "fungal", "--domain", "unsent"]),
        ("access", &["realm", "admin", "remove-domain", "unsent"]),
        ("fungal", &["realm", "admin", "rename", "fungal", "mushroom"]),
        (".", &["realm", "admin", "remove-realm", "third"]),
        ("fungal", &["hooks", "status"]),
        ("fungal", &["hooks", "uninstall"]),
        ("fungal", &["hooks", "install"]),
        ("fungal", &["gc"]),
        ("fungal", &["doctor"]),
        ("fungal", &["install", "man"]),
        ("fungal", &["uninstall", "man"]),
        (".", &["daemon", "start", "--port", "0"]),
        (".", &["daemon", "token"]),
        (".", &["daemon", "open"]),
        (".", &["daemon", "status"]),
        (".", &["daemon", "stop"]),
        (".", &["daemon", "install", "--manager", "systemd"]),
        ("fungal", &["notify", "list"]),
        ("fungal", &["notify", "send"]),
        ("fungal", &["install", "claude"]),
        ("fungal", &["uninstall", "claude"]),
    ];
    // Other suites cover those that need more: an endless stream, a break to approve, a commit that breaks a rule,
    // forges and receivers.
    let elsewhere = [
        "notifications_watch",
        "contract_approve",
        "realm_conflict_accept",
        "realm_conflict_reject",
        "realm_pr_comment",
        "notify_forge",
        "notify_test",
        "notify_retry",
    ];
    let mut asked: BTreeSet<_> = elsewhere.map(str::to_owned).into();
    for (folder, args) in calls {
        let answer = world.json(&world.path(folder), args);
        assert_eq!(answer["status"], "success", "{args:?}: {answer:#}");
        asked.insert(operation(args));
    }
    for (dir, args) in [(&consumer, &["contract", "get", "s3-access/none"][..]), (&provider, &["frobnicate"])] {
        assert_eq!(world.json(dir, args)["status"], "error");
        asked.insert("error".into());
    }
    let all: BTreeSet<_> = ops::schemas().into_iter().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(asked, all);
}
