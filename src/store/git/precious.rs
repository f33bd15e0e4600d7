//! The mark that keeps git from removing objects of a store: `extensions.preciousObjects`. Objects have no ref until a
//! write has finished, so `git prune` and `git gc --prune=now` would treat those of a write in progress as garbage. In
//! a marked repository, git refuses both, and also `repack -d`; [`super::packing`] does that work instead.

use std::{
    fs::OpenOptions,
    io::{ErrorKind, Write as _},
    path::Path,
};

use gix::config::{
    File,
    file::{Metadata, init},
};

use super::{journal, lock::Locks};
use crate::store::StoreError;

/// The key of the mark in git's configuration.
const MARK: &str = "extensions.preciousObjects";

/// Returns whether a repository is marked, according to the configuration read when it was opened.
pub(super) fn is_marked(repo: &gix::Repository) -> bool {
    repo.config_snapshot().boolean(MARK) == Some(true)
}

/// Marks a store that no other process knows about yet.
///
/// # Errors
/// Returns an error if its configuration cannot be read or written.
pub(super) fn mark_new(top: &Path) -> Result<(), StoreError> {
    let path = top.join("config");
    if let Some(text) = with_mark(&path)? {
        std::fs::write(&path, text).map_err(StoreError::io("write", &path))?;
    }
    Ok(())
}

/// Marks a store that other processes may be using, under git's own lock for its configuration. If another program
/// holds that lock, this does nothing and the next write tries again.
///
/// # Errors
/// Returns an error if the configuration cannot be read or written.
pub(super) fn mark(locks: &Locks, top: &Path) -> Result<(), StoreError> {
    let (path, lock) = (top.join("config"), top.join("config.lock"));
    let lock_files = [lock.clone()];
    if lock.exists() {
        return Ok(());
    }
    let mut held = journal::begin(locks, top, &lock_files)?;
    let mut file = match OpenOptions::new().write(true).create_new(true).open(&lock) {
        Ok(file) => file,
        Err(error) => {
            journal::abandon(&mut held, top)?;
            let is_held = error.kind() == ErrorKind::AlreadyExists;
            return if is_held { Ok(()) } else { Err(StoreError::io("create", lock)(error)) };
        }
    };
    journal::taken(&mut held, top, &lock_files)?;
    // Read under the lock, because another program may have changed other keys.
    let result = with_mark(&path).and_then(|text| {
        let Some(text) = text else { return Ok(false) };
        let mut put = || {
            file.set_permissions(path.metadata()?.permissions())?;
            file.write_all(&text)?;
            file.sync_all()?;
            std::fs::rename(&lock, &path)
        };
        put().map(|()| true).map_err(StoreError::io("write", &path))
    });
    let has_become_config = matches!(result, Ok(true));
    if !has_become_config {
        let _ = std::fs::remove_file(&lock);
    }
    journal::end(&mut held, top)?;
    result.map(drop)
}

/// Returns the configuration with the mark added, or `None` if it is already marked.
fn with_mark(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let cannot = || StoreError::git(format!("mark {}", path.display()));
    let bytes = std::fs::read(path).map_err(StoreError::io("read", path))?;
    let mut config =
        File::from_bytes_no_includes(&bytes, Metadata::api(), init::Options::default()).map_err(cannot())?;
    if config.boolean(MARK).is_ok_and(|mark| mark == Some(true)) {
        return Ok(None);
    }
    // git honors extensions only from this version of the repository format.
    for (key, value) in [("core.repositoryformatversion", "1"), (MARK, "true")] {
        config.set_raw_value(key, value).map_err(|error| StoreError::git(format!("set {key}"))(error))?;
    }
    Ok(Some(config.to_bstring().into()))
}
