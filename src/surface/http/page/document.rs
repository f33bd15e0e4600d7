//! What a contract says: its schema and its value, as JSON.

use maud::{Markup, html};

use super::pieces::{cut, more, text};
use crate::{model::json::Json, wire::ContractGet};

/// Most lines of one part that are shown, and most characters of one line.
const MAX_LINES: usize = 300;
const MAX_WIDTH: usize = 500;

/// Returns schema, value, and what tests it.
pub fn sections(body: &ContractGet) -> Markup {
    let contract = &body.contract;
    let tests = &contract.validation;
    let scripts: Vec<(&str, &String)> = [("by the owner", &tests.exporter), ("by consumers", &tests.importer)]
        .into_iter()
        .filter_map(|(who, script)| Some((who, script.as_ref()?)))
        .chain(tests.ci_only.iter().map(|script| ("in CI", script)))
        .collect();
    html! {
        (part(body, "value", "Value", &contract.value))
        (part(body, "schema", "Schema", &contract.schema))
        @if !scripts.is_empty() {
            section aria-labelledby="validation" {
                h2 #validation { "What tests it" }
                ul { @for (who, script) in scripts { li { span.path { (text(script)) } ", run " (who) } } }
            }
        }
    }
}

fn part(body: &ContractGet, id: &str, heading: &str, value: &Json) -> Markup {
    let rendered = format!("{:#}", value.0);
    let lines = rendered.lines().count();
    let command =
        format!("git blue contract get {}/{} --version {}", body.domain, body.contract.name, body.contract.version);
    html! {
        section aria-labelledby=(id) {
            h2 #(id) { (heading) }
            pre.json tabindex="0" role="group" aria-label=(heading) {
                code { @for line in rendered.lines().take(MAX_LINES) { (cut(line, MAX_WIDTH)) "\n" } }
            }
            (more(lines, MAX_LINES, &command))
        }
    }
}
