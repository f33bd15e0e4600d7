//! The MCP server over HTTP, for many clients at once: Streamable HTTP, in protocol versions with and without a
//! handshake. The caller has checked host, origin, token and size.
//!
//! A client that made a handshake has a session, and each session is a reader. In the stateless protocol, all requests
//! of a client program belong to one reader, because nothing else in them identifies it.
//!
//! Operations are synchronous, and the contexts that they use cannot be shared between threads. All of them run on one
//! dedicated thread, as in `git blue mcp serve`; only bytes leave it.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER},
    http::request::Parts,
};
use rmcp::{
    ErrorData,
    model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, GetMeta as _, JsonRpcError, JsonRpcMessage},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};

use super::{
    batch,
    client::{Client, ClientOfRequest, Unrecorded},
    http_delivery::{AfterFlush, Written},
    jsonrpc_frame::{self, Frame},
    outbox::AGAIN,
    pending::{Pending, RequestIdGuard},
    rate::Rate,
    refusal::refused,
    resources::MIME,
    runtime,
    server::Server,
    settings::{Options, Settings},
};
use crate::{
    env::Env,
    error::{self, OpError},
    model::hash,
    surface::{
        locked::locked,
        mcp::http_delivery::{Body, Work},
    },
};

/// The maximum number of sessions.
const MAX_SESSIONS: usize = 256;
/// The maximum time for which a session may be idle before it ends. Its client then opens another one.
const SESSION_AGE: Duration = Duration::from_secs(30 * 60);
/// The maximum number of clients that are remembered. The one with the oldest request is dropped.
const MAX_CLIENTS: usize = 1_024;
/// The error code for too many requests, from the range that JSON-RPC reserves for servers.
const TOO_OFTEN: ErrorCode = ErrorCode(-32_000);

/// The header with the session of a request.
const SESSION: &str = "mcp-session-id";

type Service = StreamableHttpService<Server, LocalSessionManager>;

/// The MCP server over HTTP.
#[derive(Debug)]
pub struct Mcp {
    work: mpsc::UnboundedSender<Work>,
    sessions: Arc<LocalSessionManager>,
    rate_limit: u32,
    clients: Mutex<VecDeque<Known>>,
}

/// A client that sent a request before.
#[derive(Debug, Clone)]
struct Known {
    /// The id of its session, or the name of its program.
    key: String,
    client: Client,
    /// Its rate limit.
    rate: Arc<Rate>,
    /// The requests of its session that are being answered.
    pending: Arc<Pending>,
    /// Whether the protocol version of its session has batches.
    has_batches: Arc<AtomicBool>,
}

impl Mcp {
    /// Starts the server's thread. Each client may send `rate_limit` requests a minute; 0 for no limit. Its streams end
    /// when `stopping` becomes true.
    ///
    /// # Errors
    /// Returns an error if the system cannot start a thread.
    pub fn new(env: &Env, rate_limit: u32, stopping: watch::Receiver<bool>) -> Result<Self, OpError> {
        let settings = Arc::new(Settings::shared(env, &Options { all_realms: true, ..Options::default() }));
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(SESSION_AGE);
        let sessions = Arc::new(sessions);
        let mut config = StreamableHttpServerConfig::default().with_json_response(true);
        config.max_request_body_bytes = jsonrpc_frame::MAX_LINE;
        let make = move || Ok(Server::new(settings.clone(), Arc::default()));
        let service = StreamableHttpService::new(make, sessions.clone(), config);
        let (work, queue) = mpsc::unbounded_channel();
        let runtime = runtime()?;
        let thread = std::thread::Builder::new().name("mcp".into());
        thread
            .spawn(move || runtime.block_on(serve(service, queue, stopping)))
            .map_err(|error| OpError::cannot(error::ErrorCode::Io, format!("cannot start the MCP server: {error}")))?;
        Ok(Self { work, sessions, rate_limit, clients: Mutex::default() })
    }

