//! Handles requests: checks who sends them, finds the route, and runs it.

use std::{collections::BTreeMap, sync::Arc};

use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::Incoming,
    header::{ALLOW, CONTENT_TYPE, HeaderValue, LOCATION, SET_COOKIE},
    http::request::Parts,
};
use tokio::sync::{Semaphore, watch};

use super::{
    Body,
    access::{self, Access, ClientRole},
    address,
    answer::{self, JSON, Reply, Tagged},
    body,
    context::Contexts,
    events::Events,
    openapi, page,
    routes::{Call, ROUTES, Route, RouteAction},
};
use crate::{
    env::Env,
    error::{ErrorCode, OpError},
    locate,
    model::hash,
    ops::{self, Operation},
    surface::{arguments::Arguments, mcp::Mcp},
    wire::{
        Answer,
        daemon::{DaemonOpen, Health},
    },
};

/// The maximum number of requests that wait for a thread.
const MAX_WAITING: usize = 256;
/// The methods of pages.
const PAGE_METHODS: &str = "GET, HEAD, OPTIONS";
/// The maximum number of threads that wait for remotes. The others keep answering.
const MAX_SLOW: usize = 2;
/// The maximum number of threads that check whole realms, which a large contract can make slow.
const MAX_CHECKS: usize = 2;

/// The state that all requests share.
#[derive(Debug)]
pub struct Handler {
    access: Access,
    contexts: Contexts,
    events: Arc<Events>,
    mcp: Mcp,
    waiting: Semaphore,
    slow: Semaphore,
    checks: Semaphore,
    url: String,
}

/// A request whose client is allowed to send it.
struct AuthorizedRequest {
    route: &'static Route,
    path: BTreeMap<&'static str, String>,
    arguments: Arguments,
}

impl Handler {
    /// Returns the handler for a port, with at most `streams` event streams. Event streams end when `stopping` becomes
    /// true.
    ///
    /// # Errors
    /// Returns an error if the system cannot start a thread.
    pub fn new(
        env: &Env,
        port: u16,
        token: String,
        rate_limit: u32,
        streams: usize,
        stopping: watch::Receiver<bool>,
    ) -> Result<Self, OpError> {
        let contexts = Contexts::new(env);
        Ok(Self {
            access: Access::new(port, token),
            events: Events::new(contexts.clone(), streams, stopping.clone()),
            mcp: Mcp::new(env, rate_limit, stopping)?,
            waiting: Semaphore::new(MAX_WAITING),
            slow: Semaphore::new(MAX_SLOW),
            checks: Semaphore::new(MAX_CHECKS),
            url: format!("http://127.0.0.1:{port}"),
            contexts,
        })
    }

