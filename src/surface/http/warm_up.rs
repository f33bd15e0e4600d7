//! Reads the realms of this machine when the daemon starts, so that the first page of each does not wait for a cache.

use tokio::sync::watch;

use super::context::Contexts;
use crate::{error::OpError, model::name::RealmName, ops::realm::topology};

/// Reads each realm once, until the daemon stops.
pub async fn once(contexts: Contexts, stopping: watch::Receiver<bool>) {
    let reading = tokio::task::spawn_blocking(move || {
        for name in contexts.realms().unwrap_or_default() {
            if *stopping.borrow() {
                return;
            }
            // Whoever opens a page of it sees the reason.
            if let Err(error) = one(&contexts, &name) {
                tracing::debug!(realm = %name, %error, "cannot read the realm");
            }
        }
    });
    let _ = reading.await;
}

/// Reads what the pages of a realm show.
fn one(contexts: &Contexts, name: &RealmName) -> Result<(), OpError> {
    topology::run(&contexts.realm(name)?, &topology::Request::default()).map(drop)
}
