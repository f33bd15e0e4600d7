//! Schemas and values that exhaust resources: refused on entry, reported if already stored, and never waited for.

use std::{
    ffi::OsStr,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::world::{CONTRACT_FILE, DOMAIN_REF, Run, World};

/// Thirty definitions, each of which refers twice to the next: 10^9 sub-schemas in 2 KB.
pub fn doubling() -> Value {
    let link = |at: usize| json!({"anyOf": [{"$ref": format!("#/$defs/x{at}")}, {"$ref": format!("#/$defs/x{at}")}]});
    let mut schema = json!({"$defs": {}, "$ref": "#/$defs/x0"});
    (0..30).for_each(|at| schema["$defs"][format!("x{at}")] = link(at + 1));
    schema["$defs"]["x30"] = json!({"type": "object"});
    schema
}

/// A small schema and a value that need millions of comparisons.
pub fn slow() -> (Value, Value) {
    let patterns: serde_json::Map<_, _> = (0..500).map(|at| (format!("(?=a)x{at}"), json!(true))).collect();
    let value: serde_json::Map<_, _> = (0..8_000).map(|at| (format!("p{at}"), json!(1))).collect();
    (json!({"patternProperties": patterns}), Value::Object(value))
}

fn document(schema: Value, value: Value) -> String {
    json!({"name": "s3-permissions", "version": "1.1.0", "owner": "fungal", "schema": schema, "value": value})
        .to_string()
}

/// Runs `check` with a time limit for judging, in milliseconds.
fn checks(world: &World, limit: &str) -> Run {
    let vars = [("GIT_BLUE_CHECK_TIMEOUT_MS", OsStr::new(limit))];
    world.blue_with(&world.path("access"), &["check", "--json"], &vars)
}

#[test]
fn exploding_schema_is_refused_and_delays_no_commit() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &document(doubling(), json!(1)));
    let begun = Instant::now();
    let commit = world.commit("fungal", "A bomb");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    for run in
        [commit, world.blue(&fungal, &["check"]).exits(1), world.blue(&fungal, &["contract", "publish"]).exits(1)]
    {
        assert!(run.all().contains("schema/$defs/x15: it expands to more than 100000 sub-schemas"), "{run:?}");
    }
    assert_eq!(world.version(), "1.0.0");
}

#[test]
fn realm_with_an_exploding_schema_stays_readable() {
    let world = World::pair();
    let access = world.path("access");
    let mut held = world.stored("contracts/s3-permissions.json");
    held["schema"] = doubling();
    held["value"] = json!(1);
    world.plant("contracts/s3-permissions.json", &held.to_string());
    for arguments in [
        &["status", "--peek"][..],
        &["contract", "get", "s3-access/s3-permissions"],
        &["contract", "list"],
        &["contract", "log", "s3-access/s3-permissions"],
        &["contract", "impact", "s3-access/s3-permissions"],
    ] {
        world.ok(&access, arguments);
    }
    let errors = world.blue(&access, &["check", "--json"]).exits(1).json()["errors"].clone();
    assert_eq!(errors[0]["code"], "schema-too-large", "{errors}");
    assert_eq!(errors[0]["pointer"], "/$defs/x15");
}

#[test]
fn slow_value_is_undecided_and_never_passes() {
    let world = World::pair();
    let (schema, value) = slow();
    let mut held = world.stored("contracts/s3-permissions.json");
    (held["schema"], held["value"]) = (schema.clone(), value.clone());
    world.plant("contracts/s3-permissions.json", &held.to_string());
    let run = checks(&world, "300").exits(1);
    let errors = run.json()["errors"].clone();
    assert_eq!((&errors[0]["code"], errors.as_array().unwrap().len()), (&json!("undecided"), 1), "{errors}");
    assert!(errors[0]["message"].as_str().unwrap().contains("the limit of 0.3 s"), "{errors}");

    world.write(&format!("fungal/{CONTRACT_FILE}"), &document(schema, value));
    let vars = [("GIT_BLUE_CHECK_TIMEOUT_MS", OsStr::new("300"))];
    let fungal = world.path("fungal");
    world.git(&fungal, &["config", "core.hooksPath", "/dev/null"]);
    world.commit("fungal", "Slow");
    let refused = world.blue_with(&fungal, &["contract", "publish", "--json"], &vars).exits(1);
    assert_eq!(refused.json()["code"], "undecided", "{refused:?}");
    assert_eq!(world.version(), "1.0.0");
}

#[test]
fn fetched_schemas_are_measured() {
    let world = World::solo();
    world.hub();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["init", "--url", world.path("hub.git").to_str().unwrap()]);
    world.ok(&fungal, &["sync"]);
    let (before, mut held) = (world.tip(DOMAIN_REF), world.stored("contracts/s3-permissions.json"));
    held["schema"] = doubling();
    world.plant("contracts/s3-permissions.json", &held.to_string());
    world.git(&world.store(), &["push", "--quiet", world.path("hub.git").to_str().unwrap(), DOMAIN_REF]);
    world.git(&world.store(), &["update-ref", DOMAIN_REF, &before]);
    let run = world.blue(&fungal, &["sync"]).exits(1);
    assert!(run.all().contains("contracts/s3-permissions.json: schema/$defs/x15: it expands to more than"), "{run:?}");
    assert_eq!(world.tip(DOMAIN_REF), before);
}
