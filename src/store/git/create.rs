//! Creates a store in a temporary folder and renames it into place, so that nobody sees a partial one.

use std::{
    cell::Cell,
    io::{ErrorKind, Write as _},
    path::Path,
};

use super::{GitStore, Options, fsync, lock, precious, reading::Reading, refs};
use crate::{
    model::oid::Oid,
    platform::files::{self, Access},
    store::{Change, Store as _, StoreError, StoreRef},
};

/// Creates a store at `path` whose realm is `first`.
///
/// # Errors
/// Returns an error if something exists at `path`, or it cannot be written.
pub fn create(path: &Path, first: &Change, options: Options) -> Result<GitStore, StoreError> {
    let temporary = UnfinishedStore::new(path.parent().unwrap_or(Path::new(".")), options)?;
    temporary.store.commit_change(&StoreRef::Realm, None, first)?;
    temporary.put(path)
}

/// A store under construction, next to its final path. It is removed on drop.
#[derive(Debug)]
pub struct UnfinishedStore {
    /// The store, which has no realm yet.
    pub store: GitStore,
    folder: tempfile::TempDir,
    options: Options,
}

/// The start of the names of folders in which a store is created.
pub(super) const PREFIX: &str = ".new-realm-";

impl UnfinishedStore {
    /// Creates an empty store in the folder `parent`.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be written.
    pub fn new(parent: &Path, options: Options) -> Result<Self, StoreError> {
        files::make_private_folder(parent).map_err(StoreError::io("create", parent))?;
        let mut builder = tempfile::Builder::new();
        // The realm may contain data that only its members may read.
        files::set_access(builder.prefix(PREFIX), Access::PrivateFolder);
        let folder = builder.tempdir_in(parent).map_err(StoreError::io("create a directory in", parent))?;
        let repo = init(folder.path())?;
        let locks = lock::Locks::new(folder.path().join("blue/locks"), options);
        Ok(Self {
            store: GitStore {
                locks,
                reading: Reading::new(repo),
                packed: refs::Packed::default(),
                cache: None,
                holds: false,
                is_marked: Cell::new(true),
            },
            folder,
            options,
        })
    }

    /// Writes refs to fetched commits, all at once. No other process uses this store yet.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn write_refs(&self, refs: &[(StoreRef, Oid)]) -> Result<(), StoreError> {
        let mut lines: Vec<_> = refs.iter().map(|(name, tip)| (name.to_string(), *tip)).collect();
        lines.sort();
        let lines = lines.iter().map(|(name, tip)| format!("{tip} {name}\n")).collect::<String>();
        let path = self.folder.path().join("packed-refs");
        let write = || {
            let mut file = std::fs::File::create(&path)?;
            // The refs point to commits rather than tags, so nothing has to be peeled.
            file.write_all(format!("# pack-refs with: peeled fully-peeled sorted \n{lines}").as_bytes())?;
            file.sync_all()
        };
        write().map_err(StoreError::io("write", path))
    }

    /// Renames the store to its final path.
    ///
    /// # Errors
    /// Returns an error if the path is taken.
    pub fn put(self, path: &Path) -> Result<GitStore, StoreError> {
        let Self { store, folder, options } = self;
        for file in ["config", "HEAD", "packed-refs", "objects", "refs"] {
            fsync::sync(&folder.path().join(file))?;
        }
        fsync::sync(folder.path())?;
        drop(store);
        // This replaces an empty folder, and fails if anything else exists.
        std::fs::rename(folder.path(), path).map_err(StoreError::io("create", path))?;
        let _ = folder.keep();
        fsync::sync(path.parent().unwrap_or(Path::new(".")))?;
        GitStore::open(path, options)
    }
}

/// Returns whether a repository has a `HEAD` that git accepts: the name of a ref, or the id of a commit.
fn has_head(path: &Path) -> bool {
    match std::fs::read(path.join("HEAD")) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            let named = text.strip_prefix("ref:").map(str::trim_start);
            named.is_some_and(|name| name.starts_with("refs/")) || text.trim_end().parse::<Oid>().is_ok()
        }
        Err(error) => error.kind() != ErrorKind::NotFound,
    }
}

/// Returns the error for a store that lacks a part that can be made again: a valid `HEAD`, or `refs` if it was empty, as in a
/// backup without empty directories.
pub fn lost_part(path: &Path) -> Option<StoreError> {
    let has = |part: &str| path.join(part).exists();
    let path = path.to_owned();
    match (has("objects"), has_head(&path), has("refs"), has("packed-refs")) {
        (true, false, true, _) => Some(StoreError::NoHead { path }),
        (true, true, false, true) => Some(StoreError::NoRefs { path }),
        _ => None,
    }
}

/// Makes the lost part of a store again. In a store, `HEAD` names a branch that does not exist.
///
/// # Errors
/// Returns an error if it cannot be written.
pub fn restore_part(path: &Path) -> Result<(), StoreError> {
    match lost_part(path) {
        Some(StoreError::NoHead { .. }) => {
            let head = path.join("HEAD");
            std::fs::write(&head, "ref: refs/heads/main\n").map_err(StoreError::io("write", &head))?;
            fsync::sync(&head).map(drop)
        }
        Some(_) => {
            let refs = path.join("refs");
            std::fs::create_dir(&refs).map_err(StoreError::io("create", &refs))?;
            fsync::sync(path).map(drop)
        }
        None => Ok(()),
    }
}

fn init(path: &Path) -> Result<gix::Repository, StoreError> {
    let failed = |error: gix::Error| StoreError::git("create a bare repository")(error);
    let repo = gix::ThreadSafeRepository::init_opts(
        path,
        gix::create::Kind::Bare,
        gix::create::Options::default(),
        gix::open::Options::isolated(),
    )
    .map_err(failed)?
    .to_thread_local();
    // The state of readers is private, so `git fetch` from this store must not show these refs.
    let config = path.join("config");
    let append = || {
        let mut file = std::fs::OpenOptions::new().append(true).open(&config)?;
        file.write_all(b"[transfer]\n\thideRefs = refs/blue/local\n")
    };
    append().map_err(StoreError::io("write", &config))?;
    precious::mark_new(path)?;
    Ok(repo)
}
