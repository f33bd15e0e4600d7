//! Waits until a store's refs change.

use std::{path::PathBuf, time::Duration};

use super::GitStore;
use crate::{platform::watch, store::StoreError};

/// The folders in which something is renamed, made or removed when a ref of a domain or of sessions
/// moves, or is packed. git removes those that packing leaves empty, and makes them again.
const FOLDERS: [&str; 5] = ["", "refs", "refs/blue", "refs/blue/domains", "refs/blue/sessions"];

/// A watch for refs that may have moved.
#[derive(Debug)]
pub struct Watch {
    top: PathBuf,
    folders: watch::Watch,
}

impl GitStore {
    /// Starts to watch the refs of domains and sessions.
    ///
    /// # Errors
    /// Returns an error if the system's resources for it are used up.
    pub fn watch(&self) -> Result<Watch, StoreError> {
        Watch::at(self.path())
    }
}

impl Watch {
    /// Starts to watch the refs of the store in the folder `top`.
    ///
    /// # Errors
    /// Returns an error if the system's resources for it are used up.
    pub fn at(top: PathBuf) -> Result<Self, StoreError> {
        let folders = watch::Watch::new().map_err(StoreError::io("watch", &top))?;
        let mut watch = Self { top, folders };
        watch.renew();
        Ok(watch)
    }

    /// Waits until refs may have moved since the last call, or the time is over. Returns whether they
    /// may have. It is called before refs are read, so that nothing falls between.
    ///
    /// # Errors
    /// Returns an error if the system fails.
    pub fn wait(&mut self, timeout: Duration) -> Result<bool, StoreError> {
        let moved = self.folders.wait(timeout).map_err(StoreError::io("watch", &self.top))?;
        if moved {
            self.renew();
        }
        Ok(moved)
    }

    fn renew(&mut self) {
        for folder in FOLDERS {
            // One that is not there comes with a change in the one above.
            self.folders.add(&self.top.join(folder));
        }
    }
}
