//! The connection: lines in, lines out, in the order in which they were handed over.

use std::{future::Future, io, sync::Arc};

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
    jsonrpc_frame::{self, Frame},
    line_reader::{Line, Lines},
    log::Log,
    outbox::Desk,
    pending::Pending,
    writer::{Outgoing, State, Writer, line},
};

/// How many answers may wait for a client that does not read, before nothing more is read from it.
const MAX_WAITING: usize = 1_024;

/// The connection to one client.
pub struct Connection<R> {
    lines: Lines<R>,
    out: mpsc::UnboundedSender<Outgoing>,
    state: watch::Sender<State>,
    desk: Arc<Desk>,
    pending: Arc<Pending>,
    log: Log,
    is_open: bool,
}

impl<R: AsyncRead + Unpin + Send> Connection<R> {
    /// Connects `input` and `output`. Needs a runtime around it.
    pub fn new<W>(input: R, output: W, desk: Arc<Desk>, log: Log) -> Self
    where
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (out, queue) = mpsc::unbounded_channel();
        let state = watch::Sender::new(State::default());
        let pending = Arc::new(Pending::default());
        let writer =
            Writer { output, desk: desk.clone(), pending: pending.clone(), state: state.clone(), log: log.clone() };
        tokio::spawn(writer.write_all(queue));
        Self { lines: Lines::new(input), out, state, desk, pending, log, is_open: false }
    }

    /// Hands something over to be written.
    fn queue(&self, outgoing: Outgoing) {
        self.state.send_modify(|state| state.waiting += 1);
        // Where nobody writes any more, whoever waits hears it from the other end.
        let _ = self.out.send(outgoing);
    }

    fn refuse(&self, error: JsonRpcError) {
        self.log.say(|| format!("refused: {}", error.error.message));
        self.queue(Outgoing::Line(line(&JsonRpcMessage::Error(error))));
    }

    /// Notes what a message means for those before it. Returns whether the library is to see it.
    fn notes(&mut self, message: &ClientJsonRpcMessage) -> bool {
        match message {
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // Its answer is dropped before it gets here.
                    self.desk.forget(id);
                    self.pending.end(id);
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

    /// Returns whether the library is ready for a message: before a client has said how it speaks,
    /// anything but a request ends the connection there.
    fn is_timely(&mut self, message: &ClientJsonRpcMessage) -> bool {
        let JsonRpcMessage::Request(request) = message else {
            return self.is_open;
        };
        self.is_open |= match &request.request {
            ClientRequest::InitializeRequest(_) => true,
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
            let mut state = self.state.subscribe();
            // A client that does not read is not listened to either.
            let _ = state.wait_for(|state| state.is_closed || state.waiting < MAX_WAITING).await;
            let line = tokio::select! {
                biased;
                _ = state.wait_for(|state| state.is_closed) => return None,
                line = self.lines.next() => line,
            };
            let frame = match line {
                Line::Text(text) => jsonrpc_frame::read(&text),
                Line::Oversized => Frame::Wrong(jsonrpc_frame::oversized()),
                Line::End => return None,
            };
            match frame {
                Frame::Nothing => {}
                Frame::Wrong(error) => self.refuse(error),
                Frame::Message(message) => {
                    self.log.say(|| format!("in: {}", summary(&message)));
                    if self.notes(&message) {
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

/// What the log says of a message: what it is, not what is in it.
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
