//! A tool, as clients list it.

use std::sync::Arc;

use rmcp::model::ToolAnnotations;

use super::{
    super::{arguments::schema, output, settings::Settings},
    Tool,
};

/// Returns a tool as clients list it.
pub fn listed(tool: &Tool, settings: &Settings) -> rmcp::model::Tool {
    let writes = tool.operation.writes;
    // The other hints mean something only where something is written.
    let annotations = ToolAnnotations::new().read_only(!writes).open_world(false);
    let annotations = if writes { annotations.destructive(false) } else { annotations };
    rmcp::model::Tool::new(tool.name(), tool.about, Arc::new(schema(&tool.all_parameters(settings))))
        .with_raw_output_schema(Arc::new(output::schema(tool)))
        .with_annotations(annotations)
}
