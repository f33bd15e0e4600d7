//! Limits the rate of MCP requests, with a token bucket.

use crate::surface::locked::locked;
use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

/// The default limit, in requests per minute.
pub const PER_MINUTE: u32 = 100;
/// The maximum number of requests at once.
const BURST: u32 = 20;

/// A token bucket that refills over time.
#[derive(Debug)]
pub struct Rate {
    per_minute: u32,
    held: Mutex<(f64, Instant)>,
}

impl Rate {
    /// Creates a full bucket. It never empties if `per_minute` is 0.
    pub fn new(per_minute: u32) -> Self {
        Self { per_minute, held: Mutex::new((f64::from(BURST), Instant::now())) }
    }

    /// Takes one token. If there is none, returns how long to wait.
    pub fn take(&self, now: Instant) -> Result<(), Duration> {
        if self.per_minute == 0 {
            return Ok(());
        }
        let a_second = f64::from(self.per_minute) / 60.0;
        let mut held = locked(&self.held);
        let (left, since) = *held;
        let left = f64::from(BURST).min(left + now.saturating_duration_since(since).as_secs_f64() * a_second);
        *held = (if left < 1.0 { left } else { left - 1.0 }, now);
        if left < 1.0 { Err(Duration::from_secs_f64((1.0 - left) / a_second)) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_allowed_and_then_the_rate_is_limited() {
        let rate = Rate::new(60);
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        assert!((0..BURST).all(|_| rate.take(at(0)).is_ok()));
        let wait = rate.take(at(0)).unwrap_err();
        assert!(wait <= Duration::from_secs(1) && wait > Duration::from_millis(900));
        assert!(rate.take(at(500)).is_err());
        assert!(rate.take(at(1_100)).is_ok() && rate.take(at(1_100)).is_err());
        assert!((0..60).all(|n| rate.take(at(3_000 + n * 1_000)).is_ok()));
    }
}
