//! Publishes commits that no hook published, since some commands of git run no hooks. While the daemon runs, it
//! compares the refs of the repositories on this machine with the realm, as `git blue status` does.

use std::time::Duration;

use tokio::{sync::watch, time::timeout};

use super::context::Contexts;
use crate::{
    error::OpError,
    model::name::{RealmName, RepoName},
    ops::publish::unpublished,
};

/// The default interval, in seconds.
pub const SECONDS: u32 = 60;

/// Publishes what is due at once, and then every `seconds` until the daemon stops.
pub async fn regularly(contexts: Contexts, seconds: u32, mut stopping: watch::Receiver<bool>) {
    if seconds == 0 {
        return;
    }
    loop {
        let contexts = contexts.clone();
        let looked = tokio::task::spawn_blocking(move || all(&contexts)).await;
        if let Ok(Err(error)) = looked {
            tracing::warn!(%error, "cannot look for unpublished commits");
        }
        let stopped = stopping.wait_for(|is_stopping| *is_stopping);
        if timeout(Duration::from_secs(seconds.into()), stopped).await.is_ok() {
            return;
        }
    }
}

fn all(contexts: &Contexts) -> Result<(), OpError> {
    for realm in contexts.realms()? {
        // A repository that cannot be read does not hold up the others; commands in it report the reason.
        for repo in contexts.repos(&realm).unwrap_or_default() {
            if let Err(error) = one(contexts, &realm, &repo) {
                tracing::warn!(%realm, %repo, %error, "cannot look for unpublished commits");
            }
        }
    }
    Ok(())
}

fn one(contexts: &Contexts, realm: &RealmName, repo: &RepoName) -> Result<(), OpError> {
    for published in unpublished::publish_due(&contexts.repo(realm, repo)?)?.published {
        tracing::info!(%realm, %repo, ?published, "published commits that no hook had published");
    }
    Ok(())
}
