//! Writes the messages of a connection one by one. The answer of a tool is assembled only when it is about to be
//! written, so that the notifications in one answer are recorded as seen before the next answer is assembled.

use std::{future::Future, io, sync::Arc};

use rmcp::model::{JsonRpcMessage, ServerJsonRpcMessage, ServerResult};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    sync::{mpsc, oneshot, watch},
};

use super::{
    batch::Batches,
    outbox::{AGAIN, FinishedAnswers, SentNotifications},
    pending::Pending,
};

/// The state of the writer.
#[derive(Debug, Clone, Copy, Default)]
pub struct State {
    /// The number of messages that wait to be written.
    pub waiting: usize,
    /// Whether the client has closed its end.
    pub is_closed: bool,
}

/// An item to write.
pub enum Outgoing {
    /// A message of the library, and a sender that is notified once the message has been written.
    Message(Box<ServerJsonRpcMessage>, oneshot::Sender<io::Result<()>>),
    /// A line that does not come from the library.
    Line(Vec<u8>),
}

/// Writes messages, and records the notifications in them as seen.
pub struct Writer<W> {
    /// The stream to the client.
    pub output: W,
    /// The finished answers.
    pub answers: Arc<FinishedAnswers>,
    /// The requests that are being answered.
    pub pending: Arc<Pending>,
    /// The batches that are not fully answered.
    pub batches: Arc<Batches>,
    /// The state of the writer.
    pub state: watch::Sender<State>,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    /// Writes messages until there are no more, or the client has closed its end.
    pub async fn write_all(mut self, mut queue: mpsc::UnboundedReceiver<Outgoing>) {
        let mut unrecorded = Unrecorded::default();
        while let Some(outgoing) = unrecorded.while_waiting(queue.recv()).await {
            let (line, told, done) = match outgoing {
                Outgoing::Line(line) => (Some(line), None, None),
                Outgoing::Message(message, done) => {
                    let (line, told) = self.finished(&message, &mut unrecorded);
                    (line, told, Some(done))
                }
            };
            let written = match &line {
                Some(line) => self.write(line).await,
                None => Ok(()),
            };
            let is_closed = written.is_err();
            if let (Some(told), false) = (told, is_closed) {
                unrecorded.0.get_or_insert(told);
                unrecorded.is_settled();
            }
            if let Some(done) = done {
                let _ = done.send(written);
            }
            self.state.send_modify(|state| {
                state.waiting -= 1;
                state.is_closed |= is_closed;
            });
            if is_closed {
                return;
            }
        }
    }

    async fn write(&mut self, line: &[u8]) -> io::Result<()> {
        tracing::debug!(bytes = line.len(), "sent");
        self.output.write_all(line).await?;
        self.output.flush().await
    }

    /// Returns the line of a message, and the notifications to record as seen once it has been written. An answer in a
    /// batch waits for the others and carries no notifications.
    fn finished(
        &self,
        message: &ServerJsonRpcMessage,
        unrecorded: &mut Unrecorded,
    ) -> (Option<Vec<u8>>, Option<SentNotifications>) {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let Some(id) = id else { return (Some(line(message)), None) };
        self.pending.end(id);
        let answer = match message {
            JsonRpcMessage::Response(response) if matches!(response.result, ServerResult::CallToolResult(_)) => {
                self.answers.take(&response.id)
            }
            _ => None,
        };
        let is_alone = !self.batches.has(id);
        let (line, told) = match answer {
            Some(answer) => answer.finish(message, is_alone && unrecorded.is_settled()),
            None => (line(message), None),
        };
        (self.batches.collect(id, line), told)
    }
}

/// Notifications that were written but could not be recorded as seen yet. Until then, no others are added to answers,
/// since these would be repeated.
#[derive(Default)]
struct Unrecorded(Option<SentNotifications>);

impl Unrecorded {
    /// Records the notifications, if that is possible now. Returns whether none are left.
    fn is_settled(&mut self) -> bool {
        let _ = self.0.take_if(|told| told.is_settled());
        self.0.is_none()
    }

    /// Waits for a future, and retries recording in the meantime.
    async fn while_waiting<T>(&mut self, something: impl Future<Output = T>) -> T {
        let mut something = std::pin::pin!(something);
        loop {
            tokio::select! {
                biased;
                done = &mut something => return done,
                () = tokio::time::sleep(AGAIN), if self.0.is_some() => drop(self.is_settled()),
            }
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
