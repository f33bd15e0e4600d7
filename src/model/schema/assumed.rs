//! Assumes a draft for schemas that name none and are written in the syntax of an older one.

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

/// If schemas that name no draft are not valid in 2020-12, but all of them are in an older draft, names the latest such
/// draft in them and returns it.
pub fn assume_draft(forest: &mut Forest, schemas: &mut [PartId; 2]) -> Option<Draft> {
    let is_unnamed = |part: &PartId| {
        let schema = forest.tree(*part);
        schema.is_object() && schema.get("$schema").is_none()
    };
    let unnamed: Vec<_> = (0..2).filter(|at| is_unnamed(&schemas[*at])).collect();
    let trees: Vec<_> = unnamed.iter().map(|at| forest.tree(schemas[*at])).collect();
    let are_valid = |draft: Draft| trees.iter().all(|schema| meta::problem_in(*schema, draft).is_none());
    if are_valid(Draft::D2020) {
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
            (&json!({"required": true}), &new, None),
            (&json!({"type": "strin"}), &list, None),
        ] {
            let mut forest = Forest::default();
            let mut parts = [forest.add(old), forest.add(new)];
            assert_eq!(assume_draft(&mut forest, &mut parts), expected, "{old} {new}");
            for (part, written) in parts.into_iter().zip([old, new]) {
                let uri = written.get("$schema").and_then(Value::as_str).or(expected.map(Draft::uri));
                assert_eq!(forest.tree(part).get("$schema").and_then(Tree::as_str), uri);
            }
        }
    }
}