    /// Answers a POST whose body was already read: one message, or a batch if the protocol version has batches.
    pub async fn answer(&self, mut parts: Parts, body: Bytes) -> Response<Body> {
        let session = session(&parts.headers).filter(|_| parts.method == Method::POST);
        let has_batches = session.is_some_and(|key| self.known(key).has_batches.load(Ordering::Relaxed));
        match has_batches.then(|| batch::parts(&body)).flatten() {
            None => self.answer_one(parts, body).await,
            Some(Err(error)) => wrong(&error),
            Some(Ok(all)) => {
                // The connection may flush between two answers, before any of them is written.
                let (after, after_all) =
                    (parts.extensions.remove::<AfterFlush>().unwrap_or_default(), AfterFlush::default());
                parts.extensions.insert(after_all.clone());
                let mut answers = Vec::new();
                for one in all {
                    let response = self.answer_one(parts.clone(), one.into()).await;
                    let body = response.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
                    answers.extend(answers_in(&body));
                }
                after.add(Box::new(move || after_all.run()));
                if answers.is_empty() { empty(StatusCode::ACCEPTED) } else { json(batch::joined(&answers).into()) }
            }
        }
    }

    async fn answer_one(&self, mut parts: Parts, body: Bytes) -> Response<Body> {
        let session = session(&parts.headers);
        let mut is_of_batches = false;
        let is_posted = parts.method == Method::POST;
        // An empty body is an error, but an empty line is not: read something that is no JSON.
        let text: &[u8] = if is_posted && body.trim_ascii().is_empty() { b"-" } else { &body };
        let frame = if is_posted { jsonrpc_frame::read(text) } else { Frame::Nothing };
        let known = self.known(session.clone().or_else(|| program(&frame)).unwrap_or_default());
        let has_ended = parts.method == Method::DELETE;
        // A request that ends a session is not limited.
        if let (Err(wait), false) = (known.rate.take(Instant::now()), has_ended) {
            return too_often(wait, &frame);
        }
        let mut id_guard = None;
        if is_posted {
            if is_stateless(&parts.headers)
                && let Some(error) = jsonrpc_frame::removed_method_error(&frame, &body)
            {
                return wrong(&error);
            }
            match frame {
                Frame::Wrong(error) => return wrong(&error),
                Frame::Nothing => return empty(StatusCode::ACCEPTED),
                Frame::Message(message) => {
                    let version = version(&message);
                    is_of_batches = version == Some(batch::VERSION);
                    if version.is_some() && self.sessions.sessions.read().await.len() >= MAX_SESSIONS {
                        return full();
                    }
                    if let (Some(_), JsonRpcMessage::Request(request)) = (&session, &*message) {
                        id_guard = match RequestIdGuard::take(&known.pending, &request.id) {
                            Ok(id_guard) => Some(id_guard),
                            Err(error) => return wrong(&error),
                        };
                    }
                }
            }
        }
        let request_client = ClientOfRequest::new(known.client);
        let after = parts.extensions.remove::<AfterFlush>().unwrap_or_default();
        parts.extensions.insert(request_client.clone());
        let (answer, answered) = oneshot::channel();
        let request = Box::new(Request::from_parts(parts, Full::new(body)));
        // If the server's thread has ended, the answer never arrives.
        let _ = self.work.send(Work::Answer(request, answer));
        let Ok(response) = answered.await else { return empty(StatusCode::INTERNAL_SERVER_ERROR) };
        if let (true, Some(key)) = (is_of_batches, self::session(response.headers())) {
            self.known(key).has_batches.store(true, Ordering::Relaxed);
        }
        // The library answers 202, and clients expect that the session has ended.
        if has_ended && response.status() == StatusCode::ACCEPTED {
            return empty(StatusCode::NO_CONTENT);
        }
        response.map(|inner| Written::new(inner, request_client, self.work.clone(), after, id_guard).boxed())
    }

