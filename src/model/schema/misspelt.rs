//! Finds the keyword that a word is a misspelling of.

use super::{
    Tree,
    words::{ALWAYS, ANNOTATIONS, SOMETIMES, fits, is_assertion, plain},
};

/// The keyword that is nearest to a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nearest {
    keyword: &'static str,
    /// Whether they differ only in case and punctuation.
    is_same_word: bool,
}

/// Returns the keyword that the author of a word probably meant. `has` returns whether the schema has a keyword.
pub(super) fn meant(
    word: &str,
    value: Tree<'_>,
    nearest: impl FnOnce() -> Option<Nearest>,
    has: impl FnOnce(&str) -> bool,
) -> Option<&'static str> {
    if word == "ref" {
        return value.is_string().then_some("$ref");
    }
    let Nearest { keyword, is_same_word } = nearest()?;
    // A short word that resembles a keyword is often a word of another tool.
    if word.len() < 4 && !is_same_word && (has(keyword) || !is_typical(keyword, value)) {
        return None;
    }
    (is_same_word || fits(keyword, value)).then_some(keyword)
}

/// Returns whether a value is unlikely to belong to anything but the keyword.
fn is_typical(keyword: &str, value: Tree<'_>) -> bool {
    let is_type = |value: Tree<'_>| {
        let types = ["array", "boolean", "integer", "null", "number", "object", "string"];
        value.as_str().is_some_and(|name| types.contains(&name))
    };
    match keyword {
        "type" if value.is_array() => value.items().all(is_type),
        "type" => is_type(value),
        "enum" => value.is_array(),
        _ => false,
    }
}

/// Returns the keyword that is nearest to a word, if it is near enough and the word is not a keyword itself.
pub(super) fn nearest(word: &str) -> Option<Nearest> {
    if word.starts_with("x-") || word.starts_with("X-") {
        return None;
    }
    let known = || ALWAYS.into_iter().chain(SOMETIMES.iter().map(|(keyword, ..)| *keyword));
    if is_assertion(word) || ANNOTATIONS.contains(&word) {
        return None;
    }
    let letters = plain(word);
    if let Some(keyword) = known().filter(|keyword| *keyword != "id").find(|keyword| plain(keyword) == letters) {
        return Some(Nearest { keyword, is_same_word: true });
    }
    let allowed = match word.len() {
        0..3 => return None,
        3..6 => 1,
        _ => 2,
    };
    let edits = |keyword: &'static str| (strsim::osa_distance(word, keyword), keyword);
    // Too many words are similar to short keywords.
    let nearest = known().filter(|keyword| keyword.len() > 3 && *keyword != "$id").map(edits).min()?;
    let is_annotation = ANNOTATIONS.into_iter().any(|keyword| edits(keyword).0 <= nearest.0);
    (nearest.0 <= allowed && !is_annotation).then_some(Nearest { keyword: nearest.1, is_same_word: false })
}

#[cfg(test)]
mod tests {
    use crate::model::schema::keywords::tests::{found, one};
    use serde_json::json;

    #[test]
    fn typos_are_reported_with_the_nearest_keyword() {
        for (word, value, meant) in [
            ("propertis", json!({}), "properties"),
            ("requierd", json!(["a"]), "required"),
            ("additionalproperties", json!(false), "additionalProperties"),
            ("additional_properties", json!(false), "additionalProperties"),
            ("any-of", json!([{}]), "anyOf"),
            ("minLenght", json!(1), "minLength"),
            ("enums", json!(["a"]), "enum"),
            ("item", json!({}), "items"),
            ("typ", json!("object"), "type"),
            ("typ", json!(["object", "null"]), "type"),
            ("typ", json!("JWT"), ""),
            ("enm", json!(["a"]), "enum"),
            ("itms", json!({}), "items"),
            ("els", json!({}), ""),
            ("tpye", json!("string"), "type"),
            ("ref", json!("#/$defs/a"), "$ref"),
            ("unevalutedProperties", json!(false), "unevaluatedProperties"),
            ("uniqueitems", json!(true), "uniqueItems"),
        ] {
            if meant.is_empty() {
                assert_eq!(found(&json!({"type": "string", word: value})), [], "{word}");
            } else {
                one(json!({word: value}), &format!("/{word}"), &format!("{meant:?}"));
            }
        }
    }

    #[test]
    fn short_word_beside_the_keyword_is_an_annotation() {
        assert_eq!(found(&json!({"type": "string", "typ": "string"})), []);
        assert_eq!(found(&json!({"type": "string", "enum": ["a"], "enm": ["a"]})), []);
    }

    #[test]
    fn annotations_and_words_of_other_tools_are_ignored() {
        let words = "x-propertis markdownDescription defaultSnippets tsType $comment example descripton note tags label \
            options units order group fields name kind $def definition unit enumNames errorMessage readonly titel \
            source since scope ~/";
        for word in words.split(' ').chain([""]) {
            assert_eq!(found(&json!({"type": "string", word: "text"})), [], "{word}");
        }
        assert_eq!(found(&json!({"type": "object", "types": 3, "require": true, "itens": "x"})), []);
        assert_eq!(found(&json!({"$schema": "https://example.org/own", "propertis": {}})), []);
    }
}
