//! Waits until a store's refs change: the kernel says so (inotify), through one instance for the whole process. Where it
//! cannot, the times of a few folders are compared ten times a second.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Once,
    time::{Duration, Instant, SystemTime},
};

use rustix::io::Errno;

use super::{GitStore, shared_watch::Subscription};

/// The folders in which something is renamed, made or removed when a ref of a domain or of sessions
/// moves, or is packed. git removes those that packing leaves empty, and makes them again.
const FOLDERS: [&str; 5] = ["", "refs", "refs/blue", "refs/blue/domains", "refs/blue/sessions"];
/// How often folders are compared where the kernel does not tell.
const STEP: Duration = Duration::from_millis(100);

/// A watch for refs that may have moved.
#[derive(Debug)]
pub struct Watch {
    top: PathBuf,
    source: Source,
    /// What kept the kernel from telling.
    limit: Option<&'static str>,
}

#[derive(Debug)]
enum Source {
    Kernel(Subscription),
    Polled(Polling),
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
        let (source, refused) = match Subscription::begin() {
            Ok(subscription) => (Source::Kernel(subscription), None),
            Err(error) => (Source::Polled(Polling::default()), limit(&error)),
        };
        let mut watch = Self { top, source, limit: None };
        watch.limited_by(refused);
        watch.renew();
        watch
    }

    /// Returns the setting of the kernel that is too low for it to tell of changes, if one is: then they are noticed a
    /// little later, and looking for them costs a little.
    pub fn limit(&self) -> Option<&'static str> {
        self.limit
    }

    /// Waits until refs may have moved since the last call, or the time is over. Returns whether they
    /// may have. It is called before refs are read, so that nothing falls between.
    pub fn wait(&mut self, timeout: Duration) -> bool {
        let moved = match &mut self.source {
            Source::Kernel(subscription) => subscription.wait(timeout),
            Source::Polled(polling) => polling.wait(timeout),
        };
        if moved {
            self.renew();
        }
        moved
    }

    fn renew(&mut self) {
        let folders = FOLDERS.map(|folder| self.top.join(folder));
        if let Source::Kernel(subscription) = &self.source {
            // One that is not there comes with a change in the one above.
            let refused = folders.iter().find_map(|folder| limit(&subscription.add(folder).err()?));
            if refused.is_none() {
                return;
            }
            self.source = Source::Polled(Polling::default());
            self.limited_by(refused);
        }
        if let Source::Polled(polling) = &mut self.source {
            polling.watch(&folders);
        }
    }

    fn limited_by(&mut self, setting: Option<&'static str>) {
        static SAID: Once = Once::new();
        self.limit = setting;
        if let Some(setting) = setting {
            SAID.call_once(|| tracing::warn!(setting, "too low: changes are looked for ten times a second"));
        }
    }
}

/// Returns the setting of the kernel that an error is about, if it is about one.
fn limit(error: &io::Error) -> Option<&'static str> {
    match Errno::from_io_error(error)? {
        Errno::MFILE => Some("fs.inotify.max_user_instances"),
        Errno::NOSPC => Some("fs.inotify.max_user_watches"),
        _ => None,
    }
}

/// Compares the times of folders: a file that takes the place of another changes that of its folder.
#[derive(Debug, Default)]
struct Polling {
    folders: BTreeMap<PathBuf, Option<SystemTime>>,
    /// Whether a second change within the same tick of the file system's clock may have been missed.
    is_unsettled: bool,
}

impl Polling {
    fn watch(&mut self, folders: &[PathBuf]) {
        self.folders = folders.iter().map(|folder| (folder.clone(), changed(folder))).collect();
    }

    fn wait(&mut self, timeout: Duration) -> bool {
        let start = Instant::now();
        loop {
            if self.folders.iter().any(|(folder, before)| changed(folder) != *before) {
                self.is_unsettled = true;
                return true;
            }
            if start.elapsed() >= timeout {
                return false;
            }
            std::thread::sleep(STEP.min(timeout));
            if std::mem::take(&mut self.is_unsettled) {
                return true;
            }
        }
    }
}

fn changed(folder: &Path) -> Option<SystemTime> {
    folder.metadata().and_then(|meta| meta.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_refuses_is_named() {
        let named = |errno: Errno| limit(&errno.into());
        assert_eq!(named(Errno::MFILE), Some("fs.inotify.max_user_instances"));
        assert_eq!(named(Errno::NOSPC), Some("fs.inotify.max_user_watches"));
        assert_eq!(named(Errno::NOENT), None);
    }

    #[test]
    fn a_change_is_noticed_by_the_times_of_folders_too() {
        let top = tempfile::tempdir().unwrap();
        let mut polling = Polling::default();
        polling.watch(&[top.path().to_owned(), top.path().join("refs")]);
        assert!(!polling.wait(Duration::ZERO));
        std::fs::create_dir(top.path().join("refs")).unwrap();
        assert!(polling.wait(Duration::from_secs(5)));
        polling.watch(&[top.path().to_owned(), top.path().join("refs")]);
        // What came in the same moment has left no other time.
        assert!(polling.wait(Duration::from_secs(5)));
        assert!(!polling.wait(Duration::from_millis(150)));
    }
}
