//! Translates the schemas of OpenAPI 3.0 and 2.0 into JSON Schema. Since version 3.1, OpenAPI uses JSON Schema itself.
//! Custom resource definitions of Kubernetes use those of 3.0.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::model::{contract::Flow, schema::Draft};

/// Returns whether the schemas of a document are Schema Objects of OpenAPI 3.0 or 2.0.
pub(super) fn has_own_schemas(document: &Value) -> bool {
    let is = |key, version| document.get(key).and_then(Value::as_str).is_some_and(|text| text.starts_with(version));
    is("openapi", "3.0.") || is("swagger", "2.") || is("kind", "CustomResourceDefinition")
}

/// Returns the default dialect of the schemas of a document of OpenAPI 3.1 or later.
pub(super) fn dialect(document: &Value) -> Option<&Value> {
    document.get("openapi").filter(|version| version.is_string())?;
    document.get("jsonSchemaDialect").filter(|dialect| dialect.is_string())
}

/// Returns a dialect without the annotations that OpenAPI 3.1 adds to it.
pub(super) fn without_extensions(dialect: &Value) -> Value {
    let is_extended = dialect.as_str().is_some_and(|uri| uri.starts_with("https://spec.openapis.org/oas/3."));
    if is_extended { Value::from(Draft::D2020.uri()) } else { dialect.clone() }
}

/// Translates one schema without its subschemas, as the OpenAPI Specification 3.0.3 defines them. The properties that are
/// `not_sent` are not required.
pub(super) fn translate(schema: &mut Map<String, Value>, not_sent: &BTreeSet<String>) {
    // Siblings of a reference are ignored.
    if matches!(schema.get("$ref"), Some(Value::String(_))) {
        schema.retain(|key, _| key == "$ref");
    }
    for (limit, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        let Some(Value::Bool(is_exclusive)) = schema.get(exclusive) else { continue };
        if *is_exclusive && let Some(limit) = schema.remove(limit) {
            schema.insert(exclusive.to_owned(), limit);
        } else {
            schema.remove(exclusive);
        }
    }
    // Without a type, `nullable` has no effect. It is left for the warning about it.
    match (schema.get("nullable"), schema.get("type")) {
        (Some(Value::Bool(true)), Some(Value::String(only))) => {
            let both = json!([only, "null"]);
            schema.insert("type".to_owned(), both);
            schema.remove("nullable");
        }
        (Some(Value::Bool(false)), _) => drop(schema.remove("nullable")),
        _ => {}
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| name.as_str().is_none_or(|name| !not_sent.contains(name)));
        if required.is_empty() {
            schema.remove("required");
        }
    }
}

/// Returns the properties of a schema that are only sent the other way: `readOnly` ones of requests, and `writeOnly` ones
/// of responses. The mark may be behind references within the document, and in any branch of `allOf`.
pub(super) fn not_sent(document: &Value, schema: &Map<String, Value>, flow: Flow) -> BTreeSet<String> {
    let mark = match flow {
        Flow::ConsumerToProvider => "readOnly",
        Flow::ProviderToConsumer => "writeOnly",
    };
    let mut search = Search { document, mark, seen: BTreeSet::new(), found: BTreeSet::new() };
    search.properties(schema);
    search.found
}

/// A search for properties with a mark.
struct Search<'a> {
    document: &'a Value,
    mark: &'static str,
    /// The references followed so far.
    seen: BTreeSet<&'a str>,
    found: BTreeSet<String>,
}

impl<'a> Search<'a> {
    fn properties(&mut self, schema: &'a Map<String, Value>) {
        if let Some(Value::String(reference)) = schema.get("$ref") {
            if let Some(target) = self.target(reference).filter(|_| self.seen.insert(reference)) {
                self.properties(target);
            }
            return;
        }
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if property.as_object().is_some_and(|property| self.is_marked(property, &mut BTreeSet::new())) {
                self.found.insert(name.clone());
            }
        }
        branches(schema).for_each(|branch| self.properties(branch));
    }

    fn is_marked(&self, property: &'a Map<String, Value>, seen: &mut BTreeSet<&'a str>) -> bool {
        // Siblings of a reference are ignored.
        if let Some(Value::String(reference)) = property.get("$ref") {
            let is_new = seen.insert(reference);
            return self.target(reference).is_some_and(|target| is_new && self.is_marked(target, seen));
        }
        property.get(self.mark) == Some(&Value::Bool(true))
            || branches(property).any(|branch| self.is_marked(branch, seen))
    }

    fn target(&self, reference: &str) -> Option<&'a Map<String, Value>> {
        self.document.pointer(reference.strip_prefix('#')?)?.as_object()
    }
}

fn branches(schema: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    schema.get("allOf").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(mut schema: Value) -> Value {
        translate(schema.as_object_mut().unwrap(), &BTreeSet::new());
        schema
    }

    #[test]
    fn schemas_of_openapi_3_0_become_json_schemas() {
        for (schema, wanted) in [
            (json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]})),
            (json!({"type": "string", "nullable": false}), json!({"type": "string"})),
            // The specification says that `nullable` needs a type, and that an `enum` must list null itself.
            (json!({"nullable": true}), json!({"nullable": true})),
            (
                json!({"type": "string", "nullable": true, "enum": ["a"]}),
                json!({"type": ["string", "null"], "enum": ["a"]}),
            ),
            (json!({"minimum": 0, "exclusiveMinimum": true}), json!({"exclusiveMinimum": 0})),
            (json!({"maximum": 9, "exclusiveMaximum": false}), json!({"maximum": 9})),
            (json!({"exclusiveMaximum": true}), json!({})),
            (json!({"$ref": "#/x", "nullable": true, "description": "no"}), json!({"$ref": "#/x"})),
            (json!({"exclusiveMinimum": 3}), json!({"exclusiveMinimum": 3})),
        ] {
            assert_eq!(translated(schema.clone()), wanted, "{schema}");
        }
    }

    #[test]
    fn properties_are_required_where_they_are_sent() {
        let names = json!({"id": {"readOnly": true}, "key": {"writeOnly": true}, "name": {}, "at": {"$ref": "#/time"}});
        let document = json!({
            "schema": {"properties": names, "allOf": [{"$ref": "#/base"}, {"allOf": [{"$ref": "#/base"}]}]},
            "time": {"allOf": [{"readOnly": true}, {"$ref": "#/time"}]},
            "base": {"properties": {"base": {"readOnly": true}}, "allOf": [{"$ref": "#/base"}]},
        });
        for (flow, wanted) in
            [(Flow::ProviderToConsumer, &["key"][..]), (Flow::ConsumerToProvider, &["at", "base", "id"])]
        {
            let found = not_sent(&document, document["schema"].as_object().unwrap(), flow);
            assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), wanted, "{flow:?}");
        }
        let mut schema = json!({"required": ["id", "name", "other"]});
        let names = BTreeSet::from(["id".to_owned()]);
        translate(schema.as_object_mut().unwrap(), &names);
        assert_eq!(schema, json!({"required": ["name", "other"]}));
        let mut only = json!({"required": ["id"]});
        translate(only.as_object_mut().unwrap(), &names);
        assert_eq!(only, json!({}));
    }

    #[test]
    fn only_older_documents_are_translated() {
        let resource = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"});
        for document in [json!({"openapi": "3.0.3"}), json!({"swagger": "2.0"}), resource] {
            assert!(has_own_schemas(&document), "{document}");
        }
        for document in [json!({"openapi": "3.1.0"}), json!({"openapi": 3}), json!({}), json!(true)] {
            assert!(!has_own_schemas(&document), "{document}");
        }
    }
}
