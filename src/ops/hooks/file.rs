//! Hook files on disk.

use std::{io::ErrorKind, path::Path};

use super::block::{self, Remainder};
use crate::{
    error::OpError,
    platform::files::{self, Access},
};

/// The kind of file at the path of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookFile {
    /// There is no file.
    Missing,
    /// A script.
    Text(String),
    /// A program, which cannot be edited.
    Program,
    /// A directory, which git does not run.
    Directory,
}

impl HookFile {
    /// Reads a hook.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn read(path: &Path) -> Result<Self, OpError> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(String::from_utf8(bytes).map_or(Self::Program, Self::Text)),
            // A `core.hooksPath` that is not a folder disables hooks.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(Self::Missing),
            Err(_) if path.is_dir() => Ok(Self::Directory),
            Err(error) => Err(OpError::io("read", path)(error)),
        }
    }

    /// Returns the text of a script.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns why the hook cannot be edited, if it cannot.
    pub fn problem(&self) -> Option<&'static str> {
        match self {
            Self::Missing | Self::Text(_) => None,
            Self::Program => Some("it is a program, not a script"),
            Self::Directory => Some("it is a directory"),
        }
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
    match HookFile::read(path)?.text().map(block::without) {
        None | Some(Remainder::Unchanged) => return Ok(false),
        Some(Remainder::Text(text)) => write(path, &text)?,
        Some(Remainder::Nothing) => std::fs::remove_file(path).map_err(OpError::io("remove", path))?,
    }
    Ok(true)
}
