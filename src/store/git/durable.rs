//! Flushing: gix writes without it, and a ref must never point to what a power failure can take.

use std::{
    collections::BTreeSet,
    fs::File,
    io,
    path::{Path, PathBuf},
};

use crate::store::StoreError;

/// Flushes these files, where they exist, and then the folders they lie in, up to and with `top`.
pub(super) fn flush<'a>(files: impl IntoIterator<Item = &'a PathBuf>, top: &Path) -> Result<(), StoreError> {
    let mut folders = BTreeSet::new();
    for file in files {
        if sync(file)? {
            folders.extend(file.ancestors().skip(1).take_while(|folder| folder.starts_with(top)).map(Path::to_owned));
        }
    }
    // Deepest first: an entry must not be durable before what it leads to.
    for folder in folders.iter().rev() {
        sync(folder)?;
    }
    Ok(())
}

/// Flushes one file or folder. Returns whether it exists.
pub(super) fn sync(path: &Path) -> Result<bool, StoreError> {
    match File::open(path).and_then(|file| file.sync_all()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(StoreError::io("flush", path)(error)),
    }
}
