//! Converts tools for `tools/list`.

use std::sync::Arc;

use rmcp::model::ToolAnnotations;
use serde_json::{Map, Value};

use super::{
    super::{output, settings::Settings},
    Tool, offered,
};
use crate::surface::arguments::schema;

/// Returns a tool for `tools/list`.
pub fn listed(tool: &Tool, settings: &Settings) -> rmcp::model::Tool {
    let writes = tool.operation.writes;
    // The other hints apply only to tools that write.
    let annotations = ToolAnnotations::new().read_only(!writes).open_world(tool.kind.asks_forges);
    let annotations = if writes { annotations.destructive(false) } else { annotations };
    let taken: Vec<_> = tool.parameters.iter().filter(|one| tool.lists(&one.name, settings)).cloned().collect();
    let is_first = |name: &str| {
        let takes = |other: &Tool| other.parameters.iter().any(|one| one.name == name);
        offered(settings).find(|other| takes(other)).is_some_and(|first| first.name() == tool.name())
    };
    let says = |name: &str| !PLAIN.contains(&name) && (!SHARED.contains(&name) || is_first(name));
    rmcp::model::Tool::new(tool.name(), tool.about, Arc::new(brief(schema(&taken), says, is_first)))
        .with_raw_output_schema(Arc::new(output::schema(tool)))
        .with_annotations(annotations)
}

/// Arguments with self-explanatory names.
const PLAIN: [&str; 16] = [
    "commit",
    "contract",
    "cursor",
    "domain",
    "from_repo",
    "kind",
    "limit",
    "new_version",
    "old_version",
    "other",
    "payload",
    "range",
    "realm",
    "state",
    "until",
    "version",
];
/// Arguments with the same meaning in every tool. They are described only in the first tool that takes them.
const SHARED: [&str; 7] = ["at", "cwd", "detail", "pointer", "rfc", "since", "worktree"];

/// If an argument has more words than this, they are listed only in the first tool that takes it.
const MANY_WORDS: usize = 8;

/// Shortens a schema, since the size of `tools/list` is limited. Removes constraints on strings and numbers, which the
/// error of a refused call repeats, and descriptions of defaults and of arguments for which `says` returns false.
fn brief(
    mut schema: Map<String, Value>,
    says: impl Fn(&str) -> bool,
    is_first: impl Fn(&str) -> bool,
) -> Map<String, Value> {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        let Some(property) = property.as_object_mut() else { continue };
        match property.get_mut("description") {
            // The text after the default only repeats the name.
            Some(Value::String(about)) if says(name) && !about.contains(" [default") => {}
            _ => drop(property.remove("description")),
        }
        property.retain(|name, _| !["pattern", "maxLength", "anyOf", "minimum"].contains(&name.as_str()));
        let has_many = property.get("enum").and_then(Value::as_array).is_some_and(|words| words.len() > MANY_WORDS);
        if has_many && !is_first(name) {
            property.remove("enum");
        }
        if let Some(items) = property.get_mut("items").and_then(Value::as_object_mut) {
            items.remove("pattern");
        }
    }
    schema
}
