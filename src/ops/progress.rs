//! The progress and cancellation of a request, shared between the thread that works and the one that watches it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use crate::error::{ErrorCode, OpError};

/// The progress of a request. Clones refer to the same request.
#[derive(Debug, Clone, Default)]
pub struct RequestProgress(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    cancelled: Arc<AtomicBool>,
    done: AtomicUsize,
    total: AtomicUsize,
}

impl RequestProgress {
    /// Cancels the work. It stops at its next check: between repositories, domains and imports, while it compares
    /// schemas, and while it waits for a forge.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns the flag that is set once the work is cancelled.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.cancelled.clone()
    }

    /// Wraps `clock` for work with a time limit: once the work is cancelled, the returned clock is past any limit.
    pub fn clock<C: Fn() -> Duration + Sync>(&self, clock: C) -> impl Fn() -> Duration + Sync + use<C> {
        let cancelled = self.flag();
        move || if cancelled.load(Ordering::Relaxed) { Duration::MAX } else { clock() }
    }

    /// Sets the number of steps.
    pub fn expect(&self, steps: usize) {
        self.0.total.fetch_add(steps, Ordering::Relaxed);
    }

    /// Counts a step as done.
    pub fn step(&self) {
        self.0.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Checks whether the work may continue.
    ///
    /// # Errors
    /// Returns an error if the work was cancelled.
    pub fn check(&self) -> Result<(), OpError> {
        if self.0.cancelled.load(Ordering::Relaxed) { Err(cancelled()) } else { Ok(()) }
    }

    /// Returns the number of completed steps, and of all steps.
    pub fn so_far(&self) -> (usize, usize) {
        (self.0.done.load(Ordering::Relaxed), self.0.total.load(Ordering::Relaxed))
    }
}

/// Returns the error for a cancelled request.
pub fn cancelled() -> OpError {
    OpError::no(ErrorCode::Cancelled, "cancelled")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancelling_fails_the_next_step_and_exhausts_time_limits() {
        let progress = RequestProgress::default();
        let seen = progress.clone();
        progress.expect(3);
        progress.step();
        assert_eq!(seen.so_far(), (1, 3));
        assert!(progress.check().is_ok());
        let clock = progress.clock(|| Duration::from_secs(1));
        assert_eq!(clock(), Duration::from_secs(1));
        seen.cancel();
        assert_eq!(clock(), Duration::MAX);
        assert_eq!(progress.check().unwrap_err().code, ErrorCode::Cancelled);
    }
}
