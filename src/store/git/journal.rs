//! Records in the held lock file which of git's own lock files a writer is about to take. If a writer is killed, those
//! files remain and would block every later write, so the next writer removes exactly the recorded ones. It never
//! touches lock files of other programs.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use super::lock::{HeldLock, Locks, Wait, locked};
use crate::{platform::files::Identity, store::StoreError};

/// The time within which a writer takes the locks after recording them; otherwise it withdraws the record. A lock file
/// from any other time belongs to another program.
const SOON: Duration = Duration::from_secs(2);
/// How long a recorded lock file must stay the same before it is removed, if it may belong to another program: because
/// it was recorded without an inode, or because its inode may have been reused. git holds these locks for milliseconds.
const GRACE: Duration = Duration::from_secs(1);

/// The maximum time to wait for another program to release one lock file. git itself waits for 1 second
/// (`core.packedRefsTimeout`); a program that flushes to a busy disk may take longer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The maximum time to wait for a lock file that is older than twice [`PATIENCE`]: its program was probably killed.
const PATIENCE_WITH_OLD: Duration = Duration::from_secs(1);

/// The single lock under which git's locks are taken. git's own packed-refs lock admits only one writer anyway, and
/// with a single lock, a recorded lock file can only belong to a dead writer.
pub(super) const LOCK: &str = "_refs";

/// The holder to name in messages about a lock file of git that is not ours.
pub(super) const ANOTHER: &str = "another git process";

/// A recorded lock file.
struct Noted {
    path: PathBuf,
    inode: Option<u64>,
}

/// Takes the lock, removes the lock files of a dead writer, and records those that this writer is about to take.
///
/// # Errors
/// Returns [`StoreError::Locked`] if another program keeps one of the files for too long. Such a file is never
/// recorded.
pub(super) fn begin(locks: &Locks, top: &Path, files: &[PathBuf]) -> Result<HeldLock, StoreError> {
    begin_within(&mut locks.begin(), locks, top, files)
}

/// Does the same as [`begin`], but continues an earlier wait with its deadline.
///
/// # Errors
/// Returns the errors of [`begin`].
pub(super) fn begin_within(
    wait: &mut Wait<'_>,
    locks: &Locks,
    top: &Path,
    files: &[PathBuf],
) -> Result<HeldLock, StoreError> {
    let mut held = locks.acquire_within(wait, LOCK)?;
    recover(&mut held, top)?;
    let (mut waited_for, mut since) = (None, Instant::now());
    while let Some((foreign, seen)) = files.iter().find_map(|file| Some((file, stamp(file)?))) {
        // While others keep packing, each attempt meets a new lock file.
        if waited_for.replace(seen) != Some(seen) {
            since = Instant::now();
        } else if since.elapsed() >= patience(seen.1) {
            return Err(locked(foreign, Some(ANOTHER.to_owned())));
        }
        wait.step(foreign, || Some(ANOTHER.to_owned()))?;
    }
    note(&mut held, files.iter().map(|path| Noted { path: path.clone(), inode: None }), top)?;
    Ok(held)
}

/// Returns how long to wait for a lock file that was written at this time.
fn patience(written: Option<SystemTime>) -> Duration {
    match written.and_then(|written| written.elapsed().ok()) {
        Some(age) if age > PATIENCE * 2 => PATIENCE_WITH_OLD,
        _ => PATIENCE,
    }
}

/// Withdraws the record, because no lock was taken.
///
/// # Errors
/// Returns an error if the record cannot be written.
pub(super) fn abandon(held: &mut HeldLock, top: &Path) -> Result<(), StoreError> {
    note(held, std::iter::empty(), top)
}

/// Records the inodes of the lock files taken, in order to identify them later.
pub(super) fn taken(held: &mut HeldLock, top: &Path, files: &[PathBuf]) -> Result<(), StoreError> {
    note(held, files.iter().map(|path| Noted { path: path.clone(), inode: inode(path) }), top)
}

/// Clears the record after all recorded locks were released. If a recorded file still exists, either another program
/// has taken the lock since and its file got the same inode, or the file could not be removed. So it is removed only if
/// it does not change for [`GRACE`]; if that fails, it remains recorded for the next writer.
pub(super) fn end(held: &mut HeldLock, top: &Path) -> Result<(), StoreError> {
    let taken = noted(held, top)?.into_iter().filter(|noted| noted.inode.is_some());
    let left = remove_stale(taken, |_| false);
    note(held, left.into_iter(), top)
}

fn note(held: &mut HeldLock, files: impl Iterator<Item = Noted>, top: &Path) -> Result<(), StoreError> {
    let line = |noted: Noted| {
        let path = noted.path.strip_prefix(top).unwrap_or(&noted.path).display().to_string();
        format!("{} {path}\n", noted.inode.map(|inode| inode.to_string()).unwrap_or_else(|| "-".into()))
    };
    held.set_notes(&files.map(line).collect::<String>())
}

