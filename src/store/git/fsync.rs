//! Flushing: gix writes without it, and a ref must never point to what a power failure can take.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io,
    path::{Path, PathBuf},
    thread,
};

use crate::store::StoreError;

/// How many folders are flushed at once. To flush is to wait for the disk, which takes all that it is asked for
/// in the meantime in one go: one after the other, the eight objects of a publish wait sixteen times.
const MAX_AT_ONCE: usize = 8;

/// Flushes these files, where they exist, and then the folders they lie in, up to and with `top`.
pub(super) fn flush<'a>(files: impl IntoIterator<Item = &'a PathBuf>, top: &Path) -> Result<(), StoreError> {
    let mut by_folder = BTreeMap::<&Path, Vec<&Path>>::new();
    for file in files {
        by_folder.entry(file.parent().unwrap_or(top)).or_default().push(file);
    }
    let mut above = BTreeSet::new();
    for folder in at_once(&by_folder.into_iter().collect::<Vec<_>>())? {
        above.extend(above_of(folder, top));
    }
    // Deepest first: an entry must not be durable before what it leads to.
    above.iter().rev().try_for_each(|folder| sync(folder).map(drop))
}

/// Flushes the folders that lead to this file, up to and with `top`, but not what it holds.
pub(super) fn flush_name(file: &Path, top: &Path) -> Result<(), StoreError> {
    above_of(file, top).try_for_each(|folder| sync(folder).map(drop))
}

/// Flushes one file or folder. Returns whether it exists.
pub(super) fn sync(path: &Path) -> Result<bool, StoreError> {
    match File::open(path).and_then(|file| file.sync_all()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(StoreError::io("flush", path)(error)),
    }
}

/// Returns the folders above, deepest first.
fn above_of<'a>(path: &'a Path, top: &'a Path) -> impl Iterator<Item = &'a Path> {
    path.ancestors().skip(1).take_while(move |folder| folder.starts_with(top))
}

/// A folder, and the files in it.
type Folder<'a> = (&'a Path, Vec<&'a Path>);

/// Flushes the files of these folders and then each folder, several at once. Returns the folders in which
/// there was anything.
fn at_once<'a>(folders: &[Folder<'a>]) -> Result<Vec<&'a Path>, StoreError> {
    let mut shares = folders.chunks(folders.len().div_ceil(MAX_AT_ONCE).max(1));
    let own = shares.next().unwrap_or_default();
    thread::scope(|scope| {
        let start = |share| thread::Builder::new().spawn_scoped(scope, move || one_by_one(share)).map_err(|_| share);
        let others: Vec<_> = shares.map(start).collect();
        let mut flushed = one_by_one(own);
        for other in others {
            let more = match other {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                // Where there is no thread left, it only takes longer.
                Err(share) => one_by_one(share),
            };
            flushed = flushed.and_then(|flushed| Ok([flushed, more?].concat()));
        }
        flushed
    })
}

fn one_by_one<'a>(folders: &[Folder<'a>]) -> Result<Vec<&'a Path>, StoreError> {
    let mut flushed = Vec::new();
    for (folder, files) in folders {
        let mut is_there = false;
        for file in files {
            is_there |= sync(file)?;
        }
        if is_there {
            sync(folder)?;
            flushed.push(*folder);
        }
    }
    Ok(flushed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_flushed_is_named_whichever_thread_it_falls_to() {
        let folder = tempfile::tempdir().unwrap();
        let file = |at: usize| folder.path().join(format!("{at:02}")).join("file");
        let files: Vec<_> = (0..3 * MAX_AT_ONCE).map(file).collect();
        for file in &files {
            std::fs::create_dir(file.parent().unwrap()).unwrap();
            std::fs::write(file, "x").unwrap();
        }
        flush(&files, folder.path()).unwrap();
        let gone = [folder.path().join("gone/file")];
        flush(&gone, folder.path()).unwrap();
        for file in &files {
            std::fs::remove_file(file).unwrap();
            std::os::unix::fs::symlink("file", file).unwrap();
            let error = flush(&files, folder.path()).unwrap_err().to_string();
            assert!(error.contains(file.to_str().unwrap()), "{error}");
            std::fs::remove_file(file).unwrap();
        }
    }
}
