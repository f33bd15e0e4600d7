//! Decides which requests are allowed. A program on this machine must name this machine as the host and send the token.
//! A browser that was admitted by a link sends a cookie instead, which only allows reading.

use std::{
    collections::VecDeque,
    sync::Mutex,
    time::{Duration, Instant},
};

use hyper::{
    HeaderMap, Method,
    header::{AUTHORIZATION, COOKIE, HOST, HeaderName, ORIGIN},
    http::request::Parts,
};
use subtle::ConstantTimeEq as _;

use super::peer::Ends;
use crate::{
    error::{ErrorCode, OpError},
    ops::random,
    surface::{daemon::secret::SECRET, locked::locked},
};

/// The time for which a link is valid.
const LINK_AGE: Duration = Duration::from_secs(60);
/// The time for which a browser stays admitted.
const COOKIE_AGE: Duration = Duration::from_secs(12 * 3600);
/// The maximum number of links, and of browsers, to remember. The oldest are dropped.
const MAX_KEPT: usize = 64;

/// The role of the client that sends a request, which decides what it may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClientRole {
    /// A client without a valid token or cookie.
    Stranger,
    /// A browser that the user admitted. It may read.
    Browser,
    /// A program with the user's token.
    User,
}

/// The secrets that admit clients.
#[derive(Debug)]
pub struct Access {
    /// The values of the `Host` header that name this server.
    hosts: [String; 3],
    port: u16,
    token: String,
    links: Mutex<VecDeque<(String, Instant)>>,
    cookies: Mutex<VecDeque<(String, Instant)>>,
}

impl Access {
    /// Creates the secrets for a port, without links and browsers.
    pub fn new(port: u16, token: String) -> Self {
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}"));
        Self { hosts, port, token, links: Mutex::default(), cookies: Mutex::default() }
    }

    /// Refuses requests that are meant for another server. A browser sends the host of the page that it was led to, and
    /// the origin of the page that sends the request (DNS rebinding, cross-site requests).
    ///
    /// # Errors
    /// Returns an error if the request names another host or origin, or no host.
    pub fn check_host_and_origin(&self, request: &Parts) -> Result<(), OpError> {
        let named = request.uri.authority().map(|authority| authority.as_str());
        let is_here = |host: &str| self.is_here(host);
        if !(only(&request.headers, HOST).is_some_and(is_here) && named.is_none_or(is_here)) {
            let message = format!("this server only accepts requests for {}", self.hosts.join(", "));
            return Err(OpError::usage(message).coded(ErrorCode::WrongHost).next("use one of these"));
        }
        if !request.headers.contains_key(ORIGIN) {
            return Ok(());
        }
        match only(&request.headers, ORIGIN).and_then(|origin| origin.strip_prefix("http://")) {
            Some(origin) if is_here(origin) => Ok(()),
            _ => Err(OpError::no(ErrorCode::WrongOrigin, "requests from pages of other sites are not allowed")),
        }
    }

    fn is_here(&self, host: &str) -> bool {
        self.hosts.iter().any(|one| one.eq_ignore_ascii_case(host))
    }

    /// Returns the role of the client that sent a request.
    pub fn client_role(&self, request: &Parts) -> ClientRole {
        let headers = &request.headers;
        if only(headers, AUTHORIZATION).and_then(bearer).is_some_and(|token| same(token, &self.token)) {
            return ClientRole::User;
        }
        let named = format!("{}=", self.cookie_name());
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut ours = cookies.flat_map(|value| value.split("; ")).filter_map(|one| one.strip_prefix(&*named));
        let is_kept = ours.any(|value| is_kept(&mut locked(&self.cookies), COOKIE_AGE, value));
        // A process of another user can only have this cookie from the user's browser.
        let is_others = || request.extensions.get::<Ends>().is_some_and(Ends::is_others);
        if is_kept && !is_others() { ClientRole::Browser } else { ClientRole::Stranger }
    }

    /// Creates a link key that admits one browser, once and within `LINK_AGE`.
    ///
    /// # Errors
    /// Returns an error if the system provides no random numbers.
    pub fn link(&self) -> Result<String, OpError> {
        keep(&mut locked(&self.links), LINK_AGE)
    }

    /// Admits a browser that sends the key of a link. Returns its cookie, or `None` if the key was already used or is
    /// too old.
    ///
    /// # Errors
    /// Returns an error if the system provides no random numbers.
    pub fn admit(&self, key: &str) -> Result<Option<String>, OpError> {
        {
            let mut links = locked(&self.links);
            if !is_kept(&mut links, LINK_AGE, key) {
                return Ok(None);
            }
            links.retain(|(one, _)| !same(one, key));
        }
        let value = keep(&mut locked(&self.cookies), COOKIE_AGE)?;
        let (name, age) = (self.cookie_name(), COOKIE_AGE.as_secs());
        Ok(Some(format!("{name}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict")))
    }

    /// Returns the name of the cookie, which contains the port: a browser sends the cookies of all ports of this
    /// machine to each of them, and those of two daemons must not replace each other. The value is a secret of this
    /// daemon, so it is worthless to the daemon on another port.
    fn cookie_name(&self) -> String {
        format!("git_blue_{}", self.port)
    }
}

/// Returns the role that a method requires.
pub fn needed(method: &Method) -> ClientRole {
    match *method {
        Method::GET | Method::HEAD | Method::OPTIONS => ClientRole::Browser,
        _ => ClientRole::User,
    }
}

/// Returns the error for a client that may not do what it requests. A browser, which requests a page without a token,
/// cannot send one.
pub fn refusal(role: ClientRole, request: &Parts, is_page: bool) -> OpError {
    match role {
        ClientRole::Stranger if is_page && !request.headers.contains_key(AUTHORIZATION) => {
            OpError::no(ErrorCode::NoToken, "sign in with a one-time link")
                .next("git blue daemon open  # open a one-time link")
        }
        ClientRole::Stranger => {
            let message = if request.headers.contains_key(AUTHORIZATION) {
                "the token is not accepted: send the one of this daemon, as Authorization: Bearer TOKEN"
            } else {
                "send the token: Authorization: Bearer TOKEN"
            };
            OpError::no(ErrorCode::NoToken, message)
                .next("git blue daemon token  # print it")
                .next("git blue daemon open  # sign a browser in")
        }
        ClientRole::Browser | ClientRole::User => {
            OpError::no(ErrorCode::ReadOnly, "a browser's cookie only allows reading")
                .next("git blue daemon token  # print the token, which can write")
        }
    }
}

/// Returns the value of a header if it occurs exactly once. If it occurred twice, another program could read the other
/// value.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    first.to_str().ok().filter(|_| all.next().is_none())
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Compares two secrets in a time that does not depend on where they differ.
fn same(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

fn keep(kept: &mut VecDeque<(String, Instant)>, age: Duration) -> Result<String, OpError> {
    kept.retain(|(_, since)| since.elapsed() < age);
    if kept.len() >= MAX_KEPT {
        kept.pop_front();
    }
    let value = random::hex::<SECRET>()?;
    kept.push_back((value.clone(), Instant::now()));
    Ok(value)
}

fn is_kept(kept: &mut VecDeque<(String, Instant)>, age: Duration, value: &str) -> bool {
    kept.retain(|(_, since)| since.elapsed() < age);
    kept.iter().fold(false, |found, (one, _)| found | same(one, value))
}
