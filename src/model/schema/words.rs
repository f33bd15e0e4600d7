//! The keywords of all drafts, and words that are known to assert nothing.

use super::{Draft, Tree};

/// Keywords whose value maps names to sub-schemas.
pub(in crate::model) const NAMED: [&str; 6] =
    ["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"];
/// Keywords whose sub-schemas apply only where they are referred to.
pub(super) const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];
/// Keywords that contain a sub-schema, or a list of them, that applies to the value itself.
pub(super) const IN_PLACE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
/// Keywords that contain a sub-schema, or a list of them, that applies to members or items of the value.
pub(super) const BELOW: [&str; 8] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "items",
    "prefixItems",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value is data.
pub(in crate::model) const VALUES: [&str; 4] = ["enum", "const", "default", "examples"];
/// Keywords that do not affect which values are valid.
pub(in crate::model) const DESCRIPTIVE: [&str; 8] =
    ["$schema", "$id", "$comment", "title", "description", "default", "examples", "deprecated"];
/// Keywords that assert something in every draft.
pub(super) const ALWAYS: [&str; 27] = [
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "dependencies",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "properties",
    "required",
    "type",
    "uniqueItems",
];
/// Keywords that assert something only in a range of drafts, with the first and the last one.
pub(super) const SOMETIMES: [(&str, Draft, Draft); 18] = [
    ("additionalItems", Draft::D4, Draft::D2019),
    ("const", Draft::D6, Draft::D2020),
    ("contains", Draft::D6, Draft::D2020),
    ("propertyNames", Draft::D6, Draft::D2020),
    ("if", Draft::D7, Draft::D2020),
    ("then", Draft::D7, Draft::D2020),
    ("else", Draft::D7, Draft::D2020),
    ("dependentRequired", Draft::D2019, Draft::D2020),
    ("dependentSchemas", Draft::D2019, Draft::D2020),
    ("unevaluatedItems", Draft::D2019, Draft::D2020),
    ("unevaluatedProperties", Draft::D2019, Draft::D2020),
    ("minContains", Draft::D2019, Draft::D2020),
    ("maxContains", Draft::D2019, Draft::D2020),
    ("$recursiveRef", Draft::D2019, Draft::D2019),
    ("$dynamicRef", Draft::D2020, Draft::D2020),
    ("prefixItems", Draft::D2020, Draft::D2020),
    ("id", Draft::D4, Draft::D4),
    ("$id", Draft::D6, Draft::D2020),
];
/// Words that assert nothing and are known to some draft, editor or generator.
pub(super) const ANNOTATIONS: [&str; 34] = [
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$schema",
    "$vocabulary",
    "comment",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "defaultSnippets",
    "definitions",
    "deprecated",
    "deprecationMessage",
    "description",
    "discriminator",
    "doNotSuggest",
    "enumDescriptions",
    "enumNames",
    "errorMessage",
    "example",
    "examples",
    "externalDocs",
    "markdownDescription",
    "markdownEnumDescriptions",
    "meta",
    "readOnly",
    "title",
    "tsType",
    "version",
    "writeOnly",
    "xml",
];

/// How a keyword contains sub-schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contained {
    /// Its value maps names to them.
    ByName,
    /// Its value is one, or a list of them.
    OneOrList,
}

/// Returns how a keyword contains sub-schemas in a draft, or `None` if it contains none. The
/// validator looks for `$id` and anchors only in sub-schemas.
pub(super) fn contained(word: &str, draft: Draft) -> Option<Contained> {
    let is_known = match word {
        "$defs" => draft >= Draft::D2019,
        "dependencies" => draft <= Draft::D7,
        _ => is_of(word, draft),
    };
    match word {
        _ if !is_known => None,
        _ if NAMED.contains(&word) => Some(Contained::ByName),
        _ if IN_PLACE.contains(&word) || BELOW.contains(&word) => Some(Contained::OneOrList),
        _ => None,
    }
}

/// Returns whether a keyword that asserts something does so in a draft.
pub fn is_of(keyword: &str, draft: Draft) -> bool {
    let range = SOMETIMES.iter().find(|(one, ..)| *one == keyword);
    range.is_none_or(|(_, first, last)| (*first..=*last).contains(&draft))
}

/// Returns whether the validator asserts a format in a draft. In later drafts, formats are only annotations.
pub fn asserts_format(format: &str, draft: Draft) -> bool {
    let first = match format {
        "date" | "date-time" | "email" | "hostname" | "ipv4" | "ipv6" | "regex" | "time" | "uri" => Draft::D4,
        "json-pointer" | "uri-reference" | "uri-template" => Draft::D6,
        "iri" | "iri-reference" | "relative-json-pointer" => Draft::D7,
        _ => return false,
    };
    (first..=Draft::D7).contains(&draft)
}

/// Returns whether a word is a keyword that asserts something in some draft.
pub(super) fn is_assertion(word: &str) -> bool {
    ALWAYS.contains(&word) || SOMETIMES.iter().any(|(keyword, ..)| *keyword == word)
}

/// Returns a word in lower case and without separators, as other languages may spell it.
pub(super) fn plain(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Returns what to write instead of a keyword of another language.
pub(super) fn of_other_language(word: &str, value: Tree<'_>) -> Option<&'static str> {
    match word {
        "nullable" if value.as_bool() == Some(true) => {
            Some("write \"type\": [\"null\", …], or, in OpenAPI 3.0, a \"type\" beside it")
        }
        "divisibleBy" if value.is_number() => Some("write \"multipleOf\""),
        "disallow" if value.is_string() || value.is_array() => Some("write \"not\": {\"type\": …}"),
        "extends" if value.is_object() || value.is_array() => Some("write \"allOf\""),
        "typeof" | "instanceof" if value.is_string() || value.is_array() => {
            Some("ajv-keywords defines it, and other validators ignore it")
        }
        _ => None,
    }
}

/// Returns whether a value could be the value of a keyword.
pub(super) fn fits(keyword: &str, value: Tree<'_>) -> bool {
    match keyword {
        "type" => value.is_string() || value.is_array(),
        "$ref" | "$recursiveRef" | "$dynamicRef" | "format" | "pattern" => value.is_string(),
        "enum" | "required" | "allOf" | "anyOf" | "oneOf" => value.is_array(),
        "properties" | "patternProperties" | "dependencies" | "dependentSchemas" | "dependentRequired" => {
            value.is_object()
        }
        "const" => true,
        "uniqueItems" => value.is_boolean(),
        _ if keyword.starts_with("min") || keyword.starts_with("max") || keyword == "multipleOf" => value.is_number(),
        "exclusiveMinimum" | "exclusiveMaximum" => value.is_number() || value.is_boolean(),
        _ => value.is_object() || value.is_boolean() || value.is_array(),
    }
}
