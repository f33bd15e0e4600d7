//! Hook files on disk.

use std::{io::ErrorKind, path::Path};

use super::block::{self, Without};
use crate::{
    error::{ErrorCode, OpError},
    platform::files::{self, Access},
};

/// Returns the text of a hook, or `None` if it does not exist.
///
/// # Errors
/// Returns an error if the file cannot be read, or is not UTF-8.
pub fn read(path: &Path) -> Result<Option<String>, OpError> {
    match std::fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| {
            OpError::no(ErrorCode::HookNotText, format!("{} is not text; it was not changed", path.display()))
        }),
        // A `core.hooksPath` that is not a folder disables hooks.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(OpError::io("read", path)(error)),
    }
}

/// Replaces the file atomically and keeps its permissions.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn write(path: &Path, text: &str) -> Result<(), OpError> {
    // A hook may be a link into a folder of dotfiles; then the target is replaced.
    let path = &dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .and_then(|()| files::replace_keeping_access(path, text.as_bytes(), Access::Program))
        .map_err(OpError::io("write", path))
}

/// Removes our block from a file. Returns whether there was one.
///
/// # Errors
/// Returns an error if the file cannot be read or written.
pub fn clean(path: &Path) -> Result<bool, OpError> {
    match read(path)?.as_deref().map(block::without) {
        None | Some(Without::Unchanged) => return Ok(false),
        Some(Without::Text(text)) => write(path, &text)?,
        Some(Without::Nothing) => std::fs::remove_file(path).map_err(OpError::io("remove", path))?,
    }
    Ok(true)
}
