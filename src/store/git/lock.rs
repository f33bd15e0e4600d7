//! Locks between processes. Each is a file locked by the kernel, so that the lock of a killed
//! process is released. The text in the file only shows users who holds the lock.

use std::{
    cell::Cell,
    fs::{File, OpenOptions, TryLockError},
    io::{Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
    sync::OnceLock,
    time::{Duration, Instant, SystemTime},
};

use super::Options;
use crate::{
    platform::{files, locks},
    store::{Lease, StoreError},
};

/// The minimum and maximum wait between two attempts, in microseconds.
const WAITS: std::ops::RangeInclusive<u64> = 200..=20_000;
/// The time after which a waiting write is reported.
const TOLD: Duration = Duration::from_secs(2);

/// The lock files of one store.
#[derive(Debug)]
pub(super) struct Locks {
    folder: PathBuf,
    timeout: Duration,
    random: Cell<u64>,
    on_wait: Option<fn(&Path, Option<&str>)>,
}

/// A held lock, which is released on drop.
#[derive(Debug)]
pub(super) struct HeldLock {
    file: File,
    path: PathBuf,
    /// When a dead holder wrote its records, according to the file system's clock.
    noted_at: Option<SystemTime>,
}

/// A shared lock, which several processes can hold at the same time.
#[derive(Debug)]
pub(super) struct Shared(#[expect(dead_code, reason = "it is locked as long as it is open")] File);

impl Lease for Shared {}

/// The state of one wait for a lock.
#[derive(Debug)]
pub(super) struct Wait<'a> {
    locks: &'a Locks,
    start: Instant,
    tries: u32,
    is_told: bool,
}

impl Lease for HeldLock {}

impl Locks {
    pub(super) fn new(folder: PathBuf, options: Options) -> Self {
        Self { folder, timeout: options.lock_timeout, random: Cell::new(options.seed | 1), on_wait: options.on_wait }
    }

    /// Waits for the lock `name`.
    ///
    /// # Errors
    /// Returns [`StoreError::Locked`] with the holder and the age of the lock if the deadline has passed.
    pub(super) fn acquire(&self, name: &str) -> Result<HeldLock, StoreError> {
        self.acquire_within(&mut self.begin(), name)
    }

    /// Does the same as [`Self::acquire`], but continues an earlier wait.
    ///
    /// # Errors
    /// Returns the errors of [`Self::acquire`].
    pub(super) fn acquire_within(&self, wait: &mut Wait<'_>, name: &str) -> Result<HeldLock, StoreError> {
        let path = self.folder.join(name);
        let file = self.locked(wait, &path, File::try_lock)?;
        tracing::debug!(name, tries = wait.tries, "locked");
        HeldLock::signed(file, path)
    }

    /// Takes the lock `name` if it is free.
    pub(super) fn try_acquire(&self, name: &str) -> Option<HeldLock> {
        let path = self.folder.join(name);
        let file = self.open(&path).ok()?;
        file.try_lock().ok()?;
        HeldLock::signed(file, path).ok()
    }

    /// Waits for the lock `name` in shared mode.
    ///
    /// # Errors
    /// Returns [`StoreError::Locked`] with the exclusive holder if the deadline has passed.
    pub(super) fn share(&self, name: &str) -> Result<Shared, StoreError> {
        self.locked(&mut self.begin(), &self.folder.join(name), File::try_lock_shared).map(Shared)
    }

    /// Opens a lock file and waits until it is locked.
    fn locked(
        &self,
        wait: &mut Wait<'_>,
        path: &Path,
        try_lock: impl Fn(&File) -> Result<(), TryLockError>,
    ) -> Result<File, StoreError> {
        let mut file = self.open(path)?;
        loop {
            match try_lock(&file) {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) => wait.step(path, || holder(&mut file))?,
                Err(TryLockError::Error(error)) => return Err(StoreError::io("lock", path)(error)),
            }
        }
    }

    /// Starts a wait. Its deadline is relative to now.
    pub(super) fn begin(&self) -> Wait<'_> {
        Wait { locks: self, start: Instant::now(), tries: 0, is_told: false }
    }

    fn open(&self, path: &Path) -> Result<File, StoreError> {
        let open = || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        match open() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                // This fails if the store was deleted, instead of leaving a part of one.
                files::make_folder_and_parent(&self.folder).map_err(StoreError::io("create", &self.folder))?;
                open().map_err(StoreError::io("open", path))
            }
            result => result.map_err(StoreError::io("open", path)),
        }
    }

    /// Returns a random wait that grows with the number of attempts, so that colliding writers do not collide again.
    pub(super) fn wait(&self, tries: u32) -> Duration {
        // xorshift64: quality hardly matters here, and this needs no dependency.
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.set(x);
        let most = (WAITS.start() << tries.min(8)).min(*WAITS.end());
        Duration::from_micros(WAITS.start() + x % most)
    }
}

