//! What waits for one client: a few changes, which all clients share.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use tokio::sync::mpsc;

use super::event::Told;

/// How many changes wait for a client that does not read. One that falls further behind is cut off, and comes again
/// with the id that it heard last.
const QUEUE: usize = 16;

/// Where one client is told what happens.
#[derive(Debug, Clone)]
pub struct Outlet {
    sender: mpsc::Sender<Arc<Told>>,
    is_behind: Arc<AtomicBool>,
}

/// What waits for one client.
#[derive(Debug)]
pub struct Waiting {
    receiver: mpsc::Receiver<Arc<Told>>,
    /// Whether more came than there was room for: what waits is the last that is said.
    is_behind: Arc<AtomicBool>,
}

impl Outlet {
    /// Returns where a client is told, and where that waits for it.
    pub fn new() -> (Self, Waiting) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let is_behind = Arc::<AtomicBool>::default();
        (Self { sender, is_behind: is_behind.clone() }, Waiting { receiver, is_behind })
    }

    /// Tells the client. Returns whether it is still there, and not too far behind.
    pub fn tell(&self, told: &Arc<Told>) -> bool {
        let is_told = self.sender.try_send(told.clone()).is_ok();
        self.is_behind.fetch_or(!is_told, Ordering::Relaxed);
        is_told
    }

    /// Returns whether the client is gone.
    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}

impl Waiting {
    /// Returns what comes next, or nothing at the end.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<Told>>> {
        match self.receiver.poll_recv(context) {
            // It was set while the queue was full: whoever empties that comes by here.
            Poll::Pending if self.is_behind.load(Ordering::Relaxed) => Poll::Ready(None),
            next => next,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::event::Mark, *};

    #[test]
    fn whoever_falls_behind_hears_what_waits_and_then_the_end() {
        let told = Arc::new(Told::problem(&"r".parse().unwrap(), &Mark::default(), "none"));
        let (outlet, mut waiting) = Outlet::new();
        let other_realm = outlet.clone();
        assert!((0..QUEUE).all(|_| outlet.tell(&told)));
        assert!(!outlet.tell(&told));
        drop(outlet);
        let mut context = Context::from_waker(std::task::Waker::noop());
        for _ in 0..QUEUE {
            assert!(matches!(waiting.poll(&mut context), Poll::Ready(Some(_))));
        }
        assert!(matches!(waiting.poll(&mut context), Poll::Ready(None)), "though another realm could go on");
        drop(waiting);
        assert!(other_realm.is_closed());
    }

    #[test]
    fn whoever_keeps_up_goes_on() {
        let told = Arc::new(Told::problem(&"r".parse().unwrap(), &Mark::default(), "none"));
        let (outlet, mut waiting) = Outlet::new();
        let mut context = Context::from_waker(std::task::Waker::noop());
        for _ in 0..=QUEUE {
            assert!(outlet.tell(&told));
            assert!(matches!(waiting.poll(&mut context), Poll::Ready(Some(_))));
            assert!(waiting.poll(&mut context).is_pending());
        }
        drop(outlet);
        assert!(matches!(waiting.poll(&mut context), Poll::Ready(None)));
    }
}
