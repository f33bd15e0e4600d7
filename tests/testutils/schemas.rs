//! Every JSON answer in every test matches the schema in `docs/schema/`, and can be read by its type in `wire`, also
//! with fields that a later version adds.

use std::{
    collections::BTreeMap,
    sync::{LazyLock, OnceLock},
};

use git_blue::{
    ops,
    wire::{self, schema},
};
use jsonschema::Validator;
use serde_json::Value;

use crate::world::next_steps::program;

/// The schemas by name, and the validators of those that were needed: each test has a process of its own.
static SCHEMAS: LazyLock<BTreeMap<&str, (schemars::Schema, OnceLock<Validator>)>> =
    LazyLock::new(|| ops::schemas().into_iter().map(|(name, schema)| (name, (schema, OnceLock::new()))).collect());

/// Returns the strict validator of a schema.
fn validator(name: &str) -> Option<&'static Validator> {
    let (schema, validator) = SCHEMAS.get(name)?;
    Some(validator.get_or_init(|| {
        let mut schema = schema.clone().to_value();
        close(&mut schema);
        jsonschema::validator_for(&schema).unwrap()
    }))
}

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
    if stdout.is_empty() || args.iter().any(|arg| ["-h", "--help"].contains(arg)) {
        return;
    }
    let answer: Value = serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{args:?}: {error}: {stdout}"));
    let name = if answer["status"] == "success" { operation(args) } else { "error".to_owned() };
    let validator = validator(&name).unwrap_or_else(|| panic!("{args:?} has no schema"));
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
pub fn operation(args: &[&str]) -> String {
    let line = ["git-blue"].iter().chain(args);
    let matches = program().try_get_matches_from(line).unwrap();
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
