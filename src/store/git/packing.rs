//! Packs a store, and removes unreachable objects. git does neither in a store that is marked as [`super::precious`].
//! An object is removed if it is not reachable from any ref or reflog, is older than two weeks, and no writer of this
//! program is active.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{OsStr, OsString},
    io::ErrorKind,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{GitStore, fsync, git_command::Git, journal};
use crate::{platform::files, store::StoreError};

/// The lock that every writer shares while its objects may have no ref. It is held exclusively while objects are
/// removed.
pub(super) const OBJECTS: &str = "_objects";
/// The lock for packing, and for combining small packs.
pub(super) const PACKING: &str = "_packing";
/// The minimum age at which an unreachable object is removed, the same as in git.
const OLD: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// The prefixes of temporary files, which are removed once they are old: those of gix and git, and the folders of a
/// [fetch](super::incoming).
const TEMPORARY: [&str; 5] = [".tmp", "tmp_obj_", "tmp_pack_", "tmp_idx_", super::incoming::PREFIX];
/// The files of one pack, by extension, in the order in which they are removed. A pack is not found without its index.
const OF_A_PACK: [&str; 7] = ["idx", "pack", "rev", "bitmap", "mtimes", "promisor", "keep"];

/// The minimum number of loose unreachable objects that are packed too, if they are too young to be removed. Otherwise
/// packing would be due again at once.
const MANY_YOUNG: usize = 1_000;
/// The content of the `.keep` file of a pack of young unreachable objects.
const YOUNG: &[u8] = b"git blue: unreachable, but too young to remove\n";

/// The result of packing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Packed {
    /// The number of refs.
    pub refs: usize,
    /// The number of objects that were removed.
    pub removed: usize,
}

impl GitStore {
    /// Packs refs and objects, and removes old unreachable objects. Skips the objects if another process is packing
    /// them.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn pack(&self, vars: &BTreeMap<OsString, OsString>) -> Result<Packed, StoreError> {
        let top = self.path();
        // git skips refs that it may not read, and would remove their objects.
        require_readable(&top.join("refs"))?;
        let git = self.git(vars);
        self.mark();
        self.pack_refs(&git, &top)?;
        let removed = match self.locks.acquire(PACKING) {
            Ok(_alone) => {
                let objects = top.join("objects");
                release_old(&objects.join("pack"));
                repack(&git, &objects)?;
                self.sweep();
                let removed = self.remove_unreachable(&git, &objects)?;
                keep_young(&git, &objects)?;
                removed
            }
            Err(StoreError::Locked { .. }) => 0,
            Err(error) => return Err(error),
        };
        let refs = git.text(&["for-each-ref", "--format=x", "refs/blue/"])?.lines().count();
        Ok(Packed { refs, removed })
    }

    /// Packs the refs, under the lock of this program's writers.
    fn pack_refs(&self, git: &Git, top: &Path) -> Result<(), StoreError> {
        self.remove_unfinished_refs(top)?;
        let mut held = journal::begin(&self.locks, top, &[top.join("packed-refs.lock")])?;
        let (packed, is_killed) = git.text_and_killed(&["pack-refs", "--all", "--prune"]);
        if is_killed {
            // Its lock file is still recorded, so that the next holder removes it.
            drop(held);
            held = journal::begin(&self.locks, top, &[])?;
        }
        journal::end(&mut held, top)?;
        packed.map(drop)
    }

    /// Removes the file that a killed git left while writing packed-refs; git refuses to overwrite
    /// it. Only git writes it, and only under the lock, so this is safe while the lock is held.
    fn remove_unfinished_refs(&self, top: &Path) -> Result<(), StoreError> {
        let (unfinished, lock) = (top.join("packed-refs.new"), top.join("packed-refs.lock"));
        if !unfinished.exists() {
            return Ok(());
        }
        let mut held = journal::begin(&self.locks, top, std::slice::from_ref(&lock))?;
        if std::fs::File::create_new(&lock).is_ok() {
            journal::taken(&mut held, top, std::slice::from_ref(&lock))?;
            let _ = std::fs::remove_file(&unfinished);
            let _ = std::fs::remove_file(&lock);
        }
        journal::end(&mut held, top)
    }

    /// Removes incomplete objects and packs left by killed writers. A file that cannot be removed does no harm.
    fn sweep(&self) {
        let objects = self.path().join("objects");
        for folder in entries(&objects).into_iter().chain([objects]) {
            files::remove_leftovers(&folder, |name| is_temporary_name(name.as_ref()));
        }
    }

    fn remove_unreachable(&self, git: &Git, objects: &Path) -> Result<usize, StoreError> {
        let mut left = old_objects(objects);
        if left.is_empty() {
            return Ok(0);
        }
        let tips = git.text(&["for-each-ref", "--format=^%(objectname)"])?;
        keep_reachable(git, String::new(), &mut left)?;
        if left.is_empty() {
            return Ok(0);
        }
        // No writer is active now, and little has been written since the tips were read.
        let _alone = match self.locks.acquire(OBJECTS) {
            Err(StoreError::Locked { .. }) => return Ok(0),
            held => held?,
        };
        keep_reachable(git, tips, &mut left)?;
        // Plain git refreshes the time of an object that it reuses, so check the age once more.
        let is_removed = |path: &&PathBuf| is_older(path, OLD) && std::fs::remove_file(path).is_ok();
        Ok(left.values().filter(is_removed).count())
    }
}

