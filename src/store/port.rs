//! The ports: what every store promises, in memory as on disk.

use std::path::PathBuf;

use jiff::Zoned;

use super::{StoreError, StoreRef, TreePath, remote::Remote};
use crate::model::oid::Oid;

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its file name. It comes from whoever wrote the tree, and may be any text.
    pub name: String,
    /// The kind of object.
    pub kind: EntryKind,
    /// Its id.
    pub id: Oid,
}

/// What an [`Entry`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder.
    Tree,
    /// A file.
    Blob,
    /// A symbolic link, a submodule or anything else: never read, never followed.
    Other,
}

/// The content of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitInfo {
    /// Its tree.
    pub tree: Oid,
    /// Its parents, first one first.
    pub parents: Vec<Oid>,
    /// The author, as `Name <email>`.
    pub author: String,
    /// The committer, as `Name <email>`.
    pub committer: String,
    /// The time at which it was committed.
    pub time: jiff::Timestamp,
    /// Its whole message.
    pub message: String,
}

/// Reads objects.
pub trait Objects {
    /// Returns the entries of the tree `id`, in git's order.
    ///
    /// # Errors
    /// Returns [`StoreError::Missing`], or [`StoreError::Damaged`] if it is no readable tree.
    fn entries(&self, id: &Oid) -> Result<Vec<Entry>, StoreError>;

    /// Returns the entry of the tree `id` with this name: what it costs hardly grows with the others.
    ///
    /// # Errors
    /// Fails as [`Self::entries`].
    fn entry(&self, id: &Oid, name: &str) -> Result<Option<Entry>, StoreError> {
        Ok(self.entries(id)?.into_iter().find(|entry| entry.name == name))
    }

    /// Returns the bytes of the blob `id`.
    ///
    /// # Errors
    /// Returns [`StoreError::Missing`], [`StoreError::Damaged`] if it is no readable blob, or
    /// [`StoreError::TooLarge`] above [`MAX_BLOB`](super::codec::MAX_BLOB).
    fn blob(&self, id: &Oid) -> Result<Vec<u8>, StoreError>;

    /// Returns the content of the commit `id`.
    ///
    /// # Errors
    /// Returns [`StoreError::Missing`], or [`StoreError::Damaged`] if it is no readable commit.
    fn commit(&self, id: &Oid) -> Result<CommitInfo, StoreError>;
}

/// Holds one realm.
pub trait Store: Objects {
    /// Returns the commit that a ref points to.
    ///
    /// # Errors
    /// Returns [`StoreError::Damaged`] if the ref exists and cannot be read.
    fn tip(&self, name: &StoreRef) -> Result<Option<Oid>, StoreError>;

    /// Returns the domains and their tips, sorted by name. Refs whose last part is no name are left
    /// out: other hands wrote them.
    ///
    /// # Errors
    /// Returns an error if the refs cannot be listed.
    fn domains(&self) -> Result<Vec<(crate::model::name::DomainName, Oid)>, StoreError>;

    /// Returns the inboxes of this machine and their tips, sorted by name. Refs whose parts are no
    /// names are left out.
    ///
    /// # Errors
    /// Returns an error if the refs cannot be listed.
    fn inboxes(&self) -> Result<Vec<(StoreRef, Oid)>, StoreError>;

    /// Returns the folder for what can be made anew at any time, if the store has one.
    fn cache_folder(&self) -> Option<std::path::PathBuf> {
        None
    }

    /// Returns the repositories that have sessions and the tips of these, sorted by name. Refs whose
    /// last part is no name are left out.
    ///
    /// # Errors
    /// Returns an error if the refs cannot be listed.
    fn sessions(&self) -> Result<Vec<(crate::model::name::RepoName, Oid)>, StoreError>;

    /// Returns what is wrong with refs of domains that cannot be read, each with its name.
    ///
    /// # Errors
    /// Returns an error if the refs cannot be listed.
    fn broken_refs(&self) -> Result<Vec<String>, StoreError>;

    /// Returns the cache, or `None` if the store has none.
    fn cache(&self) -> Option<&dyn Cache> {
        None
    }

    /// Returns whether what was decoded of it is [held](crate::model::held) in memory for the next request.
    fn holds(&self) -> bool {
        false
    }

    /// Deletes a ref of this machine alone, if it still is at `expected`.
    ///
    /// The caller holds the lock of `name`.
    ///
    /// # Errors
    /// Returns [`StoreError::Conflict`] if the ref is elsewhere by now, and where `name` travels.
    fn forget(&self, name: &StoreRef, expected: Oid) -> Result<(), StoreError>;

    /// Waits for the lock that guards writing `name`, and holds it until the lease is dropped.
    ///
    /// # Errors
    /// Returns [`StoreError::Locked`] when the deadline has passed.
    fn lock(&self, name: &StoreRef) -> Result<Box<dyn Lease + '_>, StoreError>;

