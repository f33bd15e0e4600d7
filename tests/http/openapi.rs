//! Answers match `/openapi.json`.

use std::collections::BTreeSet;

use git_blue::wire::{
    self,
    all_realms::{AllNotifications, AllSessions},
    daemon::{DaemonOpen, Health},
    schema::reread,
};
use serde_json::{Value, json};

use crate::{
    client::{Answer, Daemon},
    world::World,
};

/// Validates an answer against its description.
#[track_caller]
fn hold(description: &Value, path: &str, method: &str, answer: &Answer) {
    let answers = &description["paths"][path][method.to_lowercase()]["responses"];
    let status = answer.status.to_string();
    let described = answers.get(&status).unwrap_or(&answers["default"]);
    let kind = answer.header("content-type");
    let schema = &described["content"][kind]["schema"];
    assert!(!schema.is_null(), "{method} {path}: {status} {kind} is not described");
    let whole = json!({"$ref": "#/root", "root": schema, "components": description["components"]});
    let validator = jsonschema::validator_for(&whole).unwrap();
    let json = answer.json();
    let problems: Vec<_> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{method} {path}: {problems:#?}\n{json:#}");
    if json["status"] == "success" {
        hold_to_type(path, method, &json);
    }
}

/// Checks answers that only the daemon gives against their client types; the tests of the command line cover the
/// others.
#[track_caller]
fn hold_to_type(path: &str, method: &str, answer: &Value) {
    let reread = match (method, path) {
        ("GET", "/sessions") => reread::<wire::Answer<AllSessions>>,
        ("GET", "/notifications") => reread::<wire::Answer<AllNotifications>>,
        ("GET", "/health") => reread::<wire::Answer<Health>>,
        ("POST", "/links") => reread::<wire::Answer<DaemonOpen>>,
        _ => return,
    };
    assert_eq!(&reread(&answer.to_string()).unwrap(), answer, "{method} {path}");
}

#[test]
fn every_route_answers_as_described() {
    let world = World::pair();
    world.bump("1.1.0");
    let daemon = Daemon::start(&world);
    let description = daemon.get("/openapi.json").is(200).json();
    assert_eq!(description["openapi"], "3.1.0");
    let notification = daemon.get("/notifications").json()["notifications"][0]["id"].as_str().unwrap().to_owned();
    let mut held = BTreeSet::new();
    let paths = description["paths"].as_object().unwrap();
    let deleted_last = |method: &&str| *method == "delete";
    for (path, methods) in paths {
        let mut methods: Vec<&str> = methods.as_object().unwrap().keys().map(String::as_str).collect();
        methods.sort_by_key(deleted_last);
        for method in methods.into_iter().filter(|_| !["/events", "/open", "/mcp"].contains(&&**path)) {
            let id = match &**path {
                "/sessions/{id}" => {
                    daemon.get("/sessions").json()["sessions"][0]["id"].as_str().unwrap_or("sess-none").to_owned()
                }
                _ => notification.clone(),
            };
            let real = path
                .replace("{realm}", "aperture")
                .replace("{domain}", "s3-access")
                .replace("{contract}", "s3-permissions")
                .replace("{id}", &id)
                .replace("/review", "/review?repo=access");
            let method = method.to_uppercase();
            let body = match (&*method, &**path) {
                ("POST", "/sessions") => json!({"realm": "aperture", "repo": "access"}),
                ("POST", path) if path.ends_with("/validate") => json!({"payload": {"read": ["x"]}}),
                ("POST", _) if !path.contains("ack") && *path != "/links" => json!({}),
                _ => Value::Null,
            };
            let answer = match body {
                Value::Null => daemon.ask(&method, &real, "", b""),
                body => daemon.ask(&method, &real, "Content-Type: application/json\r\n", body.to_string().as_bytes()),
            };
            hold(&description, path, &method, &answer);
            let wanted = if path.contains("sync") { 409 } else { 200 };
            assert_eq!(answer.status, wanted, "{method} {real}: {}", answer.text());
            held.insert(format!("{method} {path}"));
            if path.contains('{') {
                let strange = path
                    .replace("/review", "/review?repo=access")
                    .replace("{realm}", "no")
                    .replace("{id}", "no")
                    .replace(['{', '}'], "");
                let body = if path.ends_with("/validate") { json!({"payload": {}}).to_string() } else { String::new() };
                let answer = daemon.ask(&method, &strange, "Content-Type: application/json\r\n", body.as_bytes());
                hold(&description, path, &method, &answer.is(404));
            }
        }
    }
    assert!(held.len() >= 18, "{held:?}");
}
