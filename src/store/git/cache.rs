//! The store's cache: a single file that is replaced atomically. It can be deleted at any time, and the store works
//! without it if it cannot be written.

use std::{
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
};

use crate::{
    platform::files::{self, Stamp},
    store::{Cache, CachedData, Renewal, StoreError},
};

/// The number of seconds after which two changes have different timestamps on any file system.
const TICK: i64 = 2;

/// The cache of one store.
#[derive(Debug)]
pub(super) struct FileCache {
    /// The store.
    top: PathBuf,
}

impl FileCache {
    pub(super) fn new(top: PathBuf) -> Self {
        Self { top }
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.top.join("blue/cache")
    }

    /// Returns the path of the note. The whole note is compared with the stamp, so an incomplete note never matches.
    fn note(&self) -> PathBuf {
        self.folder().join("at-rest")
    }

    /// Returns the stamp of the shared refs, and the time of their last change in seconds. Every way to write a ref
    /// renames a file in its folder, or replaces packed-refs.
    fn look(&self) -> Option<(String, i64)> {
        let mut stamp = String::new();
        let mut newest = i64::MIN;
        for name in ["packed-refs", "refs/blue", "refs/blue/domains"] {
            match Stamp::of(&self.top.join(name)) {
                Ok(now) => {
                    newest = newest.max(now.modified.0).max(now.changed.0);
                    stamp += &one(&now);
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => stamp += "none",
                Err(_) => return None,
            }
            stamp.push(' ');
        }
        Some((stamp, newest))
    }
}

fn one(stamp: &Stamp) -> String {
    let Stamp { identity, is_folder: _, size, modified, changed } = stamp;
    let times = [modified.0, modified.1, changed.0, changed.1].map(|time| time.to_string());
    format!("{}:{}:{size}:{}", identity.device, identity.file, times.join(":"))
}

impl Cache for FileCache {
    fn open(&self) -> Option<Box<dyn CachedData>> {
        Some(Box::new(Open(File::open(self.file()).ok()?)))
    }

    fn file(&self) -> PathBuf {
        self.folder().join("snapshot")
    }

    fn noted(&self) -> Option<String> {
        std::fs::read_to_string(self.note()).ok()
    }

    fn clear(&self) -> Result<u64, StoreError> {
        let _ = std::fs::remove_file(self.note());
        // The first pages of lists are small, and recreated by the next long list.
        let _ = std::fs::remove_dir_all(self.folder().join("pending"));
        let file = self.file();
        let size = file.metadata().map_or(0, |meta| meta.len());
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io("remove", file)(error)),
            _ => Ok(size),
        }
    }

    fn stamp(&self) -> Option<String> {
        self.look().map(|(stamp, _)| stamp)
    }

    fn renew(&self) -> Option<Box<dyn Renewal>> {
        let folder = self.folder();
        std::fs::create_dir_all(&folder).ok()?;
        let lock = File::create(folder.join("lock")).ok()?;
        lock.try_lock().ok()?;
        sweep(&folder);
        let new = tempfile::Builder::new().prefix("new-").tempfile_in(&folder).ok()?;
        // Use the file system's clock, which may differ from that of this machine.
        let now = Stamp::of_file(new.as_file()).ok()?.modified.0;
        let (stamp, newest) = self.look()?;
        let is_settled = newest + TICK < now;
        Some(Box::new(Begun { stamp, is_settled, new, file: self.file(), note: self.note(), _lock: lock }))
    }
}

struct Open(File);

impl CachedData for Open {
    fn size(&self) -> Option<u64> {
        Some(self.0.metadata().ok()?.len())
    }

    fn identity(&self) -> Option<String> {
        Some(one(&Stamp::of_file(&self.0).ok()?))
    }

    fn part(&self, at: u64, len: usize) -> Option<Vec<u8>> {
        // Do not allocate more than the size of the file.
        let end = at.checked_add(u64::try_from(len).ok()?)?;
        if self.size()? < end {
            return None;
        }
        let mut bytes = vec![0; len];
        files::read_exact_at(&self.0, &mut bytes, at).ok()?;
        Some(bytes)
    }
}

struct Begun {
    stamp: String,
    is_settled: bool,
    new: tempfile::NamedTempFile,
    file: PathBuf,
    note: PathBuf,
    _lock: File,
}

impl Renewal for Begun {
    fn stamp(&self) -> &str {
        &self.stamp
    }

    fn is_settled(&self) -> bool {
        self.is_settled
    }

    fn note(&self, line: &str) {
        // If the note cannot be written, the refs are listed again.
        let _ = std::fs::write(&self.note, line);
    }

    fn write(&mut self, bytes: &[u8]) -> bool {
        self.new.write_all(bytes).is_ok()
    }

    fn keep(self: Box<Self>) -> Option<Box<dyn CachedData>> {
        // Not flushed: a partial file fails its checksums.
        Some(Box::new(Open(self.new.persist(&self.file).ok()?)))
    }
}

/// Removes files left by killed writers. The caller holds the lock, so no other writer is alive.
fn sweep(folder: &Path) {
    let entries = folder.read_dir().into_iter().flatten().filter_map(Result::ok);
    for entry in entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"new-")) {
        let _ = std::fs::remove_file(entry.path());
    }
}
