//! The catalogue of differences, with an id and a sentence for each.

use std::rc::Rc;

use serde_json::Value;

use super::evaluate;
use super::graph::node::{self, Check, Lit, Words};
use super::numbers;
use crate::model::{contract::BrokenDirection, schema::Draft, text::count};

/// One kind of difference, with an example.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its id, stable across releases.
    pub id: &'static str,
    /// The direction that the difference breaks.
    pub direction: BrokenDirection,
    /// What changed.
    pub text: &'static str,
    /// An old schema, as JSON.
    pub old: &'static str,
    /// A new schema, as JSON.
    pub new: &'static str,
}

macro_rules! rules {
    ($($narrow:literal, $wide:literal, $what:literal, $tight:literal, $loose:literal;)*) => {
        /// Every rule, grouped by keyword.
        pub const RULES: &[Rule] = &[$(
            Rule {
                id: $narrow,
                direction: BrokenDirection::Forwards,
                text: concat!("only in the new schema: ", $what),
                old: $loose,
                new: $tight,
            },
            Rule {
                id: $wide,
                direction: BrokenDirection::Backwards,
                text: concat!("only in the old schema: ", $what),
                old: $tight,
                new: $loose,
            },
        )*];
    };
}

rules! {
    "forbidden-value", "allowed-value", "no value is allowed here", r#"{"properties":{"a":false}}"#, r#"{"properties":{"a":{}}}"#;
    "narrowed-type", "widened-type", "a type is refused", r#"{"type":"integer"}"#, r#"{"type":["integer","string"]}"#;
    "narrowed-enum", "widened-enum", "a value is missing from `enum` or `const`", r#"{"enum":["a"]}"#, r#"{"enum":["a","b"]}"#;
    "narrowed-minimum", "widened-minimum", "smaller numbers are refused", r#"{"type":"integer","minimum":5}"#, r#"{"type":"integer","minimum":1}"#;
    "narrowed-maximum", "widened-maximum", "greater numbers are refused", r#"{"type":"integer","maximum":24}"#, r#"{"type":"integer","maximum":255}"#;
    "narrowed-multiple", "widened-multiple", "numbers between multiples are refused", r#"{"type":"integer","multipleOf":10}"#, r#"{"type":"integer","multipleOf":5}"#;
    "narrowed-min-length", "widened-min-length", "shorter strings are refused", r#"{"type":"string","minLength":3}"#, r#"{"type":"string","minLength":1}"#;
    "narrowed-max-length", "widened-max-length", "longer strings are refused", r#"{"type":"string","maxLength":8}"#, r#"{"type":"string","maxLength":80}"#;
    "narrowed-pattern", "widened-pattern", "strings are rejected by a `pattern`", r#"{"type":"string","pattern":"^[a-f]+$"}"#, r#"{"type":"string","pattern":"^[a-z]+$"}"#;
    "narrowed-format", "widened-format", "strings are rejected by a `format` or an encoding", r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"string","format":"date"}"#, r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"string"}"#;
    "added-required", "removed-required", "a property is required", r#"{"type":"object","properties":{"a":{}},"required":["a"]}"#, r#"{"type":"object","properties":{"a":{}}}"#;
    "narrowed-min-items", "widened-min-items", "shorter arrays are refused", r#"{"type":"array","minItems":2}"#, r#"{"type":"array","minItems":1}"#;
    "narrowed-max-items", "widened-max-items", "longer arrays are refused", r#"{"type":"array","maxItems":2}"#, r#"{"type":"array","maxItems":20}"#;
    "narrowed-min-properties", "widened-min-properties", "objects with fewer properties are refused", r#"{"type":"object","minProperties":2}"#, r#"{"type":"object","minProperties":1}"#;
    "narrowed-max-properties", "widened-max-properties", "objects with more properties are refused", r#"{"type":"object","maxProperties":2}"#, r#"{"type":"object","maxProperties":20}"#;
    "added-unique-items", "removed-unique-items", "equal items are refused", r#"{"type":"array","uniqueItems":true}"#, r#"{"type":"array"}"#;
    "narrowed-contains", "widened-contains", "`contains` requires more, or fewer, matching items", r#"{"type":"array","contains":{"const":1}}"#, r#"{"type":"array"}"#;
    "narrowed-items", "widened-items", "more items are refused", r#"{"type":"array","prefixItems":[{}],"items":false}"#, r#"{"type":"array","prefixItems":[{}]}"#;
    "removed-property", "added-property", "a property of the other schema is not allowed", r#"{"type":"object","properties":{"a":{}},"additionalProperties":false}"#, r#"{"type":"object","properties":{"a":{},"b":{}},"additionalProperties":false}"#;
    "closed-object", "opened-object", "further properties are refused", r#"{"type":"object","additionalProperties":false}"#, r#"{"type":"object"}"#;
    "narrowed-property-names", "widened-property-names", "property names are rejected", r#"{"type":"object","propertyNames":{"maxLength":3}}"#, r#"{"type":"object"}"#;
    "narrowed-dependency", "widened-dependency", "a property requires others", r#"{"properties":{"a":{},"b":{}},"dependentRequired":{"a":["b"]}}"#, r#"{"properties":{"a":{},"b":{}}}"#;
    "narrowed-alternatives", "widened-alternatives", "a value is rejected by `anyOf` or `oneOf`", r#"{"anyOf":[{"type":"integer"},{"type":"string","maxLength":3}]}"#, r#"{"anyOf":[{"type":"integer"},{"type":"string","maxLength":3},{"type":"null"}]}"#;
    "narrowed-not", "widened-not", "values are rejected by `not`", r#"{"not":{"type":"string"}}"#, r#"{}"#;
}

