//! How long values may be judged in one request.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// The time that is left for judging values. One request has one budget for all of its contracts, so
/// that a realm full of slow ones costs no more than a single one.
#[derive(Debug, Default)]
pub struct Budget {
    whole: Option<Duration>,
    left: Cell<Duration>,
    cancelled: Arc<AtomicBool>,
}

/// When a judgement has to end: at a moment, or once its request is cancelled.
#[derive(Debug, Clone, Default)]
pub struct Deadline {
    at: Option<Instant>,
    cancelled: Arc<AtomicBool>,
}

impl Deadline {
    /// Returns whether it has to end now.
    pub fn is_over(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || self.at.is_some_and(|at| Instant::now() >= at)
    }
}

impl Budget {
    /// Returns a budget of so much time; without a limit where there is none.
    pub fn new(time: Option<Duration>) -> Self {
        Self { whole: time, left: Cell::new(time.unwrap_or_default()), cancelled: Arc::default() }
    }

    /// Returns the budget of a request that is cancelled by setting `flag`.
    #[must_use]
    pub fn cancelled_by(self, flag: Arc<AtomicBool>) -> Self {
        Self { cancelled: flag, ..self }
    }

    /// Returns whether the request was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns the time for everything, where there is a limit.
    pub fn whole(&self) -> Option<Duration> {
        self.whole
    }

    /// Calls `judge` with its deadline. That leaves half of the time to those that
    /// come after: one slow contract hides nothing of the others.
    pub(super) fn spend<T>(&self, judge: impl FnOnce(Deadline) -> T) -> T {
        let cancelled = self.cancelled.clone();
        if self.whole.is_none() {
            return judge(Deadline { at: None, cancelled });
        }
        let begun = Instant::now();
        let judged = judge(Deadline { at: Some(begun + self.left.get() / 2), cancelled });
        self.left.set(self.left.get().saturating_sub(begun.elapsed()));
        judged
    }
}
