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

pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(Access::PrivateFolder.mode()).create(folder)
}

pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(Access::Private.mode())
}

pub fn set_access(builder: &mut tempfile::Builder<'_, '_>, access: Access) {
    builder.permissions(Permissions::from_mode(access.mode()));
}

pub fn take_over_access(new: &File, replaced: &Path, otherwise: Access) -> io::Result<()> {
    let mode = replaced.metadata().map_or(otherwise.mode(), |meta| meta.permissions().mode());
    new.set_permissions(Permissions::from_mode(mode))
}

pub fn narrow(path: &Path, most: Access) -> io::Result<Option<u32>> {
    let file = File::open(path)?;
    let mode = file.metadata()?.permissions().mode() & 0o7777;
    if mode & !most.mode() == 0 {
        return Ok(None);
    }
    file.set_permissions(Permissions::from_mode(mode & most.mode()))?;
    Ok(Some(mode))
}

pub fn is_open_to_others(path: &Path) -> io::Result<bool> {
    Ok(path.metadata()?.permissions().mode() & OTHERS != 0)
}

pub fn is_executable(meta: &Metadata) -> bool {
    meta.permissions().mode() & 0o111 != 0
}

pub fn identity(path: &Path) -> io::Result<Identity> {
    path.symlink_metadata().map(|meta| identity_in(&meta))
}

pub fn stamp_of(path: &Path) -> io::Result<Stamp> {
    path.metadata().map(|meta| stamp_in(&meta))
}

pub fn stamp_of_file(file: &File) -> io::Result<Stamp> {
    file.metadata().map(|meta| stamp_in(&meta))
}

pub fn flush(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

pub fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(bytes, at)
}

fn identity_in(meta: &Metadata) -> Identity {
    Identity { device: meta.dev(), file: meta.ino() }
}

fn stamp_in(meta: &Metadata) -> Stamp {
    Stamp {
        identity: identity_in(meta),
        is_folder: meta.is_dir(),
        size: meta.size(),
        modified: (meta.mtime(), meta.mtime_nsec()),
        changed: (meta.ctime(), meta.ctime_nsec()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::super::*;

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
