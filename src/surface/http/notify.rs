//! Sends new changes to receivers while the daemon runs: as soon as a realm changes, and when a failed delivery is due
//! to be retried.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use tokio::sync::watch;

use super::{context::Contexts, each_realm};
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
    let mut watched = BTreeMap::new();
    each_realm::start("notify", "cannot send new changes automatically", contexts, stopping, move |contexts, realm| {
        if let Err(error) = one(contexts, realm, &mut watched) {
            tracing::warn!(%realm, %error, "cannot send new changes");
        }
    });
}

/// Sends what is due in a realm, if the realm has changed or the interval has passed.
fn one(contexts: &Contexts, realm: &RealmName, realms: &mut BTreeMap<RealmName, Watched>) -> Result<(), OpError> {
    let watched = realms.entry(realm.clone()).or_insert(Watched { change_watch: None, looked: None });
    let moved = watched.change_watch.as_mut().is_some_and(|change_watch| change_watch.waited(Duration::ZERO));
    if !moved && watched.looked.is_some_and(|looked| looked.elapsed() < REGULARLY) {
        return Ok(());
    }
    watched.looked = Some(Instant::now());
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
