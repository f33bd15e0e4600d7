//! Assumes a draft for schemas that name none and are written in the syntax of an older one.
//!
//! `http://json-schema.org/schema#` names none either: it stands for the latest draft, whichever that is (draft-04,
//! section 6).

use serde_json::Value;

use super::{Draft, Forest, PartId, Tree, meta};

/// Keywords that only 2019-09 and later drafts have.
const SINCE_2019: [&str; 8] = [
    "$anchor",
    "$defs",
    "$recursiveAnchor",
    "dependentRequired",
    "dependentSchemas",
    "minContains",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// If schemas that name no draft are not valid in 2020-12, but all of them are in an older draft, adds that draft to
/// them as `$schema` and returns it.
pub fn assume_draft(forest: &mut Forest, schemas: &mut [PartId; 2]) -> Option<Draft> {
    let is_unnamed = |part: &PartId| {
        let schema = forest.tree(*part);
        schema.is_object() && schema.get("$schema").is_none_or(is_latest)
    };
    let unnamed: Vec<_> = (0..2).filter(|at| is_unnamed(&schemas[*at])).collect();
    let trees: Vec<_> = unnamed.iter().map(|at| forest.tree(schemas[*at])).collect();
    let are_valid = |draft: Draft| trees.iter().all(|schema| meta::problem_in(*schema, draft).is_none());
    if are_valid(Draft::D2020) {
        for at in unnamed {
            if forest.tree(schemas[at]).get("$schema").is_some() {
                let schema = named(forest.tree(schemas[at]), Draft::D2020);
                schemas[at] = forest.add(&schema);
            }
        }
        return None;
    }
    let is_later = trees.iter().any(|schema| SINCE_2019.iter().any(|keyword| schema.get(keyword).is_some()));
    let older = if is_later { [Draft::D2019, Draft::D7, Draft::D4] } else { [Draft::D7, Draft::D4, Draft::D2019] };
    let draft = older.into_iter().find(|draft| are_valid(*draft))?;
    let named: Vec<_> = trees.iter().map(|schema| named(*schema, draft)).collect();
    for (at, schema) in unnamed.into_iter().zip(&named) {
        schemas[at] = forest.add(schema);
    }
    Some(draft)
}

/// Returns whether a `$schema` names the latest draft.
fn is_latest(uri: Tree<'_>) -> bool {
    let uri = uri.as_str().unwrap_or_default().trim_end_matches('#');
    uri.split_once("://").is_some_and(|(_, name)| name == "json-schema.org/schema")
}

fn named(schema: Tree<'_>, draft: Draft) -> Value {
    let mut schema = schema.to_value();
    if let Some(members) = schema.as_object_mut() {
        members.insert("$schema".to_owned(), Value::from(draft.uri()));
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_latest_draft_with_the_syntax_is_assumed() {
        let list = json!({"items": [{"type": "string"}]});
        let flag = json!({"minimum": 1, "exclusiveMinimum": true});
        let later = json!({"items": [true], "$defs": {}});
        let (new, named) = (json!({"minimum": 1}), json!({"$schema": Draft::D7.uri(), "items": [true]}));
        for (old, new, expected) in [
            (&new, &new, None),
            (&list, &new, Some(Draft::D7)),
            (&new, &flag, Some(Draft::D4)),
            (&list, &flag, Some(Draft::D4)),
            (&later, &new, Some(Draft::D2019)),
            (&named, &list, Some(Draft::D7)),
            (&named, &new, None),
            (&json!({"$schema": "http://json-schema.org/schema#", "items": [true]}), &new, Some(Draft::D7)),
            (&json!({"required": true}), &new, None),
            (&json!({"type": "strin"}), &list, None),
        ] {
            let mut forest = Forest::default();
            let mut parts = [forest.add(old), forest.add(new)];
            assert_eq!(assume_draft(&mut forest, &mut parts), expected, "{old} {new}");
            for (part, written) in parts.into_iter().zip([old, new]) {
                let named = written.get("$schema").and_then(Value::as_str).filter(|uri| Draft::of(uri).is_some());
                let uri = named.or(expected.map(Draft::uri));
                assert_eq!(forest.tree(part).get("$schema").and_then(Tree::as_str), uri);
            }
        }
    }

    #[test]
    fn latest_draft_is_named_by_its_own_uri() {
        let mut forest = Forest::default();
        let schema = json!({"$schema": "https://json-schema.org/schema", "minimum": 1});
        let mut parts = [forest.add(&schema), forest.add(&json!({"minimum": 1}))];
        assert_eq!(assume_draft(&mut forest, &mut parts), None);
        let named = parts.map(|part| forest.tree(part).get("$schema").and_then(Tree::as_str).map(str::to_owned));
        assert_eq!(named, [Some(Draft::D2020.uri().to_owned()), None]);
    }
}
