//! What goes out: answers as `--json` prints them, failures in the same shape, and on each the headers
//! that tell a browser not to take it for anything else.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    HeaderMap, Response, StatusCode,
    header::{
        ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
        RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
    },
};
use serde::Serialize;

use super::Body;
use crate::{
    error::OpError,
    surface::cli,
    wire::{Answer, Failure},
};

/// JSON, as all answers but the page's are.
pub const JSON: &str = "application/json";

/// Nothing but our own files, and nothing inline: what a contract says is text and stays text.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What is answered.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Whether it went well.
    pub status: StatusCode,
    /// What the body is.
    pub kind: &'static str,
    /// The body.
    pub body: Bytes,
    /// Headers of this answer alone.
    pub headers: HeaderMap,
}

impl Reply {
    /// Returns a success.
    pub fn new(kind: &'static str, body: impl Into<Bytes>) -> Self {
        Self { status: StatusCode::OK, kind, body: body.into(), headers: HeaderMap::new() }
    }

    /// Returns an operation's answer.
    pub fn of<T: Serialize>(answer: &Answer<T>) -> Self {
        Self::new(JSON, cli::json(answer))
    }

    /// Returns a failure.
    pub fn failure(error: &OpError) -> Self {
        let status = StatusCode::from_u16(error.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let reply = Self { status, ..Self::new(JSON, cli::json(&Failure::from(error))) };
        match status {
            StatusCode::UNAUTHORIZED => reply.with(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
            StatusCode::SERVICE_UNAVAILABLE => reply.with(RETRY_AFTER, HeaderValue::from_static("1")),
            _ => reply,
        }
    }

    /// Returns the failure of a method that is not for this path.
    pub fn wrong_method(allowed: &str) -> Self {
        let error = OpError::usage(format!("this takes {allowed}")).coded("wrong-method");
        let allow = HeaderValue::from_str(allowed).unwrap_or(HeaderValue::from_static(""));
        Self::failure(&error).with(ALLOW, allow)
    }

    /// Adds a header.
    #[must_use]
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Returns it as it goes out.
    pub fn finish(self) -> Response<Body> {
        let mut response = Response::new(Full::new(self.body).boxed());
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.extend(self.headers);
        guard(headers);
        response
    }
}

/// Adds what every answer carries.
pub fn guard(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
}

impl From<Result<Reply, OpError>> for Reply {
    fn from(result: Result<Reply, OpError>) -> Self {
        result.unwrap_or_else(|error| Self::failure(&error))
    }
}
