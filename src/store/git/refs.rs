//! Reads refs while other processes write and pack them.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    io::ErrorKind::{IsADirectory, NotADirectory, NotFound},
    path::Path,
    sync::Arc,
};

use gix::{
    bstr::ByteSlice as _,
    refs::{
        Target,
        file::{find::ReferenceDecode, loose::Reference},
        packed::Buffer,
    },
};

use super::objects::to_oid;
use crate::{
    model::oid::Oid,
    platform::files::Stamp,
    store::{RefListing, StoreError},
};

/// Returns whether the repository with this git dir uses reftable. Check this before gix opens the repository, because
/// gix would read its stub files as refs.
pub(crate) fn is_reftable(common_dir: &Path) -> bool {
    common_dir.join("reftable").is_dir()
}

/// Reads packed-refs again. gix caches the file until its time changes, and two packers within one tick of the clock
/// leave the same time.
pub(crate) fn refresh(repo: &gix::Repository) -> Result<(), StoreError> {
    match repo.refs.force_refresh_packed_buffer() {
        // No ref has been packed yet.
        Err(error) if error.is_not_found() => Ok(()),
        refreshed => refreshed.map_err(unreadable),
    }
}

/// Returns the error for packed-refs that cannot be read. A failure of the operating system says nothing about its content.
fn unreadable(error: gix::Error) -> StoreError {
    let is_damage = error.downcast_any_ref::<std::io::Error>().is_none();
    match StoreError::git(format!("read {PACKED}"))(error) {
        StoreError::Git { problem, .. } if is_damage => StoreError::PackedRefs { problem },
        error => error,
    }
}

/// The cached packed-refs file. Its entry for a ref is stale while the ref also has its own file, and a packer may
/// replace both within one tick of the clock, so the file is identified by more than its time.
#[derive(Default)]
pub(crate) struct Packed(RefCell<Option<Arc<(Stamp, Buffer)>>>);

impl std::fmt::Debug for Packed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Packed").finish_non_exhaustive()
    }
}

impl Packed {
    /// Returns the current packed-refs. Reads it again if the file has changed.
    fn now(&self, repo: &gix::Repository) -> Result<Option<Arc<(Stamp, Buffer)>>, StoreError> {
        // Take the stamp first, so that the content is at least as new.
        let now = stamp(&repo.refs.packed_refs_path());
        if now != self.0.borrow().as_ref().map(|read| read.0) {
            let read = repo.refs.open_packed_buffer().map_err(unreadable)?;
            self.0.replace(now.zip(read).map(Arc::new));
        }
        Ok(self.0.borrow().clone())
    }
}

/// The file with many refs.
pub const PACKED: &str = "packed-refs";

/// Returns the commit that a ref points to. Reads the ref's own file first, and packed-refs after that, because a
/// packer writes packed-refs first and removes the file last. Therefore the result is the value at some time during
/// the call.
pub(crate) fn tip(repo: &gix::Repository, packed: &Packed, name: &str) -> Result<Option<Oid>, StoreError> {
    let damaged = |problem: String| StoreError::Damaged { what: name.to_owned(), problem };
    let Some(target) = target(repo, packed, name)? else { return Ok(None) };
    Ok(Some(to_oid(target.try_id().ok_or_else(|| damaged("it is a symbolic ref".into()))?)))
}

/// Returns what a ref points to: a commit, or another ref. Reads in the order of [`tip`].
pub(crate) fn target(repo: &gix::Repository, packed: &Packed, name: &str) -> Result<Option<Target>, StoreError> {
    if let Some(target) = loose(repo, name)? {
        return Ok(Some(target));
    }
    let Some(packed) = packed.now(repo)? else {
        return Ok(None);
    };
    let found = packed.1.try_find(name);
    let found = found.map_err(|error| StoreError::Damaged { what: PACKED.into(), problem: error.to_string() })?;
    Ok(found.map(|found| Target::Object(found.target())))
}

/// Returns the content of a ref's own file, if there is one. gix itself would try nine other paths, in case the name
/// is abbreviated.
pub(crate) fn loose(repo: &gix::Repository, name: &str) -> Result<Option<Target>, StoreError> {
    let path = repo.common_dir().join(name);
    let content = match std::fs::read(&path) {
        Ok(content) => content,
        Err(error) if matches!(error.kind(), NotFound | NotADirectory | IsADirectory) => return Ok(None),
        Err(error) => return Err(StoreError::io("read", path)(error)),
    };
    let damaged = |problem: String| StoreError::Damaged { what: name.to_owned(), problem };
    let full = gix::refs::FullName::try_from(name).map_err(|error| damaged(error.to_string()))?;
    let reference = Reference::try_from_path(full, &content, repo.object_hash());
    Ok(Some(reference.map_err(|error| damaged(error.to_string()))?.target))
}

/// Returns the refs below `prefix`: first those with files and then the others from packed-refs, for the reason given
/// in [`tip`].
pub(crate) fn below(repo: &gix::Repository, packed: &Packed, prefix: &str) -> Result<RefListing, StoreError> {
    let doing = || format!("list {prefix}");
    let mut listing = RefListing::default();
    let folder = prefix.try_into().map_err(StoreError::git(doing()))?;
    let mut loose = BTreeSet::new();
    match repo.refs.loose_iter_prefixed(folder) {
        Ok(found) => {
            for reference in found {
                match reference {
                    Ok(reference) => {
                        let name = reference.name.as_bstr().to_str_lossy().into_owned();
                        loose.insert(name.clone());
                        match reference.target.try_id() {
                            Some(id) => drop(listing.found.insert(name, to_oid(id))),
                            None => listing.broken.push((name, "it is a symbolic ref".to_owned())),
                        }
                    }
                    // A ref that cannot be read does not hide the others. If a packer has removed the file, the ref is
                    // in packed-refs.
                    Err(error) if error.is_not_found() => {}
                    // A failure of the operating system says nothing about the stored data.
                    Err(error) if error.downcast_any_ref::<std::io::Error>().is_some() => {
                        return Err(StoreError::git(doing())(error));
                    }
                    Err(error) => listing.broken.push(match error.downcast_any_ref::<ReferenceDecode>() {
                        Some(decode) => {
                            let name = decode.relative_path.to_string_lossy().into_owned();
                            (name, "it does not contain an object id".to_owned())
                        }
                        None => (prefix.to_owned(), error.to_string()),
                    }),
                }
            }
        }
        Err(error) if error.kind() == NotFound => {}
        Err(error) => return Err(StoreError::git(doing())(error)),
    }
    if let Some(read) = packed.now(repo)? {
        let buffer = &read.1;
        for reference in buffer.iter_prefixed(prefix.into()).map_err(StoreError::git(doing()))? {
            let reference = reference.map_err(unreadable)?;
            let name = reference.name.as_bstr().to_str_lossy().into_owned();
            // The packed value of a ref whose file cannot be read is stale.
            let is_hidden = || !listing.broken.is_empty() && tip(repo, packed, &name).is_err();
            if !loose.contains(&name) && !is_hidden() {
                listing.found.insert(name, to_oid(&reference.target()));
            }
        }
    }
    Ok(listing)
}

/// Returns a stamp that identifies this version of the packed-refs file, which is replaced by rename.
pub(crate) fn stamp(path: &Path) -> Option<Stamp> {
    Stamp::of(path).ok()
}
