//! The open connections. Their number is limited, and a new one replaces the connection that has been idle longest.
//! Event streams have their own limit, and do not count here.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    io,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    sync::Notify,
    time::Sleep,
};

use super::Body;
use crate::surface::{locked::locked, mcp::AfterFlush};

/// The time after which a connection is closed whose client leaves data unread.
const WRITE_TIME: Duration = Duration::from_secs(30);

/// Marks a response that lasts until its client disconnects.
#[derive(Debug, Clone, Copy)]
pub struct Streaming;

/// The set of open connections.
#[derive(Debug)]
pub struct Connections {
    most: usize,
    start: Instant,
    next: AtomicU64,
    all: Mutex<BTreeMap<u64, Arc<State>>>,
}

/// An open connection.
#[derive(Debug)]
pub struct Connection {
    id: u64,
    state: Arc<State>,
    among: Arc<Connections>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of requests that are being answered.
    busy: AtomicUsize,
    /// Whether the response lasts until the client disconnects.
    is_listening: AtomicBool,
    /// The time of the last read or write, in milliseconds.
    touched: AtomicU64,
    leave: Notify,
}

impl Connections {
    /// Creates an empty set of at most `most` connections.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, start: Instant::now(), next: AtomicU64::default(), all: Mutex::default() })
    }

    /// Admits a connection, closing an idle one if there is no room. Returns `None` if requests are being answered on
    /// all of them.
    pub fn admit(self: &Arc<Self>) -> Option<Connection> {
        let mut all = locked(&self.all);
        let asking = || all.iter().filter(|(_, state)| !state.is_listening.load(Ordering::Relaxed));
        if asking().count() >= self.most {
            let idle = asking().filter(|(_, state)| state.busy.load(Ordering::Relaxed) == 0);
            let (id, _) = idle.min_by_key(|(_, state)| state.touched.load(Ordering::Relaxed))?;
            let id = *id;
            if let Some(state) = all.remove(&id) {
                state.leave.notify_one();
            }
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let state = Arc::new(State::default());
        state.touched.store(self.now(), Ordering::Relaxed);
        all.insert(id, state.clone());
        Some(Connection { id, state, among: self.clone() })
    }

    /// Returns the number of connections, including event streams.
    pub fn count(&self) -> usize {
        locked(&self.all).len()
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Connection {
    /// Waits until this connection has to close in favour of another one.
    pub async fn asked_to_close(&self) {
        self.state.leave.notified().await;
    }

    /// Stops counting this connection against the limit, because it is an event stream from now on.
    pub fn listen(&self) {
        self.state.is_listening.store(true, Ordering::Relaxed);
    }

    /// Protects the connection from being closed in favour of another one while the result is alive.
    pub fn busy(self: &Arc<Self>) -> Busy {
        self.state.busy.fetch_add(1, Ordering::Relaxed);
        Busy(self.clone())
    }

    fn touch(&self) {
        self.state.touched.store(self.among.now(), Ordering::Relaxed);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        locked(&self.among.all).remove(&self.id);
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub struct Busy(Arc<Connection>);

impl Busy {
    /// Wraps a body, so that the request counts as being answered until the body was sent.
    pub fn with(self, body: Body) -> impl hyper::body::Body<Data = Bytes, Error = Infallible> {
        body.map_err(move |never| {
            let _busy = &self;
            never
        })
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.touch();
        self.0.state.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection that fails if its client does not read.
pub struct Socket {
    stream: TcpStream,
    connection: Arc<Connection>,
    after: AfterFlush,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Socket {
    /// Wraps the stream of a connection. Work in `after` is run each time all data has been written.
    pub fn new(stream: TcpStream, connection: Arc<Connection>, after: AfterFlush) -> Self {
        Self { stream, connection, after, stalled: None }
    }

    fn written(&mut self, written: Poll<io::Result<usize>>, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.stalled = None;
            self.connection.touch();
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(WRITE_TIME)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_ready() {
            self.connection.touch();
        }
        read
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.written(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if let Poll::Ready(Ok(())) = flushed {
            self.after.run();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connection_that_is_idle_longest_is_replaced() {
        let connections = Connections::new(2);
        let [first, second] = [connections.admit().unwrap(), connections.admit().unwrap()].map(Arc::new);
        first.state.touched.store(5, Ordering::Relaxed);
        second.state.touched.store(3, Ordering::Relaxed);
        let third = connections.admit().unwrap();
        let is_open = |one: &Connection| locked(&connections.all).contains_key(&one.id);
        assert!(is_open(&first) && !is_open(&second));
        third.state.touched.store(0, Ordering::Relaxed);
        // A connection that is being answered is not closed.
        let (third, busy) = (Arc::new(third), first.busy());
        let _busy = third.busy();
        assert!(connections.admit().is_none());
        drop(busy);
        assert!(connections.admit().is_some());
    }
}
