//! What changed for the repositories of a realm that lie on this machine.

use super::Desk;
use crate::{
    error::OpError,
    model::name::RepoName,
    ops::{ctx::Ctx, notifications, realm},
    wire::{NotificationFilter, NotificationsList, PageRequest, RealmStatus},
};

/// Most repositories that are looked at, and most notifications of each.
const MAX_REPOS: usize = 12;
const MAX_SHOWN: usize = 20;

/// What changed for a repository, or why that is not known.
#[derive(Debug)]
pub struct Inbox {
    /// The repository.
    pub repo: RepoName,
    /// The first of it, oldest first.
    pub list: Result<NotificationsList, OpError>,
}

/// Returns the realm at a glance, as nobody in particular sees it.
///
/// # Errors
/// Where it cannot be read.
pub fn realm(ctx: &Ctx) -> Result<RealmStatus, OpError> {
    let request = realm::status::Request { reader: None, ..realm::status::Request::default() };
    Ok(realm::status::run(ctx, &request)?.0.body)
}

/// Returns what is in this state for those on this machine.
pub fn all(desk: &Desk, status: &RealmStatus, filter: NotificationFilter) -> Vec<Inbox> {
    let here = status.repos.iter().filter(|repo| repo.path.is_some()).take(MAX_REPOS);
    let page = PageRequest { limit: Some(MAX_SHOWN), cursor: None };
    let request = notifications::list::Request { filter, page, ..notifications::list::Request::default() };
    let list = |repo: &RepoName| {
        desk.repo(&status.realm, repo)
            .and_then(|ctx| notifications::list::run(&ctx, &request))
            .map(|answer| answer.body)
    };
    here.map(|line| Inbox { repo: line.name.clone(), list: list(&line.name) }).collect()
}
