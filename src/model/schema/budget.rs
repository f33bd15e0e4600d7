//! The time limit for validating values in one request.

use std::{
    cell::Cell,
    fmt,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// The part of each validation that is not counted. Otherwise many quick contracts would use up the
/// budget, and the result would depend on the size of the realm.
const FREE: Duration = Duration::from_millis(5);

/// A clock that may be read in any thread.
pub(super) type Clock = dyn Fn() -> Duration + Send + Sync;

/// The remaining time for validating values. One request has one budget for all its contracts, so that a realm full of
/// slow contracts takes little longer than a single one.
pub struct Budget {
    whole: Option<Duration>,
    left: Cell<Duration>,
    /// Measures the time that validations take.
    clock: Arc<Clock>,
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

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget").field("whole", &self.whole).field("left", &self.left).finish_non_exhaustive()
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(None)
    }
}

impl Budget {
    /// Creates a budget with a time limit, or without one if `time` is `None`.
    pub fn new(time: Option<Duration>) -> Self {
        Self {
            whole: time,
            left: Cell::new(time.unwrap_or_default()),
            clock: Arc::new(elapsed),
            cancelled: Arc::default(),
        }
    }

    /// Measures the time that validations take by this clock.
    #[must_use]
    pub fn measured_by(self, clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
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
        let begun = (self.clock)();
        let judged = judge(Deadline { at: Some(Instant::now() + self.left.get() / 2), cancelled });
        let taken = (self.clock)().saturating_sub(begun);
        self.left.set(self.left.get().saturating_sub(taken.saturating_sub(FREE)));
        judged
    }
}

/// Returns the time since the first call.
fn elapsed() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    fn take(budget: &Budget, milliseconds: u64) {
        budget.spend(|_| NOW.set(NOW.get() + Duration::from_millis(milliseconds)));
    }

    #[test]
    fn only_slow_validations_use_up_the_budget() {
        let budget = Budget::new(Some(Duration::from_secs(1))).measured_by(|| NOW.get());
        for _ in 0..10_000 {
            take(&budget, 4);
        }
        assert_eq!(budget.left.get(), Duration::from_secs(1));
        take(&budget, 605);
        assert_eq!(budget.left.get(), Duration::from_millis(400));
        take(&budget, 1_000);
        assert_eq!(budget.left.get(), Duration::ZERO);
    }
}
