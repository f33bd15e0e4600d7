//! Parses one line of input into a message or an error.

use std::fmt;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcError, JsonRpcMessage, RequestId};
use serde::{
    Deserialize, Deserializer as _,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::Value;

use crate::model::json::Members;

/// The maximum length of a line, in bytes.
pub const MAX_LINE: usize = 1 << 20;

/// The methods that the server answers.
const METHODS: [&str; 17] = [
    "completion/complete",
    "initialize",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "roots/list",
    "server/discover",
    "skills/get",
    "skills/list",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
];

/// The methods that the stateless protocol no longer has.
const GONE: [&str; 5] = ["initialize", "ping", "resources/subscribe", "resources/unsubscribe", "roots/list"];

/// A parsed line.
#[derive(Debug)]
pub enum Frame {
    /// A message of the protocol.
    Message(Box<ClientJsonRpcMessage>),
    /// An invalid message, with the error to send back.
    Wrong(JsonRpcError),
    /// An empty line, or a notification that the server does not know. It is not answered.
    Nothing,
}

/// A call of a tool. The library reads the last of several arguments with the same name; this refuses them.
#[derive(Deserialize)]
struct ToolCall {
    #[serde(rename = "params")]
    _params: ToolParams,
}

#[derive(Deserialize)]
struct ToolParams {
    #[serde(rename = "arguments", default)]
    _arguments: Option<Members>,
}

/// Parses a line without its line end.
pub fn read(line: &[u8]) -> Frame {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Frame::Nothing;
    }
    match serde_json::from_slice(line) {
        Ok(message) => known(message, line),
        Err(error) => wrong(line, &error),
    }
}

/// Returns the error for a line longer than [`MAX_LINE`], of which this is the beginning.
pub fn oversized(beginning: &[u8]) -> JsonRpcError {
    let message = format!("the line is longer than {MAX_LINE} bytes");
    JsonRpcError::new(id_in(beginning), ErrorData::new(ErrorCode::INVALID_REQUEST, message, None))
}

/// Returns the id in the beginning of a request whose rest cannot be parsed: without it, the client could not tell which of
/// its requests is answered.
fn id_in(beginning: &[u8]) -> Option<RequestId> {
    let mut found = FoundId(None);
    // The error is that of the rest.
    let _ = serde_json::Deserializer::from_slice(beginning).deserialize_map(&mut found);
    found.0
}

/// The id of a message, once the member after it was reached.
struct FoundId(Option<RequestId>);

