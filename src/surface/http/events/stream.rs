//! The body of an event stream: it lasts until the client disconnects or falls behind, or the daemon stops.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use hyper::body::Frame;
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, Sleep, sleep},
};

use super::{event::EventFilter, hub::Listener, queue::Waiting};

/// The interval of heartbeats on a silent stream.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The subscriptions of one client.
pub type Listeners = Arc<Mutex<Vec<Listener>>>;

/// The event stream of one client.
pub struct Stream {
    /// Text that is sent before anything else.
    first: Option<Bytes>,
    waiting: Waiting,
    filter: EventFilter,
    heartbeat: Pin<Box<Sleep>>,
    /// Unsubscribes from the hubs when it is dropped.
    _listeners: Listeners,
    _permit: OwnedSemaphorePermit,
}

impl Stream {
    /// Returns a body that sends `first`, and then the queued events.
    pub fn new(
        first: String,
        waiting: Waiting,
        filter: EventFilter,
        listeners: Listeners,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        let heartbeat = Box::pin(sleep(HEARTBEAT));
        Self { first: Some(first.into()), waiting, filter, heartbeat, _listeners: listeners, _permit: permit }
    }

    fn data_frame(&mut self, text: Bytes) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.heartbeat.as_mut().reset(Instant::now() + HEARTBEAT);
        Poll::Ready(Some(Ok(Frame::data(text))))
    }
}

impl hyper::body::Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(first) = self.first.take() {
            return self.data_frame(first);
        }
        match self.waiting.poll(context) {
            Poll::Ready(Some(told)) => {
                let text = told.text(&self.filter);
                self.data_frame(text)
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => {
                ready!(self.heartbeat.as_mut().poll(context));
                self.data_frame(Bytes::from_static(b":\n\n"))
            }
        }
    }
}
