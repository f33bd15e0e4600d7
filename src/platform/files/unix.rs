//! Files and folders on POSIX systems.

use std::{
    fs::{DirBuilder, File, Metadata, OpenOptions, Permissions},
    io,
    os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
};

use super::{Access, Identity, Stamp};

/// The permissions of users other than the owner.
const OTHERS: u32 = 0o077;

impl Access {
    fn mode(self) -> u32 {
        match self {
            Self::Private => 0o600,
            Self::PrivateFolder => 0o700,
            Self::Program => 0o755,
            Self::Public => 0o644,
            Self::ReadOnly => 0o444,
            Self::Usual => 0o666,
        }
    }
}

/// Creates a folder that only its user may enter, and its missing parents. An existing folder is not changed.
///
/// # Errors
/// Returns an error if it cannot be created.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(Access::PrivateFolder.mode()).create(folder)
}

/// Makes a file that is created with these options private to its user. An existing file is not changed.
pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(Access::Private.mode())
}

/// Sets the access of the temporary files or folders that a builder creates.
pub fn set_access(builder: &mut tempfile::Builder<'_, '_>, access: Access) {
    builder.permissions(Permissions::from_mode(access.mode()));
}

/// Gives a new file the access of the file that it replaces, or `otherwise` if there is none.
///
/// # Errors
/// Returns an error if the system refuses.
pub fn take_over_access(new: &File, replaced: &Path, otherwise: Access) -> io::Result<()> {
    let mode = replaced.metadata().map_or(otherwise.mode(), |meta| meta.permissions().mode());
    new.set_permissions(Permissions::from_mode(mode))
}

/// Removes access to a file or folder beyond `most`. Returns the previous mode if it was wider. Does nothing on
/// Windows.
///
/// # Errors
/// Returns an error if the file does not exist, or the system refuses.
pub fn narrow(path: &Path, most: Access) -> io::Result<Option<u32>> {
    let file = File::open(path)?;
    let mode = file.metadata()?.permissions().mode() & 0o7777;
    if mode & !most.mode() == 0 {
        return Ok(None);
    }
    file.set_permissions(Permissions::from_mode(mode & most.mode()))?;
    Ok(Some(mode))
}

/// Returns whether other users may read or change the file at a path. Always returns false on Windows.
///
/// # Errors
/// Returns an error if nothing exists at the path.
pub fn is_open_to_others(path: &Path) -> io::Result<bool> {
    Ok(path.metadata()?.permissions().mode() & OTHERS != 0)
}

pub fn is_executable(meta: &Metadata) -> bool {
    meta.permissions().mode() & 0o111 != 0
}

/// Flushes a file, or the names in a folder, to disk. On Windows the file system journals names, so this does nothing
/// for a folder.
///
/// # Errors
/// Returns an error if the file does not exist, or the disk fails.
pub fn flush(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Fills `bytes` from a file, starting at `at`. On Windows this also moves the file's position.
///
/// # Errors
/// Returns an error if there are not enough bytes.
pub fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(bytes, at)
}

impl Identity {
    /// Returns the identity of the file at a path. A symbolic link is not followed.
    ///
    /// # Errors
    /// Returns an error if nothing exists at the path.
    pub fn of(path: &Path) -> io::Result<Self> {
        path.symlink_metadata().map(|meta| Self::in_metadata(&meta))
    }

    fn in_metadata(meta: &Metadata) -> Self {
        Self { device: meta.dev(), file: meta.ino() }
    }
}

impl Stamp {
    /// Returns the stamp of the file or folder at a path. Symbolic links are followed.
    ///
    /// # Errors
    /// Returns an error if it does not exist.
    pub fn of(path: &Path) -> io::Result<Self> {
        path.metadata().map(|meta| Self::in_metadata(&meta))
    }

    /// Returns the stamp of an open file.
    ///
    /// # Errors
    /// Returns an error if the system cannot provide it.
    pub fn of_file(file: &File) -> io::Result<Self> {
        file.metadata().map(|meta| Self::in_metadata(&meta))
    }

