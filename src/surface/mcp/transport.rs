//! The connection: lines in, lines out, in the order in which they were handed over. What a tool
//! answered is put together only when its turn to be written has come, so that what a reader was
//! told is recorded before anything else is told to it.

use std::{future::Future, io, sync::Arc};

use rmcp::{
    RoleServer,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta as _, JsonRpcMessage, ProtocolVersion,
        ServerJsonRpcMessage, ServerResult,
    },
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    sync::{mpsc, oneshot, watch},
};

use super::{
    desk::Desk,
    frame::{self, Frame},
    lines::{Line, Lines},
    log::Log,
};

/// How many answers may wait for a client that does not read, before nothing more is read from it.
const MAX_WAITING: usize = 1_024;

/// The connection to one client.
pub struct Connection<R> {
    lines: Lines<R>,
    out: mpsc::UnboundedSender<Outgoing>,
    state: watch::Sender<State>,
    desk: Arc<Desk>,
    log: Log,
    is_open: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    waiting: usize,
    is_closed: bool,
}

/// A message on its way out, and who waits for it to have been written.
type Outgoing = (ServerJsonRpcMessage, oneshot::Sender<io::Result<()>>);

impl<R: AsyncRead + Unpin + Send> Connection<R> {
    /// Connects `input` and `output`. Needs a runtime around it.
    pub fn new<W>(input: R, output: W, desk: Arc<Desk>, log: Log) -> Self
    where
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (out, queue) = mpsc::unbounded_channel();
        let state = watch::Sender::new(State::default());
        tokio::spawn(write(queue, output, desk.clone(), state.clone(), log.clone()));
        Self { lines: Lines::new(input), out, state, desk, log, is_open: false }
    }

    /// Hands a message over to be written.
    fn queue(&self, message: ServerJsonRpcMessage) -> oneshot::Receiver<io::Result<()>> {
        let (done, written) = oneshot::channel();
        self.state.send_modify(|state| state.waiting += 1);
        // Where nobody writes any more, whoever waits hears it from the other end.
        let _ = self.out.send((message, done));
        written
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
        let written = self.queue(message);
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
                Line::Text(text) => frame::read(&text),
                Line::Oversized => Frame::Wrong(frame::oversized()),
                Line::End => return None,
            };
            match frame {
                Frame::Nothing => {}
                Frame::Wrong(error) => {
                    self.log.say(|| format!("refused: {}", error.error.message));
                    drop(self.queue(JsonRpcMessage::Error(error)));
                }
                Frame::Message(message) => {
                    if let JsonRpcMessage::Notification(notification) = &*message
                        && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                        && let Some(id) = &cancelled.params.request_id
                    {
                        // Its answer is dropped before it gets here.
                        self.desk.forget(id);
                    }
                    self.log.say(|| format!("in: {}", summary(&message)));
                    if self.is_timely(&message) {
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

/// Writes messages one by one, until there are none or nobody reads them.
async fn write<W: AsyncWrite + Unpin>(
    mut queue: mpsc::UnboundedReceiver<Outgoing>,
    mut output: W,
    desk: Arc<Desk>,
    state: watch::Sender<State>,
    log: Log,
) {
    while let Some((message, done)) = queue.recv().await {
        let answer = match &message {
            JsonRpcMessage::Response(response) if matches!(response.result, ServerResult::CallToolResult(_)) => {
                desk.take(&response.id)
            }
            _ => None,
        };
        let (line, told) = match answer {
            Some(answer) => answer.finish(&message),
            None => (line(&message), None),
        };
        log.say(|| format!("out: {} bytes", line.len()));
        let written = match output.write_all(&line).await {
            Ok(()) => output.flush().await,
            Err(error) => Err(error),
        };
        let is_closed = written.is_err();
        if let (Some(told), false) = (told, is_closed)
            && let Err(error) = told.record()
        {
            log.say(|| format!("not recorded as told: {}", error.message));
        }
        let _ = done.send(written);
        state.send_modify(|state| {
            state.waiting -= 1;
            state.is_closed |= is_closed;
        });
        if is_closed {
            return;
        }
    }
}

/// Returns a message as a line.
pub fn line(message: &ServerJsonRpcMessage) -> Vec<u8> {
    let mut line =
        serde_json::to_vec(message).unwrap_or_else(|error| unreachable!("messages have a JSON form: {error}"));
    line.push(b'\n');
    line
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
