//! A store in memory, for tests of everything above storage. It is stricter than git, so that code that works with it
//! also works with git:
//!
//! - a ref is written only under its lock, and the same lock is never taken twice;
//! - a stale expectation is a conflict even if nothing would change;
//! - a path does not turn from a file into a folder or back, and the edits of one change do not overlap;
//! - only existing objects of the right kind are linked.

mod objects;
#[cfg(test)]
mod tests;
mod tree;

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use self::{
    objects::{Object, Objects as Heap},
    tree::{Leaf, Writer},
};
use crate::{
    model::{name::RepoName, oid::Oid},
    store::{
        Change, CommitInfo, DomainRefs, Entry, EntryKind, Lease, Objects, Parents, Signature, Store, StoreError,
        StoreRef,
    },
};

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    objects: Heap,
    refs: RefCell<BTreeMap<StoreRef, Oid>>,
    held: RefCell<BTreeSet<String>>,
    race: RefCell<Option<Race>>,
    calls: Cell<Calls>,
}

/// The number of calls to each method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Calls {
    /// [`Store::tip`].
    pub tips: u32,
    /// [`Store::domains`].
    pub domains: u32,
    /// [`Store::lock`].
    pub locks: u32,
    /// [`Store::commit_change`].
    pub changes: u32,
    /// [`Objects::entries`].
    pub entries: u32,
    /// [`Objects::blob`].
    pub blobs: u32,
    /// [`Objects::commit`].
    pub commits: u32,
}

/// A write by another process right before the next commit.
#[derive(Debug)]
struct Race(Option<(String, Vec<u8>)>);

impl MemoryStore {
    /// Creates a store without a realm.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a store whose realm is `first`, like `store::git::create`.
    ///
    /// # Errors
    /// Returns an error if `first` is refused.
    pub fn create(first: &Change) -> Result<Self, StoreError> {
        let store = Self::new();
        let lease = store.lock(&StoreRef::Realm)?;
        store.commit_change(&StoreRef::Realm, None, first)?;
        drop(lease);
        store.calls.take();
        Ok(store)
    }

    /// Writes a file like another program: any bytes at any path, without a lock. Returns the commit.
    ///
    /// # Errors
    /// Returns an error if the ref's tip is not a commit of this store.
    pub fn put_raw(&self, name: &StoreRef, path: &str, bytes: &[u8]) -> Result<Oid, StoreError> {
        let id = self.objects.add(Object::Blob(bytes.to_owned()));
        self.write_raw(name, Some((path, Some((EntryKind::Blob, id)))))
    }

    /// Writes a symbolic link like another program. Returns the commit.
    ///
    /// # Errors
    /// Returns an error if the ref's tip is not a commit of this store.
    pub fn put_symlink(&self, name: &StoreRef, path: &str, target: &str) -> Result<Oid, StoreError> {
        let id = self.objects.add(Object::Blob(target.into()));
        self.write_raw(name, Some((path, Some((EntryKind::Other, id)))))
    }

    /// Lets another process win the race for the next commit, without changing the content.
    pub fn race_next(&self) {
        self.race.replace(Some(Race(None)));
    }

    /// Lets another process win the race for the next commit by writing this file.
    pub fn race_next_with(&self, path: &str, bytes: &[u8]) {
        self.race.replace(Some(Race(Some((path.to_owned(), bytes.to_owned())))));
    }

    /// Returns the number of calls so far.
    pub fn calls(&self) -> Calls {
        self.calls.get()
    }

    fn count(&self, one: impl FnOnce(&mut Calls)) {
        let mut calls = self.calls.get();
        one(&mut calls);
        self.calls.set(calls);
    }

    fn require_lock(&self, name: &StoreRef) -> Result<(), StoreError> {
        if self.held.borrow().contains(&name.lock_name()) {
            return Ok(());
        }
        Err(StoreError::Git { doing: format!("move {name}"), problem: "its lock is not held".into() })
    }

    fn at(&self, name: &StoreRef) -> Option<Oid> {
        self.refs.borrow().get(name).copied()
    }

    fn write_raw(&self, name: &StoreRef, file: Option<(&str, Leaf)>) -> Result<Oid, StoreError> {
        let tip = self.at(name);
        let mut tree = tip.map(|tip| self.objects.commit(&tip)).transpose()?.map(|commit| commit.tree);
        if let Some((path, leaf)) = file {
            let parts: Vec<_> = path.split('/').collect();
            tree = Some(tree::place(&self.objects, tree, &parts, leaf, Writer::Other)?);
        }
        let id = self.objects.add(Object::Commit(CommitInfo {
            tree: tree.unwrap_or_else(|| self.objects.add(Object::Tree(Vec::new()))),
            parents: tip.into_iter().collect(),
            author: "Other Writer <other@example.org>".into(),
            committer: "Other Writer <other@example.org>".into(),
            time: jiff::Timestamp::UNIX_EPOCH,
            message: "By another program\n".into(),
        }));
        self.refs.borrow_mut().insert(name.clone(), id);
        Ok(id)
    }

    fn lose(&self, name: &StoreRef, race: &Race) -> Result<(), StoreError> {
        match &race.0 {
            Some((path, bytes)) => self.put_raw(name, path, bytes).map(drop),
            None if self.at(name).is_some() => self.write_raw(name, None).map(drop),
            // Another process created the ref and deleted it again.
            None => Ok(()),
        }
    }
}

impl Objects for MemoryStore {
    fn entries(&self, id: &Oid) -> Result<Vec<Entry>, StoreError> {
        self.count(|calls| calls.entries += 1);
        self.objects.entries(id)
    }

