//! Flushes files to disk: gix does not, and a ref must never point to an object that a power failure can destroy.

use std::{io, path::Path, time::Duration};

use crate::{platform::files, store::StoreError};

/// The age from which a folder's entry is taken to be on disk without a flush. Operating
/// systems write back after half of that time.
const SETTLED: Duration = Duration::from_secs(60);

/// Flushes the folder of this file, and the folders above it whose entries are new, up to and including `top`. Does
/// not flush the content of the file.
pub(super) fn flush_name(file: &Path, top: &Path) -> Result<(), StoreError> {
    for folder in file.ancestors().skip(1).take_while(|folder| folder.starts_with(top)) {
        sync(folder)?;
        if is_settled(folder) {
            break;
        }
    }
    Ok(())
}

/// Flushes one file or folder. Returns whether it exists.
pub(super) fn sync(path: &Path) -> Result<bool, StoreError> {
    match files::flush(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(StoreError::io("flush", path)(error)),
    }
}

fn is_settled(folder: &Path) -> bool {
    let made = folder.metadata().and_then(|meta| meta.created());
    made.is_ok_and(|made| made.elapsed().is_ok_and(|age| age >= SETTLED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("odd");
        std::os::unix::fs::symlink("odd", &odd).unwrap();
        assert!(sync(folder.path()).unwrap() && !sync(&folder.path().join("gone")).unwrap());
        let error = sync(&odd).unwrap_err().to_string();
        assert!(error.contains(odd.to_str().unwrap()), "{error}");
    }
}
