//! Records the notifications in an answer over HTTP as seen once the answer has been written.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body_util::{Full, combinators::BoxBody};
use hyper::{
    Request, Response,
    body::{Frame as Piece, SizeHint},
};
use tokio::sync::{mpsc, oneshot};

use super::{
    client::{ClientOfRequest, Unrecorded},
    pending::RequestIdGuard,
};
use crate::surface::locked::locked;

/// Work to run once a connection has written all of its data. If the connection fails, the work is dropped.
#[derive(Clone, Default)]
pub struct AfterFlush(Arc<Mutex<Vec<Later>>>);

type Later = Box<dyn FnOnce() + Send>;

impl AfterFlush {
    pub fn add(&self, work: Later) {
        locked(&self.0).push(work);
    }

    /// Runs the work.
    pub fn run(&self) {
        let all = std::mem::take(&mut *locked(&self.0));
        all.into_iter().for_each(|work| work());
    }
}

/// A body whose notifications are recorded as seen once all of it has been written.
pub struct Written {
    inner: Body,
    request_client: ClientOfRequest,
    work: mpsc::UnboundedSender<Work>,
    after: AfterFlush,
    is_done: bool,
    /// Reserves the id of the request until the whole body has been written.
    _id_guard: Option<RequestIdGuard>,
}

impl Written {
    /// Wraps the answer to a request of `request_client`, and holds `id_guard` until it is sent.
    pub fn new(
        inner: Body,
        request_client: ClientOfRequest,
        work: mpsc::UnboundedSender<Work>,
        after: AfterFlush,
        id_guard: Option<RequestIdGuard>,
    ) -> Self {
        Self { inner, request_client, work, after, is_done: false, _id_guard: id_guard }
    }
}

impl hyper::body::Body for Written {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Piece<Bytes>, Infallible>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(cx);
        if let Poll::Ready(piece) = &polled {
            self.is_done = piece.is_none() || self.inner.is_end_stream();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        // Notifications that did not reach the client stay pending.
        if let Some(unrecorded) = self.request_client.take().filter(|_| self.is_done) {
            let work = self.work.clone();
            self.after.add(Box::new(move || drop(work.send(Work::Record(Box::new(unrecorded))))));
        }
    }
}

/// The body of an answer.
pub type Body = BoxBody<Bytes, Infallible>;

/// Work for the server's own thread.
pub enum Work {
    /// Answers a request.
    Answer(Box<Request<Full<Bytes>>>, oneshot::Sender<Response<Body>>),
    /// Records notifications as seen.
    Record(Box<Unrecorded>),
}
