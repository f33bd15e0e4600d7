//! The differences between two versions of a contract, part by part.

use maud::{Markup, html};
use serde_json::Value;

use super::{
    components::{Tone, badge, cut, grouped, more, text},
    json_lines::is_part,
    side_by_side,
};
use crate::{
    model::{
        contract::Values,
        diff::{Difference, Kind},
        json::Json,
        pointer::unescape,
        verdict::{BothReadings, BrokenDirection, FLOW, SchemaDifference, ValuesCompared, VersionBump},
        version::Version,
    },
    surface::value_lines::{MAX_INLINE, value_lines},
    wire::{ContractDiff, ContractGet, SchemaReading, SchemaVerdict, SchemasCompared},
};

/// The maximum number of differences that are shown.
const MAX_SHOWN: usize = 100;
/// The maximum number of lines of one value.
const MAX_LINES: usize = 30;
/// The maximum number of characters of a line.
const MAX_WIDTH: usize = 300;

/// Returns the differences. `documents` are both versions, if they can be read.
pub fn differences(body: &ContractDiff, documents: Option<[&ContractGet; 2]>) -> Markup {
    let command = command(body);
    let contents: Vec<_> =
        documents.iter().flatten().filter_map(|one| serde_json::to_value(&one.contract).ok()).collect();
    html! {
        p.summary {
            strong { (body.old_version) } " → " strong { (body.new_version) } ": "
            @match body.changes.len() {
                0 => { "no difference." }
                1 => { "1 part differs" }
                many => { (grouped(many)) " parts differ" }
            }
            @if !body.changes.is_empty() {
                @if body.content_changed { "." } @else { "; schema, value and promise are the same." }
            }
        }
        @if let Some(compared) = &body.compared { (verdicts(body, compared, &command)) }
        @if let Some([old, new]) = documents { (side_by_side::render(body, old, new)) }
        @if let Some(reversed) = body.flow.as_ref().and_then(|verdict| verdict.difference.as_ref()) {
            ul.problems {
                li {
                    (badge(Tone::Bad, "breaks")) " The flow: " (text(&reversed.message)) " "
                    span.note { "[" (reversed.rule) "]" }
                }
            }
        }
        @if let Some(values) = &body.values { (agreed(values)) }
        @if !body.changes.is_empty() {
            ol.diff { @for one in body.changes.iter().take(MAX_SHOWN) { li { (difference(body, one, &contents)) } } }
        }
        (more(body.changes.len(), MAX_SHOWN, &command))
    }
}

fn command(body: &ContractDiff) -> String {
    let ContractDiff { domain, contract, old_version, new_version, .. } = body;
    format!("git blue contract diff {domain}/{contract} {old_version} {new_version} --json")
}

/// Returns the verdict of each direction, as one word each, and whether the change breaks the value or the flow.
pub fn outcome(body: &ContractDiff) -> Option<Markup> {
    let (breaks, unknown) = (badge(Tone::Bad, "breaks"), badge(Tone::Warn, "unknown"));
    let directions = body.compared.iter().flat_map(|compared| {
        let both = [("backwards", &compared.backwards), ("forwards", &compared.forwards)];
        both.map(|(word, both)| (word, both.of(compared.reading)))
    });
    let directions = directions.map(|(word, verdict)| match verdict {
        SchemaVerdict::Compatible => (word, badge(Tone::Good, "proved")),
        SchemaVerdict::Incompatible { .. } => (word, breaks.clone()),
        SchemaVerdict::Unknown { .. } => (word, unknown.clone()),
    });
    let is_value = body.values.as_ref().is_some_and(|values| values.bump == VersionBump::Major);
    let is_flow = body.flow.is_some();
    let others = [(is_value, "the value"), (is_flow, "the flow")];
    let others = others.into_iter().filter(|(is_broken, _)| *is_broken).map(|(_, word)| (word, breaks.clone()));
    let outcomes: Vec<_> = directions.chain(others).collect();
    (!outcomes.is_empty()).then(|| {
        html! {
            @for (word, badge) in &outcomes { span.outcome { (badge) " " (word) } }
        }
    })
}

/// Returns the outcome in the reading that does not decide, if it differs.
fn other_reading(both: &BothReadings, reading: SchemaReading) -> Option<String> {
    let (how, other) = match reading {
        SchemaReading::Lenient => ("strictly", &both.strict),
        SchemaReading::Strict => ("leniently", &both.lenient),
    };
    let word = match other {
        SchemaVerdict::Compatible => "compatible",
        SchemaVerdict::Incompatible { .. } => "incompatible",
        SchemaVerdict::Unknown { .. } => "unknown",
    };
    let differs = std::mem::discriminant(other) != std::mem::discriminant(both.of(reading));
    differs.then(|| format!("Read {how}: {word}."))
}

