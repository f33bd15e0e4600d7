//! Determines the dialect of a part of a document, and the resource that its references are resolved against.

use std::collections::HashMap;

use serde_json::Value;

use super::openapi;
use crate::model::{
    pointer::{escape, upwards},
    schema::Draft,
};

/// Returns the dialect of the part at a pointer: the `$schema` of the part, or of the closest part around it.
pub(super) fn dialect(document: &Value, pointer: &str) -> Option<Value> {
    let named = |at: &str| document.pointer(at)?.get("$schema").filter(|dialect| dialect.is_string());
    if openapi::has_own_schemas(document) {
        return named("").cloned();
    }
    let dialect = upwards(pointer).find_map(named).cloned().or_else(|| openapi::dialect(document, pointer))?;
    Some(openapi::without_extensions(dialect))
}

/// Returns the pointer to the innermost resource that contains the place at a pointer. References at that place are
/// resolved against it (JSON Schema 2020-12, section 8.2). If there is none, returns the pointer to the whole document.
pub(super) fn resource<'p>(document: &Value, pointer: &'p str) -> &'p str {
    let draft = dialect(document, pointer).and_then(|dialect| Draft::of(dialect.as_str()?)).unwrap_or(Draft::D2020);
    let is_resource = |at: &&str| document.pointer(at).is_some_and(|part| is_resource(part, draft));
    let has_none = openapi::has_own_schemas(document);
    upwards(pointer).find(is_resource).filter(|_| !has_none).unwrap_or_default()
}

fn is_resource(part: &Value, draft: Draft) -> bool {
    let id = part.get(draft.id()).and_then(Value::as_str);
    let hides_siblings = draft <= Draft::D7 && part.get("$ref").is_some_and(Value::is_string);
    !hides_siblings && id.is_some_and(|id| !id.is_empty() && !id.starts_with('#'))
}

/// Returns the URI of a resource.
pub(super) fn uri(resource: &Value) -> Option<&str> {
    let id = ["$id", "id"].into_iter().find_map(|keyword| resource.get(keyword)?.as_str())?;
    Some(id.trim_end_matches('#'))
}

/// Returns the pointer to the first schema with each URI or `#anchor`.
pub(super) fn names(document: &Value) -> HashMap<String, String> {
    let mut found = HashMap::new();
    collect(document, "", &mut found);
    found
}

