//! Creates a store: it is built in a temporary folder and renamed into place, so that no half of one is ever seen.

use std::{cell::Cell, io::Write as _, os::unix::fs::PermissionsExt as _, path::Path};

use super::{GitStore, Options, fsync, lock, precious, reading::Reading, refs};
use crate::{
    model::oid::Oid,
    store::{Change, Store as _, StoreError, StoreRef},
};

/// Creates a store at `path` whose realm is `first`.
///
/// # Errors
/// Returns an error if there is something at `path` already, or it cannot be written.
pub fn create(path: &Path, first: &Change, options: Options) -> Result<GitStore, StoreError> {
    let aside = Aside::new(path.parent().unwrap_or(Path::new(".")), options)?;
    aside.store.commit_change(&StoreRef::Realm, None, first)?;
    aside.put(path)
}

/// Creates a folder that only its user may enter, and its missing parents. An existing folder stays as it is.
///
/// # Errors
/// Returns an error if it cannot be made.
pub fn make_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// A store under construction, beside its final path. Dropping it removes it.
#[derive(Debug)]
pub struct Aside {
    /// The store; it has no realm yet.
    pub store: GitStore,
    folder: tempfile::TempDir,
    options: Options,
}

impl Aside {
    /// Creates an empty one in the folder `parent`.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be written.
    pub fn new(parent: &Path, options: Options) -> Result<Self, StoreError> {
        make_private(parent).map_err(StoreError::io("create", parent))?;
        let folder = tempfile::Builder::new()
            .prefix(".new-realm-")
            // The realm may hold what its members alone are to read.
            .permissions(std::fs::Permissions::from_mode(0o700))
            .tempdir_in(parent)
            .map_err(StoreError::io("create a folder in", parent))?;
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

    /// Writes refs to commits that were fetched, all at once: no other process uses this store yet.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn point(&self, refs: &[(StoreRef, Oid)]) -> Result<(), StoreError> {
        let mut lines: Vec<_> = refs.iter().map(|(name, tip)| (name.to_string(), *tip)).collect();
        lines.sort();
        let lines = lines.iter().map(|(name, tip)| format!("{tip} {name}\n")).collect::<String>();
        let path = self.folder.path().join("packed-refs");
        let write = || {
            let mut file = std::fs::File::create(&path)?;
            // Commits are no tags: nothing has to be peeled.
            file.write_all(format!("# pack-refs with: peeled fully-peeled sorted \n{lines}").as_bytes())?;
            file.sync_all()
        };
        write().map_err(StoreError::io("write", path))
    }

    /// Renames the store to its final path.
    ///
    /// # Errors
    /// Returns an error if something is in the way.
    pub fn put(self, path: &Path) -> Result<GitStore, StoreError> {
        let Self { store, folder, options } = self;
        for file in ["config", "HEAD", "packed-refs", "objects", "refs"] {
            fsync::sync(&folder.path().join(file))?;
        }
        fsync::sync(folder.path())?;
        drop(store);
        // Fails where something non-empty is in the way, and replaces an empty folder.
        std::fs::rename(folder.path(), path).map_err(StoreError::io("create", path))?;
        let _ = folder.keep();
        fsync::sync(path.parent().unwrap_or(Path::new(".")))?;
        GitStore::open(path, options)
    }
}

fn init(path: &Path) -> Result<gix::Repository, StoreError> {
    let failed = |error: gix::Error| StoreError::git("make a bare repository")(error);
    let repo = gix::ThreadSafeRepository::init_opts(
        path,
        gix::create::Kind::Bare,
        gix::create::Options::default(),
        gix::open::Options::isolated(),
    )
    .map_err(failed)?
    .to_thread_local();
    // What readers were told is nobody else's business: `git fetch` from this store does not see it.
    let config = path.join("config");
    let append = || {
        let mut file = std::fs::OpenOptions::new().append(true).open(&config)?;
        file.write_all(b"[transfer]\n\thideRefs = refs/blue/local\n")
    };
    append().map_err(StoreError::io("write", &config))?;
    precious::mark_new(path)?;
    Ok(repo)
}
