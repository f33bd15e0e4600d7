//! The connection to a client: reads lines, and writes lines in the order in which they were handed over.

use std::{
    collections::{HashSet, VecDeque},
    future::Future,
    io,
    sync::Arc,
};

use rmcp::{
    RoleServer,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta as _, JsonRpcError, JsonRpcMessage,
        ProtocolVersion, ServerJsonRpcMessage,
    },
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{mpsc, oneshot, watch},
};

use super::{
    batch::{self, Batches},
    jsonrpc_frame::{self, Frame},
    line_reader::{Line, Lines},
    outbox::FinishedAnswers,
    pending::Pending,
    writer::{Outgoing, State, Writer, line},
};

/// The maximum number of requests that are being answered, and of answers that wait for the client to read them. Beyond
/// that, nothing is read from the client.
const MAX_WAITING: usize = 128;

/// A connection to one client.
pub struct Connection<R> {
    lines: Lines<R>,
    out: mpsc::UnboundedSender<Outgoing>,
    state: watch::Sender<State>,
    answers: Arc<FinishedAnswers>,
    pending: Arc<Pending>,
    batches: Arc<Batches>,
    /// Messages of a batch that have not been passed to the library yet.
    next: VecDeque<ClientJsonRpcMessage>,
    is_open: bool,
    /// Whether the protocol version of the client has batches.
    has_batches: bool,
}

impl<R: AsyncRead + Unpin + Send> Connection<R> {
    /// Connects `input` and `output`. Must be called within a runtime.
    pub fn new<W>(input: R, output: W, answers: Arc<FinishedAnswers>) -> Self
    where
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (out, queue) = mpsc::unbounded_channel();
        let state = watch::Sender::new(State::default());
        let pending = Arc::new(Pending::default());
        let batches = Arc::new(Batches::default());
        let writer = Writer {
            output,
            answers: answers.clone(),
            pending: pending.clone(),
            batches: batches.clone(),
            state: state.clone(),
        };
        tokio::spawn(writer.write_all(queue));
        let (lines, next) = (Lines::new(input), VecDeque::new());
        Self { lines, out, state, answers, pending, batches, next, is_open: false, has_batches: false }
    }

    /// Hands over a message to be written.
    fn queue(&self, outgoing: Outgoing) {
        self.state.send_modify(|state| state.waiting += 1);
        // If the writer has ended, the reader ends with it.
        let _ = self.out.send(outgoing);
    }

    fn refuse(&self, error: JsonRpcError) {
        tracing::debug!(error = ?error.error.message, "refused");
        self.queue(Outgoing::Line(line(&JsonRpcMessage::Error(error))));
    }

    /// Applies cancellations and registers requests. Returns whether the library gets the message.
    fn register(&mut self, message: &ClientJsonRpcMessage) -> bool {
        match message {
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // The answer of a cancelled request is dropped before it is written.
                    drop(self.answers.take(id));
                    self.pending.end(id);
                    if let Some(line) = self.batches.forget(id) {
                        self.queue(Outgoing::Line(line));
                    }
                }
            }
            JsonRpcMessage::Request(request) => {
                if let Err(error) = self.pending.begin(&request.id) {
                    self.refuse(error);
                    return false;
                }
            }
            _ => {}
        }
        self.is_timely(message)
    }

    /// Splits a batch into its messages.
    fn open_batch(&mut self, parts: &[Vec<u8>]) {
        let (mut open, mut done) = (HashSet::new(), Vec::new());
        for frame in parts.iter().map(|part| jsonrpc_frame::read(part)) {
            match frame {
                Frame::Nothing => {}
                Frame::Wrong(error) => done.push(line(&JsonRpcMessage::Error(error))),
                Frame::Message(message) => {
                    if let JsonRpcMessage::Request(request) = &*message {
                        if let Err(error) = self.pending.begin(&request.id) {
                            done.push(line(&JsonRpcMessage::Error(error)));
                            continue;
                        }
                        open.insert(request.id.clone());
                        self.next.push_back(*message);
                    } else if self.register(&message) {
                        self.next.push_back(*message);
                    }
                }
            }
        }
        // A request may be cancelled within its batch.
        open.retain(|id| self.pending.has(id));
        if let Some(line) = self.batches.begin(open, done) {
            self.queue(Outgoing::Line(line));
        }
    }

    /// Returns whether the library accepts a message now. Before the handshake, any message that is not a request makes
    /// it close the connection.
    fn is_timely(&mut self, message: &ClientJsonRpcMessage) -> bool {
        let JsonRpcMessage::Request(request) = message else {
            return self.is_open;
        };
        self.is_open |= match &request.request {
            ClientRequest::InitializeRequest(hello) => {
                self.has_batches = hello.params.protocol_version.as_str() == batch::VERSION;
                true
            }
            ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
            other => {
                let meta = other.get_meta();
                let is_known = |version: &ProtocolVersion| ProtocolVersion::KNOWN_VERSIONS.contains(version);
                meta.protocol_version().as_ref().is_some_and(is_known)
                    && meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
            }
        };
        true
    }
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for Connection<R> {
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (done, written) = oneshot::channel();
        self.queue(Outgoing::Message(Box::new(message), done));
        async move { written.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into())) }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(message) = self.next.pop_front() {
                return Some(message);
            }
            let mut state = self.state.subscribe();
            // Stop reading from a client that does not read.
            let has_room = |state: &State| state.waiting < MAX_WAITING && self.pending.count() < MAX_WAITING;
            let _ = state.wait_for(|state| state.is_closed || has_room(state)).await;
            let line = tokio::select! {
                biased;
                _ = state.wait_for(|state| state.is_closed) => return None,
                line = self.lines.next() => line,
            };
            let frame = match line {
                Line::Text(text) => match self.has_batches.then(|| batch::parts(&text)).flatten() {
                    Some(Ok(parts)) => {
                        self.open_batch(&parts);
                        continue;
                    }
                    Some(Err(error)) => Frame::Wrong(error),
                    None => jsonrpc_frame::read(&text),
                },
                Line::Oversized(beginning) => Frame::Wrong(jsonrpc_frame::oversized(&beginning)),
                Line::End => return None,
            };
            match frame {
                Frame::Nothing => {}
                Frame::Wrong(error) => self.refuse(error),
                Frame::Message(message) => {
                    tracing::debug!(what = ?summary(&message), "received");
                    if self.register(&message) {
                        return Some(*message);
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        let mut state = self.state.subscribe();
        let _ = state.wait_for(|state| state.is_closed || state.waiting == 0).await;
        Ok(())
    }
}

/// Returns the kind of a message for the log, without its content.
fn summary(message: &ClientJsonRpcMessage) -> String {
    match message {
        JsonRpcMessage::Request(request) => format!("{} {}", request.request.method(), request.id),
        JsonRpcMessage::Response(response) => format!("response {}", response.id),
        JsonRpcMessage::Error(error) => format!("error {:?}", error.error.message),
        JsonRpcMessage::Notification(notification) => match &notification.notification {
            ClientNotification::CancelledNotification(_) => "cancelled".to_owned(),
            ClientNotification::InitializedNotification(_) => "initialized".to_owned(),
            ClientNotification::RootsListChangedNotification(_) => "roots changed".to_owned(),
            _ => "notification".to_owned(),
        },
    }
}