/// Checks that all files of a folder, and of those below it, can be read. Other processes may remove files meanwhile.
///
/// # Errors
/// Returns an error for the first one that cannot.
fn require_readable(folder: &Path) -> Result<(), StoreError> {
    let failed = |path: &Path, error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => Ok(()),
        _ => Err(StoreError::io("read", path)(error)),
    };
    let listed = match folder.read_dir().and_then(Iterator::collect::<std::io::Result<Vec<_>>>) {
        Ok(listed) => listed,
        Err(error) => return failed(folder, error),
    };
    for entry in listed {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            require_readable(&path)?;
        } else if let Err(error) = std::fs::File::open(&path) {
            failed(&path, error)?;
        }
    }
    Ok(())
}

/// Packs everything that is reachable from refs and reflogs into one pack, and writes unreachable objects as loose
/// files with the age of their former pack. Then removes duplicates.
fn repack(git: &Git, objects: &Path) -> Result<(), StoreError> {
    let folder = objects.join("pack");
    let before = packs(&folder);
    let name = folder.join("pack").display().to_string();
    let args = ["-c", "core.fsync=all", "pack-objects", "--all", "--reflog", "--indexed-objects"];
    let more = ["--unpack-unreachable", "--honor-pack-keep", "--non-empty", "--delta-base-offset", "--quiet", &name];
    let made = git.text(&[&args[..], &more].concat())?;
    let made: BTreeSet<_> = made.lines().map(|hash| format!("pack-{hash}")).collect();
    if !made.is_empty() {
        fsync::sync(&folder)?;
        // A multi-pack-index names packs that are about to be removed. Anyone who maintains the store by hand can
        // write it again.
        for index in entries(&folder).into_iter().filter(|path| starts_with(path, "multi-pack-index")) {
            let _ = if index.is_dir() { std::fs::remove_dir_all(&index) } else { std::fs::remove_file(&index) };
        }
        for stem in before.difference(&made) {
            for kind in OF_A_PACK {
                let _ = std::fs::remove_file(folder.join(format!("{stem}.{kind}")));
            }
        }
    }
    git.text(&["prune-packed", "--quiet"]).map(drop)
}

