//! Translates the schemas of OpenAPI 3.0 and 2.0 into JSON Schema. Since version 3.1, OpenAPI uses JSON Schema itself.
//! Custom resource definitions of Kubernetes use those of 3.0.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{NotSent, is_data};
use crate::model::{contract::Flow, pointer::upwards, schema::Draft};

/// The marks of properties that are only sent one way, and the words that list such properties in a bundle that both ways
/// may use.
pub(super) const MARKS: [(&str, &str); 2] = [("readOnly", "x-not-in-requests"), ("writeOnly", "x-not-in-responses")];

/// Returns the marks of the properties that are not sent in the direction `flow` or, if it is `None`, in one of the
/// two.
pub(super) fn marks(flow: Option<Flow>) -> &'static [&'static str] {
    match flow {
        Some(Flow::ConsumerToProvider) => &["readOnly"],
        Some(Flow::ProviderToConsumer) => &["writeOnly"],
        None => &["readOnly", "writeOnly"],
    }
}

/// Returns whether the schemas of a document are Schema Objects of OpenAPI 3.0 or 2.0.
pub(super) fn has_own_schemas(document: &Value) -> bool {
    let is = |word, version| self::version(document, word).is_some_and(|text| is_or_begins(&text, version));
    let is_resource = document.get("kind").is_some_and(|kind| kind == "CustomResourceDefinition");
    is("openapi", "3.0") || is("swagger", "2") || is_resource
}

/// Returns the version of a document, which in YAML is a number if it has one dot and no quotes.
fn version(document: &Value, word: &str) -> Option<String> {
    match document.get(word)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn is_or_begins(text: &str, version: &str) -> bool {
    text.strip_prefix(version).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns the default dialect of the schema at a pointer into a document of OpenAPI 3.1 or later, or AsyncAPI.
pub(super) fn dialect(document: &Value, pointer: &str) -> Option<Value> {
    if version(document, "asyncapi").is_some() {
        return Some(Value::from(draft_of_message(document, pointer)?.uri()));
    }
    version(document, "openapi")?;
    document.get("jsonSchemaDialect").filter(|dialect| dialect.is_string()).cloned()
}

/// Returns the draft of a schema in an AsyncAPI document. The message that it is in may name another one than draft-07.
fn draft_of_message(document: &Value, pointer: &str) -> Option<Draft> {
    let format = |at: &str| document.pointer(at)?.get("schemaFormat")?.as_str();
    match upwards(pointer).find_map(format) {
        None => Some(Draft::D7),
        Some(format) if format.contains("asyncapi") => Some(Draft::D7),
        Some(format) => Draft::ALL.into_iter().find(|draft| format.ends_with(&format!("version={draft}"))),
    }
}

/// Returns a dialect without the annotations that OpenAPI 3.1 adds to it.
pub(super) fn without_extensions(dialect: Value) -> Value {
    let is_extended = dialect.as_str().is_some_and(|uri| uri.starts_with("https://spec.openapis.org/oas/3."));
    if is_extended { Value::from(Draft::D2020.uri()) } else { dialect }
}

/// Translates one schema without its subschemas, as the OpenAPI Specification 3.0.3 defines them. The properties that are
/// `not_sent` are not required or, without a `flow`, listed.
pub(super) fn translate(schema: &mut Map<String, Value>, not_sent: &BTreeSet<NotSent>, flow: Option<Flow>) {
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
    for (mark, list) in MARKS {
        let Some(Value::Array(required)) = schema.get_mut("required") else { return };
        let is_sent = |name: &Value| name.as_str().is_none_or(|name| !not_sent.contains(&(mark, name.to_owned())));
        let (sent, only_other_way): (Vec<_>, Vec<_>) = required.iter().cloned().partition(is_sent);
        match flow {
            _ if only_other_way.is_empty() => {}
            None => drop(schema.insert(list.to_owned(), Value::from(only_other_way))),
            Some(_) if sent.is_empty() => drop(schema.remove("required")),
            Some(_) => *required = sent,
        }
    }
}

/// Changes a bundle that was made without a flow into one for values that are sent in one direction.
pub(super) fn sent(schema: &mut Value, flow: Flow) {
    match schema {
        Value::Object(members) => {
            for (mark, list) in MARKS {
                let Some(Value::Array(names)) = members.get(list).cloned() else { continue };
                members.remove(list);
                if marks(Some(flow)).contains(&mark)
                    && let Some(Value::Array(required)) = members.get_mut("required")
                {
                    required.retain(|name| !names.contains(name));
                }
            }
            members.iter_mut().filter(|(word, _)| !is_data(word)).for_each(|(_, part)| sent(part, flow));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| sent(item, flow)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(mut schema: Value) -> Value {
        translate(schema.as_object_mut().unwrap(), &BTreeSet::new(), None);
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
    fn properties_that_are_not_sent_are_not_required() {
        let mut schema = json!({"required": ["id", "name", "other"]});
        let names = BTreeSet::from([("readOnly", "id".to_owned())]);
        let flow = Some(Flow::ConsumerToProvider);
        translate(schema.as_object_mut().unwrap(), &names, flow);
        assert_eq!(schema, json!({"required": ["name", "other"]}));
        let mut only = json!({"required": ["id"]});
        translate(only.as_object_mut().unwrap(), &names, flow);
        assert_eq!(only, json!({}));
        let mut either = json!({"not": {"required": ["id", "name"]}});
        translate(either["not"].as_object_mut().unwrap(), &names, None);
        assert_eq!(either["not"], json!({"required": ["id", "name"], "x-not-in-requests": ["id"]}));
        for (flow, wanted) in
            [(Flow::ConsumerToProvider, json!(["name"])), (Flow::ProviderToConsumer, json!(["id", "name"]))]
        {
            let mut schema = either.clone();
            sent(&mut schema, flow);
            assert_eq!(schema, json!({"not": {"required": wanted}}));
        }
    }

    #[test]
    fn only_older_documents_are_translated() {
        let resource = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"});
        for document in [json!({"openapi": "3.0.3"}), json!({"swagger": "2.0"}), json!({"openapi": "3.0"}), resource] {
            assert!(has_own_schemas(&document), "{document}");
        }
        for document in [json!({"openapi": 3.0}), json!({"swagger": 2.0})] {
            assert!(has_own_schemas(&document), "a number: {document}");
        }
        for document in [
            json!({"openapi": "3.1.0"}),
            json!({"openapi": 3.1}),
            json!({"openapi": "3.01"}),
            json!({"openapi": 3}),
            json!({}),
            json!(true),
        ] {
            assert!(!has_own_schemas(&document), "{document}");
        }
    }
}
