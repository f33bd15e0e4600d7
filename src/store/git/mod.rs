//! Stores a realm in a bare git repository, using gix.
//!
//! gix does not flush and git has no journal, so [`commit`] enforces the order of a write: objects are on disk before
//! the ref moves, and the ref is on disk before success is reported.

mod commit;
mod corrupt;
mod create;
mod delete;
pub mod fsync;
pub mod git_command;
mod incoming;
mod journal;
mod lock;
pub mod objects;
mod pack;
mod packed_refs;
mod packing;
mod precious;
mod reading;
mod recovery;
mod ref_update;
pub mod refs;
mod remotes;
mod small_packs;
pub mod transport;
mod upkeep;
mod watch;

use std::{
    cell::{Cell, Ref},
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

pub use create::{UnfinishedStore, create, lost_part, restore_part};
pub use git_command::{git_version, numbers};
pub use journal::parse as noted;
pub use packed_refs::{damaged_packed_refs, repair_packed_refs};
pub use packing::Packed;
pub use recovery::Recoverable;
pub use transport::{MAX_BYTES, MAX_BYTES_KEY, RemoteConnection, TransportOptions};
pub use upkeep::{LockFile, remove_leftovers, should_be_packed};
pub use watch::Watch;

use reading::Reading;

use super::{
    Change, CommitInfo, Entry, EntryKind, Lease, Objects, RefListing, Store, StoreError, StoreRef,
    cache::FileCache,
    layout::{SEEN, SHARED},
};
use crate::model::oid::Oid;

/// git packs objects as chains of deltas. Without a cache, reading each object would inflate its whole chain again,
/// which took 60 % of the time of a cold read. 16 MiB is enough for the chains of a domain.
const DELTA_CACHE: &str = "core.deltaBaseCacheLimit=16m";

/// The size of the object cache, in bytes.
const OBJECT_CACHE: usize = 4 << 20;

/// The options of a store.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The maximum time that a writer waits for a lock.
    pub lock_timeout: Duration,
    /// The seed for the random waits between attempts.
    pub seed: u64,
    /// Whether to use the cache.
    pub cache: bool,
    /// Whether to keep decoded data in memory for later requests.
    pub holds: bool,
    /// Called when a write waits for a lock, with the lock file and its holder, if known.
    pub on_wait: Option<fn(&Path, Option<&str>)>,
}

/// A realm's store.
#[derive(Debug)]
pub struct GitStore {
    reading: Reading,
    packed: refs::Packed,
    locks: lock::Locks,
    cache: Option<FileCache>,
    holds: bool,
    /// Whether this process knows that git removes none of the store's objects.
    is_marked: Cell<bool>,
}

/// The number of packs that can be read: the existing ones, and those added while the store is open. The default would
/// be 32 in total.
const PACKS: gix::odb::store::init::Slots =
    gix::odb::store::init::Slots::AsNeededByDiskState { multiplier: 1.5, minimum: 512 };

impl GitStore {
    /// Opens the store at `path`. Reads no configuration other than the store's own.
    ///
    /// # Errors
    /// Returns [`StoreError::NotAStore`] if there is no bare repository with a realm, and [`StoreError::Reftable`] if
    /// its refs cannot be written safely. Returns the error of [`lost_part`], or [`StoreError::NoRealm`], if only that
    /// part is missing, and [`StoreError::DamagedRepo`] if a repository cannot be opened.
    pub fn open(path: &Path, options: Options) -> Result<Self, StoreError> {
        let store = Self::opened(path, options)?;
        match store.tip(&StoreRef::Realm) {
            Ok(None) => Err(store.without_realm()?.unwrap_or_else(|| StoreError::NoRealm { path: path.to_owned() })),
            // Whoever reads the realm gets this error, and `doctor` can reset the ref.
            Err(error) if !error.is_damage() => Err(error),
            _ => Ok(store),
        }
    }

    /// Opens the store at `path` even if the ref of its realm is lost.
    ///
    /// # Errors
    /// Returns the errors of [`Self::open`], except [`StoreError::NoRealm`].
    pub fn open_to_repair(path: &Path, options: Options) -> Result<Self, StoreError> {
        let store = Self::opened(path, options)?;
        match store.tip(&StoreRef::Realm) {
            Ok(None) => store.without_realm()?.map_or(Ok(store), Err),
            _ => Ok(store),
        }
    }

    /// Opens the repository at `path`, whatever its refs are.
    fn opened(path: &Path, options: Options) -> Result<Self, StoreError> {
        let not_a_store = || StoreError::NotAStore { path: path.to_owned() };
        let open = gix::open::Options::isolated()
            .open_path_as_is(true)
            .config_overrides([DELTA_CACHE])
            .object_store_slots(PACKS);
        let opened = match open.clone().open(path) {
            // Another process may have put the store there after the first try.
            Err(_) if is_repository(path) => open.open(path).map_err(Some),
            opened => opened.map_err(|_| None),
        };
        let repo = match opened {
            Ok(repo) => cached(repo.to_thread_local()),
            Err(_) if refs::is_reftable(path) => return Err(StoreError::Reftable { path: path.to_owned() }),
            Err(error) => {
                let known = unreadable(path).or_else(|| create::lost_part(path));
                let unopened = || error.map(|error| unopened(path, error));
                return Err(known.or_else(unopened).unwrap_or_else(not_a_store));
            }
        };
        if refs::is_reftable(path) {
            return Err(StoreError::Reftable { path: path.to_owned() });
        }
        if !repo.is_bare() {
            return Err(not_a_store());
        }
        let cache = options.cache.then(|| FileCache::new(path.to_owned()));
        Ok(Self {
            locks: lock::Locks::new(path.join("blue/locks"), options),
            is_marked: Cell::new(precious::is_marked(&repo)),
            reading: Reading::new(repo),
            packed: refs::Packed::default(),
            cache,
            holds: options.holds,
        })
    }

