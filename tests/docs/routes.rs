//! The table of routes in `docs/http.md` is generated from `/openapi.json`.

use std::fmt::Write as _;

use git_blue::{ops, surface::http::openapi};
use serde_json::Value;

use crate::check_section;

#[test]
fn route_table_is_current() {
    let described = openapi::description();
    let mut text = "\n| method and path | does | takes |\n|---|---|---|\n".to_owned();
    for (path, methods) in described["paths"].as_object().unwrap() {
        for (method, route) in methods.as_object().unwrap() {
            let name = format!("{} {path}", method.to_uppercase());
            writeln!(text, "| `{name}` | {} | {} |", does(route), takes(route)).unwrap();
        }
    }
    text.push('\n');
    check_section("docs/http.md", "routes", &text);
}

/// Returns what a route does, with the command of its operation.
fn does(route: &Value) -> String {
    let summary = route["summary"].as_str().unwrap();
    let operation = ops::TABLE.iter().find(|operation| route["operationId"] == operation.name);
    match operation {
        Some(operation) => format!("`{}`: {summary}", operation.cli.join(" ")),
        None => summary.to_owned(),
    }
}

/// Returns the query parameters, or the members of the body.
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