/// The rules for a value that no single keyword refuses.
pub(super) const ALTERNATIVES: [&str; 2] = ["narrowed-alternatives", "widened-alternatives"];

/// A place where two schemas differ, with the facts about it.
pub(super) struct Place<'a> {
    pub(super) direction: BrokenDirection,
    pub(super) lit: &'a Lit,
    pub(super) value: &'a Value,
    pub(super) member: Option<Rc<str>>,
    pub(super) names_member: bool,
    /// Whether the keyword is `unevaluatedProperties` or `unevaluatedItems`.
    pub(super) is_unevaluated: bool,
    /// The number of alternatives of a `oneOf` that match.
    pub(super) matching: usize,
}

/// Returns the keywords that a literal may come from.
pub(super) fn keywords(lit: &Lit) -> &'static [&'static str] {
    origin(lit).0
}

/// Returns the keywords that a literal may come from, and the ids of the rules for a new schema that is narrower and for
/// one that is wider.
fn origin(lit: &Lit) -> (&'static [&'static str], [&'static str; 2]) {
    match lit {
        Lit::Never => (&[], ["forbidden-value", "allowed-value"]),
        Lit::Type(_) => (&["type"], ["narrowed-type", "widened-type"]),
        Lit::Enum(_) => (&["enum", "const"], ["narrowed-enum", "widened-enum"]),
        Lit::Min(_, true) => (&["exclusiveMinimum", "minimum"], ["narrowed-minimum", "widened-minimum"]),
        Lit::Min(..) => (&["minimum"], ["narrowed-minimum", "widened-minimum"]),
        Lit::Max(_, true) => (&["exclusiveMaximum", "maximum"], ["narrowed-maximum", "widened-maximum"]),
        Lit::Max(..) => (&["maximum"], ["narrowed-maximum", "widened-maximum"]),
        Lit::Multiple(_) => (&["multipleOf"], ["narrowed-multiple", "widened-multiple"]),
        Lit::MinLength(_) => (&["minLength"], ["narrowed-min-length", "widened-min-length"]),
        Lit::MaxLength(_) => (&["maxLength"], ["narrowed-max-length", "widened-max-length"]),
        Lit::Pattern(_) => (&["pattern"], ["narrowed-pattern", "widened-pattern"]),
        Lit::Check(_) => (&["format", "contentMediaType", "contentEncoding"], ["narrowed-format", "widened-format"]),
        Lit::Required(_) => (&["required"], ["added-required", "removed-required"]),
        Lit::MinItems(_) => (&["minItems"], ["narrowed-min-items", "widened-min-items"]),
        Lit::MaxItems(_) => (&["maxItems"], ["narrowed-max-items", "widened-max-items"]),
        Lit::MinProps(_) => (&["minProperties"], ["narrowed-min-properties", "widened-min-properties"]),
        Lit::MaxProps(_) => (&["maxProperties"], ["narrowed-max-properties", "widened-max-properties"]),
        Lit::Unique => (&["uniqueItems"], ["added-unique-items", "removed-unique-items"]),
        Lit::Item(..) => (&["prefixItems", "items"], ["narrowed-items", "widened-items"]),
        Lit::Items(..) => (&["additionalItems", "items", "unevaluatedItems"], ["narrowed-items", "widened-items"]),
        Lit::AtLeast(_, 1) => (&["contains"], ["narrowed-contains", "widened-contains"]),
        Lit::AtLeast(..) => (&["minContains", "contains"], ["narrowed-contains", "widened-contains"]),
        Lit::AtMost(..) => (&["maxContains"], ["narrowed-contains", "widened-contains"]),
        Lit::Prop(..) => (&["properties"], ["closed-object", "opened-object"]),
        Lit::PatProp(..) => (&["patternProperties"], ["closed-object", "opened-object"]),
        Lit::AddProp(..) => (&["additionalProperties", "unevaluatedProperties"], ["closed-object", "opened-object"]),
        Lit::PropNames(_) => (&["propertyNames"], ["narrowed-property-names", "widened-property-names"]),
        Lit::DepRequired(..) => (&["dependentRequired", "dependencies"], ["narrowed-dependency", "widened-dependency"]),
        Lit::DepSchema(..) => (&["dependentSchemas", "dependencies"], ["narrowed-dependency", "widened-dependency"]),
        Lit::AnyOf(_) => (&["anyOf"], ALTERNATIVES),
        Lit::OneOf(_) => (&["oneOf"], ALTERNATIVES),
        Lit::If(..) | Lit::Names(_) => (&["if"], ALTERNATIVES),
        Lit::Sub(_) | Lit::Opaque(..) => (&[], ALTERNATIVES),
        Lit::Not(_) => (&["not"], ["narrowed-not", "widened-not"]),
    }
}

