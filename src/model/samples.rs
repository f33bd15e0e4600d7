//! Infers a JSON Schema from samples: types, properties that all objects have, and items. It does not guess formats,
//! bounds or enumerations, which people can add.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{json::is_whole, schema::Draft};

/// The maximum number of named properties of an object. Objects with more are treated as maps.
const MAX_PROPERTIES: usize = 500;

/// Returns a schema that all these values satisfy.
pub fn infer<'a>(samples: impl IntoIterator<Item = &'a Value>) -> Value {
    let samples: Vec<_> = samples.into_iter().collect();
    let mut schema = Map::from_iter([("$schema".to_owned(), json!(Draft::D2020.uri()))]);
    schema.extend(schema_of(&samples));
    Value::Object(schema)
}

/// Returns the schema of the values at one place of the samples.
fn schema_of(values: &[&Value]) -> Map<String, Value> {
    let mut schema = Map::new();
    if values.is_empty() {
        return schema;
    }
    match types(values)[..] {
        [one] => drop(schema.insert("type".into(), json!(one))),
        ref several => drop(schema.insert("type".into(), json!(several))),
    }
    let items: Vec<_> = values.iter().filter_map(|value| value.as_array()).flatten().collect();
    let of_items = schema_of(&items);
    if !of_items.is_empty() {
        schema.insert("items".into(), Value::Object(of_items));
    }
    let objects: Vec<_> = values.iter().filter_map(|value| value.as_object()).collect();
    describe(&objects, &mut schema);
    schema
}

/// Returns the types of the values.
fn types(values: &[&Value]) -> Vec<&'static str> {
    let has = |is: fn(&Value) -> bool| values.iter().any(|value| is(value));
    let has_fractions = has(|value| value.as_number().is_some_and(|number| !is_whole(number)));
    let seen = [
        (has(Value::is_null), "null"),
        (has(Value::is_boolean), "boolean"),
        (has(Value::is_number) && !has_fractions, "integer"),
        (has_fractions, "number"),
        (has(Value::is_string), "string"),
        (has(Value::is_array), "array"),
        (has(Value::is_object), "object"),
    ];
    seen.into_iter().filter(|(seen, _)| *seen).map(|(_, name)| name).collect()
}

/// Adds the keywords about the properties of these objects.
fn describe(objects: &[&Map<String, Value>], schema: &mut Map<String, Value>) {
    let mut properties: BTreeMap<&String, Vec<&Value>> = BTreeMap::new();
    for (name, value) in objects.iter().copied().flatten() {
        properties.entry(name).or_default().push(value);
    }
    if properties.len() > MAX_PROPERTIES {
        let all: Vec<_> = properties.into_values().flatten().collect();
        schema.insert("additionalProperties".into(), Value::Object(schema_of(&all)));
        return;
    }
    let always = properties.iter().filter(|(_, values)| values.len() == objects.len());
    let required: Vec<_> = always.map(|(name, _)| name).collect();
    if !required.is_empty() {
        schema.insert("required".into(), json!(required));
    }
    let named = properties.iter().map(|(name, values)| ((*name).clone(), Value::Object(schema_of(values))));
    let named: Map<_, _> = named.collect();
    if !named.is_empty() {
        schema.insert("properties".into(), Value::Object(named));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        json::tests::any_json,
        schema::{Budget, problems},
    };
    use proptest::prelude::*;

    #[test]
    fn infers_types_and_required_from_all_samples() {
        let samples = [
            json!({"id": 1, "price": 1, "tags": ["a", 1], "to": {"zip": "1"}, "note": null}),
            json!({"id": 2, "price": 1.5, "tags": [], "to": {"zip": "2", "city": "x"}, "note": "x"}),
            json!({"id": 3.0, "price": 2, "tags": [2]}),
        ];
        assert_eq!(
            infer(&samples),
            json!({
                "$schema": Draft::D2020.uri(),
                "type": "object",
                "required": ["id", "price", "tags"],
                "properties": {
                    "id": {"type": "integer"},
                    "note": {"type": ["null", "string"]},
                    "price": {"type": "number"},
                    "tags": {"type": "array", "items": {"type": ["integer", "string"]}},
                    "to": {
                        "type": "object",
                        "required": ["zip"],
                        "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}
                    }
                }
            })
        );
    }

    #[test]
    fn an_object_with_too_many_properties_is_a_map() {
        let many: Map<_, _> = (0..=MAX_PROPERTIES).map(|n| (format!("k{n}"), json!({"n": n}))).collect();
        let schema = infer(&[Value::Object(many)]);
        assert_eq!(schema["properties"], Value::Null);
        assert_eq!(schema["additionalProperties"]["properties"]["n"]["type"], "integer");
    }

    proptest! {
        #[test]
        fn every_sample_satisfies_the_schema(samples in prop::collection::vec(any_json(), 1..5)) {
            let schema = infer(&samples);
            for sample in &samples {
                let found = problems(&schema.clone().into(), &sample.clone().into(), &Budget::default());
                prop_assert!(found.is_empty(), "{schema} {sample} {found:?}");
            }
        }
    }
}
