//! The part of an agreed value that an import relies on, as named by the schema that it `expects`.

use serde_json::{Map, Value};

use crate::model::schema::words::DESCRIPTIVE;

/// If a schema has no keywords other than these and descriptive ones, `properties` and `items` describe its objects and
/// arrays completely.
const PLAIN: [&str; 4] = ["type", "required", "properties", "items"];

/// Returns a value without the properties that a schema does not name. If the schema has keywords other than
/// `PLAIN` and descriptive ones, returns the whole value.
pub fn part(schema: &Value, value: &Value) -> Value {
    let Some(keywords) = schema.as_object() else { return value.clone() };
    if !keywords.keys().all(|keyword| PLAIN.contains(&&**keyword) || DESCRIPTIVE.contains(&&**keyword)) {
        return value.clone();
    }
    match (value, keywords.get("properties"), keywords.get("items")) {
        (Value::Object(members), Some(Value::Object(named)), _) => {
            Value::Object(named_members(keywords, named, members))
        }
        (Value::Array(list), _, Some(items)) if !items.is_array() => {
            list.iter().map(|item| part(items, item)).collect()
        }
        _ => value.clone(),
    }
}

fn named_members(
    keywords: &Map<String, Value>,
    named: &Map<String, Value>,
    members: &Map<String, Value>,
) -> Map<String, Value> {
    let required = keywords.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: Vec<_> = required.filter_map(Value::as_str).collect();
    let of_member = |(name, member): (&String, &Value)| match named.get(name) {
        Some(schema) => Some((name.clone(), part(schema, member))),
        None => required.contains(&&**name).then(|| (name.clone(), member.clone())),
    };
    members.iter().filter_map(of_member).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unnamed_properties_are_left_out_unless_the_schema_has_other_keywords() {
        let value = json!({"a": 1, "b": [{"c": 2, "d": 3}], "e": {"f": 4}, "g": 5});
        for (schema, expected) in [
            (json!({}), value.clone()),
            (json!(true), value.clone()),
            (json!({"type": "object"}), value.clone()),
            (json!({"properties": {"a": {}}}), json!({"a": 1})),
            (json!({"properties": {"a": {}}, "required": ["g"]}), json!({"a": 1, "g": 5})),
            (
                json!({"properties": {"b": {"type": "array", "items": {"properties": {"c": {}}}}, "e": {}}}),
                json!({"b": [{"c": 2}], "e": {"f": 4}}),
            ),
            (json!({"properties": {"a": {}}, "$ref": "#/$defs/A"}), value.clone()),
            (json!({"properties": {"e": {"patternProperties": {}}}}), json!({"e": {"f": 4}})),
        ] {
            assert_eq!(part(&schema, &value), expected, "{schema}");
        }
    }
}
