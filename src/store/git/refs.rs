//! Reading refs beside writers and packers.

use std::path::Path;

use gix::bstr::ByteSlice as _;

use super::objects::to_oid;
use crate::{model::oid::Oid, store::StoreError};

/// How often a listing is repeated that raced with a packer.
const MAX_WALKS: u32 = 20;

/// Returns whether the repository with this git dir keeps its refs as reftable. gix reads such a
/// repository's stand-in files as if they were refs, so this has to be known first.
pub(super) fn is_reftable(common_dir: &Path) -> bool {
    common_dir.join("reftable").is_dir()
}

/// Returns where a ref points to. Read loose, then packed, then once more: between the first two
/// looks a packer may have moved it.
pub(super) fn tip(repo: &gix::Repository, name: &str) -> Result<Option<Oid>, StoreError> {
    for look in 0.. {
        let damaged = |problem: String| StoreError::Damaged { what: name.to_owned(), problem };
        match repo.refs.try_find(name).map_err(|error| damaged(error.to_string()))? {
            Some(found) => {
                let id = found.target.try_id().ok_or_else(|| damaged("it is a symbolic ref".into()))?;
                return Ok(Some(to_oid(id)));
            }
            None if look == 0 => match repo.refs.force_refresh_packed_buffer() {
                // No ref was ever packed here.
                Err(error) if error.is_not_found() => {}
                refreshed => refreshed.map_err(|error| damaged(error.to_string()))?,
            },
            None => break,
        }
    }
    Ok(None)
}

/// Returns the full names below `prefix` and where they point to, sorted, and those that cannot be
/// read with why. A pack that ran meanwhile may hide refs from the walk, so it is repeated until
/// packed-refs stood still.
pub(super) fn below(repo: &gix::Repository, prefix: &str) -> Result<Listing, StoreError> {
    let packed = repo.common_dir().join("packed-refs");
    let mut walks = 0;
    loop {
        let before = stamp(&packed);
        let found = walk(repo, prefix)?;
        walks += 1;
        if stamp(&packed) == before || walks >= MAX_WALKS {
            return Ok(found);
        }
    }
}

/// The refs below a prefix.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Those that can be read.
    pub(super) found: Vec<(String, Oid)>,
    /// What is wrong with the others.
    pub(super) broken: Vec<String>,
}

fn walk(repo: &gix::Repository, prefix: &str) -> Result<Listing, StoreError> {
    let failed = |error: gix::Error| StoreError::git(format!("list {prefix}"))(error);
    let platform = repo.references().map_err(failed)?;
    let mut listing = Listing::default();
    for reference in platform.prefixed(prefix).map_err(failed)? {
        match reference {
            Ok(reference) => {
                let name = reference.name().as_bstr().to_str_lossy().into_owned();
                match reference.try_id() {
                    Some(id) => listing.found.push((name, to_oid(&id))),
                    None => listing.broken.push(format!("{name}: it is a symbolic ref")),
                }
            }
            // One that cannot be read hides no other.
            Err(error) => listing.broken.push(error.to_string()),
        }
    }
    listing.found.sort();
    Ok(listing)
}

/// What tells one packed-refs file from the next: it is replaced by rename.
fn stamp(path: &Path) -> Option<(u64, u64, i64, i64)> {
    use std::os::unix::fs::MetadataExt as _;
    let meta = path.metadata().ok()?;
    Some((meta.ino(), meta.size(), meta.mtime(), meta.mtime_nsec()))
}
