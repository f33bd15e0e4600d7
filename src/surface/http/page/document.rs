//! The content of a contract: its schema and its value as JSON, and the version that introduced each line.

use maud::{Markup, html};

use super::{
    blame::{Origins, published},
    components::{cut, more, text},
    json_lines::{Line, lines},
    links::Site,
};
use crate::{
    model::{json::Json, version::Version},
    wire::{ContractGet, VersionOrigin},
};

/// The maximum number of lines of one part that are shown.
const MAX_LINES: usize = 300;
/// The maximum number of characters of a line.
const MAX_WIDTH: usize = 500;

/// Returns the schema, the value, and the scripts that test the contract.
pub fn sections(site: &Site, body: &ContractGet, origins: Option<&Origins<'_>>) -> Markup {
    let contract = &body.contract;
    let tests = &contract.validation;
    let scripts: Vec<(&str, &String)> = [("by the owner", &tests.exporter), ("by consumers", &tests.importer)]
        .into_iter()
        .filter_map(|(who, script)| Some((who, script.as_ref()?)))
        .chain(tests.ci_only.iter().map(|script| ("in CI", script)))
        .collect();
    html! {
        (part(site, body, ("value", "Value"), &contract.value, origins))
        (part(site, body, ("schema", "Schema"), &contract.schema, origins))
        @if !scripts.is_empty() {
            section aria-labelledby="validation" {
                h2 #validation { "Tests" }
                ul { @for (who, script) in scripts { li { span.path { (text(script)) } ", run " (who) } } }
            }
        }
    }
}

fn part(
    site: &Site,
    body: &ContractGet,
    (id, heading): (&str, &str),
    value: &Json,
    origins: Option<&Origins<'_>>,
) -> Markup {
    let mut shown = lines(&value.value(), &format!("/{id}"));
    let all = shown.len();
    shown.truncate(MAX_LINES);
    let origin = |line: &Line| origins.and_then(|origins| origins.of(&line.pointer));
    let runs: Vec<_> = shown
        .chunk_by(|a, b| version(origin(a)) == version(origin(b)))
        .map(|run| (run.first().and_then(origin), run))
        .collect();
    let has_several = runs.iter().any(|(from, _)| version(*from) != version(runs[0].0));
    let command =
        format!("git blue contract get {}/{} --version {}", body.domain, body.contract.name, body.contract.version);
    html! {
        section aria-labelledby=(id) {
            h2 #(id) { (heading) }
            div.json.blamed[has_several] tabindex="0" role="group" aria-label=(heading) {
                @if has_several { @for (from, run) in runs { (blamed(site, body, from, run)) } }
                @else { pre { code { (code(&shown)) } } }
            }
            (more(all, MAX_LINES, &command))
        }
    }
}

fn version(from: Option<&VersionOrigin>) -> Option<&Version> {
    from.map(|from| &from.version)
}

/// Returns lines that one version introduced. Hovering over them shows more about the version.
fn blamed(site: &Site, body: &ContractGet, from: Option<&VersionOrigin>, run: &[Line]) -> Markup {
    html! {
        div.run title=[from.map(published)] {
            p.from {
                @if let Some(version) = version(from) {
                    @let query = [("version", &*version.to_string())];
                    a.version href=(site.contract(&body.domain, &body.contract.name, &query)) { (version) }
                }
            }
            pre { code { (code(run)) } }
        }
    }
}

fn code(lines: &[Line]) -> Markup {
    html! { @for line in lines { (cut(&line.text, MAX_WIDTH)) "\n" } }
}