/// Packs unreachable objects that are too young to be removed, if there are many. The pack gets the age of the
/// youngest object.
fn keep_young(git: &Git, objects: &Path) -> Result<(), StoreError> {
    let young: Vec<_> = loose_files(objects).into_iter().filter_map(|path| Some((id(&path)?, path))).collect();
    if young.len() < MANY_YOUNG {
        return Ok(());
    }
    let modified = |path: &PathBuf| path.metadata().ok()?.modified().ok();
    let youngest = young.iter().filter_map(|(_, path)| modified(path)).max();
    let folder = objects.join("pack");
    let name = folder.join("pack").display().to_string();
    let ids = young.iter().map(|(id, _)| format!("{id}\n")).collect();
    let mut made = Vec::new();
    let args = ["-c", "core.fsync=all", "pack-objects", "--quiet", &name];
    git.each_line(&args, ids, |hash| made.push(folder.join(format!("pack-{hash}.pack"))))?;
    for pack in made {
        let keep = pack.with_extension("keep");
        std::fs::write(&keep, YOUNG).map_err(StoreError::io("write", &keep))?;
        let set = |time| std::fs::File::open(&pack).and_then(|file| file.set_modified(time));
        youngest.map_or(Ok(()), set).map_err(StoreError::io("change the time of", &pack))?;
    }
    fsync::sync(&folder)?;
    git.text(&["prune-packed", "--quiet"]).map(drop)
}

/// Removes the `.keep` files of packs of young objects that have become old enough, so that the next packing removes
/// their unreachable objects.
fn release_old(folder: &Path) {
    let keeps =
        entries(folder).into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "keep"));
    let is_due = |keep: &PathBuf| {
        is_older(&keep.with_extension("pack"), OLD) && std::fs::read(keep).is_ok_and(|text| text == YOUNG)
    };
    for keep in keeps.filter(is_due) {
        let _ = std::fs::remove_file(keep);
    }
}

/// Returns the packs, except those that are kept on purpose, for example by a fetch in progress, and those without an
/// index, which are still being written.
fn packs(folder: &Path) -> BTreeSet<String> {
    let stem = |path: PathBuf| {
        let is_pack = path.extension().is_some_and(|extension| extension == "pack");
        let is_made = is_pack && path.with_extension("idx").exists();
        (is_made && !path.with_extension("keep").exists())
            .then(|| path.file_stem()?.to_str().map(str::to_owned))
            .flatten()
    };
    entries(folder).into_iter().filter_map(stem).collect()
}

/// Returns the files of loose objects that are old enough to be removed, by id.
fn old_objects(objects: &Path) -> BTreeMap<String, PathBuf> {
    let old = loose_files(objects).into_iter().filter(|path| is_older(path, OLD));
    old.filter_map(|path| Some((id(&path)?, path))).collect()
}

/// Returns the files of loose objects.
pub(super) fn loose_files(objects: &Path) -> Vec<PathBuf> {
    let is_fan = |path: &PathBuf| path.file_name().is_some_and(|name| name.len() == 2);
    let files = entries(objects).into_iter().filter(is_fan).flat_map(|fan| entries(&fan));
    files.filter(|path| !is_temporary(path)).collect()
}

/// Returns the id of a loose object.
pub(super) fn id(path: &Path) -> Option<String> {
    Some(format!("{}{}", path.parent()?.file_name()?.to_str()?, path.file_name()?.to_str()?))
}

/// Removes from `left` the objects that are reachable from refs and reflogs. `without` names tips, each after a `^`,
/// whose objects were checked before.
fn keep_reachable(git: &Git, without: String, left: &mut BTreeMap<String, PathBuf>) -> Result<(), StoreError> {
    let args = ["rev-list", "--objects", "--no-object-names", "--all", "--reflog", "--stdin"];
    git.each_line(&args, without, |id| drop(left.remove(id)))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    folder.read_dir().into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect()
}

fn starts_with(path: &Path, prefix: &str) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
}

/// Returns whether a file name in an objects folder is that of a temporary file.
pub(super) fn is_temporary_name(name: &OsStr) -> bool {
    TEMPORARY.iter().any(|prefix| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
}

fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(is_temporary_name)
}

fn is_older(path: &Path, than: Duration) -> bool {
    let age = path.symlink_metadata().ok().and_then(|meta| meta.modified().ok()?.elapsed().ok());
    age.is_some_and(|age| age > than)
}