    fn in_metadata(meta: &Metadata) -> Self {
        Self {
            identity: Identity::in_metadata(meta),
            is_folder: meta.is_dir(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::platform::files::is_executable;

    fn mode(path: &Path) -> u32 {
        use std::os::unix::fs::PermissionsExt as _;
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn private_files_and_folders_are_closed_to_others() {
        let top = tempfile::tempdir().unwrap();
        let folder = top.path().join("a/b");
        make_private_folder(&folder).unwrap();
        make_private_folder(&folder).unwrap();
        let file = folder.join("file");
        private(OpenOptions::new().write(true).create(true)).open(&file).unwrap();
        assert_eq!([&folder, &top.path().join("a"), &file].map(|path| mode(path)), [0o700, 0o700, 0o600]);
        assert!(!is_open_to_others(&file).unwrap() && !is_open_to_others(&folder).unwrap());
    }

    #[test]
    fn narrow_removes_access_only_if_it_is_too_wide() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path();
        assert_eq!(narrow(path, Access::Private).unwrap(), None);
        take_over_access(file.as_file(), Path::new("/no/such/file"), Access::Program).unwrap();
        assert!(is_open_to_others(path).unwrap() && is_executable(path));
        assert_eq!((narrow(path, Access::Private).unwrap(), mode(path)), (Some(0o755), 0o600));
        assert!(!is_executable(path) && !is_executable(path.parent().unwrap()), "a folder is no program");
        assert_eq!(narrow(Path::new("/no/such/file"), Access::Private).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn files_are_created_with_the_requested_access() {
        let top = tempfile::tempdir().unwrap();
        let made = |access| {
            let mut builder = tempfile::Builder::new();
            set_access(&mut builder, access);
            builder.tempfile_in(top.path()).unwrap()
        };
        let read_only = made(Access::ReadOnly);
        assert_eq!([mode(made(Access::Private).path()), mode(read_only.path())], [0o600, 0o444]);
        let new = made(Access::Private);
        take_over_access(new.as_file(), read_only.path(), Access::Private).unwrap();
        assert_eq!(mode(new.path()), 0o444);
    }

    #[test]
    fn a_stamp_changes_with_its_file() {
        let top = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| top.path().join(name));
        std::fs::write(&one, "1").unwrap();
        std::fs::write(&two, "1").unwrap();
        let (before, other) = (Stamp::of(&one).unwrap(), Stamp::of(&two).unwrap());
        assert_eq!(before, Stamp::of_file(&File::open(&one).unwrap()).unwrap());
        assert!(before.identity != other.identity && before.identity.device == other.identity.device);
        assert_eq!(before.identity, Identity::of(&one).unwrap());
        File::options().append(true).open(&one).unwrap().write_all(b"2").unwrap();
        assert!(Stamp::of(&one).unwrap() != before && Stamp::of(&one).unwrap().identity == before.identity);
        std::fs::rename(&two, &one).unwrap();
        assert_eq!(Identity::of(&one).unwrap(), other.identity);
        assert_eq!(Stamp::of(&two).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_link_has_its_own_identity() {
        let top = tempfile::tempdir().unwrap();
        let link = top.path().join("link");
        std::os::unix::fs::symlink(top.path(), &link).unwrap();
        assert_ne!(Identity::of(&link).unwrap(), Identity::of(top.path()).unwrap());
        assert_eq!(Stamp::of(&link).unwrap().identity, Identity::of(top.path()).unwrap());
    }

    #[test]
    fn read_exact_at_reads_all_bytes_or_fails() {
        let file = tempfile::tempfile().unwrap();
        (&file).write_all(b"0123456789").unwrap();
        let mut bytes = [0; 4];
        read_exact_at(&file, &mut bytes, 3).unwrap();
        assert_eq!(&bytes, b"3456");
        assert_eq!(read_exact_at(&file, &mut bytes, 8).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
