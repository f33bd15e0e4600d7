//! The same server over HTTP, for many clients at once: Streamable HTTP, in both eras of the protocol.
//! Whoever calls this has looked at host, origin, token, rate and size before.
//!
//! A client of an era with a handshake has a session, and each session is a reader. Without one, all
//! requests of a client program are one reader's: nothing else in them says who asks.
//!
//! Operations are synchronous, and what they read with stays on one thread: all of it runs on a thread
//! of its own, as `git blue mcp serve` does, and only bytes leave it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER},
    http::request::Parts,
};
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, GetMeta as _, JsonRpcError, JsonRpcMessage},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService,
        session::local::{LocalSessionManager, SessionConfig},
    },
};
use tokio::sync::{mpsc, oneshot, watch};

use super::{
    client::{Client, Owed, Slip},
    http_delivery::{AfterFlush, Written},
    jsonrpc_frame::{self, Frame},
    log::Log,
    pending::{Asking, Turn},
    runtime,
    server::Server,
    settings::{Options, Settings},
};
use crate::{
    env::Env,
    error::{self, OpError},
    model::hash,
    surface::mcp::http_delivery::{Body, Work},
};

/// How many sessions there may be.
const MAX_SESSIONS: usize = 256;
/// How long a session may be silent before it ends. Its client then opens another one.
const SESSION_AGE: Duration = Duration::from_secs(30 * 60);
/// How many clients are remembered: the one that asked longest ago makes room.
const MAX_CLIENTS: usize = 1_024;
/// How often is tried to record what was told while somebody else holds the lock for it.
const AGAIN: Duration = Duration::from_millis(100);

/// Names the session of a request.
const SESSION: &str = "mcp-session-id";
/// What an answer is that is no stream of events.
const JSON: &str = "application/json";

type Service = StreamableHttpService<Server, LocalSessionManager>;

/// The server.
#[derive(Debug)]
pub struct Mcp {
    work: mpsc::UnboundedSender<Work>,
    sessions: Arc<LocalSessionManager>,
    asking: Arc<Asking>,
    clients: Mutex<VecDeque<(String, Client)>>,
}

impl Mcp {
    /// Starts the server's thread. It ends what it streams when `stopping` says so.
    ///
    /// # Errors
    /// Where the system gives no thread.
    pub fn new(env: &Env, stopping: watch::Receiver<bool>) -> Result<Self, OpError> {
        let settings = Arc::new(Settings::shared(env, &Options { all_realms: true, ..Options::default() }));
        let mut sessions = LocalSessionManager::default();
        sessions.session_config = session_config();
        let sessions = Arc::new(sessions);
        let mut config = StreamableHttpServerConfig::default().with_json_response(true);
        config.max_request_body_bytes = jsonrpc_frame::MAX_LINE;
        let make = move || Ok(Server::new(settings.clone(), Arc::default(), Log::default()));
        let service = StreamableHttpService::new(make, sessions.clone(), config);
        let (work, queue) = mpsc::unbounded_channel();
        let runtime = runtime()?;
        let thread = std::thread::Builder::new().name("mcp".into());
        thread
            .spawn(move || runtime.block_on(serve(service, queue, stopping)))
            .map_err(|error| OpError::cannot(error::ErrorCode::Io, format!("cannot start the MCP server: {error}")))?;
        Ok(Self { work, sessions, asking: Arc::default(), clients: Mutex::default() })
    }