    fn known(&self, key: String) -> Known {
        let mut clients = locked(&self.clients);
        let known = clients.iter().position(|one| one.key == key).and_then(|at| clients.remove(at));
        let known = known.unwrap_or_else(|| {
            let name = format!("mcp-{}", &hash::canonical(&key)[..32]);
            let reader = name.parse().unwrap_or_else(|_| unreachable!("it is a name"));
            let rate = Arc::new(Rate::new(self.rate_limit));
            Known { key, client: Client::new(reader), rate, pending: Arc::default(), has_batches: Arc::default() }
        });
        if clients.len() >= MAX_CLIENTS {
            clients.pop_front();
        }
        clients.push_back(known.clone());
        known
    }
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
            Work::Record(unrecorded) => {
                if !unrecorded.is_settled() {
                    tokio::spawn(settle(*unrecorded));
                }
            }
        }
    }
}

async fn handle(service: Service, request: Request<Full<Bytes>>, mut answer: oneshot::Sender<Response<Body>>) {
    tokio::select! {
        biased;
        // The client disconnected.
        () = answer.closed() => {}
        response = service.handle(request) => drop(answer.send(response)),
    }
}

async fn settle(unrecorded: Unrecorded) {
    while !unrecorded.is_settled() {
        tokio::time::sleep(AGAIN).await;
    }
}

/// Returns the session in the headers of a request.
fn session(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION).map(|id| format!("session {id:?}"))
}

/// Returns the protocol version in an `initialize` request.
fn version(message: &ClientJsonRpcMessage) -> Option<&str> {
    let JsonRpcMessage::Request(request) = message else { return None };
    match &request.request {
        ClientRequest::InitializeRequest(hello) => Some(hello.params.protocol_version.as_str()),
        _ => None,
    }
}

/// Returns the JSON-RPC answers in a body, which is either one answer or an event stream with one.
fn answers_in(body: &[u8]) -> Vec<Vec<u8>> {
    let is_answer = |json: &[u8]| {
        let fields: Option<serde_json::Map<String, Value>> = serde_json::from_slice(json).ok();
        fields.is_some_and(|fields| fields.contains_key("result") || fields.contains_key("error"))
    };
    let lines = body.split(|byte| *byte == b'\n').map(|line| line.strip_prefix(b"data: ").unwrap_or(line));
    lines.map(<[u8]>::trim_ascii).filter(|line| is_answer(line)).map(<[u8]>::to_vec).collect()
}

fn is_stateless(headers: &HeaderMap) -> bool {
    headers.get("mcp-protocol-version").is_some_and(|version| version.as_bytes() >= &b"2026-07-28"[..])
}

/// Returns the name of the client program, if a request contains it.
fn program(frame: &Frame) -> Option<String> {
    let Frame::Message(message) = frame else { return None };
    let JsonRpcMessage::Request(request) = &**message else { return None };
    let info = request.request.get_meta().client_info()?;
    Some(format!("program {:?}", info.name))
}

/// Returns the answer to a client that sends too many requests. It says how long to wait, in the header and in the
/// JSON-RPC error.
fn too_often(wait: Duration, frame: &Frame) -> Response<Body> {
    let id = match frame {
        Frame::Message(message) => match &**message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        },
        Frame::Wrong(error) => error.id.clone(),
        Frame::Nothing => None,
    };
    let seconds = wait.as_secs() + 1;
    let error = OpError::no(error::ErrorCode::TooManyRequests, format!("too many MCP requests: wait {seconds} s"))
        .next(format!(
            "try again in {seconds} s; to raise the limit, stop the daemon and run git blue daemon start --rate-limit N"
        ));
    let mut refusal = ErrorData { code: TOO_OFTEN, ..refused(&error) };
    if let Some(Value::Object(data)) = &mut refusal.data {
        data.insert("retry_after_seconds".into(), seconds.into());
    }
    let mut response = wrong(&JsonRpcError::new(id, refusal));
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
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
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(MIME));
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