/// Returns whether two literals come from the same keyword.
pub(super) fn is_same_keyword(one: &Lit, other: &Lit) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other) && !matches!(one, Lit::Required(_))
}

/// Returns the id of a difference, and a sentence that says what is wrong with the value.
pub(super) fn describe(place: &Place<'_>, words: &Words) -> (&'static str, String) {
    let [narrow, wide] = match place.lit {
        Lit::AddProp(..) if place.names_member => ["removed-property", "added-property"],
        lit => origin(lit).1,
    };
    let id = if place.direction == BrokenDirection::Forwards { narrow } else { wide };
    (id, sentence(place, words))
}

const NOTHING_EVALUATES: &str = "no keyword that applies here evaluates it";

fn sentence(place: &Place<'_>, words: &Words) -> String {
    let value = short(place.value);
    let number = |id: &u32| {
        let number = &words.numbers[*id as usize];
        numbers::to_json(number).map_or_else(|| number.to_string(), |value| value.to_string())
    };
    match place.lit {
        Lit::Type(types) if types & node::WHOLE == 0 && evaluate::type_of(place.value) == node::WHOLE => {
            format!("{value} is not {} in {}", names_of(*types), Draft::D4)
        }
        Lit::Type(types) => format!("{value} is not {}", names_of(*types)),
        Lit::Enum(ids) if ids.len() == 1 => format!("{value} is not {}", short(&words.values[ids[0] as usize])),
        Lit::Enum(ids) => format!("{value} is not one of the {} allowed values", ids.len()),
        Lit::Min(id, false) => format!("{value} is less than the minimum of {}", number(id)),
        Lit::Min(id, true) => format!("{value} is not greater than {}", number(id)),
        Lit::Max(id, false) => format!("{value} is greater than the maximum of {}", number(id)),
        Lit::Max(id, true) => format!("{value} is not less than {}", number(id)),
        Lit::Multiple(id) => format!("{value} is not a multiple of {}", number(id)),
        Lit::MinLength(n) => format!("{value} is shorter than {}", count(*n, "character", "characters")),
        Lit::MaxLength(n) => format!("{value} is longer than {}", count(*n, "character", "characters")),
        Lit::Pattern(pattern) => format!("{value} does not match {:?}", words.written(*pattern)),
        Lit::Check(check) => match &words.checks[*check as usize] {
            Check { format: Some(format), .. } => format!("{value} does not have the format {format:?}"),
            Check { encoding: Some(encoding), is_json: true, .. } => format!("{value} is not JSON in {encoding}"),
            Check { encoding: Some(encoding), .. } => format!("{value} is not {encoding}"),
            Check { .. } => format!("{value} is not JSON"),
        },
        Lit::Required(_) => format!("{} is missing", quoted(place)),
        Lit::MinItems(n) => format!("fewer than {}", count(*n, "item", "items")),
        Lit::MaxItems(n) => format!("more than {}", count(*n, "item", "items")),
        Lit::MinProps(n) => format!("fewer than {}", count(*n, "property", "properties")),
        Lit::MaxProps(n) => format!("more than {}", count(*n, "property", "properties")),
        Lit::Unique => "two items are equal".to_owned(),
        Lit::AtLeast(_, 1) => "no item matches \"contains\"".to_owned(),
        Lit::AtLeast(_, n) => format!("fewer than {n} items match \"contains\""),
        Lit::AtMost(_, 0) => "an item matches \"contains\"".to_owned(),
        Lit::AtMost(_, 1) => "more than 1 item matches \"contains\"".to_owned(),
        Lit::AtMost(_, n) => format!("more than {n} items match \"contains\""),
        Lit::Items(..) if place.is_unevaluated => {
            let index = place.member.as_deref().unwrap_or_default();
            format!("the item at index {index} is not allowed: {NOTHING_EVALUATES}")
        }
        Lit::AddProp(..) if place.is_unevaluated => format!("{} is not allowed: {NOTHING_EVALUATES}", quoted(place)),
        Lit::Items(0, _) => "an item is not allowed".to_owned(),
        Lit::Items(1, _) => "an item after the first is not allowed".to_owned(),
        Lit::Items(n, _) => format!("an item after the first {n} is not allowed"),
        Lit::AddProp(..) => format!("{} is not allowed", quoted(place)),
        Lit::PropNames(_) => format!("the property name {} is not allowed", quoted(place)),
        Lit::DepRequired(name, _) => format!("{} is missing, which {:?} requires", quoted(place), words.text(*name)),
        Lit::AnyOf(_) => format!("{value} matches none of the alternatives"),
        Lit::OneOf(_) if place.matching > 1 => {
            format!("{value} matches {} of the alternatives instead of one", place.matching)
        }
        Lit::OneOf(_) => format!("{value} matches none of the alternatives"),
        Lit::Not(_) => format!("{value} matches the schema in \"not\""),
        Lit::Never => "no value is allowed here".to_owned(),
        _ => format!("{value} is refused"),
    }
}

