//! The tools for contracts, where they do more than call their operations.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::body::{self, Body},
    Call,
};
use crate::error::OpError;

/// The part of a contract to return.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Part {
    /// JSON pointer: only this part, e.g. /schema/properties
    pointer: Option<String>,
    /// next_offset of a long part
    #[schemars(range(min = 1))]
    offset: Option<usize>,
}

pub fn get(call: &Call<'_>) -> Result<Body, OpError> {
    let mut body = call.ask(call.arguments.fields())?;
    let Part { pointer, offset } = call.arguments.read_as()?;
    if let Some(pointer) = pointer {
        body::only_at(&mut body, "contract", &pointer, offset)?;
    } else if offset.is_some() {
        return Err(OpError::usage("offset is a position in a text: it needs pointer"));
    } else if !call.is_full() {
        body::without_empty(
            &mut body,
            "contract",
            &["validation", "supported", "deprecated", "retired", "yanked", "description"],
        );
        if let Some(contract) = body.fields.get_mut("contract").and_then(serde_json::Value::as_object_mut) {
            contract.remove("content_hash");
            contract.remove("schema_hash");
        }
    }
    Ok(body)
}
