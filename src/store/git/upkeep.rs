//! Inspects a store: whether it should be packed, and which files do not belong in it.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    time::Duration,
};

use super::{GitStore, create, delete, packing};
use crate::{platform::files, store::StoreError};

/// The number of loose objects above which a store should be packed, the same as git's default (gc.auto).
const MANY_LOOSE: usize = 6_700;
/// The number of packs above which they should be combined, the same as git's default (gc.autoPackLimit).
const MANY_PACKS: usize = 50;

/// A lock file of git in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockFile {
    /// The file.
    pub path: PathBuf,
    /// The age of the file.
    pub age: Duration,
}

/// Returns whether the store at `path` should be packed. The number of loose objects is estimated from one of 256
/// folders, as in git. The number of packs counts too, because each sync that receives anything adds one.
pub fn should_be_packed(path: &Path) -> bool {
    let objects = path.join("objects");
    count(&objects.join("17"), |_| true) * 256 > MANY_LOOSE || count(&objects.join("pack"), is_pack) > MANY_PACKS
}

impl GitStore {
    /// Returns the number of loose objects.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read.
    pub fn loose_objects(&self) -> Result<usize, StoreError> {
        let objects = self.path().join("objects");
        objects.read_dir().map_err(StoreError::io("read", &objects))?;
        Ok(packing::loose_files(&objects).len())
    }

    /// Checks that the parts of the store to which every write adds can be written.
    ///
    /// # Errors
    /// Returns an error for the first one that cannot.
    pub fn try_to_write(&self) -> Result<(), StoreError> {
        let top = self.path();
        let parts = ["objects", "objects/pack", "refs", "refs/blue"].map(|part| top.join(part));
        for folder in parts.iter().chain([&top]).filter(|folder| folder.is_dir()) {
            tempfile::tempfile_in(folder).map_err(StoreError::io("write to", folder))?;
        }
        match self.locks.share(packing::OBJECTS) {
            // Only a lock that can be opened is held.
            Ok(_) | Err(StoreError::Locked { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns the messages of `git fsck --strict`, one per line.
    ///
    /// # Errors
    /// Returns an error if git cannot be run.
    pub fn fsck(&self, vars: &BTreeMap<OsString, OsString>) -> Result<Vec<String>, StoreError> {
        let args = ["fsck", "--strict", "--no-dangling", "--no-progress"];
        let (said, is_sound) = self.git(vars).output_and_errors(&args)?;
        // Git also writes notices and traces.
        let is_finding = |line: &&str| {
            if is_sound {
                ["error", "warning", "missing", "broken"].iter().any(|start| line.starts_with(start))
            } else {
                !line.is_empty() && !line.starts_with("notice:")
            }
        };
        let lines: Vec<_> = said.lines().map(str::trim).filter(is_finding).map(str::to_owned).collect();
        Ok(if lines.is_empty() && !is_sound { vec!["it failed without a message".into()] } else { lines })
    }

    /// Returns git's lock files in the store, oldest first. A lock file that is more than a moment old usually belongs
    /// to a dead process.
    ///
    /// # Errors
    /// Returns an error if a folder cannot be read.
    pub fn lock_files(&self) -> Result<Vec<LockFile>, StoreError> {
        let mut found = Vec::new();
        collect(&self.path(), false, &mut found)?;
        collect(&self.path().join("refs"), true, &mut found)?;
        collect(&self.path().join("objects"), true, &mut found)?;
        found.sort_by_key(|lock: &LockFile| std::cmp::Reverse(lock.age));
        Ok(found)
    }
}

/// Removes folders next to a store that were left by killed processes that created or deleted one.
pub fn remove_leftovers(store: &Path) {
    let is_ours = |name: &str| [create::PREFIX, delete::PREFIX].iter().any(|prefix| name.starts_with(prefix));
    files::remove_leftovers(store.parent().unwrap_or(Path::new(".")), is_ours);
}

fn count(folder: &Path, is_meant: impl Fn(&OsStr) -> bool) -> usize {
    let names = folder.read_dir().into_iter().flatten().filter_map(|entry| Some(entry.ok()?.file_name()));
    names.filter(|name| !packing::is_temporary_name(name) && is_meant(name)).count()
}

fn is_pack(name: &OsStr) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "pack")
}

fn collect(folder: &Path, deep: bool, found: &mut Vec<LockFile>) -> Result<(), StoreError> {
    for entry in folder.read_dir().map_err(StoreError::io("read", folder))? {
        let Ok(entry) = entry else { continue };
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if deep && kind.is_dir() {
            collect(&path, deep, found)?;
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "lock") {
            let age = entry.metadata().ok().and_then(|meta| meta.modified().ok()?.elapsed().ok());
            found.push(LockFile { path, age: age.unwrap_or_default() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_leftovers_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        for (name, is_old) in
            [(".new-realm-a", true), (".deleted-realm-b", true), (".new-realm-c", false), ("d.git", true)]
        {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
            std::fs::write(folder.path().join(name).join("config"), "").unwrap();
            if is_old {
                let opened = std::fs::File::open(folder.path().join(name)).unwrap();
                opened.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
            }
        }
        remove_leftovers(&folder.path().join("d.git"));
        let left: std::collections::BTreeSet<_> =
            folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [".new-realm-c", "d.git"].map(OsString::from).into());
    }
}
