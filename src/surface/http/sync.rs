//! Syncs realms while the daemon runs, if their user wants that: at a fixed interval, and less often while a remote
//! cannot be reached.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use tokio::sync::watch;

use super::{context::Contexts, each_realm, recurring::RecurringProblems};
use crate::{error::OpError, model::name::RealmName, ops::realm};

/// The default interval, in seconds.
pub const SECONDS: u32 = 300;
/// The maximum interval after failures.
const LONGEST: Duration = Duration::from_secs(3_600);

/// When a realm is synced next, and the number of failures in a row.
#[derive(Debug, Clone, Copy)]
struct Plan {
    next: Instant,
    failures: u32,
}

/// Starts a thread that syncs at once and then every `seconds` until the daemon stops. A slow remote does not hold up
/// requests.
pub fn regularly(contexts: Contexts, seconds: u32, stopping: watch::Receiver<bool>) {
    if seconds == 0 {
        return;
    }
    let every = Duration::from_secs(seconds.into());
    let (mut plans, mut problems) = (BTreeMap::<RealmName, Plan>::new(), RecurringProblems::of("cannot sync"));
    each_realm::start("sync", "cannot sync automatically", contexts, stopping, move |contexts, realm| {
        let plan = plans.get(realm);
        if plan.is_none_or(|plan| plan.next <= Instant::now()) {
            let is_synced = problems.log(realm, synced(contexts, realm)).unwrap_or_default();
            let failures = if is_synced { 0 } else { plan.map_or(1, |plan| plan.failures.saturating_add(1)) };
            plans.insert(realm.clone(), Plan { next: Instant::now() + pause(every, failures), failures });
        }
    });
}

/// Returns whether the sync succeeded, or no sync is wanted.
fn synced(contexts: &Contexts, realm: &RealmName) -> Result<bool, OpError> {
    Ok(realm::sync::auto(&contexts.realm(realm)?, false)?.is_none_or(|body| body.complete))
}

/// Returns the interval after a number of failures in a row. Each failure doubles it.
fn pause(every: Duration, failures: u32) -> Duration {
    every.saturating_mul(2_u32.saturating_pow(failures.min(16))).min(LONGEST.max(every))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_double_the_interval_up_to_an_hour() {
        let every = Duration::from_secs(300);
        assert_eq!(pause(every, 0), every);
        assert_eq!(pause(every, 2), every * 4);
        assert_eq!(pause(every, 40), LONGEST);
        assert_eq!(pause(LONGEST * 2, 3), LONGEST * 2, "never more often than wanted");
    }
}
