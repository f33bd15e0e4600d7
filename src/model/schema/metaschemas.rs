//! The meta-schemas of the drafts, which a schema can refer to although they are in no file.

use std::collections::{BTreeSet, HashSet};

use referencing::meta;
use serde_json::{Map, Value};

use super::{
    Draft, PartId, Tree,
    document::{Context, Document},
    official, uri,
};

/// Returns the schema together with the meta-schemas that it refers to, or `None` if it refers to none.
pub fn with_metaschemas(schema: Tree<'_>) -> Option<Value> {
    let mut named = BTreeSet::new();
    let outside = Context { base: String::new(), draft: Draft::D2020 };
    collect(schema, &outside, &mut named, &mut HashSet::new());
    named.retain(|to| official::draft_of(to).is_some());
    if named.is_empty() {
        return None;
    }
    let document = Document::new(schema);
    let missing = named.iter().filter(|to| document.resolve(to, "").is_err());
    let wanted: BTreeSet<Draft> = missing.filter_map(|to| official::draft_of(to)).collect();
    if wanted.is_empty() {
        return None;
    }
    let mut schema = schema.to_value();
    let all = wanted.into_iter().flat_map(documents).map(|document| (key(document), document.clone()));
    schema.as_object_mut()?.insert(official::MEMBER.to_owned(), Value::Object(all.collect::<Map<_, _>>()));
    Some(schema)
}

/// Collects the references that leave their resource, as absolute URIs.
fn collect(schema: Tree<'_>, outer: &Context, found: &mut BTreeSet<String>, seen: &mut HashSet<(PartId, String)>) {
    if !schema.has_references() || !seen.insert((schema.id(), outer.base.clone())) {
        return;
    }
    let context = outer.within(schema);
    let reference = schema.get("$ref").and_then(Tree::as_str).map(|to| uri::split(to).0);
    found.extend(reference.filter(|to| !to.is_empty()).map(|to| uri::join(&context.base, to)));
    schema.members().for_each(|(_, member)| collect(member, &context, found, seen));
    schema.items().for_each(|item| collect(item, &context, found, seen));
}

fn documents(draft: Draft) -> Vec<&'static Value> {
    match draft {
        Draft::D4 => vec![&**meta::DRAFT4],
        Draft::D6 => vec![&**meta::DRAFT6],
        Draft::D7 => vec![&**meta::DRAFT7],
        Draft::D2019 => vec![
            &**meta::DRAFT201909,
            &**meta::DRAFT201909_APPLICATOR,
            &**meta::DRAFT201909_CONTENT,
            &**meta::DRAFT201909_CORE,
            &**meta::DRAFT201909_FORMAT,
            &**meta::DRAFT201909_META_DATA,
            &**meta::DRAFT201909_VALIDATION,
        ],
        Draft::D2020 => vec![
            &**meta::DRAFT202012,
            &**meta::DRAFT202012_APPLICATOR,
            &**meta::DRAFT202012_CONTENT,
            &**meta::DRAFT202012_CORE,
            &**meta::DRAFT202012_FORMAT_ANNOTATION,
            &**meta::DRAFT202012_META_DATA,
            &**meta::DRAFT202012_UNEVALUATED,
            &**meta::DRAFT202012_VALIDATION,
        ],
    }
}

fn key(document: &Value) -> String {
    ["$id", "id"].iter().find_map(|id| document[*id].as_str()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::Forest;
    use serde_json::json;

    #[test]
    fn every_reference_of_a_metaschema_is_resolved() {
        for draft in Draft::ALL {
            let (forest, root) = Forest::of(&json!({"$schema": draft.uri(), "items": {"$ref": draft.uri()}}));
            let whole = with_metaschemas(forest.tree(root)).unwrap();
            let (forest, root) = Forest::of(&whole);
            assert_eq!(with_metaschemas(forest.tree(root)), None, "{draft}");
        }
    }

    #[test]
    fn only_schemas_that_refer_to_a_metaschema_are_extended() {
        for schema in [
            json!({"$ref": "#/definitions/http:~1~1json-schema.org~1draft-07~1schema", "definitions": {}}),
            json!({"enum": ["http://json-schema.org/draft-07/schema#"], "$ref": "https://example.com/draft-07/schema"}),
            json!({"$ref": "http://json-schema.org/draft-07/schema#",
                "$defs": {"own": {"$id": "http://json-schema.org/draft-07/schema"}}}),
        ] {
            let (forest, root) = Forest::of(&schema);
            assert_eq!(with_metaschemas(forest.tree(root)), None, "{schema}");
        }
    }
}
