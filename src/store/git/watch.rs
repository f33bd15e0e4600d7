//! Waits until a store's refs change.

use std::{path::PathBuf, time::Duration};

use super::GitStore;
use crate::platform::watch;

/// The folders in which something is renamed, created or removed when a ref of a domain or of sessions moves or is
/// packed. git removes folders that packing leaves empty, and creates them again.
const FOLDERS: [&str; 5] = ["", "refs", "refs/blue", "refs/blue/domains", "refs/blue/sessions"];

/// A watch for refs that may have moved.
#[derive(Debug)]
pub struct Watch {
    top: PathBuf,
    folders: watch::Watch,
}

impl GitStore {
    /// Starts to watch the refs of domains and sessions.
    pub fn watch(&self) -> Watch {
        Watch::at(self.path())
    }
}

impl Watch {
    /// Starts to watch the refs of the store in the folder `top`.
    pub fn at(top: PathBuf) -> Self {
        let mut watch = Self { top, folders: watch::Watch::begin() };
        watch.renew();
        watch
    }

    /// Returns the kernel setting that is too low to report changes, if there is one.
    pub fn limit(&self) -> Option<&'static str> {
        self.folders.limit()
    }

    /// Waits until refs may have moved since the last call, or until the timeout. Returns whether they may have moved.
    /// Call this before reading refs, so that no change is missed in between.
    pub fn wait(&mut self, timeout: Duration) -> bool {
        let moved = self.folders.wait(timeout);
        if moved {
            self.renew();
        }
        moved
    }

    fn renew(&mut self) {
        for folder in FOLDERS {
            // A folder that does not exist yet is noticed through a change in its parent.
            self.folders.add(&self.top.join(folder));
        }
    }
}