    /// Keeps everybody from removing objects until the lease is dropped: what is brought here has no ref at first.
    /// A held [`lock`](Self::lock) does so too.
    ///
    /// # Errors
    /// Returns [`StoreError::Locked`] when the deadline has passed.
    fn keep(&self) -> Result<Box<dyn Lease + '_>, StoreError> {
        Ok(Box::new(()))
    }

    /// Makes a commit of `change` and moves `name` to it, if it still is at `expected`. Returns the
    /// new commit once it would survive a power failure (or at once, for a local ref).
    ///
    /// The caller holds the lock of `name`.
    ///
    /// # Errors
    /// Returns [`StoreError::Conflict`] if the ref is elsewhere by now; nothing happened then. After any
    /// other error the ref is wholly at the old or wholly at the new commit.
    fn commit_change(&self, name: &StoreRef, expected: Option<Oid>, change: &Change) -> Result<Oid, StoreError>;

    /// Moves `name` to a commit that the store has already, if it still is at `expected`. Returns once
    /// that would survive a power failure (or at once, for a local ref).
    ///
    /// The caller holds the lock of `name`, and knows that the commit has all that `expected` has.
    ///
    /// # Errors
    /// Returns [`StoreError::Conflict`] if the ref is elsewhere by now. [`StoreError::Missing`] or
    /// [`StoreError::Damaged`] if `to` is no commit that can be read.
    fn advance(&self, name: &StoreRef, expected: Option<Oid>, to: Oid) -> Result<(), StoreError>;

    /// Returns the places where the realm is shared, sorted by name.
    fn remotes(&self) -> Vec<Remote> {
        Vec::new()
    }

    /// Returns where the refs of remotes were when they were looked at last. Refs whose parts are no
    /// names are left out.
    ///
    /// # Errors
    /// Returns an error if the refs cannot be listed.
    fn seen(&self) -> Result<Vec<(StoreRef, Oid)>, StoreError>;
}

/// Keeps what can be made again from the refs and objects. Losing it costs time and nothing else, so
/// using it never fails.
pub trait Cache {
    /// Returns what was cached last.
    fn open(&self) -> Option<Box<dyn Kept>>;

    /// Returns what tells the refs that travel, as they are now, from how they were and will be,
    /// without reading them.
    fn stamp(&self) -> Option<String>;

    /// Returns what was [noted](Renewal::note) last.
    fn noted(&self) -> Option<String>;

    /// Returns the file in which it is kept, whether or not it is there.
    fn file(&self) -> PathBuf;

    /// Clears the cache. Returns the number of bytes that it had.
    ///
    /// # Errors
    /// Returns an error if the file cannot be removed.
    fn clear(&self) -> Result<u64, StoreError>;

    /// Begins to replace what is kept, before the refs are read. Nothing where somebody else is at
    /// it, or where nothing can be written.
    fn renew(&self) -> Option<Box<dyn Renewal>>;
}

/// What was kept, to be read in parts; it stays the same while it is replaced.
pub trait Kept {
    /// Returns the size in bytes.
    fn size(&self) -> Option<u64>;

    /// Returns what tells it from everything else that is or was kept, if anything does.
    fn identity(&self) -> Option<String>;

    /// Returns `len` bytes from `at` on, or `None` if there are fewer.
    fn part(&self, at: u64, len: usize) -> Option<Vec<u8>>;
}

/// A begun replacement; dropping it leaves what is kept as it is.
pub trait Renewal {
    /// Returns the refs' stamp, taken when this began.
    fn stamp(&self) -> &str;

    /// Returns whether a change of the refs after that moment would show in their stamp for sure:
    /// two changes within one tick of the file system's clock leave the same one.
    fn is_settled(&self) -> bool;

    /// Notes a line beside what is kept, whether or not that is replaced.
    fn note(&self, line: &str);

    /// Appends bytes. Returns whether that succeeded.
    fn write(&mut self, bytes: &[u8]) -> bool;

    /// Replaces what is kept with everything that was written, and returns it.
    fn keep(self: Box<Self>) -> Option<Box<dyn Kept>>;
}

/// A held lock; dropping it releases it.
pub trait Lease {}

/// A store that never removes anything has nothing to lock.
impl Lease for () {}

/// One commit to be made.
#[derive(Debug, Clone)]
pub struct Change {
    /// The edits to the tree of the ref's tip, or to an empty tree, in this order. No path is edited twice, but a
    /// folder that was linked or removed may be edited afterwards.
    pub edits: Vec<(TreePath, Edit)>,
    /// Its whole message.
    pub message: String,
    /// The author, and the time.
    pub author: Signature,
    /// Its parents.
    pub parents: Parents,
}

/// One change of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Writes a file with these bytes.
    Put(Vec<u8>),
    /// Puts an object that the store has already: a file or a whole folder.
    Link(EntryKind, Oid),
    /// Takes a file or folder away, if it is there.
    Remove,
}

/// The parents of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parents {
    /// The ref's tip.
    Tip,
    /// The ref's tip, and this commit, whose content it takes in.
    Merge(Oid),
    /// None: its history is of no use.
    None,
}

/// The author of a commit, and the time.
#[derive(Debug, Clone)]
pub struct Signature {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
    /// The moment, with its offset from UTC.
    pub time: Zoned,
}
