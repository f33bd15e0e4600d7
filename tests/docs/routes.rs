//! The table of routes in `docs/http.md` is generated from `/openapi.json`.

use std::{fmt::Write as _, path::Path};

use git_blue::{ops, surface::http::openapi};
use serde_json::Value;

use crate::{ROOT, is_update};

const START: &str = "<!-- routes -->\n";
const END: &str = "<!-- /routes -->\n";

#[test]
fn the_table_of_routes_is_what_the_daemon_describes() {
    let described = openapi::description();
    let mut text = "\n| method and path | does | takes |\n|---|---|---|\n".to_owned();
    for (path, methods) in described["paths"].as_object().unwrap() {
        for (method, route) in methods.as_object().unwrap() {
            let name = format!("{} {path}", method.to_uppercase());
            writeln!(text, "| `{name}` | {} | {} |", does(route), takes(route)).unwrap();
        }
    }
    text.push('\n');
    let path = Path::new(ROOT).join("docs/http.md");
    let written = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = written.split_once(START).unwrap();
    let (found, after) = rest.split_once(END).unwrap();
    if is_update() {
        std::fs::write(&path, format!("{before}{START}{text}{END}{after}")).unwrap();
    } else {
        assert!(found == text, "docs/http.md is stale: UPDATE=1 cargo test --test docs");
    }
}

/// Returns what a route does; for an operation, with its command.
fn does(route: &Value) -> String {
    let summary = route["summary"].as_str().unwrap();
    let operation = ops::TABLE.iter().find(|operation| route["operationId"] == operation.name);
    match operation {
        Some(operation) => format!("`{}`: {summary}", operation.cli.join(" ")),
        None => summary.to_owned(),
    }
}

/// Returns the parameters after the `?`, or the members of the body.
fn takes(route: &Value) -> String {
    let query = route["parameters"].as_array().unwrap().iter().filter(|one| one["in"] == "query");
    let query: Vec<_> = query.map(|one| format!("`{}`", one["name"].as_str().unwrap())).collect();
    let body = &route["requestBody"]["content"]["application/json"]["schema"]["properties"];
    match body.as_object() {
        Some(body) => {
            let names: Vec<_> = body.keys().map(|name| format!("\"{name}\"")).collect();
            format!("`{{{}}}`", names.join(", "))
        }
        None => query.join(", "),
    }
}
