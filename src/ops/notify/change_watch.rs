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

/// Notices that a realm, or what this machine records of it, may have changed.
#[derive(Debug)]
pub struct ChangeWatch {
    store: PathBuf,
    watch: Watch,
    /// The files that name the store and the repositories' folders: they are checked because a store that replaces
    /// another sends no event.
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

    /// Waits until the realm may have changed since the last call, or the timeout has passed. Returns whether it
    /// may have changed. A change that was made before the call is always noticed; where the kernel does not tell, up to 25 ms later.
    pub fn waited(&mut self, timeout: Duration) -> bool {
        let moved = self.watch.wait(timeout);
        let seen = (written(&self.files[0]), identity(&self.files[1]));
        let is_same = seen == self.seen;
        if seen.1 != self.seen.1 {
            // The watched folder is that of the previous store.
            self.watch = Watch::at(self.store.clone());
        }
        self.seen = seen;
        moved || !is_same
    }
}

/// Returns which file it is, and when it was written; `None` if it does not exist.
fn written(path: &Path) -> Option<(Identity, Time)> {
    Stamp::of(path).ok().map(|stamp| (stamp.identity, stamp.modified))
}

/// Returns which folder it is: it changes with what is in it, and is still the same one.
fn identity(path: &Path) -> Option<Identity> {
    Stamp::of(path).ok().map(|stamp| stamp.identity)
}
