//! Two schemas beside each other, with the places marked where they differ in what they allow.

use maud::{Markup, html};
use serde_json::Value;

use super::{
    json_lines::{Line, is_part, lines},
    pieces::{cut, more},
};
use crate::{
    model::diff::Kind,
    wire::{ContractDiff, ContractGet},
};

/// Most lines of one schema that are shown, and most characters of a line.
const MAX_LINES: usize = 120;
const MAX_WIDTH: usize = 300;
/// Lines that are shown around a marked one.
const AROUND: usize = 3;

/// Returns both schemas, where one of them refuses what the other one allows.
pub fn sides(diff: &ContractDiff, old: &ContractGet, new: &ContractGet) -> Markup {
    let Some(compared) = &diff.compared else { return html! {} };
    let found: Vec<_> = compared.differences.iter().filter(|one| one.reading == compared.reading).collect();
    if found.is_empty() {
        return html! {};
    }
    let old_places = found.iter().filter_map(|one| one.old_pointer.as_deref());
    let new_places = found.iter().filter_map(|one| one.new_pointer.as_deref());
    html! {
        div.sides {
            (side(old, &marks(diff, Kind::Added, old_places)))
            (side(new, &marks(diff, Kind::Removed, new_places)))
        }
    }
}

/// Returns what to mark of the places that offend: where one is as large as an object, what changed in it. Parts of
/// the kind `missing` are not in the document.
fn marks<'a>(diff: &'a ContractDiff, missing: Kind, places: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let changes = diff.changes.iter().filter(|one| one.change != missing);
    let changes: Vec<&str> = changes.filter_map(|one| one.pointer.strip_prefix("/schema")).collect();
    let mut marks = Vec::new();
    for place in places {
        let within = changes.iter().filter(|change| is_part(change, place));
        let before = marks.len();
        marks.extend(within);
        if marks.len() == before {
            marks.push(place);
        }
    }
    marks
}

fn side(body: &ContractGet, marks: &[&str]) -> Markup {
    let title = format!("Schema of {}", body.contract.version);
    let command =
        format!("git blue contract get {}/{} --version {}", body.domain, body.contract.name, body.contract.version);
    html! {
        figure.side {
            figcaption { (title) }
            (marked(&body.contract.schema.0, marks, &title, &command))
        }
    }
}

/// Returns a document with what is at `marks` marked, and what is far from all of them left out.
pub fn marked(value: &Value, marks: &[&str], label: &str, command: &str) -> Markup {
    let all = lines(value, "");
    let is_marked: Vec<bool> = all.iter().map(|line| marks.iter().any(|mark| is_part(&line.pointer, mark))).collect();
    let shown: Vec<usize> = (0..all.len()).filter(|at| is_near(&all, &is_marked, *at, marks)).collect();
    html! {
        pre.json tabindex="0" role="group" aria-label=(label) {
            code {
                @for (nth, at) in shown.iter().take(MAX_LINES).enumerate() {
                    @if *at > nth.checked_sub(1).map_or(0, |before| shown[before] + 1) { span.gap { "⋯" } "\n" }
                    @let text = cut(&all[*at].text, MAX_WIDTH);
                    @if is_marked[*at] { mark { (text) } } @else { (text) }
                    "\n"
                }
            }
        }
        (more(shown.len(), MAX_LINES, command))
    }
}

/// Short documents are shown whole.
fn is_near(all: &[Line], is_marked: &[bool], at: usize, marks: &[&str]) -> bool {
    let around = at.saturating_sub(AROUND)..all.len().min(at + AROUND + 1);
    all.len() <= MAX_LINES / 2 || is_marked[around].contains(&true) || marks.iter().any(|mark| all[at].is_around(mark))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(value: &Value, marks: &[&str]) -> String {
        marked(value, marks, "Schema", "git blue contract get a/b").into_string()
    }

    #[test]
    fn what_offends_is_marked_and_nothing_else() {
        let value = json!({"properties": {"id": {"type": "string"}, "<b>": {}}, "required": ["id"]});
        let text = shown(&value, &["/properties/id"]);
        assert_eq!(text.matches("<mark>").count(), 3, "{text}");
        assert!(text.contains("<mark>      &quot;type&quot;: &quot;string&quot;</mark>"), "{text}");
        assert!(text.contains("&lt;b&gt;") && !text.contains("<b>"), "{text}");
    }

    #[test]
    fn a_long_document_is_folded_around_what_offends() {
        let many: serde_json::Map<_, _> = (0..500).map(|at| (format!("p{at:03}"), json!({"type": "string"}))).collect();
        let text = shown(&json!({"properties": many}), &["/properties/p250/type"]);
        assert_eq!(text.matches("<mark>").count(), 1, "{text}");
        assert_eq!(text.matches("⋯").count(), 2, "{text}");
        assert!(text.contains("p250") && !text.contains("p100") && text.len() < 2_000, "{text}");
        let numbers: Vec<usize> = (0..500).collect();
        let text = shown(&json!({"enum": numbers}), &["/enum"]);
        assert!(text.contains("And 384 more: <code"), "{text}");
    }
}