/// Returns the records in the held lock file.
fn noted(held: &mut HeldLock, top: &Path) -> Result<Vec<Noted>, StoreError> {
    let notes = held.notes()?;
    let named = parse(&notes).map(|(inode, path)| Noted { path: top.join(path), inode });
    Ok(named.collect())
}

/// Parses records: the inode of a lock file, if it is known, and its path within the store.
pub fn parse(notes: &str) -> impl Iterator<Item = (Option<u64>, &str)> {
    // Accept only paths that a writer of this program can have recorded: git lock files within the store.
    let is_ours = |path: &str| path.ends_with(".lock") && !path.split('/').any(|part| part == ".." || part.is_empty());
    let lines = notes.lines().filter_map(|line| line.split_once(' '));
    lines.filter(move |(_, path)| is_ours(path)).map(|(inode, path)| (inode.parse().ok(), path))
}

fn recover(held: &mut HeldLock, top: &Path) -> Result<(), StoreError> {
    let noted_at = held.noted_at();
    let is_possible = |noted: &Noted| noted.inode.is_some() || is_soon_after(noted_at, &noted.path);
    remove_stale(noted(held, top)?.into_iter().filter(is_possible), |noted| noted.inode.is_some());
    Ok(())
}

/// Removes the recorded files that are still the same: at once those that `is_certain` accepts, and the others if they
/// do not change for [`GRACE`]. Returns those that cannot be removed.
fn remove_stale(noted: impl Iterator<Item = Noted>, is_certain: impl Fn(&Noted) -> bool) -> Vec<Noted> {
    let seen = noted.filter_map(|noted| Some((stamp(&noted.path)?, noted)));
    let mut left: Vec<_> = seen.filter(|((inode, _), noted)| noted.inode.is_none_or(|noted| noted == *inode)).collect();
    let (start, mut stuck) = (Instant::now(), Vec::new());
    while !left.is_empty() {
        let has_waited = start.elapsed() >= GRACE;
        for (seen, noted) in std::mem::take(&mut left) {
            if stamp(&noted.path) != Some(seen) {
                continue;
            }
            if !has_waited && !is_certain(&noted) {
                left.push((seen, noted));
            } else if std::fs::remove_file(&noted.path).is_err() {
                stuck.push(noted);
            }
        }
        if !left.is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    stuck
}

/// Returns whether a file was created right after a writer recorded it. A file from before or from long after belongs
/// to another program.
fn is_soon_after(noted_at: Option<SystemTime>, path: &Path) -> bool {
    let written = path.symlink_metadata().and_then(|meta| meta.modified());
    let after = written.ok().zip(noted_at).and_then(|(written, noted)| written.duration_since(noted).ok());
    after.is_some_and(|after| after <= SOON)
}

/// Distinguishes a lock file from its successors, which may get the same inode.
fn stamp(path: &Path) -> Option<(u64, Option<SystemTime>)> {
    Some((inode(path)?, path.symlink_metadata().and_then(|meta| meta.modified()).ok()))
}

fn inode(path: &Path) -> Option<u64> {
    Identity::of(path).ok().map(|identity| identity.file)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::testing::make;

    /// Returns a held record of a lock file that was taken, and the file.
    fn with_lock(dir: &Path) -> (HeldLock, PathBuf) {
        let (locks, lock) = (Locks::new(dir.to_owned(), make::options()), dir.join("packed-refs.lock"));
        let mut held = begin(&locks, dir, std::slice::from_ref(&lock)).unwrap();
        fs::write(&lock, "").unwrap();
        taken(&mut held, dir, std::slice::from_ref(&lock)).unwrap();
        (held, lock)
    }

    /// The file system may give the inode of a removed lock file to the next one, that of another program.
    #[test]
    fn lock_of_another_program_with_the_same_inode_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let (mut held, lock) = with_lock(dir.path());
        let other = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            fs::remove_file(&lock)
        });
        end(&mut held, dir.path()).unwrap();
        assert!(other.join().unwrap().is_ok(), "its lock was removed");
        assert_eq!(held.notes().unwrap(), "");
    }

    #[test]
    fn old_lock_of_another_program_is_not_waited_for_as_long() {
        let dir = tempfile::tempdir().unwrap();
        let (locks, lock) = (Locks::new(dir.path().to_owned(), make::options()), dir.path().join("packed-refs.lock"));
        let file = fs::File::create(&lock).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let start = Instant::now();
        let refused = begin(&locks, dir.path(), std::slice::from_ref(&lock));
        assert!(matches!(refused, Err(StoreError::Locked { .. })));
        assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
        assert!(lock.exists());
    }

    #[test]
    fn lock_that_stays_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (mut held, lock) = with_lock(dir.path());
        end(&mut held, dir.path()).unwrap();
        assert!(!lock.exists());
    }
}
