//! Walks the commits of several refs, newest first, as `git log` does.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, HashSet},
};

use crate::{
    error::OpError,
    model::{clock, name::DomainName, oid::Oid},
    ops::message,
    store::{CommitInfo, Store},
    wire::LogEntry,
};

/// Iterates over all commits that are reachable from some refs. A commit comes before its parents, and otherwise those
/// with later dates come first.
pub struct Walk<'a> {
    store: &'a dyn Store,
    now: jiff::Timestamp,
    /// The domain of each ref; `None` for the realm itself.
    refs: Vec<Option<DomainName>>,
    /// The next commits by date, by ref, and by the order in which they were found.
    queue: BinaryHeap<(jiff::Timestamp, usize, Reverse<usize>, Oid)>,
    read: HashMap<Oid, CommitInfo>,
    seen: HashSet<Oid>,
}

/// A commit of a walk.
pub struct Step {
    /// The domain that it belongs to; `None` for the realm itself.
    pub domain: Option<DomainName>,
    /// The commit.
    pub commit: Oid,
    /// Its metadata and message.
    pub info: CommitInfo,
}

impl<'a> Walk<'a> {
    /// Begins at the tips of refs. Dates that are in the future at `now` are not used for sorting.
    ///
    /// # Errors
    /// Returns an error if a tip cannot be read.
    pub fn of(
        store: &'a dyn Store,
        now: jiff::Timestamp,
        tips: impl IntoIterator<Item = (Option<DomainName>, Oid)>,
    ) -> Result<Self, OpError> {
        let (queue, read, seen) = Default::default();
        let mut walk = Self { store, now, refs: Vec::new(), queue, read, seen };
        for (at, (domain, tip)) in tips.into_iter().enumerate() {
            walk.refs.push(domain);
            walk.push(at, tip)?;
        }
        Ok(walk)
    }

    fn push(&mut self, at: usize, commit: Oid) -> Result<(), OpError> {
        if !self.seen.insert(commit) {
            return Ok(());
        }
        let info = self.store.commit(&commit)?;
        self.queue.push((self.date(&info), at, Reverse(self.seen.len()), commit));
        self.read.insert(commit, info);
        Ok(())
    }

    /// Returns the date to sort a commit by. If the clock was wrong, that is the date of a parent:
    /// an earlier date would hold back all older commits, and a future one would come before all.
    fn date(&self, info: &CommitInfo) -> jiff::Timestamp {
        let sound = |info: &CommitInfo| Some(info.time).filter(|date| !clock::is_ahead(*date, self.now));
        let own = sound(info);
        let mut parent = info.parents.first().and_then(|parent| self.store.commit(parent).ok());
        while let Some(older) = parent {
            match (own, sound(&older)) {
                (_, Some(date)) => return own.map_or(date, |own| own.max(date)),
                (Some(own), None) => return own,
                (None, None) => parent = older.parents.first().and_then(|parent| self.store.commit(parent).ok()),
            }
        }
        own.unwrap_or(self.now)
    }

    fn step(&mut self) -> Result<Option<Step>, OpError> {
        let Some((_, at, _, commit)) = self.queue.pop() else { return Ok(None) };
        let Some(info) = self.read.remove(&commit) else { return Ok(None) };
        for parent in &info.parents {
            self.push(at, *parent)?;
        }
        Ok(Some(Step { domain: self.refs[at].clone(), commit, info }))
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<Step, OpError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}

impl Step {
    /// Returns the log entry of the commit, without a link.
    pub fn entry(&self, now: jiff::Timestamp) -> LogEntry {
        let (subject, repo, source_commit) = message::parse(&self.info.message);
        LogEntry {
            commit: self.commit,
            domain: self.domain.clone(),
            time: self.info.time,
            in_future: clock::is_ahead(self.info.time, now),
            author: self.info.author.clone(),
            subject,
            reason: message::reason(&self.info.message),
            repo,
            source_commit,
            commit_url: None,
        }
    }
}
