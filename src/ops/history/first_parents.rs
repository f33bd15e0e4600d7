//! Walks the history of a ref along first parents, newest first.

use crate::ops::message;
use crate::{
    error::OpError,
    model::{clock, name::DomainName, oid::Oid},
    store::{CommitInfo, Store},
    wire::LogEntry,
};

/// Iterates over a ref's commits, from `tip` along first parents.
pub struct History<'a> {
    store: &'a dyn Store,
    next: Option<Oid>,
}

impl<'a> History<'a> {
    /// Returns the history that ends in `tip`.
    pub fn of(store: &'a dyn Store, tip: Option<Oid>) -> Self {
        Self { store, next: tip }
    }
}

impl Iterator for History<'_> {
    type Item = Result<(Oid, CommitInfo), OpError>;

    fn next(&mut self) -> Option<Self::Item> {
        let id = self.next.take()?;
        match self.store.commit(&id) {
            Ok(commit) => {
                self.next = commit.parents.first().copied();
                Some(Ok((id, commit)))
            }
            Err(error) => Some(Err(error.into())),
        }
    }
}

/// Returns the log entry of a commit, without a link.
pub fn entry(commit: Oid, info: &CommitInfo, domain: Option<&DomainName>, now: jiff::Timestamp) -> LogEntry {
    let (subject, repo, source_commit) = message::parse(&info.message);
    LogEntry {
        commit,
        domain: domain.cloned(),
        time: info.time,
        in_future: clock::is_ahead(info.time, now),
        author: info.author.clone(),
        subject,
        reason: message::reason(&info.message),
        repo,
        source_commit,
        commit_url: None,
    }
}
