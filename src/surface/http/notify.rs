//! Sends new changes to receivers while the daemon runs: as soon as a realm changes, and when a failed delivery is due
//! to be retried.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use tokio::sync::watch;

use super::context::Desk;
use crate::{
    error::OpError,
    model::name::RealmName,
    ops::{
        notify::change_watch::Rest,
        outgoing::run::{self, Pass},
    },
};

/// The interval at which a realm is checked for changes.
const STEP: Duration = Duration::from_millis(200);
/// The interval at which receivers are checked even if the realm did not change: for retries and for new receivers.
const REGULARLY: Duration = Duration::from_secs(2);

/// A watched realm, and when it was last checked.
struct Watched {
    rest: Option<Rest>,
    looked: Option<Instant>,
}

/// Starts a thread that sends what is due until the daemon stops. A slow receiver does not hold up requests.
pub fn regularly(desk: Desk, stopping: watch::Receiver<bool>) {
    let work = move || {
        let mut realms = BTreeMap::new();
        while !*stopping.borrow() {
            for realm in desk.realms().unwrap_or_default() {
                if let Err(error) = one(&desk, &realm, &mut realms) {
                    tracing::warn!(%realm, %error, "cannot send what is new");
                }
            }
            std::thread::sleep(STEP);
        }
    };
    if let Err(error) = std::thread::Builder::new().name("notify".into()).spawn(work) {
        tracing::warn!(%error, "cannot send what is new by itself");
    }
}

/// Sends what is due in a realm, if it changed or the interval is over.
fn one(desk: &Desk, realm: &RealmName, realms: &mut BTreeMap<RealmName, Watched>) -> Result<(), OpError> {
    let watched = realms.entry(realm.clone()).or_insert(Watched { rest: None, looked: None });
    let moved = watched.rest.as_mut().is_some_and(|rest| rest.waited(Duration::ZERO));
    if !moved && watched.looked.is_some_and(|looked| looked.elapsed() < REGULARLY) {
        return Ok(());
    }
    watched.looked = Some(Instant::now());
    if run::chosen(&desk.nowhere()?, realm, &[])?.is_empty() {
        return Ok(());
    }
    let ctx = desk.realm(realm)?;
    if watched.rest.is_none() {
        watched.rest = Rest::begin(&ctx, realm).ok();
    }
    if run::is_due(&ctx, realm, &*ctx.here()?.store)? {
        run::run(&ctx, &Pass::default())?;
    }
    Ok(())
}
