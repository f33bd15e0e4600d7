//! Computes how many clients may listen: each has a file open in this process.

use crate::platform::process;

/// The files that the daemon has open besides its clients: the stores, the programs that it starts, and room to spare.
const OWN: usize = 256;

/// Raises the limit of open files as far as so many listeners, and so many others, need it. Returns how many may listen
/// at a time.
pub fn room_for(listeners: usize, others: usize) -> usize {
    let open = process::allow_open_files(listeners + others + OWN);
    listeners.min(open.saturating_sub(others + OWN)).max(1)
}
