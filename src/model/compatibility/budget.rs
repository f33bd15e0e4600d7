//! The budget of one comparison. Once it is spent, everything else stays undecided.

use std::time::Duration;

/// The limits of one comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The time limit, measured by the caller's clock.
    pub time: Duration,
    /// The time for finding further differences after the verdicts.
    pub differences: Duration,
    /// The memory limit of the results of the search, as an approximate number of bytes. Everything else takes up to
    /// half of that again.
    pub bytes: usize,
    /// The maximum number of search steps, for reproducible tests; `u64::MAX` for no limit.
    pub steps: u64,
}

impl Default for Limits {
    fn default() -> Self {
        let differences = Duration::from_millis(200);
        Self { time: Duration::from_secs(1), differences, bytes: 100 << 20, steps: u64::MAX }
    }
}

/// The number of visits between two checks of the clock; they take about a millisecond in total.
const VISITS_PER_CLOCK_CHECK: u64 = 10_000;

/// The remaining part of [`Limits`].
pub(super) struct Budget<'a> {
    clock: &'a (dyn Fn() -> Duration + Sync),
    limits: Limits,
    started: Duration,
    pub(super) steps: u64,
    /// The number of parts of states that steps visited.
    visits: u64,
    /// The number of visits at which the clock is checked again.
    next_look: u64,
    bytes: usize,
    spent: Option<&'static str>,
}

impl<'a> Budget<'a> {
    pub(super) fn new(clock: &'a (dyn Fn() -> Duration + Sync), limits: Limits) -> Self {
        Self {
            clock,
            limits,
            started: clock(),
            steps: 0,
            visits: 0,
            next_look: VISITS_PER_CLOCK_CHECK,
            bytes: 0,
            spent: None,
        }
    }

    /// Counts a step. Returns whether the search may continue.
    pub(super) fn step(&mut self) -> bool {
        self.steps += 1;
        if self.steps > self.limits.steps {
            self.spent.get_or_insert("steps");
        } else if self.steps.is_multiple_of(64) {
            self.look();
        }
        self.spent.is_none()
    }

    /// Counts visited parts of a state within a step, such as facts and branches, since one step may visit thousands.
    /// Returns whether the search may continue.
    pub(super) fn visit(&mut self, count: usize) -> bool {
        self.visits = self.visits.saturating_add(count as u64);
        if self.visits >= self.next_look {
            self.next_look = self.visits.saturating_add(VISITS_PER_CLOCK_CHECK);
            self.look();
        }
        self.spent.is_none()
    }

    /// Checks the clock. Returns whether the search may continue.
    pub(super) fn look(&mut self) -> bool {
        if self.elapsed() > self.limits.time {
            self.spent.get_or_insert("time");
        }
        self.spent.is_none()
    }

    /// Limits the remaining time to the part reserved for further differences.
    pub(super) fn end_verdicts(&mut self) {
        self.limits.time = self.limits.time.min(self.elapsed().saturating_add(self.limits.differences));
    }

    /// Counts bytes that stay allocated until the end.
    pub(super) fn keep(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.limits.bytes {
            self.spent.get_or_insert("memory");
        }
    }

    pub(super) fn elapsed(&self) -> Duration {
        (self.clock)().saturating_sub(self.started)
    }

    /// Returns which limit was reached, if any.
    pub(super) fn spent(&self) -> Option<&'static str> {
        self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_within_a_step_check_the_clock() {
        let clock = std::sync::atomic::AtomicU64::new(0);
        let now = || Duration::from_secs(clock.load(std::sync::atomic::Ordering::Relaxed));
        let mut budget = Budget::new(&now, Limits::default());
        clock.store(2, std::sync::atomic::Ordering::Relaxed);
        let count = (0..VISITS_PER_CLOCK_CHECK).take_while(|_| budget.visit(1)).count() as u64;
        assert_eq!((count, budget.spent()), (VISITS_PER_CLOCK_CHECK - 1, Some("time")));
    }
}
