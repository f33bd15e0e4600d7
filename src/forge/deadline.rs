//! Limits how long one command waits for a forge in total, across all requests and attempts.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// The remaining time for a forge. It only runs while requests are in progress, so that other work, such as a push
/// between two requests, does not count.
#[derive(Debug)]
pub(super) struct Deadline {
    limit: Duration,
    clock: Mutex<Clock>,
    cancelled: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Clock {
    /// The time used before `since`.
    spent: Duration,
    /// The number of requests in progress.
    requests: usize,
    /// When the first of these requests began.
    since: Instant,
}

/// A running clock. It stops when it is dropped.
pub(super) struct RunningClock<'d>(&'d Deadline);

impl Deadline {
    /// Creates a deadline with all of the time left.
    pub(super) fn new(limit: Duration) -> Self {
        let clock = Mutex::new(Clock { spent: Duration::ZERO, requests: 0, since: Instant::now() });
        Self { limit, clock, cancelled: Arc::default() }
    }

    /// Ends the deadline once `flag` is set.
    pub(super) fn cancelled_by(self, flag: Arc<AtomicBool>) -> Self {
        Self { cancelled: flag, ..self }
    }

    /// Starts the clock, which runs until the result is dropped.
    pub(super) fn run(&self) -> RunningClock<'_> {
        let mut clock = self.clock();
        if clock.requests == 0 {
            clock.since = Instant::now();
        }
        clock.requests += 1;
        RunningClock(self)
    }

    /// Returns the remaining time, or `None` if there is none.
    pub(super) fn left(&self) -> Option<Duration> {
        if self.is_cancelled() {
            return None;
        }
        let clock = self.clock();
        let running = if clock.requests > 0 { clock.since.elapsed() } else { Duration::ZERO };
        self.limit.checked_sub(clock.spent + running).filter(|left| !left.is_zero())
    }

    /// Returns whether the request was cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Restarts the time, because the forge completed a write.
    pub(super) fn restart(&self) {
        let mut clock = self.clock();
        (clock.spent, clock.since) = (Duration::ZERO, Instant::now());
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningClock<'_> {
    fn drop(&mut self) {
        let mut clock = self.0.clock();
        clock.requests -= 1;
        if clock.requests == 0 {
            let used = clock.since.elapsed();
            clock.spent += used;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_runs_while_requests_are_in_progress() {
        let deadline = Deadline::new(Duration::from_millis(40));
        let pause = || std::thread::sleep(Duration::from_millis(50));
        pause();
        assert_eq!(deadline.left(), Some(Duration::from_millis(40)), "nobody asked");
        let (first, second) = (deadline.run(), deadline.run());
        drop(first);
        pause();
        assert_eq!(deadline.left(), None, "one still asks");
        deadline.restart();
        assert!(deadline.left().is_some());
        pause();
        drop(second);
        assert_eq!(deadline.left(), None, "what was used stays used");
        let flag = Arc::new(AtomicBool::new(false));
        let deadline = Deadline::new(Duration::from_secs(60)).cancelled_by(flag.clone());
        assert!(deadline.left().is_some());
        flag.store(true, Ordering::Relaxed);
        assert_eq!(deadline.left(), None, "nobody waits any more");
    }
}
