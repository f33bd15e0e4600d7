//! How long values may be judged in one request.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

/// The time that is left for judging values. One request has one budget for all of its contracts, so
/// that a realm full of slow ones costs no more than a single one.
#[derive(Debug, Default)]
pub struct Budget {
    whole: Option<Duration>,
    left: Cell<Duration>,
}

impl Budget {
    /// Returns a budget of so much time; without a limit where there is none.
    pub fn new(time: Option<Duration>) -> Self {
        Self { whole: time, left: Cell::new(time.unwrap_or_default()) }
    }

    /// Returns the time for everything, where there is a limit.
    pub fn whole(&self) -> Option<Duration> {
        self.whole
    }

    /// Calls `judge` with the moment when it must be done. That leaves half of the time to those that
    /// come after: one slow contract hides nothing of the others.
    pub(super) fn spend<T>(&self, judge: impl FnOnce(Option<Instant>) -> T) -> T {
        if self.whole.is_none() {
            return judge(None);
        }
        let begun = Instant::now();
        let judged = judge(Some(begun + self.left.get() / 2));
        self.left.set(self.left.get().saturating_sub(begun.elapsed()));
        judged
    }
}
