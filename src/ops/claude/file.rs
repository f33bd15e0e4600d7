//! Claude Code's files on disk.

use std::{io::ErrorKind, path::Path};

use crate::{
    error::{ErrorCode, OpError},
    platform::files::{self, Access},
};

/// The maximum size of a file, in bytes. Claude Code's user file grows with every project that it has seen.
const MAX: u64 = 64 << 20;

/// Returns a file's text, or `None` if there is no file.
///
/// # Errors
/// Returns an error if the file cannot be read, or is not UTF-8.
pub fn read(path: &Path) -> Result<Option<String>, OpError> {
    match path.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(OpError::io("read", path)(error)),
        Ok(at) if !at.is_file() || at.len() > MAX => {
            return Err(OpError::no(
                ErrorCode::NotAFile,
                format!("{} is too large to edit, or not a file", path.display()),
            ));
        }
        Ok(_) => {}
    }
    let bytes = std::fs::read(path).map_err(OpError::io("read", path))?;
    let text = String::from_utf8(bytes);
    text.map(Some)
        .map_err(|_| OpError::no(ErrorCode::NotText, format!("{} is not text; it was not changed", path.display())))
}

/// Replaces a file atomically and keeps its permissions. A new file gets the permissions of `access`.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn write(path: &Path, text: &str, access: Access) -> Result<(), OpError> {
    // The path may be a link into a folder of dotfiles; then the target is replaced.
    let path = &dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(OpError::io("create", folder))?;
    files::replace_keeping_access(path, text.as_bytes(), access).map_err(OpError::io("write", path))
}

/// Removes a file, and its folder if nothing else is in it.
///
/// # Errors
/// Returns an error if the file cannot be removed.
pub fn remove(path: &Path) -> Result<(), OpError> {
    std::fs::remove_file(path).map_err(OpError::io("remove", path))?;
    let folder = path.parent().filter(|folder| folder.ends_with(".claude"));
    if let Some(folder) = folder {
        // This fails if the folder is not empty, as intended.
        let _ = std::fs::remove_dir(folder);
    }
    Ok(())
}
