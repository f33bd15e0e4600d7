//! Commits that no hook published: some commands of git run none. While the daemon runs, it looks at the
//! refs of the repositories on this machine, as `git blue status` does, and publishes what is due.

use std::time::Duration;

use tokio::{sync::watch, time::timeout};

use super::context::Desk;
use crate::{
    error::OpError,
    model::name::{RealmName, RepoName},
    ops::publish::unpublished,
};

/// How often, in seconds, unless the user says otherwise.
pub const SECONDS: u32 = 60;

/// Looks at once and then as often as wanted, until the daemon stops.
pub async fn regularly(desk: Desk, seconds: u32, mut stopping: watch::Receiver<bool>) {
    if seconds == 0 {
        return;
    }
    loop {
        let desk = desk.clone();
        let looked = tokio::task::spawn_blocking(move || all(&desk)).await;
        if let Ok(Err(error)) = looked {
            tracing::warn!(%error, "cannot look for unpublished commits");
        }
        let stopped = stopping.wait_for(|is_stopping| *is_stopping);
        if timeout(Duration::from_secs(seconds.into()), stopped).await.is_ok() {
            return;
        }
    }
}

fn all(desk: &Desk) -> Result<(), OpError> {
    for realm in desk.realms()? {
        // One that cannot be read is in the way of no other; who asks for it hears why.
        for repo in desk.repos(&realm).unwrap_or_default() {
            if let Err(error) = one(desk, &realm, &repo) {
                tracing::warn!(%realm, %repo, %error, "cannot look for unpublished commits");
            }
        }
    }
    Ok(())
}

fn one(desk: &Desk, realm: &RealmName, repo: &RepoName) -> Result<(), OpError> {
    for published in unpublished::look(&desk.repo(realm, repo)?)?.published {
        tracing::info!(%realm, %repo, ?published, "published what no hook had");
    }
    Ok(())
}
