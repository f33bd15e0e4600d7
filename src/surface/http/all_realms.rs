//! Lists across all realms of this machine: the answers of one operation for each realm, joined. A realm that cannot be
//! read is reported, and does not hide the others.

use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Contexts;
use crate::{
    error::{ErrorCode, OpError},
    model::name::{RealmName, RepoName},
    ops::{inboxes::pending, notifications, session},
    wire::{
        self, Answer, NotificationFilter, NotificationSummary, PageRequest, State,
        all_realms::{AllNotifications, AllSessions, NotificationForRepo, RealmProblem, SessionOfRealm},
        page_unsorted,
    },
};

/// Requests all entries of a realm. The joined list is paged separately.
pub const ALL: PageRequest = PageRequest::all();

/// A filter by realm and repository.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct RealmFilter {
    /// Only this realm
    pub realm: Option<RealmName>,
    /// Only this repository
    pub repo: Option<RepoName>,
}

impl RealmFilter {
    /// Checks that the realm and the repository exist.
    ///
    /// # Errors
    /// Returns an error if they do not, or if the realm or this machine's records cannot be read.
    pub fn check(&self, contexts: &Contexts) -> Result<(), OpError> {
        let Some(repo) = &self.repo else {
            return self.realm.as_ref().map_or(Ok(()), |realm| contexts.repos(realm).map(drop));
        };
        for realm in self.realms(contexts)? {
            match contexts.current_name(&realm, repo) {
                Ok(_) => return Ok(()),
                Err(error) if self.realm.is_some() => return Err(error),
                Err(_) => {}
            }
        }
        Err(unknown_repo(repo))
    }

