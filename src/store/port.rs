//! The traits that every store implements, both in memory and on disk.

use std::path::PathBuf;

use jiff::Zoned;

use super::{StoreError, StoreRef, TreePath, remote::Remote};
use crate::model::{
    name::{DomainName, RepoName},
    oid::Oid,
};

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The file name. It was written by others and may be any text.
    pub name: String,
    /// The kind of object.
    pub kind: EntryKind,
    /// Its id.
    pub id: Oid,
}

/// The kind of an [`Entry`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder.
    Tree,
    /// A file.
    Blob,
    /// A symbolic link, a submodule or anything else, which is never read or followed.
    Other,
}

/// The content of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitInfo {
    /// Its tree.
    pub tree: Oid,
    /// Its parents, the first parent first.
    pub parents: Vec<Oid>,
    /// The author, as `Name <email>`.
    pub author: String,
    /// The committer, as `Name <email>`.
    pub committer: String,
    /// The time of the commit.
    pub time: jiff::Timestamp,
    /// Its whole message.
    pub message: String,
}

/// Reads objects.
pub trait Objects {
    /// Returns the entries of the tree `id`, in git's order.
    ///
    /// # Errors
    /// Returns [`StoreError::Missing`], or [`StoreError::Damaged`] if it is not a readable tree.
    fn entries(&self, id: &Oid) -> Result<Vec<Entry>, StoreError>;

    /// Returns the entry of the tree `id` with this name. The cost hardly grows with the number of other entries.
    ///
    /// # Errors
    /// Returns the errors of [`Self::entries`].
    fn entry(&self, id: &Oid, name: &str) -> Result<Option<Entry>, StoreError> {
        Ok(self.entries(id)?.into_iter().find(|entry| entry.name == name))
    }

    /// Returns the bytes of the blob `id`.
    ///
    /// # Errors
    /// Returns [`StoreError::Missing`], [`StoreError::Damaged`] if it is not a readable blob, or
    /// [`StoreError::TooLarge`] if it exceeds [`MAX_BLOB`](super::codec::MAX_BLOB).
    fn blob(&self, id: &Oid) -> Result<Vec<u8>, StoreError>;

    /// Returns the content of the commit `id`.
    ///
    /// # Errors
    /// Returns [`StoreError::Missing`], or [`StoreError::Damaged`] if it is not a readable commit.
    fn commit(&self, id: &Oid) -> Result<CommitInfo, StoreError>;
}

/// A store of one realm.
pub trait Store: Objects {
    /// Returns the commit that a ref points to.
    ///
    /// # Errors
    /// Returns [`StoreError::Damaged`] if the ref exists but cannot be read.
    fn tip(&self, name: &StoreRef) -> Result<Option<Oid>, StoreError>;

    /// Returns the domains and their tips, sorted by name. Refs with invalid names, which other programs wrote, are
    /// left out.
    ///
    /// # Errors
    /// Returns an error if the refs cannot be listed.
    fn domains(&self) -> Result<Vec<(DomainName, Oid)>, StoreError> {
        Ok(self.domain_refs()?.tips)
    }

    /// Returns the refs of the domains, with those that cannot be read.
    ///
    /// # Errors
    /// Returns an error if the refs cannot be listed.
    fn domain_refs(&self) -> Result<DomainRefs, StoreError>;

    /// Returns the inboxes of this machine and their tips, sorted by name. Refs with invalid names are left out.
    ///
    /// # Errors
    /// Returns an error if the refs cannot be listed.
    fn inboxes(&self) -> Result<Vec<(StoreRef, Oid)>, StoreError>;

    /// Returns the repositories that have sessions, with the tips of their refs, sorted by name. Refs with invalid
    /// names are left out.
    ///
    /// # Errors
    /// Returns an error if the refs cannot be listed.
    fn sessions(&self) -> Result<Vec<(RepoName, Oid)>, StoreError>;

    /// Returns the cache, or `None` if the store has none.
    fn cache(&self) -> Option<&dyn Cache> {
        None
    }

    /// Returns whether decoded data is [cached](crate::model::content_cache) in memory for later requests.
    fn holds(&self) -> bool {
        false
    }

    /// Deletes a local ref, if it still points to `expected`.
    ///
    /// The caller must hold the lock of `name`.
    ///
    /// # Errors
    /// Returns [`StoreError::Conflict`] if the ref has moved, or `name` is a shared ref.
    fn forget(&self, name: &StoreRef, expected: Oid) -> Result<(), StoreError>;

    /// Waits for the lock for writing `name`, and holds it until the lease is dropped.
    ///
    /// # Errors
    /// Returns [`StoreError::Locked`] if the deadline has passed.
    fn lock(&self, name: &StoreRef) -> Result<Box<dyn Lease + '_>, StoreError>;