    /// Answers one request, whose body was read.
    pub async fn answer(&self, mut parts: Parts, body: Bytes) -> Response<Body> {
        let mut key = parts.headers.get(SESSION).map(|id| format!("session {id:?}"));
        let mut turn = None;
        if parts.method == Method::POST {
            let frame = jsonrpc_frame::read(if body.trim_ascii().is_empty() { b"-" } else { &body });
            if is_stateless(&parts.headers)
                && let Some(error) = jsonrpc_frame::gone(&frame, &body)
            {
                return wrong(&error);
            }
            match frame {
                Frame::Wrong(error) => return wrong(&error),
                Frame::Nothing => return empty(StatusCode::ACCEPTED),
                Frame::Message(message) => {
                    if is_hello(&message) && self.sessions.sessions.read().await.len() >= MAX_SESSIONS {
                        return full();
                    }
                    if let (Some(session), JsonRpcMessage::Request(request)) = (&key, &*message) {
                        turn = match Turn::take(&self.asking, session, &request.id) {
                            Ok(turn) => Some(turn),
                            Err(error) => return wrong(&error),
                        };
                    }
                    key = key.or_else(|| program(&message));
                }
            }
        }
        let slip = Slip::new(self.client(&key.unwrap_or_default()));
        let after = parts.extensions.remove::<AfterFlush>().unwrap_or_default();
        parts.extensions.insert(slip.clone());
        let (answer, answered) = oneshot::channel();
        let request = Box::new(Request::from_parts(parts, Full::new(body)));
        // Where nobody works any more, the answer does not come either.
        let _ = self.work.send(Work::Answer(request, answer));
        let Ok(response) = answered.await else { return empty(StatusCode::INTERNAL_SERVER_ERROR) };
        response.map(|inner| Written::new(inner, slip, self.work.clone(), after, turn).boxed())
    }

    fn client(&self, key: &str) -> Client {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let known = clients.iter().position(|(one, _)| one == key).and_then(|at| clients.remove(at));
        let (key, client) = known.unwrap_or_else(|| {
            let name = format!("mcp-{}", &hash::canonical(&key)[..32]);
            let reader = name.parse().unwrap_or_else(|_| unreachable!("it is a name"));
            (key.to_owned(), Client::new(reader))
        });
        if clients.len() >= MAX_CLIENTS {
            clients.pop_front();
        }
        clients.push_back((key, client.clone()));
        client
    }
}

fn session_config() -> SessionConfig {
    let mut config = SessionConfig::default();
    config.keep_alive = Some(SESSION_AGE);
    config
}

async fn serve(service: Service, mut queue: mpsc::UnboundedReceiver<Work>, mut stopping: watch::Receiver<bool>) {
    let end = service.config.cancellation_token.clone();
    tokio::spawn(async move {
        let _ = stopping.wait_for(|is_stopping| *is_stopping).await;
        end.cancel();
    });
    while let Some(work) = queue.recv().await {
        match work {
            Work::Answer(request, answer) => drop(tokio::spawn(handle(service.clone(), *request, answer))),
            Work::Record(owed) => {
                if !owed.is_settled() {
                    tokio::spawn(settle(*owed));
                }
            }
        }
    }
}

async fn handle(service: Service, request: Request<Full<Bytes>>, mut answer: oneshot::Sender<Response<Body>>) {
    tokio::select! {
        biased;
        // Its client hung up.
        () = answer.closed() => {}
        response = service.handle(request) => drop(answer.send(response)),
    }
}

async fn settle(owed: Owed) {
    while !owed.is_settled() {
        tokio::time::sleep(AGAIN).await;
    }
}

fn is_stateless(headers: &HeaderMap) -> bool {
    headers.get("mcp-protocol-version").is_some_and(|version| version.as_bytes() >= &b"2026-07-28"[..])
}

fn is_hello(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    matches!(request.request, ClientRequest::InitializeRequest(_))
}

/// Returns the name of the program that asks, where a request says it.
fn program(message: &ClientJsonRpcMessage) -> Option<String> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let info = request.request.get_meta().client_info()?;
    Some(format!("program {:?}", info.name))
}

fn wrong(error: &JsonRpcError) -> Response<Body> {
    let text = serde_json::to_vec(error).unwrap_or_else(|error| unreachable!("errors have a JSON form: {error}"));
    let mut response = json(text.into());
    *response.status_mut() = match error.error.code {
        ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        _ => StatusCode::BAD_REQUEST,
    };
    response
}

fn json(text: Bytes) -> Response<Body> {
    let mut response = Response::new(Full::new(text).boxed());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Empty::new().boxed());
    *response.status_mut() = status;
    response
}

fn full() -> Response<Body> {
    let mut response = empty(StatusCode::SERVICE_UNAVAILABLE);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("60"));
    response
}