    /// Returns the wanted repositories of a realm: the named one, wherever it is, or all that are on this machine.
    fn repos(&self, contexts: &Contexts, realm: &RealmName) -> Result<Vec<RepoName>, OpError> {
        let Some(repo) = &self.repo else { return contexts.repos(realm) };
        match contexts.current_name(realm, repo) {
            Ok(current) => Ok(vec![current]),
            // Another realm may have it.
            Err(error) if error.code == ErrorCode::UnknownRepo => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn realms(&self, contexts: &Contexts) -> Result<Vec<RealmName>, OpError> {
        match &self.realm {
            Some(realm) => Ok(vec![realm.clone()]),
            None => contexts.realms(),
        }
    }
}

/// Returns the error for a repository that no realm has.
pub fn unknown_repo(repo: &RepoName) -> OpError {
    OpError::no(ErrorCode::UnknownRepo, format!("no realm on this machine has a repository {repo}"))
}

/// Returns the sessions of all realms.
///
/// # Errors
/// Returns an error if this machine's records cannot be read.
pub fn sessions(
    contexts: &Contexts,
    narrowed: &RealmFilter,
    ended: bool,
    page: &PageRequest,
) -> Result<Answer<AllSessions>, OpError> {
    let (mut all, mut unreadable, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    for realm in narrowed.realms(contexts)? {
        let request = session::list::Request { ended, page: ALL };
        match contexts.realm(&realm).and_then(|ctx| session::list::run(&ctx, &request)) {
            Ok(answer) => {
                let mut lines = answer.body.sessions;
                if let Some(repo) = &narrowed.repo {
                    let current = contexts.current_name(&realm, repo);
                    lines.retain(|line| current.as_ref().is_ok_and(|current| line.repo == *current));
                }
                all.extend(lines.into_iter().map(|session| SessionOfRealm { realm: realm.clone(), session }));
                unreadable.extend(answer.body.unreadable);
            }
            Err(error) => problems.push(RealmProblem { realm, repo: None, message: error.message }),
        }
    }
    let total = all.len();
    let (sessions, next_cursor) = page_unsorted(all, page, |one| format!("{} {}", one.realm, one.session.id))?;
    Ok(Answer::new(AllSessions { sessions, unreadable, problems, total, next_cursor }))
}

/// Returns the notifications for all repositories on this machine, or for the named one.
///
/// # Errors
/// Returns an error if this machine's records cannot be read.
pub fn notifications(
    contexts: &Contexts,
    narrowed: &RealmFilter,
    wanted: &notifications::list::Request,
    page: &PageRequest,
) -> Result<Answer<AllNotifications>, OpError> {
    let (mut all, mut problems) = (Vec::new(), Vec::new());
    let mut summary = NotificationSummary::default();
    for realm in narrowed.realms(contexts)? {
        let repos = match narrowed.repos(contexts, &realm) {
            Ok(repos) => repos,
            Err(error) => {
                problems.push(RealmProblem { realm, repo: None, message: error.message });
                continue;
            }
        };
        for repo in repos {
            let request = notifications::list::Request { page: ALL, ..wanted.clone() };
            match contexts.repo(&realm, &repo).and_then(|ctx| notifications::list::run(&ctx, &request)) {
                Ok(answer) => {
                    add(&mut summary, &answer.body.summary);
                    let line = |notification| NotificationForRepo { current_repo: repo.clone(), notification };
                    all.extend(answer.body.notifications.into_iter().map(line));
                }
                Err(error) => {
                    problems.push(RealmProblem { realm: realm.clone(), repo: Some(repo), message: error.message });
                }
            }
        }
    }
    let total = all.len();
    let key = |one: &NotificationForRepo| {
        format!("{} {} {}", pending::key(&one.notification), one.notification.realm, one.current_repo)
    };
    all.sort_by_cached_key(key);
    let (notifications, next_cursor) = wire::page(all, page, key)?;
    Ok(Answer::new(AllNotifications { filter: wanted.filter, notifications, summary, problems, total, next_cursor }))
}

fn add(sum: &mut NotificationSummary, more: &NotificationSummary) {
    sum.total += more.total;
    sum.pending += more.pending;
    sum.seen += more.seen;
    sum.expired += more.expired;
    sum.expired_cleaned += more.expired_cleaned;
    sum.dropped += more.dropped;
}

/// Returns the realm and repository where a notification is pending, or else was seen.
///
/// # Errors
/// Returns an error if there is no such notification, or it is pending in several repositories.
pub fn place_of(contexts: &Contexts, narrowed: &RealmFilter, id: &str) -> Result<(RealmName, RepoName), OpError> {
    let wanted = notifications::list::Request { filter: NotificationFilter::All, ..Default::default() };
    let found = notifications(contexts, narrowed, &wanted, &ALL)?.body.notifications;
    let places = found.into_iter().filter(|one| one.notification.id == id);
    let (pending, seen): (Vec<_>, Vec<_>) = places.partition(|one| one.notification.state == State::Pending);
    let mut places = pending.into_iter().chain(seen);
    match (places.next(), places.next()) {
        (Some(one), Some(other)) if other.notification.state == State::Pending => {
            let message = format!("{id} is pending for {} and for {}", one.current_repo, other.current_repo);
            Err(OpError::usage(message).next("choose one: ?realm=REALM&repo=REPO"))
        }
        (Some(one), _) => Ok((one.notification.realm, one.current_repo)),
        (None, _) => Err(OpError::no(ErrorCode::UnknownNotification, format!("no such notification: {id}"))),
    }
}

/// Returns the realm and repository of a running session.
///
/// # Errors
/// Returns an error if there is no such session.
pub fn session_in(contexts: &Contexts, narrowed: &RealmFilter, id: &str) -> Result<(RealmName, RepoName), OpError> {
    let all = sessions(contexts, narrowed, false, &ALL)?.body.sessions;
    let found = all.into_iter().find(|one| one.session.id.to_string() == id);
    found
        .map(|one| (one.realm, one.session.repo))
        .ok_or_else(|| OpError::no(ErrorCode::UnknownSession, format!("no active session {id}")))
}
