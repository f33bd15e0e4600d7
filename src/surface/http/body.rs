//! Reads the body of a request: it is limited in size and time, and must be JSON if it carries arguments.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::{
    HeaderMap,
    body::{Body as _, Incoming},
    header::{CONTENT_ENCODING, CONTENT_TYPE},
};
use serde_json::{Map, Value};

use crate::{
    error::{ErrorCode, OpError},
    model::{json::Members, text},
};

/// The maximum size of a request body, in bytes.
pub const MAX: usize = 1 << 20;
/// The maximum time to wait for a body.
const TIME: Duration = Duration::from_secs(10);

/// Returns the whole body.
///
/// # Errors
/// Returns an error if the body is too large, takes too long, or ends early.
pub async fn whole(body: Incoming) -> Result<Bytes, OpError> {
    let too_large = || OpError::usage(format!("a request may have at most {MAX} bytes")).coded(ErrorCode::TooLarge);
    // A body whose `Content-Length` is too large is not read at all.
    if body.size_hint().lower() > MAX as u64 {
        return Err(too_large());
    }
    match tokio::time::timeout(TIME, Limited::new(body, MAX).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(OpError::usage("the body is incomplete")),
        Err(_) => {
            Err(OpError::usage(format!("the body took longer than {}", text::seconds(TIME))).coded(ErrorCode::Timeout))
        }
    }
}

/// Parses a body as a JSON object. An empty body is an empty object.
///
/// # Errors
/// Returns an error if the body is not a JSON object.
pub fn object(headers: &HeaderMap, body: &[u8]) -> Result<Map<String, Value>, OpError> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    // This also refuses HTML forms of other sites, which cannot send this content type.
    if !kind.eq_ignore_ascii_case("application/json") || headers.contains_key(CONTENT_ENCODING) {
        return Err(
            OpError::usage("the body must be plain JSON: Content-Type: application/json").coded(ErrorCode::WrongType)
        );
    }
    let is_object = body.trim_ascii_start().starts_with(b"{");
    serde_json::from_slice(body).map(|Members(object)| object).map_err(|error| {
        OpError::usage(match error.is_data() {
            true if !is_object => "the body is JSON, but not an object".to_owned(),
            true => format!("the body is not accepted: {error}"),
            false => format!("the body is not JSON: {error}"),
        })
    })
}
