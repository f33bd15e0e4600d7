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
    /// Something that cannot be edited, with what it is.
    Other(&'static str),
}

impl HookFile {
    /// Reads a hook.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn read(path: &Path) -> Result<Self, OpError> {
        match path.metadata() {
            Ok(meta) if meta.is_dir() => return Ok(Self::Other("it is a directory")),
            // Reading a pipe would wait for its writer.
            Ok(meta) if !meta.is_file() => return Ok(Self::Other("it is not a regular file")),
            // A file in its place would replace the link, for example into a folder that is not mounted.
            Err(_) if path.is_symlink() => return Ok(Self::Other("it is a link that leads nowhere")),
            _ => {}
        }
        match std::fs::read(path) {
            Ok(bytes) => Ok(Self::of(bytes)),
            // A `core.hooksPath` that is not a folder disables hooks.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(Self::Missing),
            Err(error) => Err(OpError::io("read", path)(error)),
        }
    }

    fn of(bytes: Vec<u8>) -> Self {
        let is_script = bytes.starts_with(b"#!") && !bytes.contains(&0);
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(text),
            Err(_) if is_script => Self::Other("its text is not UTF-8"),
            Err(_) => Self::Other("it is a program, not a script"),
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
            Self::Other(what) => Some(what),
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
