//! The store's cache: a file of parts, to which new parts are appended, and the snapshot that says where they are,
//! which is replaced atomically. Both can be deleted at any time, and the store works without them if they cannot be
//! written.

use std::{
    ffi::OsStr,
    fs::{File, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
};

use tempfile::{NamedTempFile, TempPath};

use crate::{
    platform::files::{self, Stamp},
    store::{Cache, CachedData, Renewal, Since, StoreError},
};

/// The number of seconds after which two changes have different timestamps on any file system.
const TICK: i64 = 2;

/// The start of the name of a file of parts.
const PARTS: &str = "parts-";
/// The number of random characters in the rest of that name.
const RANDOM: usize = 6;
/// The length of the first line of the snapshot, the name of the file of parts.
const FIRST_LINE: usize = PARTS.len() + RANDOM + 1;
/// The number of unused bytes that a file of parts may have. Beyond it, the file is replaced if the unused bytes also
/// outnumber the used ones.
const MAX_UNUSED: u64 = 1 << 20;

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
    fn stamp_refs(&self) -> Option<(String, i64)> {
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
        let open = || Open::at(&self.folder());
        // Another process may have replaced both files between opening the snapshot and its parts.
        Some(Box::new(open().or_else(open)?))
    }

    fn file(&self) -> PathBuf {
        self.folder().join("snapshot")
    }

    fn noted(&self) -> Option<String> {
        std::fs::read_to_string(self.note()).ok()
    }

    fn clear(&self) -> Result<u64, StoreError> {
        let _ = std::fs::remove_file(self.note());
        let mut freed = 0;
        for file in std::iter::once(self.file()).chain(files_named(&self.folder(), &[PARTS])) {
            let size = file.metadata().map_or(0, |meta| meta.len());
            match std::fs::remove_file(&file) {
                Ok(()) => freed += size,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(StoreError::io("remove", file)(error)),
            }
        }
        Ok(freed)
    }

    fn stamp(&self) -> Option<String> {
        self.stamp_refs().map(|(stamp, _)| stamp)
    }

    fn renew(&self, since: Option<Since<'_>>) -> Option<Box<dyn Renewal>> {
        let folder = self.folder();
        super::make_folder(&folder).ok()?;
        let lock = File::create(folder.join("lock")).ok()?;
        lock.try_lock().ok()?;
        let current = Open::at(&folder);
        sweep(&folder, current.as_ref().map(|open| &*open.name));
        let snapshot = tempfile::Builder::new().prefix("new-").tempfile_in(&folder).ok()?;
        // Use the file system's clock, which may differ from that of this machine.
        let now = Stamp::of_file(snapshot.as_file()).ok()?.modified.0;
        let (stamp, newest) = self.stamp_refs()?;
        let is_settled = newest + TICK < now;
        let parts = Parts::reuse(&folder, current, since).or_else(|| Parts::create(&folder))?;
        Some(Box::new(Replacement { stamp, is_settled, parts, snapshot, folder, note: self.note(), _lock: lock }))
    }
}

/// A snapshot and its parts.
struct Open {
    snapshot: File,
    parts: File,
    /// The name of the file of parts.
    name: String,
}

impl Open {
    fn at(folder: &Path) -> Option<Self> {
        let snapshot = File::open(folder.join("snapshot")).ok()?;
        let mut line = [0; FIRST_LINE];
        files::read_exact_at(&snapshot, &mut line, 0).ok()?;
        let name = std::str::from_utf8(&line).ok()?.strip_suffix('\n')?.to_owned();
        let is_plain = |random: &str| random.bytes().all(|byte| byte.is_ascii_alphanumeric());
        name.strip_prefix(PARTS).filter(|random| is_plain(random))?;
        let parts = File::open(folder.join(&name)).ok()?;
        Some(Self { snapshot, parts, name })
    }
}

impl CachedData for Open {
    fn size(&self) -> Option<u64> {
        Some(self.snapshot.metadata().ok()?.len() + self.parts.metadata().ok()?.len())
    }

    fn identity(&self) -> Option<String> {
        Some(one(&Stamp::of_file(&self.snapshot).ok()?))
    }

