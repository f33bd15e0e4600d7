//! The time limit for validating values in one request.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// The remaining time for validating values. One request has one budget for all its contracts, so that a realm full of
/// slow contracts takes no longer than a single one.
#[derive(Debug, Default)]
pub struct Budget {
    whole: Option<Duration>,
    left: Cell<Duration>,
    cancelled: Arc<AtomicBool>,
}

/// The end of a validation: a point in time, or the cancellation of its request.
#[derive(Debug, Clone, Default)]
pub struct Deadline {
    at: Option<Instant>,
    cancelled: Arc<AtomicBool>,
}

impl Deadline {
    /// Returns whether the deadline has passed.
    pub fn is_over(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || self.at.is_some_and(|at| Instant::now() >= at)
    }
}

impl Budget {
    /// Creates a budget with a time limit, or without one if `time` is `None`.
    pub fn new(time: Option<Duration>) -> Self {
        Self { whole: time, left: Cell::new(time.unwrap_or_default()), cancelled: Arc::default() }
    }

    /// Ends the budget when `flag` is set, which cancels the request.
    #[must_use]
    pub fn cancelled_by(self, flag: Arc<AtomicBool>) -> Self {
        Self { cancelled: flag, ..self }
    }

    /// Returns whether the request was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns the time limit, if there is one.
    pub fn whole(&self) -> Option<Duration> {
        self.whole
    }

    /// Calls `judge` with a deadline that leaves half of the remaining time for later calls, so that one slow contract
    /// does not hide the others.
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
