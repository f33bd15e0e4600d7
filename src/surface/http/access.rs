//! Who may ask: programs of this machine that name it as the host, and show the token. A browser that
//! was sent here by a link of ours shows a cookie instead, which reads and never writes.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
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
    surface::daemon::secret,
};

/// How long a link that was handed out leads in.
const LINK_AGE: Duration = Duration::from_secs(60);
/// How long a browser stays in.
const COOKIE_AGE: Duration = Duration::from_secs(12 * 3600);
/// Most links, and most browsers: the oldest make room.
const MAX_KEPT: usize = 64;

/// The reader that asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// Nobody that we know.
    Stranger,
    /// A browser that the user let in: it may read.
    Browser,
    /// A program of the user.
    User,
}

/// What lets in.
#[derive(Debug)]
pub struct Access {
    /// What a request may call this host.
    hosts: [String; 3],
    port: u16,
    token: String,
    links: Mutex<VecDeque<(String, Instant)>>,
    cookies: Mutex<VecDeque<(String, Instant)>>,
}

impl Access {
    /// Returns what lets in at a port.
    pub fn new(port: u16, token: String) -> Self {
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}"));
        Self { hosts, port, token, links: Mutex::default(), cookies: Mutex::default() }
    }

    /// Refuses what does not mean this server: a browser names the host of the page that it was led
    /// to, and the origin of the page that asks.
    ///
    /// # Errors
    /// Returns an error if the request names another host or origin, or no host.
    pub fn meant(&self, request: &Parts) -> Result<(), OpError> {
        let named = request.uri.authority().map(|authority| authority.as_str());
        let is_here = |host: &str| self.is_here(host);
        if !(only(&request.headers, HOST).is_some_and(is_here) && named.is_none_or(is_here)) {
            let message = format!("this server is {} and nothing else", self.hosts[0]);
            return Err(OpError::usage(message).coded(ErrorCode::WrongHost).next("ask it by that name"));
        }
        if !request.headers.contains_key(ORIGIN) {
            return Ok(());
        }
        match only(&request.headers, ORIGIN).and_then(|origin| origin.strip_prefix("http://")) {
            Some(origin) if is_here(origin) => Ok(()),
            _ => Err(OpError::no(ErrorCode::WrongOrigin, "pages of other sites may not ask this server")),
        }
    }

    fn is_here(&self, host: &str) -> bool {
        self.hosts.iter().any(|one| one.eq_ignore_ascii_case(host))
    }

    /// Returns who asks.
    pub fn who(&self, request: &Parts) -> Who {
        let headers = &request.headers;
        if only(headers, AUTHORIZATION).and_then(bearer).is_some_and(|token| same(token, &self.token)) {
            return Who::User;
        }
        let named = format!("{}=", self.cookie_name());
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut ours = cookies.flat_map(|value| value.split("; ")).filter_map(|one| one.strip_prefix(&*named));
        let is_kept = ours.any(|value| is_kept(&mut locked(&self.cookies), COOKIE_AGE, value));
        // Whoever else shows it has it from the user's browser.
        let is_others = || request.extensions.get::<Ends>().is_some_and(Ends::is_others);
        match is_kept && !is_others() {
            true => Who::Browser,
            false => Who::Stranger,
        }
    }

    /// Returns a key that lets one browser in, once and soon.
    ///
    /// # Errors
    /// Returns an error if the system has no random numbers.
    pub fn link(&self) -> Result<String, OpError> {
        keep(&mut locked(&self.links), LINK_AGE)
    }

    /// Lets a browser in that shows the key of a link. Returns the cookie that it is to show from now
    /// on; nothing where the key is used or old.
    ///
    /// # Errors
    /// Returns an error if the system has no random numbers.
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

    /// Named by the port, because a browser sends the cookies of all ports of this machine to each, and
    /// those of two daemons must not replace each other. The value is a secret of this daemon, so the
    /// cookie of one on another port is worth nothing here.
    fn cookie_name(&self) -> String {
        format!("git_blue_{}", self.port)
    }
}

/// Returns what a request of this kind takes.
pub fn needed(method: &Method) -> Who {
    match *method {
        Method::GET | Method::HEAD | Method::OPTIONS => Who::Browser,
        _ => Who::User,
    }
}

/// Returns the refusal for whom may not do what it asks.
pub fn refusal(who: Who) -> OpError {
    match who {
        Who::Stranger => OpError::no(ErrorCode::NoToken, "show the token: Authorization: Bearer TOKEN")
            .next("git blue daemon token  # prints it")
            .next("git blue daemon open  # lets a browser in"),
        Who::Browser | Who::User => OpError::no(ErrorCode::ReadOnly, "a browser's cookie reads, and changes nothing")
            .next("git blue daemon token  # prints the token that may"),
    }
}

/// Returns the one header of this name; of two, another program may read the other one.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    first.to_str().ok().filter(|_| all.next().is_none())
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Compares in a time that says nothing about where two secrets of one length differ.
fn same(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

fn keep(kept: &mut VecDeque<(String, Instant)>, age: Duration) -> Result<String, OpError> {
    kept.retain(|(_, since)| since.elapsed() < age);
    if kept.len() >= MAX_KEPT {
        kept.pop_front();
    }
    let value = secret::random()?;
    kept.push_back((value.clone(), Instant::now()));
    Ok(value)
}

fn is_kept(kept: &mut VecDeque<(String, Instant)>, age: Duration, value: &str) -> bool {
    kept.retain(|(_, since)| since.elapsed() < age);
    kept.iter().fold(false, |found, (one, _)| found | same(one, value))
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