    /// Returns the error for a repository without the ref of a realm, unless it has other refs of one.
    fn without_realm(&self) -> Result<Option<StoreError>, StoreError> {
        for prefix in [SHARED, SEEN] {
            let RefListing { found, broken } = self.refs(prefix)?;
            if !found.is_empty() || !broken.is_empty() {
                return Ok(None);
            }
        }
        Ok(Some(StoreError::NotAStore { path: self.path() }))
    }

    fn repo(&self) -> Ref<'_, gix::Repository> {
        self.reading.repo()
    }

    /// Marks a store that was created without the mark, so that git removes none of its objects. On failure, the store
    /// is unchanged and the next write tries again.
    fn mark(&self) {
        if !self.is_marked.replace(true)
            && let Err(error) = precious::mark(&self.locks, &self.path())
        {
            tracing::debug!(%error, "the store is not marked");
        }
    }

    /// Returns the repository's folder.
    pub fn path(&self) -> PathBuf {
        self.repo().git_dir().to_owned()
    }

    /// Returns a runner of git in the store.
    fn git(&self, vars: &BTreeMap<OsString, OsString>) -> git_command::Git {
        let mut vars = git_command::vars_of_store(vars);
        // git's messages are matched in English.
        vars.insert("LC_ALL".into(), "C".into());
        git_command::Git { git_dir: self.path(), top: self.path(), vars }
    }
}

/// The locks that a writer holds.
impl Lease for (Box<dyn Lease + '_>, lock::HeldLock) {}

/// Returns the error for a part of a store that this user may not read.
fn unreadable(path: &Path) -> Option<StoreError> {
    ["", "HEAD", "config", "objects", "objects/pack", "refs"].map(|part| path.join(part)).into_iter().find_map(|part| {
        let read = if part.is_dir() { part.read_dir().map(drop) } else { std::fs::File::open(&part).map(drop) };
        let denied = read.err().filter(|error| error.kind() == std::io::ErrorKind::PermissionDenied)?;
        Some(StoreError::io("read", part)(denied))
    })
}

/// Returns the error for a repository that cannot be opened, for example because of its configuration.
fn unopened(path: &Path, error: gix::Error) -> StoreError {
    let error = Box::new(StoreError::git(format!("open {}", path.display()))(error));
    StoreError::DamagedRepo { git_dir: path.to_owned(), error }
}

fn is_repository(path: &Path) -> bool {
    ["HEAD", "config", "objects", "refs"].iter().all(|part| path.join(part).exists())
}

/// Enables an object cache, because each look-up of a path reads the same trees again.
pub(crate) fn cached(mut repo: gix::Repository) -> gix::Repository {
    repo.object_cache_size_if_unset(OBJECT_CACHE);
    repo
}

impl Objects for GitStore {
    fn entries(&self, id: &Oid) -> Result<Vec<Entry>, StoreError> {
        self.reading.object(|repo| objects::entries(repo, id, EntryKind::Other))
    }

    fn entry(&self, id: &Oid, name: &str) -> Result<Option<Entry>, StoreError> {
        self.reading.object(|repo| objects::entry(repo, id, name, EntryKind::Other))
    }

    fn blob(&self, id: &Oid) -> Result<Vec<u8>, StoreError> {
        self.reading.object(|repo| objects::blob(repo, id))
    }

    fn size(&self, id: &Oid) -> Result<u64, StoreError> {
        self.reading.object(|repo| objects::size(repo, id))
    }

    fn commit(&self, id: &Oid) -> Result<CommitInfo, StoreError> {
        self.reading.object(|repo| objects::commit_within_limit(repo, id))
    }
}

impl Store for GitStore {
    fn blob_id(&self, content: &[u8]) -> Result<Oid, StoreError> {
        objects::blob_id(&self.repo(), content)
    }

    fn tip(&self, name: &StoreRef) -> Result<Option<Oid>, StoreError> {
        match refs::tip(&self.repo(), &self.packed, &name.to_string()) {
            // A lost record of this machine only means that notifications are shown again.
            Err(error) if name.is_local() && error.is_damage() => Ok(None),
            tip => tip,
        }
    }

    fn refs(&self, prefix: &str) -> Result<RefListing, StoreError> {
        refs::below(&self.repo(), &self.packed, prefix)
    }

    fn cache(&self) -> Option<&FileCache> {
        self.cache.as_ref()
    }

    fn caches_in_memory(&self) -> bool {
        self.holds
    }

    fn forget(&self, name: &StoreRef, expected: Oid) -> Result<(), StoreError> {
        ref_update::delete_local(&self.repo(), &self.locks, name, expected)
    }

    fn lock(&self, name: &StoreRef) -> Result<Box<dyn Lease + '_>, StoreError> {
        let objects = self.keep()?;
        Ok(Box::new((objects, self.locks.acquire(&name.lock_name())?)))
    }

    fn keep(&self) -> Result<Box<dyn Lease + '_>, StoreError> {
        self.mark();
        Ok(Box::new(self.locks.share(packing::OBJECTS)?))
    }

    fn commit_change(&self, name: &StoreRef, expected: Option<Oid>, change: &Change) -> Result<Oid, StoreError> {
        commit::commit(&self.repo(), &self.locks, name, expected, change)
    }

    fn advance(&self, name: &StoreRef, expected: Option<Oid>, to: Oid) -> Result<(), StoreError> {
        commit::advance(&self.repo(), &self.locks, name, expected, to)
    }

    fn remotes(&self) -> Vec<super::remote::Remote> {
        self.configured_remotes()
    }
}
