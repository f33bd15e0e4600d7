//! Waits until a store's refs change, without polling on Linux (inotify). On other systems, the times of a few
//! files are compared ten times a second.

use std::{path::PathBuf, time::Duration};

use super::GitStore;
use crate::store::StoreError;

/// The folders in which something is renamed, made or removed when a ref of a domain or of sessions
/// moves, or is packed. git removes those that packing leaves empty, and makes them again.
const FOLDERS: [&str; 5] = ["", "refs", "refs/blue", "refs/blue/domains", "refs/blue/sessions"];

/// A watch for refs that may have moved.
#[derive(Debug)]
pub struct Watch {
    top: PathBuf,
    system: system::Watch,
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
        let system = system::Watch::new().map_err(StoreError::io("watch", &top))?;
        let mut watch = Self { top, system };
        watch.renew();
        Ok(watch)
    }

    /// Waits until refs may have moved since the last call, or the time is over. Returns whether they
    /// may have. It is called before refs are read, so that nothing falls between.
    ///
    /// # Errors
    /// Returns an error if the system fails.
    pub fn wait(&mut self, timeout: Duration) -> Result<bool, StoreError> {
        let moved = self.system.wait(timeout).map_err(StoreError::io("watch", &self.top))?;
        if moved {
            self.renew();
        }
        Ok(moved)
    }

    fn renew(&mut self) {
        for folder in FOLDERS {
            // One that is not there comes with a change in the one above.
            self.system.add(&self.top.join(folder));
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::{io, os::fd::OwnedFd, path::Path, time::Duration};

    use rustix::{
        event::{PollFd, PollFlags, Timespec, poll},
        fs::inotify::{CreateFlags, WatchFlags, add_watch, init},
        io::{Errno, read},
    };

    #[derive(Debug)]
    pub struct Watch(OwnedFd);

    impl Watch {
        pub fn new() -> io::Result<Self> {
            Ok(Self(init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?))
        }

        pub fn add(&self, folder: &Path) {
            let events = WatchFlags::MOVED_TO | WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::ONLYDIR;
            let _ = add_watch(&self.0, folder, events);
        }

        pub fn wait(&self, timeout: Duration) -> io::Result<bool> {
            let timeout = Timespec::try_from(timeout).unwrap_or_default();
            match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&timeout)) {
                Ok(0) | Err(Errno::INTR) => return Ok(false),
                result => result?,
            };
            // What it was does not matter: everything is looked at again.
            let mut buffer = [0; 4096];
            loop {
                match read(&self.0, &mut buffer) {
                    Err(Errno::AGAIN) => return Ok(true),
                    result => result?,
                };
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::{
        collections::BTreeMap,
        io,
        path::{Path, PathBuf},
        time::{Duration, Instant, SystemTime},
    };

    const STEP: Duration = Duration::from_millis(100);

    #[derive(Debug)]
    pub struct Watch(BTreeMap<PathBuf, Option<SystemTime>>);

    impl Watch {
        pub fn new() -> io::Result<Self> {
            Ok(Self(BTreeMap::new()))
        }

        pub fn add(&mut self, folder: &Path) {
            self.0.insert(folder.to_owned(), changed(folder));
        }

        pub fn wait(&self, timeout: Duration) -> io::Result<bool> {
            let start = Instant::now();
            loop {
                // A file that takes the place of another changes its folder's time.
                if self.0.iter().any(|(folder, before)| changed(folder) != *before) {
                    return Ok(true);
                }
                if start.elapsed() >= timeout {
                    return Ok(false);
                }
                std::thread::sleep(STEP.min(timeout));
            }
        }
    }

    fn changed(folder: &Path) -> Option<SystemTime> {
        folder.metadata().and_then(|meta| meta.modified()).ok()
    }
}