fn quoted(place: &Place<'_>) -> String {
    place.member.as_ref().map_or_else(|| "a property".to_owned(), |name| format!("{name:?}"))
}

fn names_of(types: u8) -> String {
    let all = [
        (node::NULL, "null"),
        (node::BOOLEAN, "a boolean"),
        (node::INTEGER, "an integer"),
        (node::STRING, "a string"),
        (node::ARRAY, "an array"),
        (node::OBJECT, "an object"),
    ];
    let named = |bit: u8, name: &'static str| {
        if bit == node::INTEGER && types & node::FRACTION != 0 { "a number" } else { name }
    };
    let names: Vec<_> =
        all.into_iter().filter(|(bit, _)| types & bit != 0).map(|(bit, name)| named(bit, name)).collect();
    match names.split_last() {
        None => "of any type that is allowed".to_owned(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

/// The maximum length of a value in a message, in characters.
const MAX_SHORT: usize = 60;
/// The number of equal characters that are shown before the difference of two texts.
const CONTEXT: usize = 10;

/// Formats a value on a single line, shortened if needed.
pub(super) fn short(value: &Value) -> String {
    let text = value.to_string();
    match (text.chars().count() > MAX_SHORT, value) {
        (false, _) => text,
        (true, Value::Object(_)) => "the object".to_owned(),
        (true, Value::Array(_)) => "the array".to_owned(),
        (true, Value::String(text)) => excerpt(text, 0),
        _ => format!("{}…", text.chars().take(MAX_SHORT - 3).collect::<String>()),
    }
}

/// Formats two different values like [`short`]. Long texts are shown from shortly before their first difference.
pub(super) fn short_pair(old: &Value, new: &Value) -> [String; 2] {
    let (Value::String(before), Value::String(after)) = (old, new) else { return [short(old), short(new)] };
    if [before, after].iter().all(|text| text.chars().count() < MAX_SHORT) {
        return [short(old), short(new)];
    }
    let same = before.chars().zip(after.chars()).take_while(|(one, other)| one == other).count();
    [before, after].map(|text| excerpt(text, same.saturating_sub(CONTEXT)))
}

/// Returns a part of a text as a JSON string, with `…` where something is left out.
fn excerpt(text: &str, start: usize) -> String {
    let rest = || text.chars().skip(start);
    let (before, after) = (if start > 0 { "…" } else { "" }, if rest().count() > MAX_SHORT { "…" } else { "" });
    let part: String = rest().take(MAX_SHORT - CONTEXT).collect();
    let part = if after.is_empty() { rest().collect() } else { part };
    Value::from(format!("{before}{part}{after}")).to_string()
}