    /// Answers one request.
    pub async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let method = parts.method.clone();
        let response = match self.admitted(parts, body).await {
            Ok(response) => response,
            Err(error) => Reply::failure(&error).finish(),
        };
        tracing::debug!(%method, status = response.status().as_u16(), "answered");
        response
    }

    async fn admitted(self: Arc<Self>, parts: Parts, body: Incoming) -> Result<Response<Body>, OpError> {
        self.access.check_host_and_origin(&parts)?;
        let role = self.access.client_role(&parts);
        let segments = address::segments(parts.uri.path());
        let fits = |route: &'static Route| Some((route, route.variables(segments.as_ref().ok()?)?));
        let found: Vec<_> = ROUTES.iter().filter_map(fits).collect();
        let is_open = found.iter().any(|(route, _)| matches!(route.does, RouteAction::Health | RouteAction::Open));
        if !is_open && role < access::needed(&parts.method) {
            let is_page = found.is_empty() && page::is_at(parts.uri.path());
            let refusal = access::refusal(role, &parts, is_page);
            return if is_page { Ok(page::refusal(&refusal).with_www_authenticate().finish()) } else { Err(refusal) };
        }
        if parts.method == Method::OPTIONS {
            return Ok(options(&found));
        }
        segments?;
        if found.is_empty() {
            return self.page(parts).await;
        }
        let Some((route, path)) = found.iter().find(|(route, _)| route.takes(&parts.method)) else {
            return Ok(Reply::wrong_method(&allowed(&found)).finish());
        };
        if let RouteAction::Mcp = route.does {
            return self.mcp(role, parts, body).await;
        }
        let mut given = address::query(parts.uri.query().unwrap_or_default(), &route.query)?;
        if !route.body.is_empty() {
            given.extend(body::object(&parts.headers, &body::whole(body).await?)?);
        }
        let taken: Vec<_> = route.query.iter().chain(&route.body).cloned().collect();
        let asked = AuthorizedRequest { route, path: path.clone(), arguments: Arguments::read(given, &taken)? };
        self.does(asked, &parts.method, &parts.headers).await
    }

    async fn does(
        self: Arc<Self>,
        asked: AuthorizedRequest,
        method: &Method,
        headers: &HeaderMap,
    ) -> Result<Response<Body>, OpError> {
        match asked.route.does {
            RouteAction::Run { operation, call, run } => self.run(asked, (operation, call), run, headers).await,
            RouteAction::Health => Ok(Reply::of(&Answer::new(self.health()?)).finish()),
            RouteAction::Link => {
                let url = format!("{}/open?key={}", self.url, self.access.link()?);
                Ok(Reply::of(&Answer::new(DaemonOpen { url })).finish())
            }
            // Programs that prefetch links must not use up the link.
            RouteAction::Open if *method == Method::HEAD => Ok(Reply::new("text/plain; charset=utf-8", "").finish()),
            // Only browsers open links.
            RouteAction::Open => Ok(match self.open(asked.arguments.text("key").unwrap_or_default()) {
                Ok(reply) => reply.finish(),
                Err(error) => page::refusal(&error).finish(),
            }),
            RouteAction::OpenApi => Ok(Tagged::new(Reply::new(JSON, openapi::text())).finish(headers)),
            RouteAction::Events => self.events.clone().stream(&asked.arguments, headers).await,
            RouteAction::Mcp => unreachable!("it was answered before its body was read"),
        }
    }

    /// Runs an operation on a thread that may block.
    async fn run(
        self: Arc<Self>,
        asked: AuthorizedRequest,
        (operation, call): (&'static Operation, ops::operation::Call),
        run: fn(&Call<'_>) -> Result<Reply, OpError>,
        headers: &HeaderMap,
    ) -> Result<Response<Body>, OpError> {
        let _waiting = self.waiting.try_acquire().map_err(|_| busy())?;
        let _turn = match self.limit_for(operation) {
            Some(turns) => Some(turns.acquire().await.map_err(|_| busy())?),
            None => None,
        };
        let handler = self.clone();
        let method = asked.route.method;
        let work = move || {
            Call { operation: call, contexts: &handler.contexts, path: &asked.path, arguments: &asked.arguments }
                .answer(run)
                .map(Tagged::new)
        };
        let reply = run_blocking(work).await?;
        Ok(match method {
            "GET" => reply.finish(headers),
            _ => reply.without_etag(),
        })
    }

    /// Returns the semaphore that limits how many operations of this kind run at once, if the operation can be slow.
    fn limit_for(&self, operation: &Operation) -> Option<&Semaphore> {
        match operation.name {
            name if name == ops::realm::sync::OPERATION.name => Some(&self.slow),
            name if name == ops::realm::check::OPERATION.name => Some(&self.checks),
            _ => None,
        }
    }

    fn health(&self) -> Result<Health, OpError> {
        let home = home_id(self.contexts.env())?;
        Ok(Health { server: "git-blue".into(), version: env!("CARGO_PKG_VERSION").into(), home })
    }

    /// Admits a browser by the key of a link.
    fn open(&self, key: &str) -> Result<Reply, OpError> {
        let used = || {
            OpError::no(ErrorCode::LinkUsed, "this link was already used, or has expired")
                .next("git blue daemon open  # open a new one")
        };
        let cookie = self.access.admit(key)?.ok_or_else(used)?;
        let cookie = HeaderValue::from_str(&cookie).unwrap_or_else(|_| unreachable!("it is ASCII"));
        let reply = Reply { status: StatusCode::SEE_OTHER, ..Reply::new("text/plain; charset=utf-8", "") };
        Ok(reply.with(LOCATION, HeaderValue::from_static("/")).with(SET_COOKIE, cookie))
    }

    /// Answers a path that is not in the table of routes with a page.
    async fn page(self: Arc<Self>, parts: Parts) -> Result<Response<Body>, OpError> {
        if !page::is_at(parts.uri.path()) {
            let message = format!("not found: {}", parts.uri.path());
            return Err(OpError::no(ErrorCode::NoRoute, message).next("GET /openapi.json"));
        }
        if !matches!(parts.method, Method::GET | Method::HEAD) {
            return Ok(Reply::wrong_method(PAGE_METHODS).finish());
        }
        let _waiting = self.waiting.try_acquire().map_err(|_| busy())?;
        let handler = self.clone();
        let uri = parts.uri;
        let reply =
            run_blocking(move || Ok(page::answer(&handler.contexts, uri.path(), uri.query().unwrap_or_default())))
                .await?;
        Ok(if reply.status.is_success() { Tagged::new(reply).finish(&parts.headers) } else { reply.finish() })
    }

    async fn mcp(&self, role: ClientRole, parts: Parts, body: Incoming) -> Result<Response<Body>, OpError> {
        if role < ClientRole::User {
            return Err(access::refusal(role, &parts, false));
        }
        let body = body::whole(body).await?;
        let mut response = self.mcp.answer(parts, body).await;
        answer::add_security_headers(response.headers_mut());
        Ok(response)
    }
}

fn busy() -> OpError {
    OpError::cannot(ErrorCode::Busy, "too many requests are waiting").next("try again in a moment")
}

/// Runs blocking work on a separate thread, so that it delays no other request.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, OpError> + Send + 'static,
) -> Result<T, OpError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(OpError::cannot(ErrorCode::Io, format!("cannot answer: {error}"))))
}

/// Returns an id of this user's home, which distinguishes it from the homes of other users.
///
/// # Errors
/// Returns an error if there is no home folder.
pub fn home_id(env: &Env) -> Result<String, OpError> {
    let folder = locate::home(env)?.folder().to_owned();
    let folder = dunce::canonicalize(&folder).unwrap_or(folder);
    Ok(hash::short_id(&["home", &folder.to_string_lossy()]))
}

fn allowed(found: &[(&'static Route, BTreeMap<&'static str, String>)]) -> String {
    let mut methods: Vec<_> = found.iter().map(|(route, _)| route.method).collect();
    if methods.contains(&"GET") {
        methods.push("HEAD");
    }
    methods.push("OPTIONS");
    methods.join(", ")
}

/// Answers `OPTIONS` with the methods of a path. Other sites may send no requests, so there are no CORS headers.
fn options(found: &[(&'static Route, BTreeMap<&'static str, String>)]) -> Response<Body> {
    let allowed = if found.is_empty() { PAGE_METHODS.to_owned() } else { allowed(found) };
    let allow = HeaderValue::from_str(&allowed).unwrap_or_else(|_| unreachable!("it is ASCII"));
    let reply = Reply { status: StatusCode::NO_CONTENT, ..Reply::new(JSON, "") };
    let mut response = reply.with(ALLOW, allow).finish();
    response.headers_mut().remove(CONTENT_TYPE);
    response
}