impl Wait<'_> {
    /// Waits a little for the lock with the file `path`.
    ///
    /// # Errors
    /// Returns [`StoreError::Locked`] if the deadline has passed.
    pub(super) fn step(&mut self, path: &Path, holder: impl FnOnce() -> Option<String>) -> Result<(), StoreError> {
        if self.is_over() {
            return Err(locked(path, holder()));
        }
        if let (false, Some(tell)) = (self.is_told, self.locks.on_wait.filter(|_| self.start.elapsed() >= TOLD)) {
            self.is_told = true;
            tell(path, holder().as_deref());
        }
        std::thread::sleep(self.locks.wait(self.tries));
        self.tries += 1;
        Ok(())
    }

    /// Returns whether the deadline has passed.
    pub(super) fn is_over(&self) -> bool {
        self.start.elapsed() >= self.locks.timeout
    }
}

impl HeldLock {
    /// Writes the holder to the first line. A file with records of a dead holder is left unchanged until the journal
    /// has processed them: if this holder dies too, the new modification time would make the records look too new.
    fn signed(file: File, path: PathBuf) -> Result<Self, StoreError> {
        let mut held = Self { file, path, noted_at: None };
        if held.notes()?.is_empty() {
            held.set_notes("")?;
        } else {
            held.noted_at = held.file.metadata().and_then(|meta| meta.modified()).ok();
        }
        Ok(held)
    }

    /// Returns when a dead holder wrote the records that were found.
    pub(super) fn noted_at(&self) -> Option<SystemTime> {
        self.noted_at
    }

    /// Returns the text after the first line, which is the records of the journal.
    pub(super) fn notes(&mut self) -> Result<String, StoreError> {
        let mut text = Vec::new();
        self.file
            .rewind()
            .and_then(|()| self.file.read_to_end(&mut text))
            .map_err(StoreError::io("read", &self.path))?;
        let text = String::from_utf8_lossy(&text);
        Ok(text.split_once('\n').map(|(_, notes)| notes.to_owned()).unwrap_or_default())
    }

    /// Replaces the text after the first line.
    pub(super) fn set_notes(&mut self, notes: &str) -> Result<(), StoreError> {
        let text = format!("pid {} boot {}\n{notes}", std::process::id(), boot_id());
        let mut write = || {
            self.file.rewind()?;
            self.file.write_all(text.as_bytes())?;
            self.file.set_len(text.len() as u64)
        };
        write().map_err(StoreError::io("write", &self.path))
    }
}

fn holder(file: &mut File) -> Option<String> {
    let mut text = String::new();
    file.rewind().and_then(|()| file.take(200).read_to_string(&mut text)).ok()?;
    let mut words = text.lines().next()?.split(' ');
    match (words.next()?, words.next()?.parse::<u32>(), words.nth(1)) {
        ("pid", Ok(pid), boot) if boot == Some(boot_id()) => Some(format!("process {pid}")),
        ("pid", Ok(pid), _) => Some(format!("process {pid} of another machine or boot")),
        _ => None,
    }
}

/// Returns the error for a lock file that another process holds.
pub(super) fn locked(path: &Path, holder: Option<String>) -> StoreError {
    let age = path.metadata().and_then(|meta| meta.modified()).ok().and_then(|time| time.elapsed().ok());
    StoreError::Locked { lock: path.to_owned(), holder, age }
}

/// Returns the id of the current boot, or an empty string if the system has none.
fn boot_id() -> &'static str {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(locks::boot_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second writer that dies while it processes the records of the first must not make them unusable. Otherwise
    /// the files that they name would block every later write.
    #[test]
    fn records_keep_their_time_until_they_are_processed() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { lock_timeout: Duration::ZERO, seed: 1, cache: false, holds: false, on_wait: None };
        let locks = Locks::new(folder.path().to_owned(), options);
        let path = folder.path().join("_refs");
        std::fs::write(&path, "pid 7 boot another\n- packed-refs.lock\n").unwrap();
        let noted_at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        File::options().write(true).open(&path).unwrap().set_modified(noted_at).unwrap();

        drop(locks.acquire("_refs").unwrap());
        let mut held = locks.acquire("_refs").unwrap();
        assert_eq!(held.noted_at(), Some(noted_at));
        assert_eq!(held.notes().unwrap(), "- packed-refs.lock\n");

        held.set_notes("").unwrap();
        drop(held);
        assert_eq!(locks.acquire("_refs").unwrap().noted_at(), None);
    }
}
