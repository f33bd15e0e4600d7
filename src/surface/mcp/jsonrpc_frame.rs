//! One line of input: a message, or what is wrong with it.

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcError, JsonRpcMessage, RequestId};
use serde_json::Value;

/// Longest line that is read.
pub const MAX_LINE: usize = 1 << 20;

/// The requests that are answered.
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

/// The requests among them that the stateless era has no more.
const GONE: [&str; 5] = ["initialize", "ping", "resources/subscribe", "resources/unsubscribe", "roots/list"];

/// What a line is.
#[derive(Debug)]
pub enum Frame {
    /// A message of the protocol.
    Message(Box<ClientJsonRpcMessage>),
    /// No message: whoever sent it is told why.
    Wrong(JsonRpcError),
    /// Nothing to answer: an empty line, or a notification that nobody here knows.
    Nothing,
}

/// Reads one line, without its line end.
pub fn read(line: &[u8]) -> Frame {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Frame::Nothing;
    }
    match serde_json::from_slice(line) {
        Ok(message) => known(message),
        Err(error) => wrong(line, &error),
    }
}

/// Returns the answer to a line that is longer than [`MAX_LINE`]: what it asked is not known.
pub fn oversized() -> JsonRpcError {
    let message = format!("the line is longer than {MAX_LINE} bytes");
    JsonRpcError::new(None, ErrorData::new(ErrorCode::INVALID_REQUEST, message, None))
}

/// Returns the answer to a request of an era with a handshake that the stateless one has no more.
pub fn gone(frame: &Frame, line: &[u8]) -> Option<JsonRpcError> {
    let (id, method) = match frame {
        Frame::Message(message) => match &**message {
            // A handshake is a handshake, whatever else says.
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
    let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("{method} is gone since 2026-07-28"), None);
    is_gone.then(|| JsonRpcError::new(Some(id), error))
}

/// The library takes a request whose parameters it cannot read for one that it does not know.
fn known(message: ClientJsonRpcMessage) -> Frame {
    if let JsonRpcMessage::Request(request) = &message
        && let ClientRequest::CustomRequest(custom) = &request.request
        && METHODS.contains(&custom.method.as_str())
    {
        let message = format!("the parameters of {:?} are not as they should be", custom.method);
        return Frame::Wrong(JsonRpcError::new(Some(request.id.clone()), ErrorData::invalid_params(message, None)));
    }
    Frame::Message(Box::new(message))
}

fn wrong(line: &[u8], error: &serde_json::Error) -> Frame {
    let refused = |id, code, message: String| Frame::Wrong(JsonRpcError::new(id, ErrorData::new(code, message, None)));
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return refused(None, ErrorCode::PARSE_ERROR, format!("not JSON: {error}"));
    };
    let invalid = |id, message: &str| refused(id, ErrorCode::INVALID_REQUEST, message.to_owned());
    let Value::Object(object) = value else {
        let message =
            if value.is_array() { "batches are not answered: send one message at a time" } else { "not an object" };
        return invalid(None, message);
    };
    let id: Option<RequestId> = object.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid(id, "jsonrpc must be \"2.0\"");
    }
    match (object.get("method"), object.contains_key("id")) {
        // A notification is never answered, whatever is wrong with it.
        (Some(Value::String(_)), false) => Frame::Nothing,
        (Some(Value::String(method)), true) if id.is_some() => {
            let method: String = method.chars().take(100).collect();
            refused(id, ErrorCode::INVALID_PARAMS, format!("the parameters of {method:?} are not as they should be"))
        }
        (Some(Value::String(_)), true) => invalid(None, "id must be a string or a whole number"),
        (Some(_), _) => invalid(id, "method must be a string"),
        // An answer to nothing that was asked here.
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
    fn every_line_is_a_message_or_says_what_is_wrong() {
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "Request"),
            (r#"{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{}}"#, "Request"),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "Notification"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, "Request"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":3}}"#, "Some(\"1\") -32602"),
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}"#, "Some(\"7\") -32602"),
            (r#"{"jsonrpc":"2.0","id":1"#, "None -32700"),
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
    fn deep_nesting_is_an_error_and_no_overflow() {
        let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}1"#, "[".repeat(100_000));
        assert_eq!(told(&deep), "None -32700");
    }
}
