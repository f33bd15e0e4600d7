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
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use self::{
    objects::{Object, Objects as Heap},
    tree::{Leaf, Writer},
};
use crate::{
    model::oid::Oid,
    store::{
        Change, CommitInfo, Entry, EntryKind, Lease, Objects, Parents, RefListing, Signature, Store, StoreError,
        StoreRef,
    },
};

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    objects: Heap,
    refs: RefCell<BTreeMap<StoreRef, Oid>>,
    held: RefCell<BTreeSet<String>>,
    /// A file that another process writes right before the next commit.
    race: RefCell<Option<(String, Vec<u8>)>>,
}

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
        Ok(store)
    }

    /// Writes a file like another program: any bytes at any path, without a lock. Returns the commit.
    ///
    /// # Errors
    /// Returns an error if the ref's tip is not a commit of this store.
    pub fn put_raw(&self, name: &StoreRef, path: &str, bytes: &[u8]) -> Result<Oid, StoreError> {
        let id = self.objects.add(Object::Blob(bytes.to_owned()));
        self.write_raw(name, path, Some((EntryKind::Blob, id)))
    }

    /// Writes a symbolic link like another program. Returns the commit.
    ///
    /// # Errors
    /// Returns an error if the ref's tip is not a commit of this store.
    pub fn put_symlink(&self, name: &StoreRef, path: &str, target: &str) -> Result<Oid, StoreError> {
        let id = self.objects.add(Object::Blob(target.into()));
        self.write_raw(name, path, Some((EntryKind::Other, id)))
    }

    /// Lets another process win the race for the next commit by writing this file.
    pub fn race_next_with(&self, path: &str, bytes: &[u8]) {
        self.race.replace(Some((path.to_owned(), bytes.to_owned())));
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

    fn write_raw(&self, name: &StoreRef, path: &str, leaf: Leaf) -> Result<Oid, StoreError> {
        let tip = self.at(name);
        let tree = tip.map(|tip| self.objects.commit(&tip)).transpose()?.map(|commit| commit.tree);
        let parts: Vec<_> = path.split('/').collect();
        let id = self.objects.add(Object::Commit(CommitInfo {
            tree: tree::place(&self.objects, tree, &parts, leaf, Writer::Other)?,
            parents: tip.into_iter().collect(),
            author: "Other Writer <other@example.org>".into(),
            committer: "Other Writer <other@example.org>".into(),
            time: jiff::Timestamp::UNIX_EPOCH,
            message: "By another program\n".into(),
        }));
        self.refs.borrow_mut().insert(name.clone(), id);
        Ok(id)
    }

    /// Checks that a ref may be moved: its lock is held, no other process wins a race, and it is as expected.
    fn require_expected(&self, name: &StoreRef, expected: Option<Oid>) -> Result<(), StoreError> {
        self.require_lock(name)?;
        let race = self.race.take();
        if let Some((path, bytes)) = &race {
            self.put_raw(name, path, bytes)?;
        }
        if race.is_some() || self.at(name) != expected {
            return Err(StoreError::Conflict { name: name.to_string() });
        }
        Ok(())
    }
}

impl Objects for MemoryStore {
    fn entries(&self, id: &Oid) -> Result<Vec<Entry>, StoreError> {
        self.objects.entries(id)
    }

    fn blob(&self, id: &Oid) -> Result<Vec<u8>, StoreError> {
        self.objects.blob(id)
    }

    fn size(&self, id: &Oid) -> Result<u64, StoreError> {
        self.objects.size(id)
    }

    fn commit(&self, id: &Oid) -> Result<CommitInfo, StoreError> {
        self.objects.commit(id)
    }
}

impl Store for MemoryStore {
    fn blob_id(&self, content: &[u8]) -> Result<Oid, StoreError> {
        Ok(objects::Object::Blob(content.to_vec()).id())
    }

    fn tip(&self, name: &StoreRef) -> Result<Option<Oid>, StoreError> {
        Ok(self.at(name))
    }

    fn refs(&self, prefix: &str) -> Result<RefListing, StoreError> {
        let refs = self.refs.borrow();
        let named = refs.iter().map(|(name, tip)| (name.to_string(), *tip));
        Ok(RefListing { found: named.filter(|(name, _)| name.starts_with(prefix)).collect(), broken: Vec::new() })
    }

    fn advance(&self, name: &StoreRef, expected: Option<Oid>, to: Oid) -> Result<(), StoreError> {
        self.require_expected(name, expected)?;
        self.objects.commit(&to)?;
        self.refs.borrow_mut().insert(name.clone(), to);
        Ok(())
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
        let lock = name.lock_name();
        if !self.held.borrow_mut().insert(lock.clone()) {
            let lock = Path::new("blue/locks").join(lock);
            return Err(StoreError::Locked { lock, holder: Some("this very process".into()), age: None });
        }
        Ok(Box::new(Held { store: self, lock }))
    }

    fn commit_change(&self, name: &StoreRef, expected: Option<Oid>, change: &Change) -> Result<Oid, StoreError> {
        self.require_expected(name, expected)?;
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
    let person = |who: &Signature| format!("{} <{}>", who.name, who.email);
    let time = &change.author.time;
    // Use whole seconds, as in git.
    let seconds = time.timestamp().as_second();
    CommitInfo {
        tree,
        parents: match change.parents {
            Parents::Tip => tip.into_iter().collect(),
            Parents::Merge(other) => tip.into_iter().chain([other]).collect(),
            Parents::None => Vec::new(),
        },
        author: person(&change.author),
        committer: person(change.committer.as_ref().unwrap_or(&change.author)),
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
