//! Reads sessions. A session that cannot be read is reported as damage, and does not hide the others.

use super::{Store, StoreError, StoreRef, TreePath, layout, read};
use crate::model::{
    domain_view::{Damage, Subject},
    name::RepoName,
    oid::Oid,
    session::{Session, SessionId},
};

/// The sessions to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionFilter {
    /// Sessions that have not ended.
    Open,
    /// Sessions that have ended.
    Ended,
}

impl SessionFilter {
    /// Returns the path of the session with this id.
    pub fn path(self, id: &SessionId) -> TreePath {
        match self {
            Self::Open => layout::session(id),
            Self::Ended => layout::ended_session(id),
        }
    }
}

/// Returns the open session with this id, or `None` if there is none.
///
/// # Errors
/// Returns an error if the session, or a tree on the way, cannot be read.
pub fn open(store: &dyn Store, repo: &RepoName, id: &SessionId) -> Result<Option<Session>, StoreError> {
    let within = StoreRef::Sessions(repo.clone());
    match store.tip(&within)? {
        Some(tip) => open_at(store, repo, id, &tip),
        None => Ok(None),
    }
}

/// Returns the open session with this id at the commit `tip`.
///
/// # Errors
/// Returns an error if the session, or a tree on the way, cannot be read.
pub fn open_at(store: &dyn Store, repo: &RepoName, id: &SessionId, tip: &Oid) -> Result<Option<Session>, StoreError> {
    let (within, path) = (StoreRef::Sessions(repo.clone()), SessionFilter::Open.path(id));
    let Some(session) = read::file::<Session>(store, &within, &store.commit(tip)?.tree, &path)? else {
        return Ok(None);
    };
    match misplaced(&session, repo, id, SessionFilter::Open) {
        Some(problem) => Err(StoreError::Damaged { what: format!("{within}:{path}"), problem }),
        None => Ok(Some(session)),
    }
}

/// Returns the sessions of a repository at the commit `tip`, by id, and the problems of those that cannot be read.
///
/// # Errors
/// Returns an error if reading fails for a reason other than damage.
pub fn at(
    store: &dyn Store,
    repo: &RepoName,
    tip: &Oid,
    which: SessionFilter,
) -> Result<(Vec<Session>, Vec<Damage>), StoreError> {
    let within = StoreRef::Sessions(repo.clone());
    let (mut found, mut damage) = (Vec::new(), Vec::new());
    let mut damaged = |file: String, problem| damage.push(Damage { file, subject: Subject::Other, problem });
    let entries = store.commit(tip).and_then(|commit| match which {
        SessionFilter::Open => store.entries(&commit.tree),
        SessionFilter::Ended => read::folder(store, &commit.tree, layout::ENDED),
    });
    let entries = match entries {
        Ok(entries) => entries,
        Err(error) if error.is_damage() => {
            damaged(within.to_string(), error.to_string());
            Vec::new()
        }
        Err(error) => return Err(error),
    };
    for entry in entries.iter().filter(|entry| which == SessionFilter::Ended || entry.name != layout::ENDED) {
        let Some(id) = layout::stem::<SessionId>(&entry.name) else {
            damaged(format!("{within}:{}", entry.name), "its name is not ID.json".into());
            continue;
        };
        let read = read::decode::<Session>(store, entry)?;
        let read = read.and_then(|session| match misplaced(&session, repo, &id, which) {
            Some(problem) => Err(problem),
            None => Ok(session),
        });
        match read {
            Ok(session) => found.push(session),
            Err(problem) => damaged(format!("{within}:{}", which.path(&id)), problem),
        }
    }
    Ok((found, damage))
}

/// Returns the problem of a session that is stored under the path of another one.
fn misplaced(session: &Session, repo: &RepoName, id: &SessionId, which: SessionFilter) -> Option<String> {
    if session.id != *id || session.repo != *repo {
        return Some(format!("it is {} of {}", session.id, session.repo));
    }
    (session.ended.is_some() != (which == SessionFilter::Ended)).then(|| "it is in the wrong place".into())
}
