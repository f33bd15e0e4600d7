//! The traits that every store implements, both in memory and on disk.

use std::collections::BTreeMap;

use jiff::Zoned;

use super::{
    StoreError, StoreRef, TreePath,
    cache::FileCache,
    layout::{DOMAINS, INBOXES, SEEN, SESSIONS},
    remote::Remote,
};
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

    /// Returns the size of the object `id`, in bytes, without reading all of it.
    ///
    /// # Errors
    /// Returns [`StoreError::Missing`], or [`StoreError::Damaged`] if it cannot be read.
    fn size(&self, id: &Oid) -> Result<u64, StoreError>;

    /// Returns the content of the commit `id`.
    ///
    /// # Errors
    /// Returns [`StoreError::Missing`], or [`StoreError::Damaged`] if it is not a readable commit.
    fn commit(&self, id: &Oid) -> Result<CommitInfo, StoreError>;
}

/// A store of one realm.
pub trait Store: Objects {
    /// Returns the id that a blob with this content has, or would have.
    ///
    /// # Errors
    /// Returns an error if the content cannot be hashed.
    fn blob_id(&self, content: &[u8]) -> Result<Oid, StoreError>;

    /// Returns the commit that a ref points to.
    ///
    /// # Errors
    /// Returns [`StoreError::Damaged`] if the ref exists but cannot be read.
    fn tip(&self, name: &StoreRef) -> Result<Option<Oid>, StoreError>;

    /// Returns the commit that the ref of a domain points to.
    ///
    /// # Errors
    /// Returns [`StoreError::Damaged`] if the ref exists but cannot be read.
    fn domain_tip(&self, name: &DomainName) -> Result<Option<Oid>, StoreError> {
        self.tip(&StoreRef::Domain(name.clone()))
    }

    /// Returns the refs whose full names start with `prefix`.
    ///
    /// # Errors
    /// Returns an error if the refs cannot be listed.
    fn refs(&self, prefix: &str) -> Result<RefListing, StoreError>;

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
    fn domain_refs(&self) -> Result<DomainRefs, StoreError> {
        let RefListing { found, broken } = self.refs(DOMAINS)?;
        Ok(DomainRefs { tips: named(found, |name| name.strip_prefix(DOMAINS)?.parse().ok()), broken })
    }

    /// Returns the inboxes of this machine and their tips, sorted by name. Refs with invalid names are left out.
    ///
    /// # Errors
    /// Returns an error if the refs cannot be listed.
    fn inboxes(&self) -> Result<Vec<(StoreRef, Oid)>, StoreError> {
        Ok(named(self.refs(INBOXES)?.found, StoreRef::inbox))
    }

    /// Returns the repositories that have sessions, with the tips of their refs, sorted by name. Refs with invalid
    /// names are left out.
    ///
    /// # Errors
    /// Returns an error if the refs cannot be listed.
    fn sessions(&self) -> Result<Vec<(RepoName, Oid)>, StoreError> {
        Ok(named(self.refs(SESSIONS)?.found, |name| name.strip_prefix(SESSIONS)?.parse().ok()))
    }

    /// Returns the cache, or `None` if the store has none.
    fn cache(&self) -> Option<&FileCache> {
        None
    }

    /// Returns whether decoded data is [cached](crate::model::content_cache) in memory for later requests.
    fn caches_in_memory(&self) -> bool {
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
    /// Returns [`StoreError::Conflict`] if the ref has moved. Moving a shared ref returns [`StoreError::Missing`] or
    /// [`StoreError::Damaged`] if `to` is not a readable commit.
    fn advance(&self, name: &StoreRef, expected: Option<Oid>, to: Oid) -> Result<(), StoreError>;

    /// Returns the remotes of the realm, sorted by name.
    fn remotes(&self) -> Vec<Remote> {
        Vec::new()
    }

    /// Returns the tips of the remotes' refs when they were last listed. Refs with invalid names are left out.
    ///
    /// # Errors
    /// Returns an error if the refs cannot be listed.
    fn seen(&self) -> Result<Vec<(StoreRef, Oid)>, StoreError> {
        Ok(named(self.refs(SEEN)?.found, StoreRef::seen))
    }
}

/// Returns the refs whose full names can be parsed.
fn named<N>(found: BTreeMap<String, Oid>, parse: impl Fn(&str) -> Option<N>) -> Vec<(N, Oid)> {
    found.into_iter().filter_map(|(name, tip)| Some((parse(&name)?, tip))).collect()
}

/// The refs below a prefix.
#[derive(Debug, Clone, Default)]
pub struct RefListing {
    /// The readable refs, by full name.
    pub found: BTreeMap<String, Oid>,
    /// The full name of each ref that cannot be read, with the problem.
    pub broken: Vec<(String, String)>,
}

/// The refs of the domains.
#[derive(Debug, Clone, Default)]
pub struct DomainRefs {
    /// The domains with their tips, sorted by name.
    pub tips: Vec<(DomainName, Oid)>,
    /// The full name of each ref that cannot be read, with the problem.
    pub broken: Vec<(String, String)>,
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
    /// The committer, if it is not the author.
    pub committer: Option<Signature>,
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

impl Signature {
    /// Returns the signature of a person that is written as `Name <email>`.
    #[must_use]
    pub fn parse(person: &str, time: &Zoned) -> Option<Self> {
        let (name, email) = person.strip_suffix('>')?.split_once(" <")?;
        let is_empty = name.trim().is_empty() || email.trim().is_empty();
        (!is_empty).then(|| Self { name: name.to_owned(), email: email.to_owned(), time: time.clone() })
    }
}
