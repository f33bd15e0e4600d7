//! Locks between processes: one file each, locked by the kernel, so that a killed holder lets go
//! by dying. The file's text only tells people who holds it.

use std::{
    cell::Cell,
    fs::{File, OpenOptions, TryLockError},
    io::{Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::Options;
use crate::store::{Lease, StoreError};

/// Shortest and longest wait between two tries, in microseconds.
const WAITS: std::ops::RangeInclusive<u64> = 200..=20_000;

/// The lock files of one store.
#[derive(Debug)]
pub(super) struct Locks {
    folder: PathBuf,
    timeout: Duration,
    random: Cell<u64>,
}

/// A held lock.
#[derive(Debug)]
pub(super) struct Held {
    file: File,
    path: PathBuf,
}

impl Lease for Held {}

impl Locks {
    pub(super) fn new(folder: PathBuf, options: Options) -> Self {
        Self { folder, timeout: options.lock_timeout, random: Cell::new(options.seed | 1) }
    }

    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Waits for the lock `name`.
    ///
    /// # Errors
    /// [`StoreError::Locked`] with who holds it and for how long, once the time is over.
    pub(super) fn acquire(&self, name: &str) -> Result<Held, StoreError> {
        let path = self.folder.join(name);
        let mut file = self.open(&path)?;
        let start = Instant::now();
        let mut tries = 0;
        loop {
            match file.try_lock() {
                Ok(()) => {
                    let text = format!("pid {} boot {}\n", std::process::id(), boot_id());
                    tracing::debug!(name, tries, "locked");
                    let mut held = Held { file, path };
                    // What a dead holder left below its first line is the journal's to read.
                    held.replace_first_line(&text)?;
                    return Ok(held);
                }
                Err(TryLockError::WouldBlock) if start.elapsed() < self.timeout => {
                    std::thread::sleep(self.wait(tries));
                    tries += 1;
                }
                Err(TryLockError::WouldBlock) => return Err(locked(&path, holder(&mut file))),
                Err(TryLockError::Error(error)) => return Err(StoreError::io("lock", path)(error)),
            }
        }
    }

    fn open(&self, path: &Path) -> Result<File, StoreError> {
        let open = || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        match open() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                std::fs::create_dir_all(&self.folder).map_err(StoreError::io("create", &self.folder))?;
                open().map_err(StoreError::io("open", path))
            }
            result => result.map_err(StoreError::io("open", path)),
        }
    }

    /// A random wait, longer on average the more often was tried: writers that collided once must
    /// not collide again in step.
    pub(super) fn wait(&self, tries: u32) -> Duration {
        // xorshift64: any spread will do, and it must not cost a dependency.
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.set(x);
        let most = (WAITS.start() << tries.min(8)).min(*WAITS.end());
        Duration::from_micros(WAITS.start() + x % most)
    }
}

impl Held {
    /// Returns the text below the first line.
    pub(super) fn notes(&mut self) -> Result<String, StoreError> {
        let text = self.text()?;
        Ok(text.split_once('\n').map(|(_, notes)| notes.to_owned()).unwrap_or_default())
    }

    /// Replaces the text below the first line.
    pub(super) fn set_notes(&mut self, notes: &str) -> Result<(), StoreError> {
        let text = self.text()?;
        let first = text.split_inclusive('\n').next().unwrap_or_default().to_owned();
        self.write(&format!("{first}{notes}"))
    }

    fn replace_first_line(&mut self, line: &str) -> Result<(), StoreError> {
        let notes = self.notes()?;
        self.write(&format!("{line}{notes}"))
    }

    fn text(&mut self) -> Result<String, StoreError> {
        let mut text = Vec::new();
        self.file
            .rewind()
            .and_then(|()| self.file.read_to_end(&mut text))
            .map_err(StoreError::io("read", &self.path))?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn write(&mut self, text: &str) -> Result<(), StoreError> {
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
        ("pid", Ok(pid), boot) if boot == Some(&boot_id()) => Some(format!("process {pid}")),
        ("pid", Ok(pid), _) => Some(format!("process {pid} of another machine or boot")),
        _ => None,
    }
}

/// Returns the error for a lock file that somebody else keeps.
pub(super) fn locked(path: &Path, holder: Option<String>) -> StoreError {
    let age = path.metadata().and_then(|meta| meta.modified()).ok().and_then(|time| time.elapsed().ok());
    StoreError::Locked { lock: path.to_owned(), holder, age }
}

/// Tells one boot of one machine from every other; empty where the system does not say.
fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}
