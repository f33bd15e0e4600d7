//! Translates the schemas of OpenAPI 3.0 and 2.0 into JSON Schema. Since version 3.1, OpenAPI uses JSON Schema itself.
//! Custom resource definitions of Kubernetes use those of 3.0.

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

/// Translates one schema without its subschemas, as the OpenAPI Specification 3.0.3 defines them.
/// `flow` says whether it describes requests or responses.
pub(super) fn translate(schema: &mut Map<String, Value>, flow: Option<Flow>) {
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
    if let Some(flow) = flow {
        require_only_what_is_sent(schema, flow);
    }
}

/// Removes properties from `required` that are only sent the other way: `readOnly` ones from requests, and `writeOnly`
/// ones from responses.
fn require_only_what_is_sent(schema: &mut Map<String, Value>, flow: Flow) {
    let keyword = match flow {
        Flow::ConsumerToProvider => "readOnly",
        Flow::ProviderToConsumer => "writeOnly",
    };
    let Some(properties) = schema.get("properties").cloned() else { return };
    let is_sent = |name: &Value| name.as_str().is_none_or(|name| properties[name][keyword] != true);
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(is_sent);
        if required.is_empty() {
            schema.remove("required");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(mut schema: Value) -> Value {
        translate(schema.as_object_mut().unwrap(), None);
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
        let properties = json!({"id": {"readOnly": true}, "key": {"writeOnly": true}, "name": {}});
        let schema = json!({"properties": properties, "required": ["id", "key", "name", "other"]});
        for (flow, wanted) in [
            (Some(Flow::ProviderToConsumer), json!(["id", "name", "other"])),
            (Some(Flow::ConsumerToProvider), json!(["key", "name", "other"])),
            (None, schema["required"].clone()),
        ] {
            let mut translated = schema.clone();
            translate(translated.as_object_mut().unwrap(), flow);
            assert_eq!(translated["required"], wanted, "{flow:?}");
        }
        let mut only = json!({"properties": {"id": {"readOnly": true}}, "required": ["id"]});
        translate(only.as_object_mut().unwrap(), Some(Flow::ConsumerToProvider));
        assert_eq!(only, json!({"properties": {"id": {"readOnly": true}}}));
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
