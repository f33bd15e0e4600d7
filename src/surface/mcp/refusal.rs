//! Converts failures into errors for clients.

use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock},
};
use serde_json::Value;

use super::{body::to_string, steps::FollowUp};
use crate::{
    error::{ErrorCode, OpError},
    surface::escape::escape_in_json,
    wire::Failure,
};

/// Converts a failure of a call into the result of a tool, with its cause and the next steps for the model.
pub fn failed(error: &OpError, follow_up: &FollowUp) -> CallToolResult {
    let mut error = error.clone();
    error.message = error.message.chars().take(4_000).collect();
    error.problems.truncate(20);
    let mut failure = serde_json::json!(Failure::from(&error));
    failure["next_steps"] = steps(&error, follow_up);
    let text = escape_in_json(&to_string(&failure));
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn steps(error: &OpError, follow_up: &FollowUp) -> Value {
    error.next_steps.iter().filter_map(|step| follow_up.rewrite(step)).map(|step| serde_json::json!(step)).collect()
}

/// Converts a failure into a protocol error, for requests whose result cannot carry one.
pub fn refused(error: &OpError) -> ErrorData {
    refused_call(error, &FollowUp::default())
}

/// Converts a failure into a protocol error with the next steps for the project that the request named.
pub fn refused_call(error: &OpError, follow_up: &FollowUp) -> ErrorData {
    let message: String = error.message.chars().take(2_000).collect();
    let data = serde_json::json!({"code": error.code.as_str(), "next_steps": steps(error, follow_up)});
    match error.code {
        ErrorCode::UnknownResource
        | ErrorCode::UnknownContract
        | ErrorCode::UnknownDomain
        | ErrorCode::UnknownVersion => ErrorData::resource_not_found(message, Some(data)),
        _ => ErrorData::invalid_params(message, Some(data)),
    }
}

/// Converts a failure about a resource into a protocol error that contains its URI.
pub fn refused_uri(error: &OpError, uri: &str) -> ErrorData {
    let mut refusal = refused(error);
    if let Some(Value::Object(data)) = &mut refusal.data {
        data.insert("uri".into(), uri.chars().take(2_000).collect::<String>().into());
    }
    refusal
}
