//! A single inotify instance for everything that a process watches, because each user only has 128 of them.

use std::{
    collections::BTreeMap,
    io,
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
    thread,
    time::{Duration, Instant},
};

use super::{Moved, system};

/// The instance of this process, while anything is watched.
static SHARED: Mutex<Weak<Instance>> = Mutex::new(Weak::new());
/// The interval at which to check whether anything is still watched.
const STEP: Duration = Duration::from_secs(1);

/// The folders that one part of the process watches.
#[derive(Debug)]
pub struct Subscription {
    instance: Arc<Instance>,
    flag: Arc<Flag>,
}

#[derive(Debug)]
struct Instance {
    system: system::Watch,
    /// Held from reading events until their waiters are woken.
    reading: Mutex<()>,
    /// The waiters for each folder, by watch descriptor.
    waiting: Mutex<BTreeMap<i32, Vec<Weak<Flag>>>>,
}

/// Whether anything changed since the last check.
#[derive(Debug, Default)]
struct Flag {
    moved: Mutex<bool>,
    raised: Condvar,
}

impl Subscription {
    /// Starts a subscription without folders.
    ///
    /// # Errors
    /// Returns an error if the system has no instance left, or does not support this.
    pub fn begin() -> io::Result<Self> {
        let mut shared = locked(&SHARED);
        let instance = match shared.upgrade() {
            Some(instance) => instance,
            None => {
                let new = Arc::new(Instance {
                    system: system::Watch::new()?,
                    reading: Mutex::default(),
                    waiting: Mutex::default(),
                });
                let held = Arc::downgrade(&new);
                *shared = held.clone();
                thread::Builder::new().name("watch".into()).spawn(move || listen(&held))?;
                new
            }
        };
        Ok(Self { instance, flag: Arc::default() })
    }

    /// Watches an additional folder.
    ///
    /// # Errors
    /// Returns an error if it does not exist, or the system cannot watch more folders.
    pub fn add(&self, folder: &Path) -> io::Result<()> {
        // Held while the system assigns a descriptor, so that none of its events is lost.
        let mut waiting = locked(&self.instance.waiting);
        let number = self.instance.system.add(folder)?;
        let flags = waiting.entry(number).or_default();
        flags.retain(|flag| flag.strong_count() > 0);
        if !flags.iter().any(|flag| flag.as_ptr() == Arc::as_ptr(&self.flag)) {
            flags.push(Arc::downgrade(&self.flag));
        }
        Ok(())
    }

    /// Waits until something changed in the folders since the last call, or until the timeout. Returns whether
    /// something changed. A change before the call is always noticed.
    pub fn wait(&self, timeout: Duration) -> bool {
        // The thread may not have read the latest events yet.
        self.instance.pass_on();
        let (end, mut moved) = (Instant::now() + timeout, locked(&self.flag.moved));
        while !*moved {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            moved = self.flag.raised.wait_timeout(moved, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *moved = false;
        true
    }
}

impl Instance {
    /// Reads pending events, and wakes their waiters. Returns whether they could be read.
    fn pass_on(&self) -> bool {
        let _reading = locked(&self.reading);
        let moved = self.system.read();
        if let Err(error) = &moved {
            tracing::warn!(%error, "cannot watch for changes");
        }
        let is_read = moved.is_ok();
        self.wake(&moved.unwrap_or(Moved { is_all: true, ..Moved::default() }));
        is_read
    }

    fn wake(&self, moved: &Moved) {
        let mut waiting = locked(&self.waiting);
        let concerned = waiting.iter().filter(|(number, _)| moved.is_all || moved.folders.contains(number));
        for flag in concerned.flat_map(|(_, flags)| flags).filter_map(Weak::upgrade) {
            *locked(&flag.moved) = true;
            flag.raised.notify_all();
        }
        waiting.retain(|number, _| !moved.gone.contains(number));
    }
}

/// Forwards events for as long as anything is watched.
fn listen(instance: &Weak<Instance>) {
    while let Some(instance) = instance.upgrade() {
        if instance.system.wait(STEP).is_err() || !instance.pass_on() {
            thread::sleep(STEP);
        }
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(10);
    const SHORT: Duration = Duration::from_millis(300);

    #[test]
    fn each_subscription_sees_its_own_folders_through_one_instance() {
        let top = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| top.path().join(name));
        for folder in [&one, &other] {
            std::fs::create_dir(folder).unwrap();
        }
        let first = Subscription::begin().unwrap();
        let second = Subscription::begin().unwrap();
        assert!(Arc::ptr_eq(&first.instance, &second.instance));
        first.add(&one).unwrap();
        second.add(&one).unwrap();
        second.add(&other).unwrap();
        std::fs::write(other.join("file"), "").unwrap();
        assert!(second.wait(LONG) && !first.wait(SHORT));
        std::fs::write(one.join("file"), "").unwrap();
        assert!(first.wait(LONG) && second.wait(LONG));
        assert!(!first.wait(SHORT), "each change is told once");
        drop(second);
        std::fs::remove_file(one.join("file")).unwrap();
        assert!(first.wait(LONG));
    }

    #[test]
    fn locks_are_ignored_but_renaming_them_is_not() {
        let top = tempfile::tempdir().unwrap();
        let watch = Subscription::begin().unwrap();
        watch.add(top.path()).unwrap();
        std::fs::write(top.path().join("ref.lock"), "").unwrap();
        assert!(!watch.wait(SHORT));
        std::fs::rename(top.path().join("ref.lock"), top.path().join("ref")).unwrap();
        assert!(watch.wait(LONG));
        assert!(watch.add(&top.path().join("nothing")).is_err());
    }
}
