//! A tool, as clients list it.

use std::sync::Arc;

use rmcp::model::ToolAnnotations;
use serde_json::{Map, Value};

use super::{
    super::{output, settings::Settings},
    Tool,
};
use crate::surface::arguments::schema;

/// Returns a tool as clients list it.
pub fn listed(tool: &Tool, settings: &Settings) -> rmcp::model::Tool {
    let writes = tool.operation.writes;
    // The other hints mean something only where something is written.
    let annotations = ToolAnnotations::new().read_only(!writes).open_world(false);
    let annotations = if writes { annotations.destructive(false) } else { annotations };
    rmcp::model::Tool::new(tool.name(), tool.about, Arc::new(brief(schema(tool.parameters(settings)))))
        .with_raw_output_schema(Arc::new(output::schema(tool)))
        .with_annotations(annotations)
}

/// Arguments of many tools whose names say what they are.
const PLAIN: [&str; 7] = ["contract", "cursor", "domain", "from_repo", "limit", "realm", "until"];

/// Leaves out what a list of tools has no room for: what a text may be, which a call that is refused says, and the
/// description of what is the same in many tools.
fn brief(mut schema: Map<String, Value>) -> Map<String, Value> {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        let Some(property) = property.as_object_mut() else { continue };
        if PLAIN.contains(&name.as_str()) {
            property.remove("description");
        }
        property.retain(|name, _| !["pattern", "maxLength", "anyOf"].contains(&name.as_str()));
        if let Some(items) = property.get_mut("items").and_then(Value::as_object_mut) {
            items.remove("pattern");
        }
    }
    schema
}
