//! Files and folders on Windows.

#![expect(missing_docs, reason = "`unix` documents the functions of both systems")]

use std::{
    fs::{File, Metadata, OpenOptions},
    io,
    os::windows::fs::FileExt as _,
    path::Path,
};

use winapi_util::{
    Handle, HandleRef,
    file::{Information, information},
};

use super::{Access, Identity, Stamp};

/// The number of ticks per second in a file time. Each is 100 nanoseconds.
const TICKS: u64 = 10_000_000;

/// The attribute of folders.
const FOLDER: u64 = 0x10;

pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}

pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

pub fn set_access(_: &mut tempfile::Builder<'_, '_>, _: Access) {}

pub fn take_over_access(_: &File, _: &Path, _: Access) -> io::Result<()> {
    Ok(())
}

pub fn narrow(path: &Path, _: Access) -> io::Result<Option<u32>> {
    path.metadata().map(|_| None)
}

pub fn is_open_to_others(path: &Path) -> io::Result<bool> {
    path.metadata().map(|_| false)
}

pub fn is_executable(_: &Metadata) -> bool {
    true
}

pub fn flush(path: &Path) -> io::Result<()> {
    if path.metadata()?.is_dir() {
        return Ok(());
    }
    // Flushing needs write access. A read-only file was flushed when it was written.
    match OpenOptions::new().write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        file => file?.sync_all(),
    }
}

pub fn read_exact_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.seek_read(bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                bytes = &mut bytes[read..];
                at += read as u64;
            }
        }
    }
    Ok(())
}

impl Identity {
    pub fn of(path: &Path) -> io::Result<Self> {
        information(Handle::from_path_any(path)?).map(|of| Self::in_information(&of))
    }

    fn in_information(of: &Information) -> Self {
        Self { device: of.volume_serial_number(), file: of.file_index() }
    }
}

impl Stamp {
    pub fn of(path: &Path) -> io::Result<Self> {
        information(Handle::from_path_any(path)?).map(|of| Self::in_information(&of))
    }

    pub fn of_file(file: &File) -> io::Result<Self> {
        information(HandleRef::from_file(file)).map(|of| Self::in_information(&of))
    }

    fn in_information(of: &Information) -> Self {
        let ticks = of.last_write_time().unwrap_or_default();
        let part = |of: u64| i64::try_from(of).unwrap_or(i64::MAX);
        let modified = (part(ticks / TICKS), part(ticks % TICKS * 100));
        let is_folder = of.file_attributes() & FOLDER != 0;
        Self { identity: Identity::in_information(of), is_folder, size: of.file_size(), modified, changed: modified }
    }
}
