//! Quarantines received objects in their own folder until git has checked them, so that nothing from a failed,
//! interrupted or refused transfer gets into the store.

use std::path::{Path, PathBuf};

use super::fsync;
use crate::store::StoreError;

/// The prefix of the names of quarantine folders. The next packing removes those of killed processes.
pub(super) const PREFIX: &str = "incoming-";
/// The files of a pack, by extension, in the order in which they are moved into the store. A pack is used as soon as
/// its index exists.
const IN_ORDER: [&str; 4] = ["pack", "rev", "promisor", "idx"];

/// A quarantine folder. It is removed on drop.
#[derive(Debug)]
pub(super) struct Incoming {
    folder: tempfile::TempDir,
    objects: PathBuf,
}

impl Incoming {
    /// Creates a quarantine for the store in the folder `store`.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be created.
    pub(super) fn new(store: &Path) -> Result<Self, StoreError> {
        let objects = store.join("objects");
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&objects);
        let folder = folder.map_err(StoreError::io("create a directory in", &objects))?;
        let packs = folder.path().join("pack");
        std::fs::create_dir(&packs).map_err(StoreError::io("create", packs))?;
        Ok(Self { folder, objects })
    }

    /// Returns the variables that make git write to the quarantine, and also read from the store.
    pub(super) fn vars(&self) -> [(&'static str, &Path); 2] {
        [("GIT_OBJECT_DIRECTORY", self.folder.path()), ("GIT_ALTERNATE_OBJECT_DIRECTORIES", &self.objects)]
    }

    /// Copies the packs of a folder into the quarantine.
    ///
    /// # Errors
    /// Returns an error if a file cannot be copied.
    pub(super) fn copy(&self, packs: &Path) -> Result<(), StoreError> {
        let to = self.folder.path().join("pack");
        let entries = packs.read_dir().map_err(StoreError::io("read", packs))?;
        for file in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let copy = to.join(file.file_name().unwrap_or_default());
            std::fs::copy(&file, &copy).map_err(StoreError::io("copy", &file))?;
            fsync::sync(&copy)?;
        }
        Ok(())
    }

    /// Returns whether any file in the quarantine has at least this size.
    pub(super) fn has_file_of(&self, bytes: u64) -> bool {
        let entries = self.folder.path().join("pack").read_dir().into_iter().flatten();
        entries.filter_map(|entry| entry.ok()?.metadata().ok()).any(|meta| meta.len() >= bytes)
    }

    /// Returns whether git stored single objects instead of a pack.
    pub(super) fn has_loose_objects(&self) -> bool {
        let entries = self.folder.path().read_dir().into_iter().flatten();
        entries.filter_map(|entry| Some(entry.ok()?.file_name())).any(|name| name.len() == 2)
    }

    /// Moves the received packs into the store. git has flushed the files; this flushes their folder.
    ///
    /// # Errors
    /// Returns an error if a file cannot be moved.
    pub(super) fn take(self) -> Result<(), StoreError> {
        let (from, to) = (self.folder.path().join("pack"), self.objects.join("pack"));
        std::fs::create_dir_all(&to).map_err(StoreError::io("create", &to))?;
        let entries = from.read_dir().map_err(StoreError::io("read", &from))?;
        let files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        for kind in IN_ORDER {
            for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == kind)) {
                let name = file.file_name().unwrap_or_default();
                std::fs::rename(file, to.join(name)).map_err(StoreError::io("move", file))?;
            }
        }
        fsync::sync(&to).map(drop)
    }
}
