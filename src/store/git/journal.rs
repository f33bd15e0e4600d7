//! What a writer is about to lock with git's own lock files, noted in its held lock file. A kill
//! leaves those behind, and they would wedge every later write; the next writer removes exactly
//! the ones that a dead one noted. Locks of other programs are never touched.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use super::lock::{Held, Locks, Wait};
use crate::{platform::files::Identity, store::StoreError};

/// The time after its note within which a writer takes the lock; otherwise it withdraws the note. A lock file of
/// another time belongs to another program.
const SOON: Duration = Duration::from_secs(2);
/// How long a lock file of that time may still be another program's, which was faster than the writer that died
/// before it could take its note back. Git holds these for milliseconds.
const GRACE: Duration = Duration::from_secs(1);

/// The one lock under which git's locks are taken: git's own packed-refs lock admits one writer at
/// a time anyway, and so a noted lock file can only be a dead writer's.
pub(super) const LOCK: &str = "_refs";

/// The holder of a lock file of git that is not ours.
pub(super) const ANOTHER: &str = "another git process";

/// One noted lock file.
struct Noted {
    path: PathBuf,
    inode: Option<u64>,
}

/// Takes the lock, removes the lock files of a dead writer, and notes those that this one is about to take.
///
/// # Errors
/// Returns [`StoreError::Locked`] if another program keeps one of the files: that is waited for, and never noted.
pub(super) fn begin(locks: &Locks, top: &Path, files: &[PathBuf]) -> Result<Held, StoreError> {
    begin_within(&mut locks.begin(), locks, top, files)
}

/// Like the function above, for a writer that has waited before.
///
/// # Errors
/// Fails as [`begin`].
pub(super) fn begin_within(
    wait: &mut Wait<'_>,
    locks: &Locks,
    top: &Path,
    files: &[PathBuf],
) -> Result<Held, StoreError> {
    let mut held = locks.acquire_within(wait, LOCK)?;
    recover(&mut held, top)?;
    while let Some(foreign) = files.iter().find(|file| inode(file).is_some()) {
        wait.step(foreign, || Some(ANOTHER.to_owned()))?;
    }
    note(&mut held, files.iter().map(|path| Noted { path: path.clone(), inode: None }), top)?;
    Ok(held)
}

/// Withdraws the note: no lock was taken.
///
/// # Errors
/// Returns an error if it cannot be written.
pub(super) fn abandon(held: &mut Held, top: &Path) -> Result<(), StoreError> {
    note(held, std::iter::empty(), top)
}

/// Notes the inodes of the files that were taken, which tell them from any other.
pub(super) fn taken(held: &mut Held, top: &Path, files: &[PathBuf]) -> Result<(), StoreError> {
    note(held, files.iter().map(|path| Noted { path: path.clone(), inode: inode(path) }), top)
}

/// Notes that nothing is held any more. A lock file of this writer that is still there could not be
/// removed; where that fails once more, it stays noted for the next one.
pub(super) fn end(held: &mut Held, top: &Path) -> Result<(), StoreError> {
    let is_left = |noted: &Noted| {
        noted.inode.is_some() && inode(&noted.path) == noted.inode && std::fs::remove_file(&noted.path).is_err()
    };
    let left: Vec<_> = noted(held, top)?.into_iter().filter(is_left).collect();
    note(held, left.into_iter(), top)
}

fn note(held: &mut Held, files: impl Iterator<Item = Noted>, top: &Path) -> Result<(), StoreError> {
    let line = |noted: Noted| {
        let path = noted.path.strip_prefix(top).unwrap_or(&noted.path).display().to_string();
        format!("{} {path}\n", noted.inode.map(|inode| inode.to_string()).unwrap_or_else(|| "-".into()))
    };
    held.set_notes(&files.map(line).collect::<String>())
}

/// Returns the notes in the lock file.
fn noted(held: &mut Held, top: &Path) -> Result<Vec<Noted>, StoreError> {
    let notes = held.notes()?;
    let named = parse(&notes).map(|(inode, path)| Noted { path: top.join(path), inode });
    Ok(named.collect())
}

/// Reads notes: a lock file's inode, where it is known, and its path within the store.
pub fn parse(notes: &str) -> impl Iterator<Item = (Option<u64>, &str)> {
    // Only what a writer of ours can have noted: a git lock file inside the store.
    let is_ours = |path: &str| path.ends_with(".lock") && !path.split('/').any(|part| part == ".." || part.is_empty());
    let lines = notes.lines().filter_map(|line| line.split_once(' '));
    lines.filter(move |(_, path)| is_ours(path)).map(|(inode, path)| (inode.parse().ok(), path))
}

fn recover(held: &mut Held, top: &Path) -> Result<(), StoreError> {
    let noted_at = held.noted_at();
    let is_possible = |noted: &Noted| noted.inode.is_some() || is_soon_after(noted_at, &noted.path);
    let noted = noted(held, top)?.into_iter().filter(is_possible);
    let mut left: Vec<_> = noted.filter_map(|noted| Some((inode(&noted.path)?, noted))).collect();
    let start = Instant::now();
    while !left.is_empty() {
        let waited = start.elapsed() >= GRACE;
        left.retain(|(seen, noted)| {
            if inode(&noted.path) != Some(*seen) {
                return false;
            }
            if noted.inode == Some(*seen) || (noted.inode.is_none() && waited) {
                let _ = std::fs::remove_file(&noted.path);
                return false;
            }
            noted.inode.is_none()
        });
        if !left.is_empty() {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    Ok(())
}

/// Returns whether a file was written when the writer of a note was about to take it. One that was there before is
/// another program's, and so is one of later.
fn is_soon_after(noted_at: Option<SystemTime>, path: &Path) -> bool {
    let written = path.symlink_metadata().and_then(|meta| meta.modified());
    let after = written.ok().zip(noted_at).and_then(|(written, noted)| written.duration_since(noted).ok());
    after.is_some_and(|after| after <= SOON)
}

fn inode(path: &Path) -> Option<u64> {
    Identity::of(path).ok().map(|identity| identity.file)
}
