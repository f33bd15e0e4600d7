//! Computes how many clients may subscribe to events: each needs an open file in this process.

use crate::platform::process;

/// The number of files that the daemon has open besides its clients: stores, programs that it starts, and a reserve.
const OWN: usize = 256;

/// Raises the limit of open files as far as this many listeners and other connections need it. Returns the number of
/// clients that may subscribe to events at a time.
pub fn raise_file_limit(listeners: usize, others: usize) -> usize {
    let open = process::raise_open_file_limit(listeners + others + OWN);
    listeners.min(open.saturating_sub(others + OWN)).max(1)
}
