//! One inotify instance for all that a process watches: a user has 128 of them.

use std::{
    collections::BTreeMap,
    io,
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

/// The instance of this process, while somebody watches anything.
static SHARED: Mutex<Weak<Instance>> = Mutex::new(Weak::new());
/// How often is looked whether anybody still does.
const STEP: Duration = Duration::from_secs(1);

/// Some folders that one part of the process watches.
#[derive(Debug)]
pub struct Subscription {
    instance: Arc<Instance>,
    flag: Arc<Flag>,
}

#[derive(Debug)]
struct Instance {
    system: system::Watch,
    /// Who waits for a folder, by the number that the system gave it.
    waiting: Mutex<BTreeMap<i32, Vec<Weak<Flag>>>>,
}

/// Whether anything changed since it was asked last.
#[derive(Debug, Default)]
struct Flag {
    moved: Mutex<bool>,
    raised: Condvar,
}

/// In which folders something changed.
#[derive(Debug, Default)]
struct Moved {
    folders: Vec<i32>,
    /// Those that were removed: their numbers are not given again.
    gone: Vec<i32>,
    /// Whether there was more than the system could hold.
    is_all: bool,
}

impl Subscription {
    /// Begins to watch nothing yet.
    ///
    /// # Errors
    /// Returns an error if the system has no instance left, or does not have such a thing.
    pub fn begin() -> io::Result<Self> {
        let mut shared = locked(&SHARED);
        let instance = match shared.upgrade() {
            Some(instance) => instance,
            None => {
                let new = Arc::new(Instance { system: system::Watch::new()?, waiting: Mutex::default() });
                let held = Arc::downgrade(&new);
                *shared = held.clone();
                std::thread::Builder::new().name("watch".into()).spawn(move || listen(&held))?;
                new
            }
        };
        Ok(Self { instance, flag: Arc::default() })
    }

    /// Watches a folder too.
    ///
    /// # Errors
    /// Returns an error if it is not there, or the system can watch no more.
    pub fn add(&self, folder: &Path) -> io::Result<()> {
        // Held while the system gives a number, so that no event of it is lost.
        let mut waiting = locked(&self.instance.waiting);
        let number = self.instance.system.add(folder)?;
        let flags = waiting.entry(number).or_default();
        flags.retain(|flag| flag.strong_count() > 0);
        if !flags.iter().any(|flag| flag.as_ptr() == Arc::as_ptr(&self.flag)) {
            flags.push(Arc::downgrade(&self.flag));
        }
        Ok(())
    }

    /// Waits until something changed in the folders since the last call, or the time is over. Returns whether it did.
    pub fn wait(&self, timeout: Duration) -> bool {
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

/// Passes on what the system tells, as long as anybody watches.
fn listen(instance: &Weak<Instance>) {
    while let Some(instance) = instance.upgrade() {
        match instance.system.wait(STEP) {
            Ok(moved) => instance.wake(&moved),
            Err(error) => {
                tracing::warn!(%error, "cannot hear of changes");
                instance.wake(&Moved { is_all: true, ..Moved::default() });
                std::thread::sleep(STEP);
            }
        }
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(target_os = "linux")]
mod system {
    use std::{io, mem::MaybeUninit, os::fd::OwnedFd, path::Path, time::Duration};

    use rustix::{
        event::{PollFd, PollFlags, Timespec, poll},
        fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init},
        io::Errno,
    };

    use super::Moved;

    #[derive(Debug)]
    pub struct Watch(OwnedFd);

    impl Watch {
        pub fn new() -> io::Result<Self> {
            Ok(Self(init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?))
        }

        /// Returns the number of the folder.
        pub fn add(&self, folder: &Path) -> io::Result<i32> {
            let events = WatchFlags::MOVED_TO | WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::ONLYDIR;
            Ok(add_watch(&self.0, folder, events)?)
        }

        pub fn wait(&self, timeout: Duration) -> io::Result<Moved> {
            let timeout = Timespec::try_from(timeout).unwrap_or_default();
            let mut moved = Moved::default();
            match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&timeout)) {
                Ok(0) | Err(Errno::INTR) => return Ok(moved),
                result => result?,
            };
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut events = Reader::new(&self.0, &mut buffer);
            loop {
                match events.next() {
                    Ok(event) => {
                        moved.is_all |= event.events().contains(ReadFlags::QUEUE_OVERFLOW);
                        moved.gone.extend(event.events().contains(ReadFlags::IGNORED).then(|| event.wd()));
                        // Locks come and go before and after a ref moves, and say nothing.
                        if !event.file_name().is_some_and(|name| name.to_bytes().ends_with(b".lock")) {
                            moved.folders.push(event.wd());
                        }
                    }
                    Err(Errno::AGAIN) => return Ok(moved),
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::{io, path::Path, time::Duration};

    use super::Moved;

    /// Other systems have none.
    #[derive(Debug)]
    pub enum Watch {}

    impl Watch {
        pub fn new() -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub fn add(&self, _: &Path) -> io::Result<i32> {
            match *self {}
        }

        pub fn wait(&self, _: Duration) -> io::Result<Moved> {
            match *self {}
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(10);
    const SHORT: Duration = Duration::from_millis(300);

    #[test]
    fn each_hears_of_its_own_folders_through_one_instance() {
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
    fn a_lock_is_no_change_and_what_takes_its_name_is() {
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
