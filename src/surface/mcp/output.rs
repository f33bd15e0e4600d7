//! Generates the output schemas of tools: the names and types of an answer's own fields. The full schemas are in
//! `docs/schema/`, because a list of tools has no room for them.

use serde_json::{Map, Value, json};

use super::tools::Tool;

/// Fields of many answers, which the list of tools does not repeat for each tool.
const COMMON: [&str; 10] = [
    "status",
    "next_steps",
    "realm",
    "domain",
    "contract",
    "current_repo",
    "notifications",
    "bindings_changed",
    "total",
    "next_cursor",
];

/// Returns the output schema of a tool without the fields in [`COMMON`].
pub fn schema(tool: &Tool) -> Map<String, Value> {
    let whole = Value::from(tool.operation.schema());
    let mut properties = Map::new();
    let own = whole["properties"].as_object().into_iter().flatten();
    for (name, field) in own.filter(|(name, _)| !COMMON.contains(&name.as_str())) {
        properties.insert(name.clone(), typed(types(field, &whole["$defs"])));
    }
    Map::from_iter([("type".to_owned(), "object".into()), ("properties".to_owned(), properties.into())])
}

fn typed(mut types: Vec<String>) -> Value {
    match types.len() {
        0 => json!({}),
        1 => json!({"type": types.remove(0)}),
        // Some clients warn about `type` lists.
        _ => json!({"anyOf": types.iter().map(|one| json!({"type": one})).collect::<Vec<_>>()}),
    }
}

/// Returns the JSON types that a field may have; empty if it may have any.
fn types(field: &Value, definitions: &Value) -> Vec<String> {
    if let Some(name) = field["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return types(&definitions[name], definitions);
    }
    if let Some(options) = field["anyOf"].as_array().or_else(|| field["oneOf"].as_array()) {
        let mut all: Vec<_> = options.iter().flat_map(|option| types(option, definitions)).collect();
        all.sort();
        all.dedup();
        return all;
    }
    match &field["type"] {
        Value::String(one) => vec![one.clone()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ if field["const"].is_string() || field["enum"].is_array() => vec!["string".to_owned()],
        _ => Vec::new(),
    }
}
