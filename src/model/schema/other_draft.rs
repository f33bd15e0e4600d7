//! Recognizes keywords of another draft than that of the schema.

use super::{Draft, Tree, keyword_warning::KeywordKind, words::SOMETIMES};

/// Returns what to write if a word is a keyword of another draft than that of the schema. `is_named` is whether a `$schema`
/// sets the draft.
pub(super) fn of(word: &str, value: Tree<'_>, (draft, is_named): (Draft, bool)) -> Option<(KeywordKind, String)> {
    let (since, until) = match word {
        "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => (Draft::D4, Draft::D4),
        "exclusiveMinimum" | "exclusiveMaximum" => (Draft::D6, Draft::D2020),
        "items" if value.is_array() => (Draft::D4, Draft::D2019),
        // An id that is not a string cannot be referred to, so it is an annotation.
        "id" | "$id" if !value.is_string() => return None,
        _ => SOMETIMES.iter().find(|(keyword, ..)| *keyword == word).map(|(_, since, until)| (*since, *until))?,
    };
    if (since..=until).contains(&draft) {
        return None;
    }
    let write = match word {
        "exclusiveMinimum" if draft == Draft::D4 => "write the number as \"minimum\", with \"exclusiveMinimum\": true",
        "exclusiveMaximum" if draft == Draft::D4 => "write the number as \"maximum\", with \"exclusiveMaximum\": true",
        "exclusiveMinimum" => "write the number as \"exclusiveMinimum\" instead of \"minimum\"",
        "exclusiveMaximum" => "write the number as \"exclusiveMaximum\" instead of \"maximum\"",
        "items" => "write the list as \"prefixItems\"",
        "prefixItems" => "write the list as \"items\"",
        "additionalItems" => "write \"items\", beside \"prefixItems\"",
        "const" => "write \"enum\" with this one value",
        "dependentRequired" | "dependentSchemas" => "write \"dependencies\"",
        "$recursiveRef" if draft == Draft::D2020 => "write \"$dynamicRef\"",
        "$dynamicRef" if draft == Draft::D2019 => "write \"$recursiveRef\"",
        "$recursiveRef" | "$dynamicRef" => "write \"$ref\"",
        "id" => "write \"$id\"",
        "$id" => "write \"id\"",
        _ => return Some((KeywordKind::OtherDraft(draft), format!("name {since} or later in \"$schema\""))),
    };
    let or = if is_named { String::new() } else { format!(", or name {until} in \"$schema\"") };
    Some((KeywordKind::OtherDraft(draft), format!("{write}{or}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::keywords::tests::{found, one};
    use serde_json::{Value, json};

    #[test]
    fn keywords_of_other_drafts_are_reported_with_what_to_write() {
        let of = |draft: Draft, word: &str, value: Value| json!({"$schema": draft.uri(), word: value});
        for (draft, word, value, hint) in [
            (Draft::D7, "prefixItems", json!([{}]), "draft-07; write the list as \"items\""),
            (Draft::D2020, "items", json!([{}]), "write the list as \"prefixItems\""),
            (Draft::D2020, "additionalItems", json!(false), "write \"items\""),
            (Draft::D4, "const", json!(1), "\"enum\""),
            (Draft::D6, "if", json!({}), "name draft-07 or later"),
            (Draft::D7, "dependentRequired", json!({}), "\"dependencies\""),
            (Draft::D7, "unevaluatedProperties", json!(false), "name 2019-09 or later"),
            (Draft::D2020, "exclusiveMinimum", json!(true), "write the number as \"exclusiveMinimum\""),
            (Draft::D4, "exclusiveMaximum", json!(3), "\"maximum\""),
            (Draft::D2020, "$recursiveRef", json!("#"), "\"$dynamicRef\""),
            (Draft::D7, "id", json!("a"), "\"$id\""),
            (Draft::D4, "$id", json!("a"), "\"id\""),
            (Draft::D7, "nullable", json!(true), "\"null\""),
            (Draft::D7, "typeof", json!("function"), "other validators ignore it"),
        ] {
            one(of(draft, word, value), &format!("/{word}"), hint);
        }
        one(json!({"additionalItems": {}}), "/additionalItems", "or name 2019-09 in \"$schema\"");
        for draft in Draft::ALL {
            for (word, value) in [
                ("dependencies", json!({})),
                ("definitions", json!({})),
                ("$defs", json!({})),
                ("nullable", json!(false)),
                ("$comment", json!("x")),
                ("examples", json!([])),
                ("id", json!({})),
            ] {
                let schema = json!({"$schema": draft.uri(), "type": "object", word: value});
                assert_eq!(found(&schema), [], "{draft} {word}");
            }
        }
    }
}
