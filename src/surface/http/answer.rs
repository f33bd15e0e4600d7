//! Builds responses: answers as `--json` prints them, failures in the same shape, and the headers that keep a browser
//! from interpreting them as anything else.

use std::io::Write as _;

use super::{Body, status};
use crate::{
    error::{ErrorCode, OpError},
    model::{hash, name::RealmName},
    surface::cli,
    wire::{AnyAnswer, Failure},
};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    HeaderMap, Response, StatusCode,
    header::{
        ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
        HeaderName, HeaderValue, IF_NONE_MATCH, REFERRER_POLICY, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
        X_CONTENT_TYPE_OPTIONS,
    },
};

/// The content type of every answer except pages.
pub const JSON: &str = "application/json";

/// A Content-Security-Policy that allows only the daemon's own files and nothing inline, so that text in contracts
/// stays text.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A response before the headers of every response are added.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The HTTP status code.
    pub status: StatusCode,
    /// The content type.
    pub kind: &'static str,
    pub body: Bytes,
    /// Headers specific to this response.
    pub headers: HeaderMap,
}

impl Reply {
    /// Creates a response with the status 200.
    pub fn new(kind: &'static str, body: impl Into<Bytes>) -> Self {
        Self { status: StatusCode::OK, kind, body: body.into(), headers: HeaderMap::new() }
    }

    /// Creates the response for the answer of an operation.
    pub fn of(answer: &dyn AnyAnswer) -> Self {
        Self::in_realm(answer, None)
    }

    /// Creates the response for the answer of an operation, with next steps that name `realm`.
    pub fn in_realm(answer: &dyn AnyAnswer, realm: Option<&RealmName>) -> Self {
        Self::new(JSON, cli::json_of(answer, realm))
    }

    /// Creates the response for a failure.
    pub fn failure(error: &OpError) -> Self {
        let status = status::of(error);
        let reply = Self { status, ..Self::new(JSON, cli::json(&Failure::from(error))) };
        match status {
            StatusCode::SERVICE_UNAVAILABLE => reply.with(RETRY_AFTER, HeaderValue::from_static("1")),
            _ => reply.with_www_authenticate(),
        }
    }

    /// Adds a `WWW-Authenticate` header if the status is 401.
    #[must_use]
    pub fn with_www_authenticate(self) -> Self {
        match self.status {
            StatusCode::UNAUTHORIZED => self.with(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
            _ => self,
        }
    }

    /// Creates the failure for a method that the path does not have.
    pub fn wrong_method(allowed: &str) -> Self {
        let error = OpError::usage(format!("the allowed methods are {allowed}")).coded(ErrorCode::WrongMethod);
        let allow = HeaderValue::from_str(allowed).unwrap_or(HeaderValue::from_static(""));
        Self::failure(&error).with(ALLOW, allow)
    }

    /// Adds a header.
    #[must_use]
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Converts it into a response.
    pub fn finish(self) -> Response<Body> {
        let mut response = Response::new(Full::new(self.body).boxed());
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.extend(self.headers);
        add_security_headers(headers);
        response
    }
}

/// Adds the headers of every response.
pub fn add_security_headers(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
}

impl From<Result<Reply, OpError>> for Reply {
    fn from(result: Result<Reply, OpError>) -> Self {
        result.unwrap_or_else(|error| Self::failure(&error))
    }
}

/// A response with an `ETag`. It is not sent again to clients that have it, and it is compressed for clients that
/// accept that.
#[derive(Debug)]
pub struct Tagged {
    reply: Reply,
    tag: String,
}

/// Smaller bodies are not compressed, since it saves nothing.
const MIN_GZIP_BYTES: usize = 1_024;

impl Tagged {
    /// Adds a tag, which is a hash of the body.
    pub fn new(reply: Reply) -> Self {
        let mut tag = hash::of_text(&reply.body);
        tag.truncate(20);
        Self { reply, tag }
    }