    fn blob(&self, id: &Oid) -> Result<Vec<u8>, StoreError> {
        self.count(|calls| calls.blobs += 1);
        self.objects.blob(id)
    }

    fn commit(&self, id: &Oid) -> Result<CommitInfo, StoreError> {
        self.count(|calls| calls.commits += 1);
        self.objects.commit(id)
    }
}

impl Store for MemoryStore {
    fn tip(&self, name: &StoreRef) -> Result<Option<Oid>, StoreError> {
        self.count(|calls| calls.tips += 1);
        Ok(self.at(name))
    }

    fn domain_refs(&self) -> Result<DomainRefs, StoreError> {
        self.count(|calls| calls.domains += 1);
        let refs = self.refs.borrow();
        let domain = |(name, tip): (&StoreRef, &Oid)| match name {
            StoreRef::Domain(name) => Some((name.clone(), *tip)),
            _ => None,
        };
        Ok(DomainRefs { tips: refs.iter().filter_map(domain).collect(), broken: Vec::new() })
    }

    fn inboxes(&self) -> Result<Vec<(StoreRef, Oid)>, StoreError> {
        let refs = self.refs.borrow();
        let is_inbox = |name: &StoreRef| matches!(name, StoreRef::Inbox(..));
        Ok(refs.iter().filter(|(name, _)| is_inbox(name)).map(|(name, tip)| (name.clone(), *tip)).collect())
    }

    fn seen(&self) -> Result<Vec<(StoreRef, Oid)>, StoreError> {
        let refs = self.refs.borrow();
        let is_seen = |name: &StoreRef| matches!(name, StoreRef::Seen(..));
        Ok(refs.iter().filter(|(name, _)| is_seen(name)).map(|(name, tip)| (name.clone(), *tip)).collect())
    }

    fn advance(&self, name: &StoreRef, expected: Option<Oid>, to: Oid) -> Result<(), StoreError> {
        self.count(|calls| calls.changes += 1);
        self.require_lock(name)?;
        if let Some(race) = self.race.take() {
            self.lose(name, &race)?;
            return Err(StoreError::Conflict { name: name.to_string() });
        }
        if self.at(name) != expected {
            return Err(StoreError::Conflict { name: name.to_string() });
        }
        self.objects.commit(&to)?;
        self.refs.borrow_mut().insert(name.clone(), to);
        Ok(())
    }

    fn sessions(&self) -> Result<Vec<(RepoName, Oid)>, StoreError> {
        let refs = self.refs.borrow();
        let sessions = |(name, tip): (&StoreRef, &Oid)| match name {
            StoreRef::Sessions(repo) => Some((repo.clone(), *tip)),
            _ => None,
        };
        Ok(refs.iter().filter_map(sessions).collect())
    }

    fn forget(&self, name: &StoreRef, expected: Oid) -> Result<(), StoreError> {
        self.require_lock(name)?;
        if !name.is_local() || self.at(name) != Some(expected) {
            return Err(StoreError::Conflict { name: name.to_string() });
        }
        self.refs.borrow_mut().remove(name);
        Ok(())
    }

    fn lock(&self, name: &StoreRef) -> Result<Box<dyn Lease + '_>, StoreError> {
        self.count(|calls| calls.locks += 1);
        let lock = name.lock_name();
        if !self.held.borrow_mut().insert(lock.clone()) {
            let lock = Path::new("blue/locks").join(lock);
            return Err(StoreError::Locked { lock, holder: Some("this very process".into()), age: None });
        }
        Ok(Box::new(Held { store: self, lock }))
    }

    fn commit_change(&self, name: &StoreRef, expected: Option<Oid>, change: &Change) -> Result<Oid, StoreError> {
        self.count(|calls| calls.changes += 1);
        self.require_lock(name)?;
        let conflict = || StoreError::Conflict { name: name.to_string() };
        if let Some(race) = self.race.take() {
            self.lose(name, &race)?;
            return Err(conflict());
        }
        if self.at(name) != expected {
            return Err(conflict());
        }
        let base = expected.map(|tip| self.objects.commit(&tip)).transpose()?.map(|commit| commit.tree);
        let tree = tree::edit(&self.objects, base, &change.edits)?;
        if let Some(tip) = expected
            && base == Some(tree)
            && !matches!(change.parents, Parents::Merge(_))
        {
            return Ok(tip);
        }
        let id = self.objects.add(Object::Commit(commit_info(tree, expected, change)));
        self.refs.borrow_mut().insert(name.clone(), id);
        Ok(id)
    }
}

fn commit_info(tree: Oid, tip: Option<Oid>, change: &Change) -> CommitInfo {
    let Signature { name, email, time } = &change.author;
    // Use whole seconds, as in git.
    let seconds = time.timestamp().as_second();
    CommitInfo {
        tree,
        parents: match change.parents {
            Parents::Tip => tip.into_iter().collect(),
            Parents::Merge(other) => tip.into_iter().chain([other]).collect(),
            Parents::None => Vec::new(),
        },
        author: format!("{name} <{email}>"),
        committer: format!("{name} <{email}>"),
        time: jiff::Timestamp::from_second(seconds).unwrap_or(time.timestamp()),
        message: change.message.clone(),
    }
}

struct Held<'a> {
    store: &'a MemoryStore,
    lock: String,
}

impl Lease for Held<'_> {}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.store.held.borrow_mut().remove(&self.lock);
    }
}
