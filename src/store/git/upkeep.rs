//! Looking after a store: packing it, and finding what does not belong there.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    time::Duration,
};

use super::{GitStore, git_command, journal};
use crate::store::StoreError;

/// From how many loose objects on a store should be packed: what git itself takes (gc.auto).
const MANY_LOOSE: usize = 6_700;
/// More packs than this are worth packing into one, as git has it.
const MANY_PACKS: usize = 50;

/// After which time a temporary file is a dead writer's: writing an object takes milliseconds.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// A git lock file that lies in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockFile {
    /// The file.
    pub path: PathBuf,
    /// For how long it has been there.
    pub age: Duration,
}

impl GitStore {
    /// Packs refs and objects. The refs under the lock that our writers take; the objects beside
    /// them, because git keeps what is younger than two weeks even where nothing refers to it.
    /// Returns how many refs there are.
    ///
    /// # Errors
    /// Where git fails.
    pub fn pack(&self, vars: &BTreeMap<OsString, OsString>) -> Result<usize, StoreError> {
        let git = git_command::Git { git_dir: self.path(), top: self.path(), vars: vars.clone() };
        let top = self.path();
        let lock_file = [top.join("packed-refs.lock")];
        let held = journal::begin(&self.locks, &top, &lock_file)?;
        let packed = git.text(&["pack-refs", "--all", "--prune"]);
        let mut held = held;
        journal::end(&mut held, &top)?;
        drop(held);
        packed?;
        let gc = || git.text(&["-c", "gc.packRefs=false", "gc", "--quiet", "--prune=2.weeks.ago"]);
        // Another one may be at it, perhaps of a call of ours that was killed: it does the work.
        // One that has just ended meanwhile was in the way all the same.
        if gc().is_err() && !self.path().join("gc.pid").exists() {
            gc()?;
        }
        self.sweep();
        let refs = git.text(&["for-each-ref", "--format=x", "refs/blue/"])?;
        Ok(refs.lines().count())
    }

    /// Removes the halves of objects that killed writers left: git knows its own temporary files,
    /// but not those of gix. One that cannot be removed harms nobody.
    fn sweep(&self) {
        let objects = self.path().join("objects");
        let entries = |folder: &Path| folder.read_dir().into_iter().flatten().filter_map(Result::ok);
        for file in entries(&objects).flat_map(|fan| entries(&fan.path()).collect::<Vec<_>>()) {
            let age = file.metadata().ok().and_then(|meta| meta.modified().ok()?.elapsed().ok());
            if is_temporary(&file.file_name()) && age.is_some_and(|age| age > ABANDONED) {
                let _ = std::fs::remove_file(file.path());
            }
        }
    }

    /// Returns how many objects are files of their own.
    ///
    /// # Errors
    /// Where the folder cannot be read.
    pub fn loose_objects(&self) -> Result<usize, StoreError> {
        let objects = self.path().join("objects");
        let folders = objects.read_dir().map_err(StoreError::io("read", &objects))?;
        let is_fan = |name: &OsString| name.len() == 2;
        let fans = folders.filter_map(Result::ok).filter(|entry| is_fan(&entry.file_name()));
        Ok(fans.map(|fan| count(&fan.path())).sum())
    }

    /// Returns whether the store has so many loose objects that it should be packed, judged from
    /// one folder of 256, as git does, or so many packs: each sync that brings anything brings one.
    pub fn should_be_packed(&self) -> bool {
        let objects = self.path().join("objects");
        // A pack is three files.
        count(&objects.join("17")) * 256 > MANY_LOOSE || count(&objects.join("pack")) > 3 * MANY_PACKS
    }

    /// Returns what `git fsck --strict` complains about, a line each.
    ///
    /// # Errors
    /// Where git cannot be run.
    pub fn fsck(&self, vars: &BTreeMap<OsString, OsString>) -> Result<Vec<String>, StoreError> {
        let git = git_command::Git { git_dir: self.path(), top: self.path(), vars: vars.clone() };
        let lines = |text: &str| {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("notice:"));
            lines.map(str::to_owned).collect()
        };
        match git.text(&["fsck", "--strict", "--no-dangling", "--no-progress"]) {
            Ok(text) => Ok(lines(&text)),
            Err(StoreError::Git { problem, .. }) => Ok(lines(&problem)),
            Err(error) => Err(error),
        }
    }

    /// Returns git's lock files in the store, oldest first. One that is older than a moment is
    /// usually a dead program's.
    ///
    /// # Errors
    /// Where a folder cannot be read.
    pub fn lock_files(&self) -> Result<Vec<LockFile>, StoreError> {
        let mut found = Vec::new();
        collect(&self.path(), false, &mut found)?;
        collect(&self.path().join("refs"), true, &mut found)?;
        found.sort_by_key(|lock: &LockFile| std::cmp::Reverse(lock.age));
        Ok(found)
    }
}

fn count(folder: &Path) -> usize {
    let entries = folder.read_dir().into_iter().flatten().filter_map(Result::ok);
    entries.filter(|entry| !is_temporary(&entry.file_name())).count()
}

/// gix names its temporary files so; git's own, `tmp_obj_…`, are git's to sweep.
fn is_temporary(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".tmp")
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
