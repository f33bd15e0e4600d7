//! Waiting for a condition.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Waits until a condition holds, for at most a minute.
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}: not within a minute");
        thread::sleep(Duration::from_millis(5));
    }
}