    fn index(&self) -> Option<Vec<u8>> {
        let len = self.snapshot.metadata().ok()?.len().checked_sub(FIRST_LINE as u64)?;
        bytes(&self.snapshot, FIRST_LINE as u64, usize::try_from(len).ok()?)
    }

    fn part(&self, at: u64, len: usize) -> Option<Vec<u8>> {
        bytes(&self.parts, at, len)
    }
}

/// Reads a piece of a file, without allocating more than the size of the file.
fn bytes(file: &File, at: u64, len: usize) -> Option<Vec<u8>> {
    let end = at.checked_add(u64::try_from(len).ok()?)?;
    if file.metadata().ok()?.len() < end {
        return None;
    }
    let mut bytes = vec![0; len];
    files::read_exact_at(file, &mut bytes, at).ok()?;
    Some(bytes)
}

/// A file of parts that is written to.
struct Parts {
    file: File,
    name: String,
    /// The length of the file at the start.
    start: u64,
    /// The path of a file that no snapshot refers to yet. Dropping it removes the file.
    new: Option<TempPath>,
}

impl Parts {
    /// Opens the file that the current snapshot refers to, if that snapshot is the one that the caller read, no parts
    /// are missing, and not too many bytes are unused.
    fn reuse(folder: &Path, current: Option<Open>, since: Option<Since<'_>>) -> Option<Self> {
        let (current, since) = (current?, since?);
        if current.identity()? != since.identity {
            return None;
        }
        let file = OpenOptions::new().append(true).open(folder.join(&current.name)).ok()?;
        let start = file.metadata().ok()?.len();
        // A file that is shorter than its parts is damaged.
        let unused = start.checked_sub(since.used)?;
        (unused <= since.used.max(MAX_UNUSED)).then_some(Self { file, name: current.name, start, new: None })
    }

    fn create(folder: &Path) -> Option<Self> {
        let file = tempfile::Builder::new().prefix(PARTS).rand_bytes(RANDOM).tempfile_in(folder).ok()?;
        let name = file.path().file_name()?.to_str()?.to_owned();
        let (file, path) = file.into_parts();
        Some(Self { file, name, start: 0, new: Some(path) })
    }
}

/// A new snapshot that is being written.
struct Replacement {
    stamp: String,
    is_settled: bool,
    parts: Parts,
    snapshot: NamedTempFile,
    folder: PathBuf,
    note: PathBuf,
    _lock: File,
}

impl Renewal for Replacement {
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

    fn start(&self) -> u64 {
        self.parts.start
    }

    fn write(&mut self, bytes: &[u8]) -> bool {
        self.parts.file.write_all(bytes).is_ok()
    }

    fn keep(mut self: Box<Self>, index: &[u8]) -> Option<Box<dyn CachedData>> {
        // Not flushed: incomplete files fail their checksums.
        self.snapshot.write_all(format!("{}\n", self.parts.name).as_bytes()).ok()?;
        self.snapshot.write_all(index).ok()?;
        let is_new = self.parts.new.is_some();
        if let Some(path) = self.parts.new {
            path.keep().ok()?;
        }
        self.snapshot.persist(self.folder.join("snapshot")).ok()?;
        if is_new {
            sweep(&self.folder, Some(&self.parts.name));
        }
        Some(Box::new(Open::at(&self.folder)?))
    }
}

/// Removes files left by killed writers, and parts that no snapshot refers to. The caller holds the lock, so no other
/// writer is alive.
fn sweep(folder: &Path, used: Option<&str>) {
    for file in files_named(folder, &["new-", PARTS]) {
        if file.file_name().and_then(|name| name.to_str()) != used {
            let _ = std::fs::remove_file(file);
        }
    }
}

/// Returns the files whose names start with one of the prefixes.
fn files_named(folder: &Path, prefixes: &[&str]) -> impl Iterator<Item = PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().filter_map(Result::ok);
    let is_named = |name: &OsStr| prefixes.iter().any(|prefix| name.as_encoded_bytes().starts_with(prefix.as_bytes()));
    entries.filter(move |entry| is_named(&entry.file_name())).map(|entry| entry.path())
}
