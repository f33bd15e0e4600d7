//! Problems of a schema or value, with advice on mistakes that the validator's message does not explain.

use std::collections::HashSet;

use jsonschema::{ValidationError, error::ValidationErrorKind};
use serde_json::Value;

use super::{Draft, ecma};
use crate::model::text::cut;

/// The length limit of a problem's message, in characters. It may quote a part of the document.
const MAX_MESSAGE: usize = 300;

/// The keyword under which a schema has parts with names.
pub(super) const PARTS: &str = "$defs";
/// The same keyword before 2019-09.
pub(super) const OLDER_PARTS: &str = "definitions";

/// A problem at a place in a schema or value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The kind of problem.
    pub part: Part,
    /// The JSON Pointer (RFC 6901) to the place; empty for the whole document.
    pub pointer: String,
    /// The problem, in words.
    pub message: String,
}

/// The kind of a [`Problem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The schema is too large once its references are replaced by what they refer to.
    Size,
    /// The schema is not valid JSON Schema.
    Schema,
    /// The value does not satisfy the schema.
    Value,
    /// Validating the value would take too long, so it is undecided.
    Undecided,
}

impl Part {
    /// Returns what is wrong with a schema that has such a problem.
    pub fn fault(self) -> &'static str {
        if self == Self::Size { "the schema is too large" } else { "not a valid JSON Schema" }
    }

    /// Returns the part of the contract that the pointer is relative to.
    pub fn name(self) -> &'static str {
        match self {
            Self::Size | Self::Schema => "schema",
            Self::Value | Self::Undecided => "value",
        }
    }
}

pub(super) fn whole(part: Part, message: String) -> Problem {
    Problem { part, pointer: String::new(), message }
}

/// Returns whether the validator gave up, so that the value may be valid.
pub fn is_unfinished(error: &ValidationError<'_>) -> bool {
    matches!(
        error.kind(),
        ValidationErrorKind::BacktrackLimitExceeded { .. } | ValidationErrorKind::RegexEngineFailure { .. }
    )
}

pub(super) fn of_value(error: &ValidationError<'_>) -> Problem {
    problem(if is_unfinished(error) { Part::Undecided } else { Part::Value }, error)
}

pub(super) fn problem(part: Part, error: &ValidationError<'_>) -> Problem {
    problem_in(part, error, PARTS)
}

/// Returns a problem. `parts` is the keyword under which the schema has parts with names.
fn problem_in(part: Part, error: &ValidationError<'_>, parts: &str) -> Problem {
    let pointer = error.instance_path().to_string();
    let message = (part == Part::Schema).then(|| advice(&pointer, error, parts)).flatten();
    Problem { part, pointer, message: message.unwrap_or_else(|| shortened(error.to_string())) }
}

/// Returns the problem of a schema whose patterns were rewritten for the validator. It shows a pattern as it is
/// written.
pub(super) fn of_schema(schema: &Value, error: &ValidationError<'_>) -> Problem {
    // In an unknown dialect, what looks like any other problem may be valid, so the dialect itself is the problem.
    let dialect = schema.get("$schema").and_then(Value::as_str);
    if let Some(uri) = dialect.filter(|uri| Draft::of(uri).is_none()) {
        return of_dialect(uri);
    }
    let found = problem_in(Part::Schema, error, parts_of(|keyword| schema.get(keyword).is_some()));
    let is_pattern = matches!(error.kind(), ValidationErrorKind::Format { format } if format == "regex");
    match schema.pointer(&found.pointer).and_then(Value::as_str).filter(|_| is_pattern) {
        Some(written) => Problem { message: of_pattern(written), ..found },
        None => found,
    }
}

/// Returns the problem of a schema whose `$schema` names none of the drafts.
pub(super) fn of_dialect(uri: &str) -> Problem {
    let official = uri.split_once("://").and_then(|(_, rest)| rest.strip_prefix("json-schema.org/"));
    let draft = official.and_then(|path| path.split('/').next()).filter(|name| name.starts_with("draft-"));
    let message = match draft {
        Some(draft) => shortened(format!(
            "$schema names {draft}, which is not supported; rewrite the schema for a later draft, such as {}",
            Draft::D7.uri()
        )),
        None => unknown_dialect(),
    };
    Problem { part: Part::Schema, pointer: "/$schema".to_owned(), message }
}

fn unknown_dialect() -> String {
    format!(
        "$schema names an unknown dialect; write the draft that it extends, such as {} or {}",
        Draft::D7.uri(),
        Draft::D2020.uri()
    )
}

/// Returns the message for a pattern that the validator does not accept.
fn of_pattern(pattern: &str) -> String {
    let is_anchored = [r"\A", r"\Z", r"\z"].iter().any(|anchor| pattern.contains(anchor));
    let hint = if ecma::repeats_repetition(pattern) {
        "; one quantifier follows another".to_owned()
    } else if is_anchored {
        "; write ^ for \\A, and $ for \\Z".to_owned()
    } else if pattern.contains("(?") && !ecma::is_valid(pattern) {
        format!("; {}", ecma::instead_of(pattern))
    } else {
        String::new()
    };
    shortened(format!("cannot read the regular expression {pattern:?}")) + &hint
}

