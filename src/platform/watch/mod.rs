//! Waits until something is renamed, created or removed in folders.

mod polling;
mod shared;
#[cfg_attr(target_os = "linux", path = "inotify.rs")]
#[cfg_attr(not(target_os = "linux"), path = "unsupported.rs")]
mod system;

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::Once,
    time::Duration,
};

/// A watch on folders. On Linux it uses inotify, with one instance for the whole process. On other systems, and if the
/// kernel refuses, the modification times of the folders are compared 40 times a second.
#[derive(Debug)]
pub struct Watch {
    source: Source,
    folders: BTreeSet<PathBuf>,
    limit: Option<&'static str>,
}

#[derive(Debug)]
enum Source {
    Kernel(shared::Subscription),
    Polling(polling::Watch),
}

/// The folders that changed, by watch descriptor.
#[derive(Debug, Default)]
struct Moved {
    folders: Vec<i32>,
    /// The folders that were removed. Their descriptors are not reused.
    gone: Vec<i32>,
    /// Whether the queue overflowed, so that any folder may have changed.
    is_all: bool,
}

impl Watch {
    /// Starts a watch without folders.
    pub fn begin() -> Self {
        let mut watch =
            Self { source: Source::Polling(polling::Watch::default()), folders: BTreeSet::new(), limit: None };
        match shared::Subscription::begin() {
            Ok(subscription) => watch.source = Source::Kernel(subscription),
            Err(error) => watch.poll(&error),
        }
        watch
    }

    /// Returns the kernel setting that is too low for the kernel to report changes, if there is
    /// one. If so, changes are noticed a little later, and polling for them costs a little.
    pub fn limit(&self) -> Option<&'static str> {
        self.limit
    }

    /// Watches an additional folder, or again one that was renamed or recreated. A folder that does not exist is not
    /// watched.
    pub fn add(&mut self, folder: &Path) {
        self.folders.insert(folder.to_owned());
        match &mut self.source {
            Source::Polling(polling) => polling.add(folder),
            Source::Kernel(subscription) => {
                if let Err(error) = subscription.add(folder)
                    && system::limit(&error).is_some()
                {
                    self.poll(&error);
                }
            }
        }
    }

    /// Waits until something may have changed since the last call, or until the timeout. Returns whether something may
    /// have changed. Changes before the call are noticed as well, up to 25 ms late if the folders are polled.
    pub fn wait(&mut self, timeout: Duration) -> bool {
        match &mut self.source {
            Source::Kernel(subscription) => subscription.wait(timeout),
            Source::Polling(polling) => polling.wait(timeout),
        }
    }

    /// Polls the folders from now on, because the kernel refused with this error.
    fn poll(&mut self, error: &io::Error) {
        static SAID: Once = Once::new();
        let mut polling = polling::Watch::default();
        self.folders.iter().for_each(|folder| polling.add(folder));
        self.source = Source::Polling(polling);
        self.limit = system::limit(error);
        if let Some(setting) = self.limit {
            SAID.call_once(|| tracing::warn!(setting, "too low: polling for changes 40 times a second"));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, thread, time::Instant};

    use super::*;

    const SHORT: Duration = Duration::from_millis(60);
    const LONG: Duration = Duration::from_secs(20);

    /// Runs a test against both implementations.
    macro_rules! both {
        ($name:ident, $test:expr) => {
            #[test]
            fn $name() {
                let test: fn(&Path, &mut dyn FnMut(&Path), &mut dyn FnMut(Duration) -> bool) = $test;
                let watch = std::cell::RefCell::new(Watch::begin());
                let folder = tempfile::tempdir().unwrap();
                test(folder.path(), &mut |at| watch.borrow_mut().add(at), &mut |time| watch.borrow_mut().wait(time));
                let watch = std::cell::RefCell::new(polling::Watch::default());
                let folder = tempfile::tempdir().unwrap();
                test(folder.path(), &mut |at| watch.borrow_mut().add(at), &mut |time| watch.borrow_mut().wait(time));
            }
        };
    }

    both!(earlier_changes_are_noticed, |folder, add, wait| {
        add(folder);
        assert!(!wait(SHORT));
        fs::write(folder.join("new"), "").unwrap();
        assert!(wait(Duration::ZERO));
        add(folder);
        // This happens within one tick of the file system's clock.
        fs::rename(folder.join("new"), folder.join("other")).unwrap();
        assert!(wait(LONG));
        add(folder);
        wait(SHORT);
        assert!(!wait(SHORT), "that is all");
    });

    both!(changes_while_waiting_are_noticed_at_once, |folder, add, wait| {
        add(folder);
        let file = folder.join("new");
        let begun = Instant::now();
        let writer = thread::spawn(move || {
            thread::sleep(SHORT);
            fs::write(file, "").unwrap();
        });
        assert!(wait(LONG) && begun.elapsed() >= SHORT && begun.elapsed() < LONG / 2);
        writer.join().unwrap();
    });

    both!(a_missing_folder_is_not_watched, |folder, add, wait| {
        let below = folder.join("below");
        add(folder);
        add(&below);
        assert!(!wait(SHORT));
        fs::create_dir(&below).unwrap();
        assert!(wait(Duration::ZERO));
        add(folder);
        add(&below);
        fs::write(below.join("new"), "").unwrap();
        assert!(wait(LONG));
    });
}
