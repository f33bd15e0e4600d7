//! Watches a realm for changes.

use std::{
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    error::OpError,
    locate,
    model::name::RealmName,
    ops::ctx::Ctx,
    store::git::{GitStore, Watch},
};

/// Notices that a realm, or what this machine records of it, may have changed.
#[derive(Debug)]
pub struct Rest {
    store: PathBuf,
    watch: Watch,
    /// The files that name the store and the repositories' folders: they are checked because a store that replaces
    /// another sends no event.
    files: [PathBuf; 2],
    stamps: [Stamp; 2],
}

/// The identity of a file; `None` if it does not exist.
type Stamp = Option<(u64, u64, i64, i64)>;

impl Rest {
    /// Starts to watch the realm.
    ///
    /// # Errors
    /// Returns an error if this machine does not know the realm, or its store cannot be opened.
    pub fn begin(ctx: &Ctx, realm: &RealmName) -> Result<Self, OpError> {
        let path = locate::known(&ctx.home, realm)?.path;
        let watch = GitStore::open(&path, ctx.options())?.watch();
        let files = [ctx.home.folder().join("config"), path.join("objects")];
        let stamps = [stamp(&files[0]), inode(&files[1])];
        Ok(Self { store: path, watch, files, stamps })
    }

    /// Waits until the realm may have changed since the last call, or the timeout has passed. Returns whether it
    /// may have changed. A change is noticed within moments after it was written, and never forgotten.
    pub fn waited(&mut self, timeout: Duration) -> bool {
        let moved = self.watch.wait(timeout);
        let stamps = [stamp(&self.files[0]), inode(&self.files[1])];
        let is_same = stamps == self.stamps;
        if stamps[1] != self.stamps[1] {
            // The watched folder is that of the previous store.
            self.watch = Watch::at(self.store.clone());
        }
        self.stamps = stamps;
        moved || !is_same
    }
}

fn stamp(path: &Path) -> Stamp {
    let at = path.metadata().ok()?;
    Some((at.dev(), at.ino(), at.mtime(), at.mtime_nsec()))
}

/// A folder changes with what is in it, and is still the same one.
fn inode(path: &Path) -> Stamp {
    stamp(path).map(|(dev, inode, ..)| (dev, inode, 0, 0))
}