fn collect(part: &Value, pointer: &str, found: &mut HashMap<String, String>) {
    match part {
        Value::Object(members) => {
            let word = |keyword: &str| members.get(keyword).and_then(Value::as_str);
            let anchor = word("$anchor").map(|anchor| format!("#{anchor}"));
            for name in word("$id").map(|id| id.trim_end_matches('#').to_owned()).into_iter().chain(anchor) {
                found.entry(name).or_insert_with(|| pointer.to_owned());
            }
            members.iter().for_each(|(key, value)| collect(value, &format!("{pointer}/{}", escape(key)), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| collect(item, &format!("{pointer}/{at}"), found));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::bundle::bundle;

    const D7: &str = "http://json-schema.org/draft-07/schema#";
    const D2020: &str = "https://json-schema.org/draft/2020-12/schema";

    fn part(document: &Value, pointer: &str) -> Result<Value, String> {
        let found = bundle("a.json", pointer, None, &mut |_| Ok(document.clone().into()));
        found.map(|bundle| bundle.schema.into()).map_err(|error| error.to_string())
    }

    #[test]
    fn dialect_of_a_part_is_the_closest_one() {
        let order = json!({"$schema": D7, "items": [{"type": "string"}], "properties": {"a": {}}});
        let api = |more: Value| {
            let mut api = json!({"openapi": "3.1.0", "components": {"schemas": {"Order": order, "Plain": {}}}});
            api.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
            api
        };
        let extended = json!({"jsonSchemaDialect": "https://spec.openapis.org/oas/3.1/dialect/base"});
        for (document, name, wanted) in [
            (api(json!({})), "Order", json!(D7)),
            (api(json!({})), "Order/properties/a", json!(D7)),
            (api(json!({})), "Plain", Value::Null),
            (api(json!({"jsonSchemaDialect": D7})), "Plain", json!(D7)),
            (api(json!({"jsonSchemaDialect": D2020})), "Order", json!(D7)),
            (api(extended), "Plain", json!(D2020)),
            (api(json!({"$schema": D2020})), "Order", json!(D7)),
            (api(json!({"$schema": D2020, "jsonSchemaDialect": D7})), "Plain", json!(D2020)),
            (api(json!({"openapi": "3.0.3", "jsonSchemaDialect": D7})), "Order", Value::Null),
        ] {
            let found = part(&document, &format!("/components/schemas/{name}")).unwrap();
            assert_eq!(found["$schema"], wanted, "{name} {document}");
        }
        let document = api(json!({"x": {"$schema": D7, "not": {"$ref": "#/y"}}, "y": {}}));
        assert_eq!(part(&document, "/x").unwrap()["not"], json!({"$ref": "#/definitions/y"}));
        let other = api(json!({"x": {"$schema": "https://x.test/draft-01", "not": {"$ref": "#/y"}}, "y": {}}));
        assert_eq!(part(&other, "/x").unwrap()["not"], json!({"$ref": "#/$defs/y"}));
    }

    #[test]
    fn schemas_of_asyncapi_are_of_draft_07() {
        let message = |format: Value| json!({"schemaFormat": format, "payload": {"not": {"$ref": "#/Order"}}});
        let document = json!({
            "asyncapi": "2.6.0",
            "Order": {"format": "date"},
            "plain": message(Value::Null),
            "own": message(json!("application/vnd.aai.asyncapi+json;version=2.6.0")),
            "new": message(json!("application/schema+json;version=2020-12")),
            "other": message(json!("application/vnd.apache.avro;version=1.9.0")),
        });
        for (pointer, wanted) in [
            ("/Order", json!(D7)),
            ("/plain/payload", json!(D7)),
            ("/own/payload", json!(D7)),
            ("/new/payload/properties", json!(D2020)),
            ("/other/payload", Value::Null),
        ] {
            assert_eq!(dialect(&document, pointer).unwrap_or_default(), wanted, "{pointer}");
        }
        assert_eq!(part(&document, "/plain/payload").unwrap()["not"]["$ref"], "#/definitions/Order");
    }

    #[test]
    fn references_are_resolved_against_their_resource() {
        let text = json!({"type": "string"});
        let document = json!({
            "$defs": {
                "c": {"type": "integer"},
                "B": {
                    "$id": "https://x.test/b",
                    "allOf": [{"$ref": "#/$defs/c"}, {"$ref": "#"}, {"$ref": "#a"}, {"$ref": "https://x.test/b#/$defs/c"}],
                    "$defs": {"c": text, "d": {"$anchor": "a", "minimum": 1}}
                },
                "a": {"$anchor": "a", "minimum": 2},
                "lost": {"$id": "https://x.test/lost", "$ref": "#/$defs/c"},
                "named": {"$ref": "https://x.test/b"},
                "old": {"$schema": D7, "$id": "#old", "not": {"$ref": "#/$defs/c"}}
            }
        });
        let found = part(&document, "/$defs/B").unwrap();
        let at = |number: usize| {
            let to = found["allOf"][number]["$ref"].as_str().unwrap();
            found.pointer(&to[1..]).unwrap()
        };
        assert_eq!((at(0), at(3)), (&text, &text));
        assert_eq!(found["allOf"][1]["$ref"], "#");
        assert_eq!(at(2)["minimum"], 1);
        let found = part(&document, "/$defs/named").unwrap();
        assert_eq!(found["$defs"]["c"], text);
        assert!(part(&document, "/$defs/lost").unwrap_err().contains("a place that does not exist"));
        assert_eq!(part(&document, "/$defs/old").unwrap()["definitions"]["c"], json!({"type": "integer"}));
    }
}
