//! Assumes a draft for schemas that name none and are written in the syntax of an older one.
//!
//! `http://json-schema.org/schema#` names none either: it stands for the latest draft, whichever that is (draft-04,
//! section 6).

use serde_json::Value;

use super::{
    Draft, Forest, PartId, Tree,
    draft::without_scheme,
    meta,
    words::{NAMED, VALUES},
};

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
/// Keywords that only 2020-12 has.
const SINCE_2020: [&str; 3] = ["$dynamicAnchor", "$dynamicRef", "prefixItems"];

/// Adds an older draft as `$schema` to schemas that name no draft and are not valid in 2020-12. Both get the same draft
/// if there is one in which both are valid, and neither has keywords of 2020-12; otherwise, each gets its own. Returns
/// the draft that was assumed for each schema, or `None` for one that names its draft or is read in 2020-12.
pub fn assume_draft(forest: &mut Forest, schemas: &mut [PartId; 2]) -> [Option<Draft>; 2] {
    let is_unnamed = |part: &PartId| {
        let schema = forest.tree(*part);
        schema.is_object() && schema.get("$schema").is_none_or(is_latest)
    };
    let unnamed: Vec<_> = (0..2).filter(|at| is_unnamed(&schemas[*at])).collect();
    let trees: Vec<_> = unnamed.iter().map(|at| forest.tree(schemas[*at])).collect();
    let has_newest = |tree: &Tree<'_>| has_keyword(*tree, &SINCE_2020) && is_valid(*tree, Draft::D2020);
    let common = if trees.iter().all(|tree| is_valid(*tree, Draft::D2020)) {
        Some(Draft::D2020)
    } else if trees.iter().any(has_newest) {
        None
    } else {
        older(&trees)
    };
    // Each schema gets the latest draft in which it is valid. Formats assert nothing since 2019-09, so the schemas then
    // differ the least.
    let latest = [Draft::D2020, Draft::D2019, Draft::D7, Draft::D4];
    let own = |tree: &Tree<'_>| common.or_else(|| latest.into_iter().find(|draft| is_valid(*tree, *draft)));
    let Some(drafts) = trees.iter().map(own).collect::<Option<Vec<_>>>() else { return [None; 2] };
    let is_renamed = |tree: &Tree<'_>, draft| draft != Draft::D2020 || tree.get("$schema").is_some();
    let renamed = trees.iter().zip(&drafts).map(|(tree, draft)| is_renamed(tree, *draft).then(|| named(*tree, *draft)));
    let renamed: Vec<_> = renamed.collect();
    let mut assumed = [None; 2];
    for ((at, draft), schema) in unnamed.into_iter().zip(drafts).zip(renamed) {
        assumed[at] = Some(draft).filter(|draft| *draft != Draft::D2020);
        if let Some(schema) = schema {
            schemas[at] = forest.add(&schema);
        }
    }
    assumed
}

/// Returns a copy of a schema that names no draft, with the older draft that `other` names added. Returns `None` if the
/// schema names a draft, is invalid in that draft, or has keywords of later ones, or if `other` names no older draft.
pub fn in_draft_of(schema: Tree<'_>, other: Tree<'_>) -> Option<Value> {
    let draft =
        other.get("$schema").and_then(Tree::as_str).and_then(Draft::of).filter(|draft| *draft < Draft::D2020)?;
    let is_later = has_keyword(schema, &SINCE_2020) || draft < Draft::D2019 && has_keyword(schema, &SINCE_2019);
    let is_unnamed = schema.is_object() && schema.get("$schema").is_none();
    (is_unnamed && !is_later && is_valid(schema, draft)).then(|| named(schema, draft))
}

/// Returns a copy of a schema that names no draft and has the syntax of an older one, with the draft in which it is valid
/// added. Returns `None` if there is no such draft.
pub fn in_older_draft(schema: Tree<'_>) -> Option<Value> {
    let is_unnamed = schema.is_object() && schema.get("$schema").is_none();
    let is_older = is_unnamed && any_keyword(schema, &is_older_syntax) && !is_valid(schema, Draft::D2020);
    is_older.then(|| older(&[schema])).flatten().map(|draft| named(schema, draft))
}

