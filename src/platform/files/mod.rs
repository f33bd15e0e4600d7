//! Files and folders: access, identity, and flushing to disk.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::{
    io::{self, Write as _},
    path::Path,
    time::Duration,
};

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use system::{flush, is_open_to_others, make_private_folder, narrow, private, read_exact_at, set_access};

use system::take_over_access;

/// The users who may access a file or folder that this program creates.
///
/// Windows uses access control lists instead, which a new file inherits from its folder. In a user's profile, they
/// grant access to the user, the system and administrators. There, none of these variants has an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// A file that only its user may read and write.
    Private,
    /// A folder that only its user may enter.
    PrivateFolder,
    /// A file that everyone may read and run, and its user may change.
    Program,
    /// A file that everyone may read, and its user may change.
    Public,
    /// A file that everyone may read, and nobody may change.
    ReadOnly,
    /// A file with access according to the user's umask.
    Usual,
}

/// Replaces a file atomically: after a crash or a power failure, it has either its old or its new content. The new file
/// has the given access. A symbolic link is replaced rather than followed.
///
/// # Errors
/// Returns an error if the folder cannot be written.
pub fn replace(path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    temporary_beside(path, bytes, access)?.persist(path).map(drop).map_err(|error| error.error)
}

/// Replaces a file as [`replace`] does, but keeps the access of an existing one. `otherwise` is the access of a new
/// one, whatever the user's umask.
///
/// # Errors
/// Returns an error if the folder cannot be written.
pub fn replace_keeping_access(path: &Path, bytes: &[u8], otherwise: Access) -> io::Result<()> {
    let file = temporary_beside(path, bytes, Access::Private)?;
    take_over_access(file.as_file(), path, otherwise)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Creates a file at a path where nothing exists, atomically as [`replace`] does.
///
/// # Errors
/// Returns `AlreadyExists` if something exists there, or an error if the folder cannot be written.
pub fn create(path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    temporary_beside(path, bytes, access)?.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

/// The start of the names of temporary files.
const TEMPORARY: &str = ".blue-";

/// Returns whether a path names a temporary file, which a killed process may have left.
pub fn is_temporary(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with(TEMPORARY))
}

/// The age from which no living process uses a leftover.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes files and folders that killed processes left in a folder. Those younger than a day may still be used.
pub fn remove_leftovers(folder: &Path, is_ours: impl Fn(&str) -> bool) {
    for entry in folder.read_dir().into_iter().flatten().filter_map(Result::ok) {
        let age = entry.metadata().ok().and_then(|meta| meta.modified().ok()?.elapsed().ok());
        if is_ours(&entry.file_name().to_string_lossy()) && age.is_some_and(|age| age > ABANDONED) {
            let path = entry.path();
            // The next run tries again.
            let _ = std::fs::remove_dir_all(&path).or_else(|_| std::fs::remove_file(&path));
        }
    }
}

/// Writes a temporary file next to a path, to be renamed to it. It is flushed to disk, because a
/// rename can survive a power failure that the content does not.
fn temporary_beside(path: &Path, bytes: &[u8], access: Access) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    set_access(builder.prefix(TEMPORARY), access);
    let mut file = builder.tempfile_in(path.parent().unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Returns whether a file may be run. Windows has no such permission, so any file may be run there.
pub fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && system::is_executable(&meta))
}

/// Creates a folder and its parent. Fails if the folder above both does not exist.
///
/// # Errors
/// Returns an error if one of them cannot be created.
pub fn make_folder_and_parent(folder: &Path) -> io::Result<()> {
    for folder in [folder.parent().unwrap_or(folder), folder] {
        match std::fs::create_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Identifies a file or folder on this machine for as long as it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The file system: the device number on Unix, the volume serial number on Windows.
    pub device: u64,
    /// The file within the file system: the inode on Unix, the file index on Windows.
    pub file: u64,
}

/// A file time, in seconds and additional nanoseconds, since 1970 on Unix and since 1601 on Windows.
pub type Time = (i64, i64);

/// Distinguishes one content of a file, or one state of a folder, from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The identity of the file.
    pub identity: Identity,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// The size, in bytes.
    pub size: u64,
    /// The time of the last change to its content.
    pub modified: Time,
    /// The time of the last change of any kind, including names and modes. Not available on Windows, where it equals
    /// `modified`.
    pub changed: Time,
}
