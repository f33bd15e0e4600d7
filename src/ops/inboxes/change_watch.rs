//! Watches a realm for changes.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    error::OpError,
    locate,
    model::name::RealmName,
    ops::ctx::Ctx,
    platform::files::{Identity, Stamp, Time},
    store::git::{GitStore, Watch},
};

/// Detects that a realm, or this machine's records of it, may have changed.
#[derive(Debug)]
pub struct ChangeWatch {
    store: PathBuf,
    watch: Watch,
    /// The file that names the store, and a folder of the store. They are checked because replacing the store sends no
    /// event.
    files: [PathBuf; 2],
    seen: (Option<(Identity, Time)>, Option<Identity>),
}

impl ChangeWatch {
    /// Starts to watch the realm.
    ///
    /// # Errors
    /// Returns an error if this machine does not know the realm, or its store cannot be opened.
    pub fn begin(ctx: &Ctx, realm: &RealmName) -> Result<Self, OpError> {
        let path = locate::known(&ctx.home, realm)?.path;
        let watch = GitStore::open(&path, ctx.options())?.watch();
        let files = [ctx.home.folder().join("config"), path.join("objects")];
        let seen = (written(&files[0]), identity(&files[1]));
        Ok(Self { store: path, watch, files, seen })
    }

    /// Waits until the realm may have changed since the last call, or the timeout has passed. Returns whether it may
    /// have changed. Changes made before the call are always noticed, but up to 25 ms later if the kernel sends no
    /// events.
    pub fn wait_for_change(&mut self, timeout: Duration) -> bool {
        let moved = self.watch.wait(timeout);
        let seen = (written(&self.files[0]), identity(&self.files[1]));
        let is_same = seen == self.seen;
        if seen.1 != self.seen.1 {
            // The watched folder belongs to the previous store.
            self.watch = Watch::at(self.store.clone());
        }
        self.seen = seen;
        moved || !is_same
    }
}

/// Returns the identity of a file and its modification time; `None` if it does not exist.
fn written(path: &Path) -> Option<(Identity, Time)> {
    Stamp::of(path).ok().map(|stamp| (stamp.identity, stamp.modified))
}

/// Returns the identity of a folder. Its modification time is not compared, since it changes with the folder's content.
fn identity(path: &Path) -> Option<Identity> {
    Stamp::of(path).ok().map(|stamp| stamp.identity)
}
