//! The way out of a connection: one line after the other. What a tool answered is put together only when
//! its turn to be written has come, so that what a reader was told is recorded before anything else is
//! told to it.

use std::{future::Future, io, sync::Arc, time::Duration};

use rmcp::model::{JsonRpcMessage, ServerJsonRpcMessage, ServerResult};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    sync::{mpsc, oneshot, watch},
};

use super::{
    batch::Batches,
    log::Log,
    outbox::{Desk, Told},
    pending::Pending,
};
use crate::error::ErrorCode;

/// How the way out is.
#[derive(Debug, Clone, Copy, Default)]
pub struct State {
    /// How much waits to be written.
    pub waiting: usize,
    /// Whether nobody reads any more.
    pub is_closed: bool,
}

/// What is on its way out.
pub enum Outgoing {
    /// A message of the library, and who waits for it to have been written.
    Message(Box<ServerJsonRpcMessage>, oneshot::Sender<io::Result<()>>),
    /// A line that the library knows nothing of.
    Line(Vec<u8>),
}

/// Writes, and does what is to be done once an answer has been written.
pub struct Writer<W> {
    /// Where to.
    pub output: W,
    /// Where answers wait.
    pub desk: Arc<Desk>,
    /// What is being answered.
    pub pending: Arc<Pending>,
    /// What is answered together.
    pub batches: Arc<Batches>,
    /// How the way out is.
    pub state: watch::Sender<State>,
    /// What happens.
    pub log: Log,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    /// Writes messages one by one, until there are none or nobody reads them.
    pub async fn write_all(mut self, mut queue: mpsc::UnboundedReceiver<Outgoing>) {
        let mut owed = Owed::default();
        while let Some(outgoing) = owed.while_waiting(queue.recv(), &self.log).await {
            let (line, told, done) = match outgoing {
                Outgoing::Line(line) => (Some(line), None, None),
                Outgoing::Message(message, done) => {
                    let (line, told) = self.finished(&message, &mut owed);
                    (line, told, Some(done))
                }
            };
            let written = match &line {
                Some(line) => self.write(line).await,
                None => Ok(()),
            };
            let is_closed = written.is_err();
            if let (Some(told), false) = (told, is_closed) {
                owed.0.get_or_insert(told);
                owed.is_settled(&self.log);
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
        self.log.say(|| format!("out: {} bytes", line.len()));
        self.output.write_all(line).await?;
        self.output.flush().await
    }

    /// Returns a message as a line, and what it tells, to be recorded once it has been written. An answer within a batch
    /// waits for the others, and tells nothing.
    fn finished(&self, message: &ServerJsonRpcMessage, owed: &mut Owed) -> (Option<Vec<u8>>, Option<Told>) {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let Some(id) = id else { return (Some(line(message)), None) };
        self.pending.end(id);
        let answer = match message {
            JsonRpcMessage::Response(response) if matches!(response.result, ServerResult::CallToolResult(_)) => {
                self.desk.take(&response.id)
            }
            _ => None,
        };
        let is_alone = !self.batches.has(id);
        let (line, told) = match answer {
            Some(answer) => answer.finish(message, is_alone && owed.is_settled(&self.log)),
            None => (line(message), None),
        };
        (self.batches.collect(id, line), told)
    }
}

/// How often is tried to record what was told while somebody else holds the lock for it.
const AGAIN: Duration = Duration::from_millis(100);

/// What was told and could not be recorded yet. Nothing else is told before it is: it would be told
/// twice.
#[derive(Default)]
struct Owed(Option<Told>);

impl Owed {
    /// Records what is owed, if that can be done now. Returns whether nothing is owed any more.
    fn is_settled(&mut self, log: &Log) -> bool {
        match self.0.as_ref().map(Told::record) {
            Some(Err(error)) if error.code == ErrorCode::Locked => return false,
            // It is told again then.
            Some(Err(error)) => log.say(|| format!("not recorded as told: {}", error.message)),
            Some(Ok(())) | None => {}
        }
        self.0 = None;
        true
    }

    /// Waits for something, and tries to record what is owed meanwhile.
    async fn while_waiting<T>(&mut self, something: impl Future<Output = T>, log: &Log) -> T {
        let mut something = std::pin::pin!(something);
        loop {
            tokio::select! {
                biased;
                done = &mut something => return done,
                () = tokio::time::sleep(AGAIN), if self.0.is_some() => drop(self.is_settled(log)),
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
