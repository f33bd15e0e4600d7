//! The notifications for the repositories of a realm that are on this machine.

use super::Contexts;
use crate::{
    error::OpError,
    model::name::RepoName,
    ops::{ctx::Ctx, inboxes::pending::key, notifications, realm},
    wire::{NotificationFilter, NotificationsList, PageRequest, RealmStatus},
};

/// The maximum number of notifications that are listed for each repository.
const MAX_SHOWN: usize = 20;

/// The notifications for a repository, or why they cannot be read.
#[derive(Debug)]
pub struct Inbox {
    pub repo: RepoName,
    /// The first notifications, most important first.
    pub list: Result<NotificationsList, OpError>,
}

/// Returns the status of the realm, without a reader.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn realm(ctx: &Ctx) -> Result<RealmStatus, OpError> {
    let request = realm::status::Request { reader: None, ..Default::default() };
    Ok(realm::status::run(ctx, &request)?.answer.body)
}

/// Returns the notifications that `filter` accepts, for all repositories on this machine, so that counts are complete.
/// The repository with the most important notification comes first.
pub fn all(contexts: &Contexts, status: &RealmStatus, filter: NotificationFilter) -> Vec<Inbox> {
    let here = status.repos.iter().filter(|repo| repo.path.is_some());
    let page = PageRequest::first(MAX_SHOWN);
    let request = notifications::list::Request { filter, page, ..Default::default() };
    let list = |repo: &RepoName| {
        contexts
            .repo(&status.realm, repo)
            .and_then(|ctx| notifications::list::run(&ctx, &request))
            .map(|answer| answer.body)
    };
    let mut all: Vec<_> = here.map(|line| Inbox { repo: line.name.clone(), list: list(&line.name) }).collect();
    all.sort_by_cached_key(|inbox| match &inbox.list {
        Err(_) => (0, String::new()),
        Ok(list) => list.notifications.first().map_or((2, String::new()), |first| (1, key(first))),
    });
    all
}
