//! Recognizes documents that are not schemas.

use super::{
    Draft, Tree, external,
    keyword_warning::{KeywordKind, KeywordWarning},
    words::{ANNOTATIONS, is_assertion},
};

/// Returns a warning if a schema has words but no keyword, as documents that are not schemas do.
pub(super) fn no_keyword(schema: Tree<'_>) -> Option<KeywordWarning> {
    let restricts = |word: &str| word == external::KEYWORD || is_assertion(word) && !matches!(word, "id" | "$id");
    // In an unknown dialect, any word may be a keyword.
    let is_known = schema.get("$schema").and_then(Tree::as_str).is_none_or(|uri| Draft::of(uri).is_some());
    if !is_known || schema.members().any(|(word, _)| restricts(word)) {
        return None;
    }
    let is_annotation =
        |word: &str| ANNOTATIONS.contains(&word) || matches!(word, "id" | "$id") || word.starts_with("x-");
    let (word, _) = schema.members().find(|(word, _)| !is_annotation(word))?;
    Some(KeywordWarning {
        pointer: String::new(),
        keyword: word.to_owned(),
        kind: KeywordKind::NoKeyword,
        suggestion: "write the schema, or the JSON Pointer to it in its file".to_owned(),
    })
}

/// Returns the pointer to the schemas of a document that is OpenAPI, AsyncAPI, a resource of Kubernetes or a contract
/// rather than a schema. In YAML, a version without quotes is a number.
pub fn schemas_within(document: Tree<'_>) -> Option<&'static str> {
    let has = |word: &str| document.get(word).is_some_and(|value| value.is_string() || value.is_number());
    if has("swagger") {
        Some("/definitions/NAME")
    } else if has("openapi") || has("asyncapi") {
        Some("/components/schemas/NAME")
    } else if has("apiVersion") && has("kind") {
        Some("/spec/versions/0/schema/openAPIV3Schema")
    } else if ["name", "version", "owner"].into_iter().all(&has) && !has("type") && !has("$schema") {
        Some("/schema")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::keywords::tests::{found, one};
    use serde_json::json;

    #[test]
    fn a_document_without_keywords_is_reported() {
        one(json!({"description": "a package", "version": "1.0.0", "main": "a.js"}), "", "\"main\" is not a keyword");
        one(json!({"components": {"schemas": {}}}), "", "write the schema");
        one(json!({"$schema": Draft::D7.uri(), "$id": "x", "other": 1}), "", "\"other\" is not a keyword");
        let body = json!({"content": {"schema": {"$ref": "#/$defs/Order"}}, "$defs": {"Order": {"type": "object"}}});
        one(body, "", "\"content\" is not a keyword");
        for schema in [
            json!({}),
            json!({"title": "anything", "x-order": 1}),
            json!({"$schema": Draft::D7.uri(), "$id": "x", "$defs": {"other": {}}}),
            json!({"required": [], "other": 1}),
        ] {
            assert_eq!(found(&schema), [], "{schema}");
        }
    }
}
