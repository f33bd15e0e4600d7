//! Waiting until something is renamed, made or removed in folders.

#[cfg(target_os = "linux")]
mod inotify;
// Linux tests what other systems use.
#[cfg(any(test, not(target_os = "linux")))]
mod polling;

use std::{io, path::Path, time::Duration};

#[cfg(target_os = "linux")]
use inotify as system;
#[cfg(not(target_os = "linux"))]
use polling as system;

/// A watch over folders: by inotify on Linux, elsewhere by comparing their times 40 times a second.
#[derive(Debug)]
pub struct Watch(system::Watch);

impl Watch {
    /// Returns a watch over nothing yet.
    ///
    /// # Errors
    /// Returns an error if the system's resources for it are used up.
    pub fn new() -> io::Result<Self> {
        system::Watch::new().map(Self)
    }

    /// Watches one more folder, or one that was watched under another name or before it was made anew. One that is
    /// not there is not watched.
    pub fn add(&mut self, folder: &Path) {
        self.0.add(folder);
    }

    /// Waits until something may have happened since the last call, or the time is over. Returns whether something may
    /// have happened. What was done before the call is noticed; where times are compared, up to 25 ms later.
    ///
    /// # Errors
    /// Returns an error if the system fails.
    pub fn wait(&mut self, timeout: Duration) -> io::Result<bool> {
        self.0.wait(timeout)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, thread, time::Instant};

    use super::*;

    const SHORT: Duration = Duration::from_millis(60);
    const LONG: Duration = Duration::from_secs(20);

    /// Runs one test against both ways to watch.
    macro_rules! both {
        ($name:ident, $test:expr) => {
            #[test]
            fn $name() {
                let test: fn(&Path, &mut dyn FnMut(&Path), &mut dyn FnMut(Duration) -> bool) = $test;
                let watch = std::cell::RefCell::new(system::Watch::new().unwrap());
                let folder = tempfile::tempdir().unwrap();
                test(folder.path(), &mut |at| watch.borrow_mut().add(at), &mut |time| {
                    watch.borrow_mut().wait(time).unwrap()
                });
                let watch = std::cell::RefCell::new(polling::Watch::new().unwrap());
                let folder = tempfile::tempdir().unwrap();
                test(folder.path(), &mut |at| watch.borrow_mut().add(at), &mut |time| {
                    watch.borrow_mut().wait(time).unwrap()
                });
            }
        };
    }

    both!(what_was_done_before_is_noticed, |folder, add, wait| {
        add(folder);
        assert!(!wait(SHORT));
        fs::write(folder.join("new"), "").unwrap();
        assert!(wait(Duration::ZERO));
        add(folder);
        // Within one tick of the file system's clock.
        fs::rename(folder.join("new"), folder.join("other")).unwrap();
        assert!(wait(LONG));
        add(folder);
        wait(SHORT);
        assert!(!wait(SHORT), "that is all");
    });

    both!(what_is_done_meanwhile_is_noticed_at_once, |folder, add, wait| {
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

    both!(a_folder_that_is_missing_is_not_watched, |folder, add, wait| {
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
