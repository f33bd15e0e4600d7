//! Two schemas side by side, with marks where they differ in what they allow.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde_json::Value;

use super::{
    components::{cut, more},
    json_lines::{is_part, lines},
};
use crate::{
    model::{diff::Kind, pointer::upwards},
    wire::{ContractDiff, ContractGet},
};

/// The maximum number of lines of one schema that are shown.
const MAX_LINES: usize = 120;
/// The maximum number of characters of a line.
const MAX_WIDTH: usize = 300;
/// The number of lines that are shown around a marked one.
const AROUND: usize = 3;

/// Returns both schemas, if one of them refuses a value that the other one allows.
pub fn render(diff: &ContractDiff, old: &ContractGet, new: &ContractGet) -> Markup {
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

/// Returns the locations to mark among those that cause a break. If a location contains changes, only these are marked.
/// Changes of the kind `missing` are not in this document.
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
            (marked(&body.contract.schema.value(), marks, &title, &command))
        }
    }
}

/// Returns a document with the locations at `marks` marked, leaving out lines that are far from all of them.
pub fn marked(value: &Value, marks: &[&str], label: &str, command: &str) -> Markup {
    let all = lines(value, "");
    let marks: BTreeSet<&str> = marks.iter().copied().collect();
    let parents: BTreeSet<&str> = marks.iter().flat_map(|mark| upwards(mark).skip(1)).collect();
    let is_marked: Vec<bool> = all.iter().map(|line| upwards(&line.pointer).any(|part| marks.contains(part))).collect();
    // Short documents are shown in full.
    let is_short = all.len() <= MAX_LINES / 2;
    let is_near = |at: &usize| {
        let around = at.saturating_sub(AROUND)..all.len().min(at + AROUND + 1);
        is_short || is_marked[around].contains(&true) || parents.contains(&*all[*at].pointer)
    };
    let shown: Vec<usize> = (0..all.len()).filter(is_near).collect();
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(value: &Value, marks: &[&str]) -> String {
        marked(value, marks, "Schema", "git blue contract get a/b").into_string()
    }

    #[test]
    fn only_the_given_locations_are_marked() {
        let value = json!({"properties": {"id": {"type": "string"}, "<b>": {}}, "required": ["id"]});
        let text = shown(&value, &["/properties/id"]);
        assert_eq!(text.matches("<mark>").count(), 3, "{text}");
        assert!(text.contains("<mark>      &quot;type&quot;: &quot;string&quot;</mark>"), "{text}");
        assert!(text.contains("&lt;b&gt;") && !text.contains("<b>"), "{text}");
    }

    #[test]
    fn a_long_document_is_folded_around_the_marks() {
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
