//! Sends requests to a forge over HTTP, with limits on time and size. It retries if the forge is busy, and respects
//! the forge's rate limits.

use std::{
    sync::{
        Arc, Mutex,
        atomic::AtomicBool,
        mpsc::{self, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use serde_json::Value;
use ureq::{
    Agent, AsSendBody, Body,
    http::{HeaderMap, Request, Response},
    tls::{RootCerts, TlsConfig},
};

use super::{
    ForgeError, Listed, Secret, bounded,
    deadline::Deadline,
    is_private,
    pages::{self, NextPage},
    redirect,
};

/// The size limit of one response, in bytes.
const MAX_ANSWER: u64 = 8 << 20;
/// The maximum number of pages of one list.
const MAX_PAGES: usize = 10;
/// The maximum number of pages to read when searching a list for an item that must be unique.
const MAX_SEARCHED_PAGES: usize = 100;
/// The interval at which cancellation is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The maximum number of attempts.
const TRIES: u32 = 4;
/// The maximum number of redirects of one request.
const MAX_REDIRECTS: usize = 3;
/// The default limit on how long one command waits for a forge in total.
pub const LIMIT: Duration = Duration::from_secs(20);

/// A client for one forge. All threads that use the forge share it, so that they also share its waiting times.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    base: String,
    host: String,
    headers: Vec<(&'static str, String)>,
    secret: Option<Secret>,
    /// The remaining time.
    deadline: Deadline,
    /// The time until which the forge asked to receive no further requests.
    pause: Mutex<Option<Instant>>,
    /// The first wait between two attempts.
    step: Duration,
}

impl Client {
    /// Creates a client for the API at `base`. A secret is only sent there, and without TLS only to this machine.
    ///
    /// # Errors
    /// Returns an error if `base` is neither https nor on this machine.
    pub fn new(host: &str, base: &str, secret: Option<Secret>) -> Result<Self, String> {
        if !is_private(base) {
            return Err(format!("{base:?} is not https, and tokens are only sent encrypted"));
        }
        Ok(Self {
            agent: agent(),
            base: base.trim_end_matches('/').to_owned(),
            host: host.to_owned(),
            headers: Vec::new(),
            secret,
            deadline: Deadline::new(LIMIT),
            pause: Mutex::new(None),
            step: Duration::from_millis(250),
        })
    }

    /// Adds a header to every request.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Limits how long one command waits for this forge in total.
    #[must_use]
    pub fn with_limit(self, limit: Duration) -> Self {
        Self { deadline: Deadline::new(limit), ..self }
    }

    /// Stops waiting once `flag` is set.
    #[must_use]
    pub fn cancelled_by(self, flag: Arc<AtomicBool>) -> Self {
        Self { deadline: self.deadline.cancelled_by(flag), ..self }
    }

    /// Starts the time limit again for another repository, unless the forge did not answer within it.
    pub fn renew_time(&self) {
        if self.deadline.left().is_some() {
            self.deadline.restart();
        }
    }

    /// Returns the host of the forge.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Requests a document.
    ///
    /// # Errors
    /// Returns an error if the request fails.
    pub fn get(&self, path: &str) -> Result<Value, ForgeError> {
        self.ask("GET", &format!("{}{path}", self.base), None).map(|(body, _)| body)
    }

    /// Deletes the resource at a path.
    ///
    /// # Errors
    /// Returns an error if the forge refuses.
    pub fn delete(&self, path: &str) -> Result<(), ForgeError> {
        self.ask("DELETE", &format!("{}{path}", self.base), None).map(drop)
    }

    /// Requests the pages of a list, up to a limit. `items` extracts the list from a page.
    ///
    /// # Errors
    /// Returns an error if a request fails.
    pub fn list(&self, path: &str, items: impl Fn(&Value) -> Option<&Vec<Value>>) -> Result<Vec<Value>, ForgeError> {
        self.pages(path, MAX_PAGES, items).map(|listed| listed.entries)
    }

    /// Requests the pages of a list, to search it for an item that must be unique.
    ///
    /// # Errors
    /// Returns an error if a request fails.
    pub fn list_to_search(&self, path: &str) -> Result<Listed<Value>, ForgeError> {
        self.pages(path, MAX_SEARCHED_PAGES, Value::as_array)
    }

    fn pages(
        &self,
        path: &str,
        most: usize,
        items: impl Fn(&Value) -> Option<&Vec<Value>>,
    ) -> Result<Listed<Value>, ForgeError> {
        let mut entries = Vec::new();
        let first = format!("{}{path}", self.base);
        let mut next = Some(first.clone());
        for number in 2..most + 2 {
            let Some(url) = next.take() else { break };
            let (body, link) = self.ask("GET", &url, None)?;
            let found = items(&body).ok_or_else(|| self.unexpected("it contains no list"))?;
            entries.extend(found.iter().cloned());
            next = match link {
                NextPage::At(url) => Some(pages::at_base(&self.base, &first, url)),
                NextPage::Unknown if found.len() >= pages::page_size(path) => Some(format!("{first}&page={number}")),
                NextPage::Unknown | NextPage::None => None,
            };
        }
        let (host, read) = (self.host.clone(), entries.len());
        let end = if next.is_none() { Ok(()) } else { Err(ForgeError::TooMany { host, read }) };
        Ok(Listed { entries, end })
    }

    /// Sends a document.
    ///
    /// # Errors
    /// Returns an error if the forge refuses.
    pub fn send(&self, method: &'static str, path: &str, body: &Value) -> Result<Value, ForgeError> {
        let sent = self.ask(method, &format!("{}{path}", self.base), Some(body)).map(|(body, _)| body);
        if sent.is_ok() {
            // The forge completed a write, so the time limit starts again.
            self.deadline.restart();
        }
        sent
    }

    /// Sends a request, with retries. Returns the response and the place of the next page.
    fn ask(&self, method: &'static str, url: &str, body: Option<&Value>) -> Result<(Value, NextPage), ForgeError> {
        let _running = self.deadline.run();
        let is_sent = method != "GET";
        let mut at = url.to_owned();
        let (mut tries, mut redirects) = (0, 0);
        loop {
            self.wait_out_pause();
            tries += 1;
            let outcome = self.once(method, &at, body)?;
            // A write may have succeeded even without a response, so only reads are repeated.
            let backoff = self.step * 2_u32.pow(tries - 1);
            let is_time = |wait: Duration| self.deadline.left().is_some_and(|left| wait < left);
            let may_repeat = !is_sent && tries < TRIES && is_time(backoff);
            let response = match outcome {
                Ok(response) => response,
                Err(_) if may_repeat => {
                    self.sleep(backoff);
                    continue;
                }
                Err(error) => return Err(self.unreachable(&error)),
            };
            let status = response.status().as_u16();
            let headers = response.headers().clone();
            if is_limited(status, &headers) {
                match wait(&headers, backoff).filter(|wait| is_time(*wait) && tries < TRIES) {
                    Some(wait) => self.pause_requests(wait),
                    None => return Err(ForgeError::RateLimited { host: self.host.clone(), until: until(&headers) }),
                }
                continue;
            }
            if matches!(status, 500 | 502 | 503 | 504) && may_repeat {
                self.sleep(backoff);
                continue;
            }
            if is_redirect(status, is_sent) && redirects < MAX_REDIRECTS {
                at = self.redirected(&at, header(&headers, "location").unwrap_or_default())?;
                (tries, redirects) = (0, redirects + 1);
                continue;
            }
            return Ok((self.read(status, response)?, pages::next_page(&headers)));
        }
    }

    /// Returns the target of a redirect.
    fn redirected(&self, from: &str, location: &str) -> Result<String, ForgeError> {
        redirect::within_origin(from, location).ok_or_else(|| {
            let to = redirect::origin(location).unwrap_or_else(|| "another place".into());
            ForgeError::Elsewhere { host: self.host.clone(), to: bounded(&to, 300) }
        })
    }

    /// Sends the request once, limited by the remaining time.
    fn once(
        &self,
        method: &'static str,
        url: &str,
        body: Option<&Value>,
    ) -> Result<Result<Response<Body>, ureq::Error>, ForgeError> {
        let left = self.deadline.left().ok_or_else(|| self.timed_out())?;
        let mut request = Request::builder().method(method).uri(url);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if let Some(secret) = &self.secret {
            request = request.header("authorization", format!("Bearer {}", secret.expose()));
        }
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let start = Instant::now();
        let (agent, body) = (self.agent.clone(), body.map(Value::to_string));
        let outcome = self.run_cancellable(move || match body {
            Some(body) => run(&agent, request.body(body), left),
            None => run(&agent, request.body(()), left),
        })?;
        let status = outcome.as_ref().ok().map(|response| response.status().as_u16());
        tracing::debug!(method, host = self.host, status, took = ?start.elapsed(), "asked a forge");
        Ok(outcome)
    }

    /// Runs `work` on its own thread. If the request is cancelled, the thread is abandoned and ends with its own time
    /// limit.
    ///
    /// # Errors
    /// Returns an error if the request was cancelled, or the system cannot start a thread.
    fn run_cancellable<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, ForgeError> {
        let (send, done) = mpsc::channel();
        let run = move || drop(send.send(work()));
        std::thread::Builder::new().spawn(run).map_err(|error| self.unexpected(&error.to_string()))?;
        loop {
            match done.recv_timeout(POLL_INTERVAL) {
                Ok(done) => return Ok(done),
                Err(RecvTimeoutError::Timeout) if !self.deadline.is_cancelled() => {}
                Err(_) => return Err(self.timed_out()),
            }
        }
    }

    fn read(&self, status: u16, mut response: Response<Body>) -> Result<Value, ForgeError> {
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or("").to_owned();
        let read = response.body_mut().with_config().limit(MAX_ANSWER).read_to_vec();
        let bytes = read.map_err(|error| self.unreachable(&error))?;
        let body: Option<Value> = serde_json::from_slice(&bytes).ok();
        let said = body.as_ref().map(error_message).unwrap_or_default();
        let problem = if said.is_empty() { format!("HTTP {status}") } else { self.redacted(&bounded(&said, 300)) };
        let host = self.host.clone();
        match (status, body) {
            (200..=299, Some(body)) => Ok(body),
            (204, None) => Ok(Value::Null),
            (200..=299, None) => {
                Err(self.unexpected(&format!("HTTP {status} with {:?}, which is not JSON", bounded(&kind, 60))))
            }
            // GitHub may omit the headers of its secondary rate limit.
            (403, _) if problem.to_lowercase().contains("rate limit") => {
                Err(ForgeError::RateLimited { host, until: None })
            }
            (401 | 403, _) => Err(ForgeError::Unauthorized { host, problem }),
            (404, _) => Err(ForgeError::NotFound { host, problem }),
            (500.., _) => Err(ForgeError::Failed { host, status, problem }),
            (status, _) => Err(ForgeError::Refused { host, status, problem }),
        }
    }

    /// Waits until the forge accepts requests again.
    fn wait_out_pause(&self) {
        let until = self.pause.lock().map(|pause| *pause).unwrap_or_default();
        if let Some(left) = until.and_then(|until| until.checked_duration_since(Instant::now())) {
            self.sleep(left);
        }
    }

    /// Sleeps, but no longer than the remaining time.
    fn sleep(&self, wait: Duration) {
        let end = Instant::now() + wait;
        while let Some(left) = end.checked_duration_since(Instant::now()).filter(|_| self.deadline.left().is_some()) {
            std::thread::sleep(left.min(POLL_INTERVAL));
        }
    }

    fn pause_requests(&self, wait: Duration) {
        if let Ok(mut pause) = self.pause.lock() {
            *pause = (*pause).max(Instant::now().checked_add(wait));
        }
    }

    fn timed_out(&self) -> ForgeError {
        ForgeError::TimedOut { host: self.host.clone() }
    }

    fn unreachable(&self, error: &ureq::Error) -> ForgeError {
        if self.deadline.left().is_none() {
            return self.timed_out();
        }
        let problem = self.redacted(&bounded(&error.to_string(), 300));
        ForgeError::Unreachable { host: self.host.clone(), problem }
    }

    /// Parses a response.
    ///
    /// # Errors
    /// Returns an error if it does not have the documented form.
    pub fn parse<T: serde::de::DeserializeOwned>(&self, answer: Value) -> Result<T, ForgeError> {
        serde_json::from_value(answer).map_err(|error| self.unexpected(&error.to_string()))
    }

    pub(super) fn unexpected(&self, problem: &str) -> ForgeError {
        ForgeError::Unexpected { host: self.host.clone(), problem: problem.to_owned() }
    }

    fn redacted(&self, text: &str) -> String {
        self.secret.as_ref().map_or_else(|| text.to_owned(), |secret| secret.redact(text))
    }
}

/// Returns an HTTP client that does not follow redirects.
pub(super) fn agent() -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(Duration::from_secs(10)))
        // This module follows redirects itself, because ureq would send the token to another port of the same host.
        .max_redirects(0)
        .max_idle_connections_per_host(16)
        .user_agent(concat!("git-blue/", env!("CARGO_PKG_VERSION")))
        // Use the system's trust store, because companies use their own certificates for forges.
        .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
        .build()
        .new_agent()
}

/// Sends a request within a time limit. Without TLS, requests only go to this machine, and never to a proxy, whose
/// `localhost` is another one.
pub(super) fn run<B: AsSendBody>(
    agent: &Agent,
    request: ureq::http::Result<Request<B>>,
    limit: Duration,
) -> Result<Response<Body>, ureq::Error> {
    let request = request?;
    let is_plain = request.uri().scheme_str() == Some("http");
    let config = agent.configure_request(request).timeout_global(Some(limit));
    agent.run(if is_plain { config.proxy(None).build() } else { config.build() })
}

/// Returns the error in a response: `message`, and the individual errors that GitHub adds, which name a field and a
/// code if they have no message.
fn error_message(body: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let message = ["message", "error"].iter().find_map(|key| body.get(key)).map(text).unwrap_or_default();
    let errors = body.get("errors").and_then(Value::as_array).into_iter().flatten();
    let part = |error: &Value, key: &str| error.get(key).map(text).filter(|part| !part.is_empty());
    let of_field = |error: &Value| {
        let parts: Vec<_> = ["field", "code"].iter().filter_map(|key| part(error, key)).collect();
        Some(parts.join(": ")).filter(|text| !text.is_empty())
    };
    let more = errors.filter_map(|error| part(error, "message").or_else(|| of_field(error)));
    std::iter::once(message).filter(|message| !message.is_empty()).chain(more).collect::<Vec<_>>().join("; ")
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Returns whether a rate limit was reached. GitHub also uses status 403 for this, with a header that distinguishes it
/// from a refusal.
fn is_limited(status: u16, headers: &HeaderMap) -> bool {
    let is_spent = header(headers, "x-ratelimit-remaining") == Some("0") || header(headers, "retry-after").is_some();
    status == 429 || (status == 403 && is_spent)
}

/// Returns whether a response is a redirect to follow. A write is only sent again if the status says that it was not
/// performed.
fn is_redirect(status: u16, is_sent: bool) -> bool {
    matches!(status, 307 | 308) || (!is_sent && matches!(status, 301..=303))
}

/// Returns how long to wait: as long as the forge asks for, or else `backoff`. Returns `None` if the rate limit is
/// exhausted until a later time.
fn wait(headers: &HeaderMap, backoff: Duration) -> Option<Duration> {
    match header(headers, "retry-after") {
        Some(seconds) => seconds.parse().ok().map(Duration::from_secs),
        None if header(headers, "x-ratelimit-remaining") == Some("0") => None,
        None => Some(backoff),
    }
}

fn until(headers: &HeaderMap) -> Option<String> {
    let after = header(headers, "retry-after").and_then(|text| text.parse::<u64>().ok());
    let reset = ["x-ratelimit-reset", "ratelimit-reset"].iter().find_map(|name| header(headers, name)?.parse().ok());
    let reset = reset.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    after.map(|seconds| format!("in {seconds} s")).or_else(|| reset.map(|reset| format!("at {reset}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_not_sent_without_tls_to_other_machines() {
        for base in ["https://api.github.com", "http://127.0.0.1:80", "http://localhost:1/api"] {
            assert!(Client::new("h", base, None).is_ok(), "{base}");
        }
        for base in [
            "http://github.com",
            "http://127.0.0.1.evil.com",
            "http://localhost@evil.com",
            "http://127.0.0.1:1@evil.com",
            "ftp://x",
            "",
        ] {
            assert!(Client::new("h", base, None).is_err(), "{base}");
        }
    }

    #[test]
    fn time_is_renewed_unless_the_forge_did_not_answer_within_it() {
        let pause = || std::thread::sleep(Duration::from_millis(20));
        let used = |limit: Duration| {
            let client = Client::new("h", "https://h", None).unwrap().with_limit(limit);
            let running = client.deadline.run();
            pause();
            drop(running);
            client.renew_time();
            client.deadline.left()
        };
        assert_eq!(used(Duration::from_secs(60)), Some(Duration::from_secs(60)));
        assert_eq!(used(Duration::from_millis(10)), None);
    }

    #[test]
    fn errors_are_found_in_responses_of_every_format() {
        let errors = serde_json::json!({"message": "Validation Failed", "errors": [{"message": "No commits"}, {}]});
        assert_eq!(error_message(&errors), "Validation Failed; No commits");
        let errors = [serde_json::json!({"resource": "PullRequest", "field": "head", "code": "invalid"})];
        let errors = serde_json::json!({"message": "Validation Failed", "errors": errors});
        assert_eq!(error_message(&errors), "Validation Failed; head: invalid");
        assert_eq!(error_message(&serde_json::json!({"error": "404"})), "404");
        assert_eq!(error_message(&serde_json::json!([1])), "");
    }
}
