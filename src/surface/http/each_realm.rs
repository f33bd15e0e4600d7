//! Runs work for each realm of this machine while the daemon runs, on a separate thread, so that it
//! does not delay requests.

use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::context::Contexts;
use crate::model::name::RealmName;

/// The interval of the work, and at which the thread checks whether the daemon stops.
const STEP: Duration = Duration::from_millis(200);
/// The age at which the list of realms is read again.
const REALMS_AGE: Duration = Duration::from_secs(2);

/// Starts a thread that calls `work` for each realm several times a second, until the daemon stops. If it cannot be
/// started, `problem` is logged.
pub fn start(
    name: &str,
    problem: &'static str,
    contexts: Contexts,
    stopping: watch::Receiver<bool>,
    mut work: impl FnMut(&Contexts, &RealmName) + Send + 'static,
) {
    let thread = move || {
        let (mut realms, mut read) = (Vec::new(), None::<Instant>);
        while !*stopping.borrow() {
            if read.is_none_or(|read| read.elapsed() >= REALMS_AGE) {
                // There are none if the records cannot be read.
                (realms, read) = (contexts.realms().unwrap_or_default(), Some(Instant::now()));
            }
            realms.iter().for_each(|realm| work(&contexts, realm));
            std::thread::sleep(STEP);
        }
    };
    if let Err(error) = std::thread::Builder::new().name(name.into()).spawn(thread) {
        tracing::warn!(%error, "{problem}");
    }
}
