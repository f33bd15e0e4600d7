//! What a writer is about to lock with git's own lock files, noted in its held lock file. A kill
//! leaves those behind, and they would wedge every later write; the next writer removes exactly
//! the ones that a dead one noted. Locks of other programs are never touched.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::lock::{Held, Locks};
use crate::store::StoreError;

/// How long a noted lock file may still be another program's, whose writer took it after the note
/// was made and before the writer that noted it died. Git holds these for milliseconds.
const GRACE: Duration = Duration::from_secs(5);

/// The one lock under which git's locks are taken: git's own packed-refs lock admits one writer at
/// a time anyway, and so a noted lock file can only be a dead writer's.
pub(super) const LOCK: &str = "_refs";

/// One noted lock file.
struct Noted {
    path: PathBuf,
    inode: Option<u64>,
}

/// Takes the lock, removes what a dead writer left, and notes what this one is about to take.
pub(super) fn begin(locks: &Locks, top: &Path, files: &[PathBuf]) -> Result<Held, StoreError> {
    let mut held = locks.acquire(LOCK)?;
    recover(&mut held, top)?;
    // Another program's lock is waited for before anything is noted, so that a note which says
    // nothing of whose lock it is stands for the shortest time.
    let start = Instant::now();
    while files.iter().any(|file| inode(file).is_some()) && start.elapsed() < locks.timeout() {
        std::thread::sleep(Duration::from_millis(1));
    }
    note(&mut held, files.iter().map(|path| Noted { path: path.clone(), inode: None }), top)?;
    Ok(held)
}

/// Notes which files were taken, so that they can be told from any other.
pub(super) fn taken(held: &mut Held, top: &Path, files: &[PathBuf]) -> Result<(), StoreError> {
    note(held, files.iter().map(|path| Noted { path: path.clone(), inode: inode(path) }), top)
}

/// Notes that nothing is held any more.
pub(super) fn end(held: &mut Held) -> Result<(), StoreError> {
    held.set_notes("")
}

fn note(held: &mut Held, files: impl Iterator<Item = Noted>, top: &Path) -> Result<(), StoreError> {
    let line = |noted: Noted| {
        let path = noted.path.strip_prefix(top).unwrap_or(&noted.path).display().to_string();
        format!("{} {path}\n", noted.inode.map(|inode| inode.to_string()).unwrap_or_else(|| "-".into()))
    };
    held.set_notes(&files.map(line).collect::<String>())
}

fn recover(held: &mut Held, top: &Path) -> Result<(), StoreError> {
    let notes = held.notes()?;
    let mut left: Vec<_> = notes
        .lines()
        .filter_map(|line| line.split_once(' '))
        // Only what a writer of ours can have noted: a git lock file inside the store.
        .filter(|(_, path)| path.ends_with(".lock") && !path.split('/').any(|part| part == ".." || part.is_empty()))
        .map(|(inode, path)| Noted { path: top.join(path), inode: inode.parse().ok() })
        .filter_map(|noted| Some((inode(&noted.path)?, noted)))
        .collect();
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

fn inode(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    path.symlink_metadata().ok().map(|meta| meta.ino())
}
