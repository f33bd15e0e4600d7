//! How many files the process may have open: each client takes one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What the daemon has open besides its clients: the stores, the programs that it starts, and room to spare.
const OWN: usize = 256;

/// Raises the limit of open files as far as so many listeners, and so many others, need it. Returns how many may listen
/// at a time.
pub fn room_for(listeners: usize, others: usize) -> usize {
    let wanted = (listeners + others + OWN) as u64;
    let limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum.map_or(wanted, |most| wanted.min(most));
    if limit.current.is_some_and(|now| now < allowed)
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(allowed), ..limit })
    {
        tracing::warn!(%error, "cannot raise the limit of open files");
    }
    let now = getrlimit(Resource::Nofile).current.map_or(wanted, |now| wanted.min(now));
    listeners.min((now as usize).saturating_sub(others + OWN)).max(1)
}
