//! Publishes commits that no hook published, since some commands of git run no hooks. While the daemon runs, it
//! compares the refs of the repositories on this machine with the realm, as `git blue status` does.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use tokio::sync::watch;

use super::{context::Contexts, each_realm, recurring::RecurringProblems};
use crate::{
    error::OpError,
    model::name::{RealmName, RepoName},
    ops::publish::unpublished,
};

/// The default interval, in seconds.
pub const SECONDS: u32 = 60;
const PROBLEM: &str = "cannot look for unpublished commits";

/// Starts a thread that publishes what is due at once, and then every `seconds` until the daemon stops.
pub fn regularly(contexts: Contexts, seconds: u32, stopping: watch::Receiver<bool>) {
    if seconds == 0 {
        return;
    }
    let (every, mut next) = (Duration::from_secs(seconds.into()), BTreeMap::new());
    let mut problems = RecurringProblems::of(PROBLEM);
    each_realm::start("catch-up", PROBLEM, contexts, stopping, move |contexts, realm| {
        if next.get(realm).is_none_or(|next| *next <= Instant::now()) {
            all(contexts, realm, &mut problems);
            next.insert(realm.clone(), Instant::now() + every);
        }
    });
}

fn all(contexts: &Contexts, realm: &RealmName, problems: &mut RecurringProblems) {
    // A repository that cannot be read does not hold up the others; commands in it report the reason.
    for repo in problems.log(realm, contexts.repos(realm)).unwrap_or_default() {
        problems.log(format!("{realm}/{repo}"), one(contexts, realm, &repo));
    }
}

fn one(contexts: &Contexts, realm: &RealmName, repo: &RepoName) -> Result<(), OpError> {
    for published in unpublished::publish_due(&contexts.repo(realm, repo)?)?.published {
        tracing::info!(%realm, %repo, ?published, "published commits that no hook had published");
    }
    Ok(())
}