    /// Converts it into a response without the tag.
    pub fn without_etag(self) -> Response<Body> {
        self.reply.finish()
    }

    /// Converts it into a response to a request with these headers.
    pub fn finish(self, asked: &HeaderMap) -> Response<Body> {
        let is_known = self.is_known(asked);
        let is_gzipped = takes_gzip(asked) && self.reply.body.len() >= MIN_GZIP_BYTES;
        let tag = format!("\"{}{}\"", self.tag, if is_gzipped { "-gzip" } else { "" });
        let header = |text: &str| HeaderValue::from_str(text).unwrap_or_else(|_| unreachable!("it is ASCII"));
        let reply = self.reply.with(ETAG, header(&tag)).with(VARY, HeaderValue::from_static("accept-encoding"));
        if is_known {
            let mut response = Reply { status: StatusCode::NOT_MODIFIED, body: Bytes::new(), ..reply }.finish();
            response.headers_mut().remove(CONTENT_TYPE);
            return response;
        }
        match is_gzipped.then(|| gzip(&reply.body)) {
            Some(body) => Reply { body, ..reply }.with(CONTENT_ENCODING, HeaderValue::from_static("gzip")).finish(),
            None => reply.finish(),
        }
    }

    /// Returns whether the client already has this response, in any compression.
    fn is_known(&self, asked: &HeaderMap) -> bool {
        let all = asked.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
        let mut tags = all.flat_map(|value| value.split(',')).map(str::trim);
        tags.any(|tag| {
            let tag = tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"');
            tag == "*" || tag.strip_suffix("-gzip").unwrap_or(tag) == self.tag
        })
    }
}

fn takes_gzip(asked: &HeaderMap) -> bool {
    let all = asked.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut codings = all.flat_map(|value| value.split(','));
    codings.any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let weight = parts.find_map(|part| part.strip_prefix("q="));
        is_gzip && weight.is_none_or(|weight| weight.parse::<f32>().is_ok_and(|weight| weight > 0.0))
    })
}

fn gzip(body: &[u8]) -> Bytes {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let packed = encoder.write_all(body).and_then(|()| encoder.finish());
    packed.unwrap_or_else(|error| unreachable!("memory takes it all: {error}")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn a_client_that_has_the_response_gets_304() {
        let kept = || Tagged::new(Reply::new(JSON, "x".repeat(2_000)));
        let tag = kept().finish(&HeaderMap::new()).headers()[ETAG].to_str().unwrap().to_owned();
        let packed = kept().finish(&asked(ACCEPT_ENCODING, "br, gzip"));
        assert_eq!(packed.headers()[CONTENT_ENCODING], "gzip");
        assert_eq!(packed.headers()[ETAG], format!("{}-gzip\"", tag.trim_end_matches('"')));
        for (sent, is_known) in [
            (tag.clone(), true),
            (format!("\"other\", W/{tag}"), true),
            (format!("{}-gzip\"", tag.trim_end_matches('"')), true),
            ("*".to_owned(), true),
            ("\"other\"".to_owned(), false),
            (String::new(), false),
        ] {
            let headers = HeaderMap::from_iter([(IF_NONE_MATCH, HeaderValue::from_str(&sent).unwrap())]);
            assert_eq!(kept().finish(&headers).status() == StatusCode::NOT_MODIFIED, is_known, "{sent}");
        }
    }

    #[test]
    fn responses_are_compressed_only_on_request_and_if_it_helps() {
        for (value, takes) in [("gzip", true), ("br;q=1, GZIP;q=0.5", true), ("gzip;q=0", false), ("br", false)] {
            assert_eq!(takes_gzip(&asked(ACCEPT_ENCODING, value)), takes, "{value}");
        }
        let short = Tagged::new(Reply::new(JSON, "{}")).finish(&asked(ACCEPT_ENCODING, "gzip"));
        assert!(!short.headers().contains_key(CONTENT_ENCODING));
    }
}