/// Returns what the change means for values, with a proof or a witness.
fn verdicts(body: &ContractDiff, compared: &SchemasCompared, command: &str) -> Markup {
    let (old, new) = (&body.old_version, &body.new_version);
    let directions = [
        ("Backwards", BrokenDirection::Backwards, &compared.backwards, (old, new)),
        ("Forwards", BrokenDirection::Forwards, &compared.forwards, (new, old)),
    ];
    html! {
        ul.verdicts {
            @for (word, direction, both, sides) in directions {
                li {
                    @match both.of(compared.reading) {
                        SchemaVerdict::Compatible => {
                            (badge(Tone::Good, "proved")) " " (word) " compatible: " (direction.meaning(old, new)) "."
                        }
                        SchemaVerdict::Incompatible { difference } => {
                            (badge(Tone::Bad, "breaks")) " " (word) ": "
                            (refused(difference, sides, command))
                        }
                        SchemaVerdict::Unknown { reason, .. } => {
                            (badge(Tone::Warn, "unknown")) " " (word) ": " (text(reason))
                        }
                    }
                    @if let Some(other) = other_reading(both, compared.reading) { p.note { (other) } }
                }
            }
        }
    }
}

/// Returns the witness of a break, and what is wrong with it.
fn refused(difference: &SchemaDifference, (reader, sender): (&Version, &Version), command: &str) -> Markup {
    let place = Some(&*difference.at).filter(|at| !at.is_empty());
    html! {
        (reader) " rejects this value, which " (sender) " allows: "
        @if let Some(place) = place { "at " code { (text(place)) } ": " }
        (text(&difference.message)) " " span.note { "[" (difference.rule) "]" }
        @match difference.witness() {
            Some(witness) => {
                (side_by_side::marked(witness, place.as_slice(), &format!("A value that {reader} rejects"), command))
            }
            None => { p.note { "The value has " (grouped(difference.witness_bytes)) " bytes; show it: " code { (command) } } }
        }
    }
}

/// Returns how the agreed value breaks what is promised about it, if it does.
fn agreed(values: &ValuesCompared) -> Markup {
    let breaking = values.differences.iter().filter(|one| one.bump == VersionBump::Major);
    html! {
        @if values.bump == VersionBump::Major {
            ul.problems {
                @for one in breaking {
                    li {
                        (badge(Tone::Bad, "breaks")) " The value is promised to be "
                        (if values.promised == Values::Frozen { "frozen" } else { "additive" }) ": "
                        @if let Some(pointer) = one.old_pointer.as_ref().or(one.new_pointer.as_ref()) {
                            "at " code { (text(pointer)) } ": "
                        }
                        (text(&one.message)) " " span.note { "[" (one.rule) "]" }
                    }
                }
            }
        }
    }
}

/// Returns what a change breaks, if it breaks anything.
fn offends(body: &ContractDiff, one: &Difference) -> Option<String> {
    let is_in = |pointer: &Option<String>, place: &str| pointer.as_ref().is_some_and(|pointer| is_part(pointer, place));
    if let (Some(values), Some(place)) = (&body.values, one.pointer.strip_prefix("/value")) {
        let mut breaking = values.differences.iter().filter(|found| found.bump == VersionBump::Major);
        let found = breaking.any(|found| is_in(&found.old_pointer, place) || is_in(&found.new_pointer, place));
        return found.then(|| "breaks the value".to_owned());
    }
    if one.pointer == FLOW {
        return Some("breaks the flow".to_owned());
    }
    let compared = body.compared.as_ref()?;
    let place = one.pointer.strip_prefix("/schema")?;
    let mut found = compared.differences.iter().filter(|found| found.reading == compared.reading);
    let found = found.find(|found| is_in(&found.old_pointer, place) || is_in(&found.new_pointer, place))?;
    Some(format!("breaks {}", found.direction.word()))
}

fn difference(body: &ContractDiff, one: &Difference, contents: &[Value]) -> Markup {
    let (word, tone) = match one.change {
        Kind::Added => ("added", Tone::Good),
        Kind::Removed => ("removed", Tone::Bad),
        Kind::Changed => ("changed", Tone::Warn),
    };
    html! {
        p.place {
            (place(one, contents)) " " (badge(tone, word))
            @if let Some(breaks) = offends(body, one) { " " (badge(Tone::Bad, &breaks)) }
        }
        div.lines tabindex="0" role="group" aria-label={ (word) ": " (text(&one.pointer)) } {
            @if one.change != Kind::Added { del { (value("−", &one.old)) } }
            @if one.change != Kind::Removed { ins { (value("+", &one.new)) } }
        }
    }
}

/// Returns a JSON Pointer as a path of words. A scalar list item is shown instead of its index.
fn place(one: &Difference, contents: &[Value]) -> Markup {
    let mut tokens: Vec<_> = one.pointer.split('/').skip(1).map(unescape).collect();
    let item = item(one, contents);
    if item.is_some() {
        tokens.pop();
    }
    html! {
        span.pointer {
            @if tokens.is_empty() { "the whole document" }
            @for (at, token) in tokens.iter().enumerate() {
                @if at > 0 { " " span.slash aria-hidden="true" { "›" } " " }
                bdi { (text(token)) }
            }
            @if let Some(item) = item { ": " bdi { (cut(&item, MAX_INLINE)) } }
        }
    }
}

