//! Infers a JSON Schema from samples: types, properties that all objects have, and items. It does not guess formats,
//! bounds or enumerations, which people can add.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::json::is_whole;

/// The maximum number of named properties of an object. Objects with more are treated as maps.
const MAX_PROPERTIES: usize = 500;
/// The dialect of the schema.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Returns a schema that all these values satisfy.
pub fn infer<'a>(samples: impl IntoIterator<Item = &'a Value>) -> Value {
    let mut shape = Shape::default();
    samples.into_iter().for_each(|sample| shape.add(sample));
    let mut schema = Map::from_iter([("$schema".to_owned(), json!(DIALECT))]);
    schema.extend(shape.schema());
    Value::Object(schema)
}

/// The values at one place of the samples.
#[derive(Debug, Default)]
struct Shape {
    null: bool,
    boolean: bool,
    integer: bool,
    number: bool,
    string: bool,
    items: Option<Box<Shape>>,
    members: Option<Members>,
}

#[derive(Debug, Default)]
struct Members {
    objects: usize,
    /// For each property, the number of samples that have it, and its values.
    properties: BTreeMap<String, (usize, Shape)>,
    /// The values of all properties, if there are too many to name.
    any: Option<Box<Shape>>,
}

impl Shape {
    fn add(&mut self, value: &Value) {
        match value {
            Value::Null => self.null = true,
            Value::Bool(_) => self.boolean = true,
            Value::Number(number) if is_whole(number) => self.integer = true,
            Value::Number(_) => self.number = true,
            Value::String(_) => self.string = true,
            Value::Array(items) => {
                let shape = self.items.get_or_insert_default();
                items.iter().for_each(|item| shape.add(item));
            }
            Value::Object(object) => self.members.get_or_insert_default().add(object),
        }
    }

    fn schema(self) -> Map<String, Value> {
        let seen = [
            (self.null, "null"),
            (self.boolean, "boolean"),
            (self.integer && !self.number, "integer"),
            (self.number, "number"),
            (self.string, "string"),
            (self.items.is_some(), "array"),
            (self.members.is_some(), "object"),
        ];
        let types: Vec<_> = seen.into_iter().filter(|(seen, _)| *seen).map(|(_, name)| name).collect();
        let mut schema = Map::new();
        match types[..] {
            [] => {}
            [one] => drop(schema.insert("type".into(), json!(one))),
            _ => drop(schema.insert("type".into(), json!(types))),
        }
        if let Some(items) = self.items.map(|items| items.schema()).filter(|items| !items.is_empty()) {
            schema.insert("items".into(), Value::Object(items));
        }
        if let Some(members) = self.members {
            members.describe(&mut schema);
        }
        schema
    }
}

impl Members {
    fn add(&mut self, object: &Map<String, Value>) {
        self.objects += 1;
        for (name, value) in object {
            if let Some(any) = &mut self.any {
                any.add(value);
                continue;
            }
            let (count, shape) = self.properties.entry(name.clone()).or_default();
            *count += 1;
            shape.add(value);
        }
        self.bound();
    }

    /// Switches from named properties to a map if there are too many.
    fn bound(&mut self) {
        if self.any.is_some() || self.properties.len() > MAX_PROPERTIES {
            let any = self.any.get_or_insert_default();
            std::mem::take(&mut self.properties).into_values().for_each(|(_, shape)| any.merge(shape));
        }
    }

    fn describe(self, schema: &mut Map<String, Value>) {
        if let Some(any) = self.any {
            schema.insert("additionalProperties".into(), Value::Object(any.schema()));
            return;
        }
        let objects = self.objects;
        let always = self.properties.iter().filter(|(_, (count, _))| *count == objects);
        let required: Vec<_> = always.map(|(name, _)| name.clone()).collect();
        if !required.is_empty() {
            schema.insert("required".into(), json!(required));
        }
        let properties: Map<_, _> =
            self.properties.into_iter().map(|(name, (_, shape))| (name, Value::Object(shape.schema()))).collect();
        if !properties.is_empty() {
            schema.insert("properties".into(), Value::Object(properties));
        }
    }

    fn merge(&mut self, other: Self) {
        self.objects += other.objects;
        for (name, (count, shape)) in other.properties {
            let own = self.properties.entry(name).or_default();
            own.0 += count;
            own.1.merge(shape);
        }
        if let Some(any) = other.any {
            self.any.get_or_insert_default().merge(*any);
        }
        self.bound();
    }
}

impl Shape {
    fn merge(&mut self, other: Self) {
        self.null |= other.null;
        self.boolean |= other.boolean;
        self.integer |= other.integer;
        self.number |= other.number;
        self.string |= other.string;
        if let Some(items) = other.items {
            self.items.get_or_insert_default().merge(*items);
        }
        if let Some(members) = other.members {
            self.members.get_or_insert_default().merge(members);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::{Budget, problems};
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
                "$schema": DIALECT,
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

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-9i64..9).prop_map(Value::from),
            (-9.0..9.0).prop_map(Value::from),
            "[a-c]{0,2}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-c]", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_sample_satisfies_the_schema(samples in prop::collection::vec(value(), 1..5)) {
            let schema = infer(&samples);
            for sample in &samples {
                let found = problems(&schema, sample, &Budget::default());
                prop_assert!(found.is_empty(), "{schema} {sample} {found:?}");
            }
        }
    }
}
