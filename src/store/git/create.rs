//! Making a store: built aside and renamed into place, so that there is never half of one.

use std::path::Path;

use super::{GitStore, Options, durable, lock};
use crate::store::{Change, Store as _, StoreError, StoreRef};

/// Makes a store at `path` whose realm is `first`.
///
/// # Errors
/// Where there is something at `path` already, or it cannot be written.
pub fn create(path: &Path, first: &Change, options: Options) -> Result<GitStore, StoreError> {
    let parent = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(StoreError::io("create", parent))?;
    let aside = tempfile::Builder::new()
        .prefix(".new-realm-")
        .tempdir_in(parent)
        .map_err(StoreError::io("create a folder in", parent))?;
    let repo = init(aside.path())?;
    let store = GitStore { locks: lock::Locks::new(aside.path().join("blue/locks"), options), repo, cache: None };
    store.commit_change(&StoreRef::Realm, None, first)?;
    durable::flush([&aside.path().join("config"), &aside.path().join("HEAD")], aside.path())?;
    drop(store);
    // Fails where something non-empty is in the way, and replaces an empty folder.
    std::fs::rename(aside.path(), path).map_err(StoreError::io("create", path))?;
    let _ = aside.keep();
    durable::sync(parent)?;
    GitStore::open(path, options)
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
        use std::io::Write as _;
        let mut file = std::fs::OpenOptions::new().append(true).open(&config)?;
        file.write_all(b"[transfer]\n\thideRefs = refs/blue/local\n")
    };
    append().map_err(StoreError::io("write", &config))?;
    Ok(repo)
}
