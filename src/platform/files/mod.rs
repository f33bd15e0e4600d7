//! Files and folders: who may use them, which one is which, and bringing them to the disk.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::{
    fs::{File, OpenOptions},
    io,
    path::Path,
};

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// Who may use a file or folder that this program makes.
///
/// Windows keeps lists of access instead, which a new file takes over from its folder: below a user's profile that is
/// the user, the system and administrators. There, none of these changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// A file that its user alone reads and writes.
    Private,
    /// A folder that its user alone enters.
    PrivateFolder,
    /// A file that everybody may read and run, and its user change.
    Program,
    /// A file that everybody may read, and its user change.
    Public,
    /// A file that everybody may read, and nobody change.
    ReadOnly,
    /// A file for whom the user's umask says.
    Usual,
}

/// Creates a folder that only its user may enter, and its missing parents. An existing folder stays as it is.
///
/// # Errors
/// Returns an error if it cannot be made.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    system::make_private_folder(folder)
}

/// Has a file that these options create be its user's alone. An existing file stays as it is.
pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    system::private(options)
}

/// Has the temporary files or folders of a builder be for those whom `access` names.
pub fn made_with(builder: &mut tempfile::Builder<'_, '_>, access: Access) {
    system::made_with(builder, access);
}

/// Gives a new file the access of the file that it is to replace, or `otherwise` where there is none.
///
/// # Errors
/// Returns an error if the system refuses.
pub fn take_over_access(new: &File, replaced: &Path, otherwise: Access) -> io::Result<()> {
    system::take_over_access(new, replaced, otherwise)
}

/// Takes away what a file or folder allows beyond `most`. Returns the mode that it had, where it was wider. On Windows
/// nothing is changed.
///
/// # Errors
/// Returns an error if there is no such file, or the system refuses.
pub fn narrow(path: &Path, most: Access) -> io::Result<Option<u32>> {
    system::narrow(path, most)
}

/// Returns whether other users may read or change what is at a path. On Windows it is never known to be so.
///
/// # Errors
/// Returns an error if there is nothing.
pub fn is_open_to_others(path: &Path) -> io::Result<bool> {
    system::is_open_to_others(path)
}

/// Returns whether a file may be run. Windows has no such permission: there, every file may.
pub fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && system::is_executable(&meta))
}

/// What tells a file or folder from all others of this machine, as long as it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The file system: the number of the device on Unix, the serial number of the volume on Windows.
    pub device: u64,
    /// The file within it: the inode on Unix, the file index on Windows.
    pub file: u64,
}

impl Identity {
    /// Returns the identity of what is at a path; of a symbolic link, its own.
    ///
    /// # Errors
    /// Returns an error if there is nothing.
    pub fn of(path: &Path) -> io::Result<Self> {
        system::identity(path)
    }
}

/// A time of a file: seconds, and nanoseconds of the next one. On Unix they count from 1970, on Windows from 1601.
pub type Time = (i64, i64);

/// What tells one content of a file, or one state of a folder, from another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Which file it is.
    pub identity: Identity,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// The size, in bytes.
    pub size: u64,
    /// The time of the last change of its content.
    pub modified: Time,
    /// The time of the last change of anything, names and modes included. Windows does not say; there it is `modified`.
    pub changed: Time,
}

impl Stamp {
    /// Returns the stamp of the file or folder that a path leads to.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn of(path: &Path) -> io::Result<Self> {
        system::stamp_of(path)
    }

    /// Returns the stamp of an open file.
    ///
    /// # Errors
    /// Returns an error if the system does not tell.
    pub fn of_file(file: &File) -> io::Result<Self> {
        system::stamp_of_file(file)
    }
}

/// Brings a file to the disk, or the names in a folder. On Windows the file system keeps a journal of names, and
/// nothing is done for a folder.
///
/// # Errors
/// Returns an error if there is none, or the disk refuses.
pub fn flush(path: &Path) -> io::Result<()> {
    system::flush(path)
}

/// Reads as many bytes as `bytes` holds, from `at`. On Windows it moves the file's position too.
///
/// # Errors
/// Returns an error if there are fewer.
pub fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    system::read_exact_at(file, bytes, at)
}