    /// Prevents the removal of objects until the lease is dropped, because fetched objects have no ref at first. A
    /// held [`lock`](Self::lock) has the same effect.
    ///
    /// # Errors
    /// Returns [`StoreError::Locked`] if the deadline has passed.
    fn keep(&self) -> Result<Box<dyn Lease + '_>, StoreError> {
        Ok(Box::new(()))
    }

    /// Creates a commit of `change` and moves `name` to it, if `name` still points to `expected`. Returns the new
    /// commit once it would survive a power failure, or at once for a local ref.
    ///
    /// The caller must hold the lock of `name`.
    ///
    /// # Errors
    /// Returns [`StoreError::Conflict`] if the ref has moved; in that case nothing was changed. After any other error,
    /// the ref points to either the old or the new commit.
    fn commit_change(&self, name: &StoreRef, expected: Option<Oid>, change: &Change) -> Result<Oid, StoreError>;

    /// Moves `name` to an existing commit, if it still points to `expected`. Returns once this would survive a power
    /// failure, or at once for a local ref.
    ///
    /// The caller must hold the lock of `name`, and must know that the commit contains everything that `expected` has.
    ///
    /// # Errors
    /// Returns [`StoreError::Conflict`] if the ref has moved, and [`StoreError::Missing`] or [`StoreError::Damaged`]
    /// if `to` is not a readable commit.
    fn advance(&self, name: &StoreRef, expected: Option<Oid>, to: Oid) -> Result<(), StoreError>;

    /// Returns the remotes of the realm, sorted by name.
    fn remotes(&self) -> Vec<Remote> {
        Vec::new()
    }

    /// Returns the tips of the remotes' refs when they were last listed. Refs with invalid names are left out.
    ///
    /// # Errors
    /// Returns an error if the refs cannot be listed.
    fn seen(&self) -> Result<Vec<(StoreRef, Oid)>, StoreError>;
}

/// The refs of the domains.
#[derive(Debug, Clone, Default)]
pub struct DomainRefs {
    /// The domains with their tips, sorted by name.
    pub tips: Vec<(DomainName, Oid)>,
    /// The full name of each ref that cannot be read, with the problem.
    pub broken: Vec<(String, String)>,
}

/// A cache of data that can be computed from refs and objects. Losing it costs only time, so its methods do not fail.
pub trait Cache {
    /// Returns the cached data.
    fn open(&self) -> Option<Box<dyn CachedData>>;

    /// Returns a stamp of the shared refs, which changes whenever they do. Does not read the refs.
    fn stamp(&self) -> Option<String>;

    /// Returns the line that was last [noted](Renewal::note).
    fn noted(&self) -> Option<String>;

    /// Returns the path of the cache, whether or not it exists.
    fn file(&self) -> PathBuf;

    /// Deletes the cache. Returns its size in bytes.
    ///
    /// # Errors
    /// Returns an error if the file cannot be removed.
    fn clear(&self) -> Result<u64, StoreError>;

    /// Starts to replace the cached data, or to add to it if it is still the data that the caller read. Call this
    /// before reading the refs. Returns `None` if another process is already doing so, or if nothing can be written.
    fn renew(&self, since: Option<Since<'_>>) -> Option<Box<dyn Renewal>>;
}

/// The cached data that a caller read.
#[derive(Debug, Clone, Copy)]
pub struct Since<'a> {
    /// The identity of the data.
    pub identity: &'a str,
    /// The number of bytes of those parts that are still used.
    pub used: u64,
}

/// Cached data: an index, and parts. It does not change when the cache is replaced.
pub trait CachedData {
    /// Returns the size in bytes.
    fn size(&self) -> Option<u64>;

    /// Returns an identity that differs from that of any other data that is or was cached, if there is one.
    fn identity(&self) -> Option<String>;

    /// Returns the index.
    fn index(&self) -> Option<Vec<u8>>;

    /// Returns `len` bytes of the parts starting at `at`, or `None` if there are fewer.
    fn part(&self, at: u64, len: usize) -> Option<Vec<u8>>;
}

/// A replacement of the cache in progress. Dropping it leaves the cache unchanged.
pub trait Renewal {
    /// Returns the stamp of the refs at the start.
    fn stamp(&self) -> &str;

    /// Returns whether any later change of the refs is certain to change their stamp. Two changes within one tick of
    /// the file system's clock have the same stamp.
    fn is_settled(&self) -> bool;

    /// Writes a line next to the cache, whether or not the cache is replaced.
    fn note(&self, line: &str);

    /// Returns where the first of the new parts will be: 0 if the earlier ones are not reused.
    fn start(&self) -> u64;

    /// Appends to the parts. Returns whether that succeeded.
    fn write(&mut self, bytes: &[u8]) -> bool;

    /// Replaces the index, and returns the new cache.
    fn keep(self: Box<Self>, index: &[u8]) -> Option<Box<dyn CachedData>>;
}

/// A held lock, which is released on drop.
pub trait Lease {}

/// The lease of a store that never removes anything.
impl Lease for () {}

/// A commit to create.
#[derive(Debug, Clone)]
pub struct Change {
    /// The edits to the tree of the ref's tip, or to an empty tree, in this order. No path is edited twice, but a
    /// folder that was linked or removed may be edited afterwards.
    pub edits: Vec<(TreePath, Edit)>,
    /// Its whole message.
    pub message: String,
    /// The author and the time.
    pub author: Signature,
    /// Its parents.
    pub parents: Parents,
}

/// One change to a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Writes a file with these bytes.
    Put(Vec<u8>),
    /// Links an object that the store already has: a file or a whole folder.
    Link(EntryKind, Oid),
    /// Removes a file or folder, if it exists.
    Remove,
}

/// The parents of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parents {
    /// The ref's tip.
    Tip,
    /// The ref's tip and this commit, which is merged into it.
    Merge(Oid),
    /// None, because the history is not needed.
    None,
}

/// The author of a commit, and the time.
#[derive(Debug, Clone)]
pub struct Signature {
    /// The name.
    pub name: String,
    /// The email address.
    pub email: String,
    /// The time, with its offset from UTC.
    pub time: Zoned,
}