impl<'de> Visitor<'de> for &mut FoundId {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut id = None;
        while let Some(name) = members.next_key::<String>()? {
            self.0 = id.take().or_else(|| self.0.take());
            if name == "id" {
                id = members.next_value::<Option<RequestId>>()?;
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Returns the error for a request that the stateless protocol no longer has.
pub fn removed_method_error(frame: &Frame, line: &[u8]) -> Option<JsonRpcError> {
    let (id, method) = match frame {
        Frame::Message(message) => match &**message {
            // An `initialize` request starts a handshake, whatever else it contains.
            JsonRpcMessage::Request(request) if !matches!(request.request, ClientRequest::InitializeRequest(_)) => {
                (request.id.clone(), request.request.method().to_owned())
            }
            _ => return None,
        },
        Frame::Wrong(error) => {
            let value: Value = serde_json::from_slice(line).ok()?;
            (error.id.clone()?, value["method"].as_str()?.to_owned())
        }
        Frame::Nothing => return None,
    };
    let is_gone = GONE.contains(&method.as_str());
    let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("{method} was removed in 2026-07-28"), None);
    is_gone.then(|| JsonRpcError::new(Some(id), error))
}

/// Returns an error for invalid parameters. The library treats a known request with such parameters as an unknown one.
fn known(message: ClientJsonRpcMessage, line: &[u8]) -> Frame {
    let JsonRpcMessage::Request(request) = &message else { return Frame::Message(Box::new(message)) };
    let problem = match &request.request {
        ClientRequest::CustomRequest(custom) if METHODS.contains(&custom.method.as_str()) => {
            Some(format!("the parameters of {:?} are invalid", custom.method))
        }
        ClientRequest::CallToolRequest(_) => serde_json::from_slice::<ToolCall>(line)
            .err()
            .map(|error| format!("the arguments are not accepted: {error}")),
        _ => None,
    };
    match problem {
        Some(problem) => {
            Frame::Wrong(JsonRpcError::new(Some(request.id.clone()), ErrorData::invalid_params(problem, None)))
        }
        None => Frame::Message(Box::new(message)),
    }
}

fn wrong(line: &[u8], error: &serde_json::Error) -> Frame {
    let refused = |id, code, message: String| Frame::Wrong(JsonRpcError::new(id, ErrorData::new(code, message, None)));
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return refused(id_in(line), ErrorCode::PARSE_ERROR, format!("not JSON: {error}"));
    };
    let invalid = |id, message: &str| refused(id, ErrorCode::INVALID_REQUEST, message.to_owned());
    let Value::Object(object) = value else {
        let message =
            if value.is_array() { "batches are not supported: send one message at a time" } else { "not an object" };
        return invalid(None, message);
    };
    let id: Option<RequestId> = object.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid(id, "jsonrpc must be \"2.0\"");
    }
    match (object.get("method"), object.contains_key("id")) {
        // Notifications are never answered, even if they are invalid.
        (Some(Value::String(_)), false) => Frame::Nothing,
        (Some(Value::String(method)), true) if id.is_some() => {
            let method: String = method.chars().take(100).collect();
            refused(id, ErrorCode::INVALID_PARAMS, format!("the parameters of {method:?} are invalid"))
        }
        (Some(Value::String(_)), true) => invalid(None, "id must be a string or a whole number"),
        (Some(_), _) => invalid(id, "method must be a string"),
        // An answer to a request that the server did not send.
        (None, _) if object.contains_key("result") || object.contains_key("error") => Frame::Nothing,
        (None, _) => invalid(id, "it has no method"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> String {
        match read(line.as_bytes()) {
            Frame::Message(message) => format!("{message:?}").split('(').next().unwrap_or_default().to_owned(),
            Frame::Wrong(error) => format!("{:?} {}", error.id.map(|id| id.to_string()), error.error.code.0),
            Frame::Nothing => "nothing".to_owned(),
        }
    }

    #[test]
    fn every_line_is_a_message_or_an_error() {
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "Request"),
            (r#"{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{}}"#, "Request"),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "Notification"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, "Request"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":3}}"#, "Some(\"1\") -32602"),
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}"#, "Some(\"7\") -32602"),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{"a":1,"b":{"c":1}}}}"#,
                "Request",
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{"a":1,"a":2}}}"#,
                "Some(\"7\") -32602",
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{"a":{"b":1,"b":1}}}}"#,
                "Some(\"7\") -32602",
            ),
            (r#"{"jsonrpc":"2.0","id":1"#, "None -32700"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a\ud83d"}}"#, "Some(\"1\") -32700"),
            (r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":1e400}}"#, "Some(\"a\") -32700"),
            (r#"{"jsonrpc":"2.0","method":"a\ud83d","id":1}"#, "None -32700"),
            ("hello", "None -32700"),
            ("\u{feff}  ", "nothing"),
            ("[]", "None -32600"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "None -32600"),
            ("3", "None -32600"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "Some(\"1\") -32600"),
            (r#"{"id":1,"method":"ping"}"#, "Some(\"1\") -32600"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "None -32600"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "None -32600"),
            (r#"{"jsonrpc":"2.0","id":1,"method":4}"#, "Some(\"1\") -32600"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "Some(\"1\") -32600"),
        ] {
            assert_eq!(told(line), expected, "{line}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_does_not_overflow() {
        let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}1"#, "[".repeat(100_000));
        assert_eq!(told(&deep), "Some(\"1\") -32700");
    }
}
