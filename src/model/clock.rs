//! Commits say when they were made, and clocks are wrong.

use jiff::{SignedDuration, Timestamp};

/// How far a commit may be dated ahead of this clock and still count.
const MAX_AHEAD: SignedDuration = SignedDuration::from_hours(24);

/// Returns whether a commit is dated so far ahead that its date orders nothing.
pub fn is_ahead(time: Timestamp, now: Timestamp) -> bool {
    time.duration_since(now) > MAX_AHEAD
}
