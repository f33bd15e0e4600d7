//! Which path is answered by what.

use std::sync::Arc;

use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{HeaderValue, LOCATION, SET_COOKIE},
};

use super::{
    Body, Settings,
    access::{self, Access, Who},
    answer::Reply,
    desk::Desk,
};
use crate::{
    env::Env,
    error::OpError,
    ops::{realm_list, realm_status},
    wire::Answer,
};

/// Everything that answers.
#[derive(Debug)]
pub struct House {
    access: Access,
    desk: Desk,
}

impl House {
    /// Returns the house at a port.
    pub fn new(env: &Env, port: u16, settings: &Settings) -> Self {
        Self { access: Access::new(port, settings.token.clone()), desk: Desk::new(env) }
    }

    /// Answers one request.
    pub async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        match self.route(request).await {
            Ok(response) => response,
            Err(error) => Reply::failure(&error).finish(),
        }
    }

    async fn route(self: Arc<Self>, request: Request<Incoming>) -> Result<Response<Body>, OpError> {
        let (parts, _body) = request.into_parts();
        self.access.meant(&parts)?;
        let path = parts.uri.path().to_owned();
        if path == "/health" {
            return Ok(Reply::new("application/json", "{\"status\":\"success\"}\n").finish());
        }
        if path == "/open" {
            return Ok(self.open(parts.uri.query().unwrap_or_default())?.finish());
        }
        let who = self.access.who(&parts.headers);
        if who < access::needed(&parts.method) {
            return Err(access::refusal(who));
        }
        if path == "/mcp" && who == Who::User {
            // The MCP server answers here: `self.mcp.answer(request).await`.
        }
        if path == "/links" && parts.method == Method::POST {
            let url = format!("/open?key={}", self.access.link()?);
            return Ok(Reply::of(&Answer::new(serde_json::json!({"url": url}))).finish());
        }
        if parts.method != Method::GET {
            return Ok(Reply::wrong_method("GET").finish());
        }
        let work = tokio::task::spawn_blocking(move || Reply::from(self.read(&path)));
        let reply = work.await.map_err(|error| OpError::cannot("io", format!("cannot answer: {error}")))?;
        Ok(reply.finish())
    }

    /// Lets a browser in.
    fn open(&self, query: &str) -> Result<Reply, OpError> {
        let key = query.strip_prefix("key=").unwrap_or_default();
        let cookie = self.access.admit(key)?.and_then(|cookie| HeaderValue::from_str(&cookie).ok());
        let used = || OpError::no("no-token", "this link was used, or is too old").next("git blue daemon open");
        let reply = Reply { status: StatusCode::SEE_OTHER, ..Reply::new("text/plain", "") };
        let reply = reply.with(LOCATION, HeaderValue::from_static("/"));
        Ok(reply.with(SET_COOKIE, cookie.ok_or_else(used)?))
    }

    /// Answers where nothing is changed.
    fn read(&self, path: &str) -> Result<Reply, OpError> {
        let segments: Vec<_> = path.split('/').skip(1).collect();
        match segments[..] {
            ["realms"] => Ok(Reply::of(&realm_list::run(&self.desk.nowhere()?)?)),
            ["realms", realm] => {
                let ctx = self.desk.realm(&realm.parse()?)?;
                let request = realm_status::Request { reader: None, ..realm_status::Request::default() };
                Ok(Reply::of(&realm_status::run(&ctx, &request)?.0))
            }
            // The page answers here: `page::answer(&self.desk, path, query)`.
            _ => Err(OpError::no("no-route", format!("nothing is at {path}"))),
        }
    }
}