/// Returns the text of an item that was added to a list, removed from it or replaced in it.
fn item(one: &Difference, contents: &[Value]) -> Option<String> {
    let (list, _) = one.pointer.rsplit_once('/')?;
    contents.iter().find_map(|content| content.pointer(list)?.as_array())?;
    let word = |value: &Json| match value.parsed().ok()? {
        Value::String(word) => Some(word.clone()),
        Value::Object(_) | Value::Array(_) => None,
        other => Some(other.to_string()),
    };
    match one.change {
        Kind::Added => word(&one.new),
        Kind::Removed => word(&one.old),
        Kind::Changed => Some(format!("{} → {}", word(&one.old)?, word(&one.new)?)),
    }
}

fn value(mark: &str, value: &Json) -> Markup {
    let (lines, more) = value_lines(value, MAX_LINES);
    html! {
        @for line in lines.iter().chain(&more) { (marked(mark, line)) }
    }
}

fn marked(mark: &str, line: &str) -> Markup {
    html! { code { span.sign { (mark) } (cut(line, MAX_WIDTH)) } }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{compatibility::ValueChange, diff::diff};

    fn shown(old: &serde_json::Value, new: &serde_json::Value) -> String {
        differences(&body(old, new), None).into_string()
    }

    fn body(old: &serde_json::Value, new: &serde_json::Value) -> ContractDiff {
        let body = json!({
            "realm": "aperture", "domain": "s3-access", "contract": "s3-permissions", "old_version": "1.0.0",
            "new_version": "1.1.0", "source": "realm", "content_changed": true, "changes": diff(old, new),
        });
        serde_json::from_value(body).unwrap()
    }

    #[test]
    fn keys_and_values_are_text() {
        let text = shown(&json!({"a": 1}), &json!({"a": "<img src=x>", "<script>/~": "\u{202e}"}));
        assert!(!text.contains("<script>") && !text.contains("<img"), "{text}");
        assert!(text.contains("&lt;script&gt;/~") && text.contains("\\u{202e}"), "{text}");
        assert!(text.contains("2 parts differ"));
    }

    #[test]
    fn a_scalar_list_item_is_shown_instead_of_its_index() {
        let contents = [json!({"schema": {"required": ["id", "<b>"], "0": "x"}, "value": [1, {}]})];
        let shown = |pointer: &str, change: Kind, old: serde_json::Value, new: serde_json::Value| {
            let one = Difference { pointer: pointer.into(), change, old: old.into(), new: new.into() };
            place(&one, &contents).into_string().replace("<bdi>", "").replace("</bdi>", "")
        };
        let text = shown("/schema/required/1", Kind::Added, json!(null), json!("<b>"));
        assert!(text.contains("required: &lt;b&gt;</span>"), "{text}");
        let text = shown("/schema/required/0", Kind::Changed, json!("name"), json!("id"));
        assert!(text.contains("required: name → id</span>"), "{text}");
        // A part that is not in a list, or not a scalar, is shown by its key or index.
        assert!(shown("/schema/0", Kind::Changed, json!("w"), json!("x")).contains(" 0</span>"));
        assert!(shown("/value/1", Kind::Removed, json!({}), json!(null)).contains(" 1</span>"));
    }

    #[test]
    fn a_change_breaks_only_its_own_part() {
        let change = |pointer: &str| ValueChange {
            rule: "value-changed".into(),
            message: String::new(),
            old_pointer: Some(pointer.into()),
            new_pointer: None,
            bump: VersionBump::Major,
        };
        let differences = vec![change("/idx"), change("/list/0")];
        let values = ValuesCompared { promised: Values::Frozen, differences, more: 0, bump: VersionBump::Major };
        let (old, new) = (json!({"value": {"id": 1, "idx": 1, "list": [1]}}), json!({"value": {"id": 2, "idx": 2}}));
        let body = ContractDiff { values: Some(values), ..body(&old, &new) };
        let breaks: Vec<_> = body.changes.iter().map(|one| (&*one.pointer, offends(&body, one).is_some())).collect();
        assert_eq!(breaks, [("/value/id", false), ("/value/idx", true), ("/value/list", true)]);
    }

    #[test]
    fn a_huge_difference_is_bounded() {
        let many: serde_json::Map<_, _> = (0..5_000).map(|at| (format!("key-{at}"), json!("x".repeat(500)))).collect();
        let text = shown(&json!({}), &serde_json::Value::Object(many.clone()));
        assert!(text.len() < 150_000 && text.contains("4,900 more"), "{}", text.len());
        let text = shown(&json!({}), &json!({"a": many}));
        assert!(text.len() < 30_000 && text.contains("more lines"), "{}", text.len());
    }
}
