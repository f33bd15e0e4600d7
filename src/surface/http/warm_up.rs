//! Reads the realms of this machine when the daemon starts, so that the first page of each does not wait until the
//! overview of the realm is cached.

use tokio::sync::watch;

use super::context::Contexts;
use crate::{error::OpError, model::name::RealmName, ops::realm::status};

/// Reads each realm once, until the daemon stops.
pub fn read_realms(contexts: &Contexts, stopping: &watch::Receiver<bool>) {
    for name in contexts.realms().unwrap_or_default() {
        if *stopping.borrow() {
            return;
        }
        // Its pages show the reason.
        if let Err(error) = one(contexts, &name) {
            tracing::debug!(realm = %name, %error, "cannot read the realm");
        }
    }
}

/// Brings the cached overview of a realm up to date, as its status does.
fn one(contexts: &Contexts, name: &RealmName) -> Result<(), OpError> {
    let request = status::Request { reader: None, ..status::Request::default() };
    status::run(&contexts.realm(name)?, &request).map(drop)
}