/// Returns advice on mistakes in a schema that the validator's message does not explain.
fn advice(pointer: &str, error: &ValidationError<'_>, parts: &str) -> Option<String> {
    let said = error.to_string();
    if pointer.ends_with("/type") && matches!(error.kind(), ValidationErrorKind::AnyOf { .. }) {
        let mut seen = HashSet::new();
        if let Some(twice) = error.instance().as_array().and_then(|types| types.iter().find(|one| !seen.insert(*one))) {
            return Some(shortened(format!("{} lists {twice} twice", error.instance())));
        }
        let types = "array, boolean, integer, null, number, object or string";
        return Some(shortened(format!("{} is not a type; expected {types}, or a list of them", error.instance())));
    }
    if let (ValidationErrorKind::Type { .. }, Some(advice)) =
        (error.kind(), advice_on_older_syntax(pointer, error.instance()))
    {
        return Some(advice);
    }
    if let ValidationErrorKind::Required { property } = error.kind()
        && let Some(advice) = advice_on_bound(property, error.instance())
    {
        return Some(advice);
    }
    if said.starts_with("Unknown meta-schema") {
        return Some(unknown_dialect());
    }
    if matches!(error.kind(), ValidationErrorKind::Format { format } if format == "regex") {
        return Some(of_pattern(error.instance().as_str().unwrap_or_default()));
    }
    match error.kind() {
        ValidationErrorKind::Referencing(referencing::Error::PointerToNowhere { pointer }) => {
            return Some(nothing_at(pointer, &instead(parts)));
        }
        ValidationErrorKind::Referencing(referencing::Error::NoSuchAnchor { anchor }) => {
            return Some(no_anchor(anchor, parts));
        }
        _ => {}
    }
    let reference = said.strip_prefix("Resource '")?.split('\'').next()?;
    said.contains("is not present in a registry").then(|| outside(reference, parts))
}

/// Returns the message for a reference to a pointer that leads nowhere. `instead` says what to write.
pub(super) fn nothing_at(pointer: &str, instead: &str) -> String {
    shortened(format!("$ref: there is nothing at \"#{pointer}\"")) + instead
}

/// Returns what to write instead of a reference that leads nowhere.
pub(super) fn instead(parts: &str) -> String {
    format!("; write #/{parts}/NAME")
}

/// Returns the message for a reference to an anchor that nothing has.
pub(super) fn no_anchor(anchor: &str, parts: &str) -> String {
    shortened(format!("$ref: nothing has the anchor {anchor:?}")) + &instead(parts)
}

/// Returns the message for a reference to another document.
pub(super) fn outside(reference: &str, parts: &str) -> String {
    let copy = format!("; copy the target to {parts}, and write #/{parts}/NAME");
    shortened(format!("$ref: {reference:?} points outside the schema")) + &copy
}

/// Returns the keyword under which a schema has parts with names, or would have them.
pub(super) fn parts_of(has: impl Fn(&str) -> bool) -> &'static str {
    if has(OLDER_PARTS) && !has(PARTS) { OLDER_PARTS } else { PARTS }
}

/// Returns what to write in draft-04 instead of an exclusive bound that is a number, as in later drafts.
fn advice_on_bound(missing: &Value, schema: &Value) -> Option<String> {
    let (bound, keyword) = match missing.as_str()? {
        "minimum" => ("minimum", "exclusiveMinimum"),
        "maximum" => ("maximum", "exclusiveMaximum"),
        _ => return None,
    };
    schema.get(keyword).filter(|value| value.is_number()).map(|value| number_as_flag(keyword, bound, value))
}

fn number_as_flag(keyword: &str, bound: &str, value: &Value) -> String {
    let write = format!("write {bound:?}: {value}, {keyword:?}: true, or \"$schema\": {:?}", Draft::D7.uri());
    format!("in draft-04, {keyword} is true or false beside {bound}; {write}")
}

/// Returns what to write instead of a missing schema, or of the syntax of an older draft.
fn advice_on_older_syntax(pointer: &str, instance: &Value) -> Option<String> {
    let keyword = pointer.rsplit('/').next().unwrap_or_default();
    Some(match (keyword, instance) {
        ("", Value::Null) if pointer.is_empty() => {
            "there is no schema, only null or nothing; write an object, such as {\"type\": \"object\"}".to_owned()
        }
        ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(_)) => format!(
            "true and false are values of {keyword} in draft-04 only; write the bound as {keyword:?}: NUMBER, or \
                \"$schema\": {:?}",
            Draft::D4.uri()
        ),
        // Only in draft-04 is a number of the wrong type.
        ("exclusiveMinimum", Value::Number(_)) => number_as_flag(keyword, "minimum", instance),
        ("exclusiveMaximum", Value::Number(_)) => number_as_flag(keyword, "maximum", instance),
        ("items", Value::Array(_)) => format!(
            "a list as items is older than 2020-12; write it as prefixItems, or \"$schema\": {:?}",
            Draft::D7.uri()
        ),
        ("required", Value::Bool(_)) => "true and false are values of required in draft-03 only, which is not \
            supported; list the names of required properties in the schema of their object: \"required\": [\"NAME\"]"
            .to_owned(),
        _ => return None,
    })
}

pub(super) fn shortened(message: String) -> String {
    cut(message, MAX_MESSAGE)
}
