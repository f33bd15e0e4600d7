//! The event queue of one client. The queued changes are shared with other clients.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use tokio::sync::mpsc;

use super::event::EventBatch;

/// The maximum number of changes that are queued for a client. One that falls further behind is disconnected, and
/// reconnects with the id of the last event that it received.
const QUEUE: usize = 16;

/// The sending half of the event queue of one client.
#[derive(Debug, Clone)]
pub struct EventSender {
    sender: mpsc::Sender<Arc<EventBatch>>,
    is_behind: Arc<AtomicBool>,
}

/// The receiving half of the event queue of one client.
#[derive(Debug)]
pub struct Waiting {
    receiver: mpsc::Receiver<Arc<EventBatch>>,
    /// Whether the queue overflowed: the stream ends after the queued changes.
    is_behind: Arc<AtomicBool>,
}

impl EventSender {
    /// Creates a queue, and returns its two halves.
    pub fn new() -> (Self, Waiting) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let is_behind = Arc::<AtomicBool>::default();
        (Self { sender, is_behind: is_behind.clone() }, Waiting { receiver, is_behind })
    }

    /// Queues events for the client. Returns whether it is still connected, and not too far behind.
    pub fn send(&self, told: &Arc<EventBatch>) -> bool {
        let is_told = self.sender.try_send(told.clone()).is_ok();
        self.is_behind.fetch_or(!is_told, Ordering::Relaxed);
        is_told
    }
}

impl Waiting {
    /// Returns the next events, or `None` at the end.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<EventBatch>>> {
        match self.receiver.poll_recv(context) {
            // The flag was set while the queue was full, so it is seen once the queue has been emptied.
            Poll::Pending if self.is_behind.load(Ordering::Relaxed) => Poll::Ready(None),
            next => next,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::event::Checkpoint, *};

    #[test]
    fn a_client_that_falls_behind_gets_the_queued_events_and_then_the_end() {
        let told = Arc::new(EventBatch::problem(&"r".parse().unwrap(), &Checkpoint::default(), "none"));
        let (sender, mut waiting) = EventSender::new();
        let other_realm = sender.clone();
        assert!((0..QUEUE).all(|_| sender.send(&told)));
        assert!(!sender.send(&told));
        drop(sender);
        let mut context = Context::from_waker(std::task::Waker::noop());
        for _ in 0..QUEUE {
            assert!(matches!(waiting.poll(&mut context), Poll::Ready(Some(_))));
        }
        assert!(matches!(waiting.poll(&mut context), Poll::Ready(None)), "though another realm could go on");
        drop(waiting);
        assert!(!other_realm.send(&told));
    }
}
