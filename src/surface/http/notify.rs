//! Sends new changes to receivers while the daemon runs: as soon as a realm changes, and when a failed delivery is due
//! to be retried.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use tokio::sync::watch;

use super::{context::Contexts, each_realm, recurring::RecurringProblems};
use crate::{
    error::OpError,
    model::name::RealmName,
    ops::{
        delivery::run::{self, RunOptions},
        inboxes::change_watch::ChangeWatch,
    },
};

/// The interval at which receivers are checked even if the realm did not change: for retries and for new receivers.
const REGULARLY: Duration = Duration::from_secs(2);

/// A watched realm, and when it was last checked.
struct Watched {
    change_watch: Option<ChangeWatch>,
    looked: Option<Instant>,
}

/// Starts a thread that sends what is due until the daemon stops. A slow receiver does not hold up requests.
pub fn regularly(contexts: Contexts, stopping: watch::Receiver<bool>) {
    let (mut watched, mut problems) = (BTreeMap::new(), RecurringProblems::of("cannot send new changes"));
    each_realm::start("notify", "cannot send new changes automatically", contexts, stopping, move |contexts, realm| {
        let watched = watched.entry(realm.clone()).or_insert(Watched { change_watch: None, looked: None });
        if watched.is_due() {
            problems.log(realm, send(contexts, realm, watched));
        }
    });
}

impl Watched {
    /// Returns whether the realm has changed or the interval has passed.
    fn is_due(&mut self) -> bool {
        let moved = self.change_watch.as_mut().is_some_and(|change_watch| change_watch.wait_for_change(Duration::ZERO));
        let is_due = moved || self.looked.is_none_or(|looked| looked.elapsed() >= REGULARLY);
        if is_due {
            self.looked = Some(Instant::now());
        }
        is_due
    }
}

/// Sends what is due in a realm.
fn send(contexts: &Contexts, realm: &RealmName, watched: &mut Watched) -> Result<(), OpError> {
    if run::chosen(&contexts.without_realm()?, realm, &[])?.is_empty() {
        return Ok(());
    }
    let ctx = contexts.realm(realm)?;
    if watched.change_watch.is_none() {
        watched.change_watch = ChangeWatch::begin(&ctx, realm).ok();
    }
    if run::is_due(&ctx, realm, &*ctx.realm()?.store)? {
        run::run(&ctx, &RunOptions::default())?;
    }
    Ok(())
}
