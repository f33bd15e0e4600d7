//! Receivers out of git hear what is new while the daemon runs: as soon as the realm moves, and when what failed is
//! to be tried again.

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

/// How often is looked whether a realm moved.
const STEP: Duration = Duration::from_millis(200);
/// How often is looked though it did not: for what is to be tried again, and for receivers that are new.
const REGULARLY: Duration = Duration::from_secs(2);

/// A realm that is watched, and when it was looked at.
struct Watched {
    rest: Option<Rest>,
    looked: Option<Instant>,
}

/// Starts a thread that sends what is due until the daemon stops. A receiver that keeps it waiting keeps nobody else
/// waiting.
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

/// Sends what is due in a realm, if it may be that something is.
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
