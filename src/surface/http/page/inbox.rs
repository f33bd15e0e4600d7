//! What changed for the repositories of a realm that lie on this machine.

use super::Contexts;
use crate::{
    error::OpError,
    model::name::RepoName,
    ops::{ctx::Ctx, notifications, notify::pending::key, realm},
    wire::{NotificationFilter, NotificationsList, PageRequest, RealmStatus},
};

/// Most notifications that are listed of each repository.
const MAX_SHOWN: usize = 20;

/// What changed for a repository, or why that is not known.
#[derive(Debug)]
pub struct Inbox {
    /// The repository.
    pub repo: RepoName,
    /// The first of it, what matters most first.
    pub list: Result<NotificationsList, OpError>,
}

/// Returns the realm at a glance, as nobody in particular sees it.
///
/// # Errors
/// Returns an error if it cannot be read.
pub fn realm(ctx: &Ctx) -> Result<RealmStatus, OpError> {
    let request = realm::status::Request { reader: None, ..realm::status::Request::default() };
    Ok(realm::status::run(ctx, &request)?.0.body)
}

/// Returns what is in this state for those on this machine: for all of them, so that counts are true, and those
/// that it matters most to first.
pub fn all(contexts: &Contexts, status: &RealmStatus, filter: NotificationFilter) -> Vec<Inbox> {
    let here = status.repos.iter().filter(|repo| repo.path.is_some());
    let page = PageRequest { limit: Some(MAX_SHOWN), cursor: None };
    let request = notifications::list::Request { filter, page, ..notifications::list::Request::default() };
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
