//! Small files of this program in the git dir of a user's repository. They are read without following links, and
//! replaced atomically.

use std::{
    io::{ErrorKind, Read as _},
    path::Path,
};

use crate::{
    error::OpError,
    platform::files::{self, Access},
};

/// The maximum size of a file, in bytes. A few names and a path need less.
const MAX: u64 = 5_000;

/// Returns the text of a file without its final line break, or `None` if there is no file. Text that is not UTF-8 is in
/// none of the formats of these files.
///
/// # Errors
/// Returns a human-readable reason if the file cannot be read. Does not follow a symbolic link.
pub fn read(path: &Path) -> Result<Option<String>, String> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
        Ok(meta) if !meta.is_file() => return Err("it is not a regular file".into()),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(MAX).read_to_end(&mut bytes));
    read.map_err(|error| error.to_string())?;
    Ok(Some(String::from_utf8_lossy(&bytes).trim_end().to_owned()))
}

/// Replaces a file in `folder` with these lines.
///
/// # Errors
/// Returns an error if the folder cannot be written.
pub fn write(folder: &Path, name: &str, lines: &str) -> Result<(), OpError> {
    let path = folder.join(name);
    files::replace(&path, format!("{lines}\n").as_bytes(), Access::Private).map_err(OpError::io("write", &path))
}

/// Removes a file, if it exists.
///
/// # Errors
/// Returns an error if the folder cannot be written.
pub fn remove(path: &Path) -> Result<(), OpError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(OpError::io("remove", path)(error)),
        _ => Ok(()),
    }
}