/// Returns whether 2020-12 does not allow a keyword in this form, but an older draft does.
fn is_older_syntax(keyword: &str, value: Tree<'_>) -> bool {
    match keyword {
        "items" => value.is_array(),
        "exclusiveMinimum" | "exclusiveMaximum" => value.is_boolean(),
        _ => false,
    }
}

fn is_valid(schema: Tree<'_>, draft: Draft) -> bool {
    meta::problem_in(schema, draft).is_none()
}

/// Returns the most likely older draft in which all schemas are valid.
fn older(schemas: &[Tree<'_>]) -> Option<Draft> {
    let is_later = schemas.iter().any(|schema| SINCE_2019.iter().any(|keyword| schema.get(keyword).is_some()));
    let older = if is_later { [Draft::D2019, Draft::D7, Draft::D4] } else { [Draft::D7, Draft::D4, Draft::D2019] };
    older.into_iter().find(|draft| schemas.iter().all(|schema| is_valid(*schema, *draft)))
}

/// Returns whether a schema or one of its sub-schemas has one of these keywords.
fn has_keyword(schema: Tree<'_>, keywords: &[&str]) -> bool {
    any_keyword(schema, &|name, _| keywords.contains(&name))
}

fn any_keyword(schema: Tree<'_>, is_wanted: &dyn Fn(&str, Tree<'_>) -> bool) -> bool {
    let mut waiting = vec![schema];
    while let Some(part) = waiting.pop() {
        waiting.extend(part.items());
        for (name, member) in part.members() {
            match name {
                name if is_wanted(name, member) => return true,
                name if NAMED.contains(&name) => waiting.extend(member.members().map(|(_, schema)| schema)),
                name if VALUES.contains(&name) => {}
                _ => waiting.push(member),
            }
        }
    }
    false
}

/// Returns whether a `$schema` names the latest draft.
fn is_latest(uri: Tree<'_>) -> bool {
    uri.as_str().and_then(without_scheme) == Some("json-schema.org/schema")
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
            let assumed = assume_draft(&mut forest, &mut parts);
            assert_eq!(assumed[0].or(assumed[1]), expected, "{old} {new}");
            for (part, written) in parts.into_iter().zip([old, new]) {
                let named = written.get("$schema").and_then(Value::as_str).filter(|uri| Draft::of(uri).is_some());
                let uri = named.or(expected.map(Draft::uri));
                assert_eq!(forest.tree(part).get("$schema").and_then(Tree::as_str), uri);
            }
        }
    }

    #[test]
    fn schemas_of_different_drafts_are_read_by_their_own() {
        let (list, prefix) = (json!({"items": [true]}), json!({"properties": {"a": {"prefixItems": [true]}}}));
        let (flag, number) = (json!({"minimum": 0, "exclusiveMinimum": true}), json!({"exclusiveMinimum": 0}));
        for (old, new, expected) in [
            (&list, &prefix, [Some(Draft::D2019), None]),
            (&prefix, &list, [None, Some(Draft::D2019)]),
            (&flag, &number, [Some(Draft::D4), None]),
            (&list, &json!({"const": {"prefixItems": 1}}), [Some(Draft::D7); 2]),
        ] {
            let mut forest = Forest::default();
            let mut parts = [forest.add(old), forest.add(new)];
            assert_eq!(assume_draft(&mut forest, &mut parts), expected, "{old} {new}");
        }
    }

    #[test]
    fn latest_draft_is_named_by_its_own_uri() {
        let mut forest = Forest::default();
        let schema = json!({"$schema": "https://json-schema.org/schema", "minimum": 1});
        let mut parts = [forest.add(&schema), forest.add(&json!({"minimum": 1}))];
        assert_eq!(assume_draft(&mut forest, &mut parts), [None; 2]);
        let named = parts.map(|part| forest.tree(part).get("$schema").and_then(Tree::as_str).map(str::to_owned));
        assert_eq!(named, [Some(Draft::D2020.uri().to_owned()), None]);
    }
}
