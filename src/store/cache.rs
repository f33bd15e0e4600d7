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

use super::{Comparisons, StoreError};
use crate::platform::files::{self, Stamp};

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

/// The cache of one store: data that can be computed from refs and objects. Losing it costs only time, so most of its
/// methods do not fail.
#[derive(Debug)]
pub struct FileCache {
    /// The store.
    top: PathBuf,
}

impl FileCache {
    pub(super) fn new(top: PathBuf) -> Self {
        Self { top }
    }

    fn folder(&self) -> PathBuf {
        self.top.join("blue/cache")
    }

    /// Returns the path of the note. The whole note is compared with the stamp, so an incomplete note never matches.
    fn note(&self) -> PathBuf {
        self.folder().join("at-rest")
    }

    /// Returns the path of the cache, whether or not it exists.
    pub fn file(&self) -> PathBuf {
        self.folder().join("snapshot")
    }

    /// Returns the cached comparisons of schemas.
    pub fn comparisons(&self) -> Comparisons {
        Comparisons::new(self.comparisons_file())
    }

    fn comparisons_file(&self) -> PathBuf {
        self.folder().join("comparisons")
    }

    /// Returns the cached data.
    pub fn open(&self) -> Option<CachedData> {
        let open = || CachedData::at(&self.folder());
        // Another process may replace both files after the snapshot is opened, so try again.
        open().or_else(open)
    }

    /// Returns the line that was last [noted](Renewal::note).
    pub(super) fn noted(&self) -> Option<String> {
        std::fs::read_to_string(self.note()).ok()
    }

    /// Returns its size in bytes, or `None` if nothing is cached.
    pub fn size(&self) -> Option<u64> {
        self.files().filter_map(|file| Some(file.metadata().ok()?.len())).reduce(|sum, size| sum + size)
    }

    /// Returns the paths of its files, which may not exist.
    fn files(&self) -> impl Iterator<Item = PathBuf> + use<> {
        [self.file(), self.comparisons_file()].into_iter().chain(files_named(&self.folder(), &[PARTS]))
    }

    /// Deletes the cache. Returns its size in bytes.
    ///
    /// # Errors
    /// Returns an error if one of its files cannot be removed.
    pub fn clear(&self) -> Result<u64, StoreError> {
        let _ = std::fs::remove_file(self.note());
        let mut freed = 0;
        for file in self.files() {
            let size = file.metadata().map_or(0, |meta| meta.len());
            match std::fs::remove_file(&file) {
                Ok(()) => freed += size,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(StoreError::io("remove", file)(error)),
            }
        }
        Ok(freed)
    }

    /// Returns a stamp of the refs of the realm and its domains, which changes whenever they do. Does not read the
    /// refs.
    pub(super) fn stamp(&self) -> Option<String> {
        self.stamp_refs().map(|(stamp, _)| stamp)
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

    /// Starts to replace the cached data, or to add to it if the caller `read` the current data, of
    /// which this many bytes of parts are still used. Call this before reading the refs. Returns
    /// `None` if another process is already replacing it, or if nothing can be written.
    pub(super) fn renew(&self, read: Option<(&CachedData, u64)>) -> Option<Renewal> {
        let folder = self.folder();
        files::make_folder_and_parent(&folder).ok()?;
        let lock = File::create(folder.join("lock")).ok()?;
        lock.try_lock().ok()?;
        let current = CachedData::at(&folder);
        sweep(&folder, current.as_ref().map(|current| &*current.name));
        let snapshot = tempfile::Builder::new().prefix("new-").tempfile_in(&folder).ok()?;
        // Use the file system's clock, which may differ from that of this machine.
        let now = Stamp::of_file(snapshot.as_file()).ok()?.modified.0;
        let (stamp, newest) = self.stamp_refs()?;
        let is_settled = newest + TICK < now;
        let parts = Parts::reuse(&folder, current, read).or_else(|| Parts::create(&folder))?;
        Some(Renewal { stamp, is_settled, parts, snapshot, folder, note: self.note(), _lock: lock })
    }
}

fn one(stamp: &Stamp) -> String {
    let Stamp { identity, is_folder: _, size, modified, changed } = stamp;
    let times = [modified.0, modified.1, changed.0, changed.1].map(|time| time.to_string());
    format!("{}:{}:{size}:{}", identity.device, identity.file, times.join(":"))
}

/// Cached data: the snapshot, which is an index, and the parts that it refers to. It does not change when the cache is
/// replaced.
pub struct CachedData {
    snapshot: File,
    parts: File,
    /// The name of the file of parts.
    name: String,
}

impl CachedData {
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

    /// Returns an identity that differs from that of any other data that is or was cached, if there is one.
    pub(super) fn identity(&self) -> Option<String> {
        Some(one(&Stamp::of_file(&self.snapshot).ok()?))
    }

    /// Returns the index.
    pub(super) fn index(&self) -> Option<Vec<u8>> {
        let len = self.snapshot.metadata().ok()?.len().checked_sub(FIRST_LINE as u64)?;
        bytes(&self.snapshot, FIRST_LINE as u64, usize::try_from(len).ok()?)
    }

    /// Returns `len` bytes of the parts starting at `at`, or `None` if there are fewer.
    pub(super) fn part(&self, at: u64, len: usize) -> Option<Vec<u8>> {
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
    fn reuse(folder: &Path, current: Option<CachedData>, read: Option<(&CachedData, u64)>) -> Option<Self> {
        let (current, (read, used)) = (current?, read?);
        if current.identity()? != read.identity()? {
            return None;
        }
        let file = OpenOptions::new().append(true).open(folder.join(&current.name)).ok()?;
        let start = file.metadata().ok()?.len();
        // A file that is shorter than its parts is damaged.
        let unused = start.checked_sub(used)?;
        (unused <= used.max(MAX_UNUSED)).then_some(Self { file, name: current.name, start, new: None })
    }

    fn create(folder: &Path) -> Option<Self> {
        let file = tempfile::Builder::new().prefix(PARTS).rand_bytes(RANDOM).tempfile_in(folder).ok()?;
        let name = file.path().file_name()?.to_str()?.to_owned();
        let (file, path) = file.into_parts();
        Some(Self { file, name, start: 0, new: Some(path) })
    }
}

/// A replacement of the cache in progress. Dropping it leaves the cache unchanged.
pub(super) struct Renewal {
    /// The stamp of the refs at the start.
    pub(super) stamp: String,
    /// Whether any later change of the refs is certain to change their stamp. Two changes within one tick of the file
    /// system's clock have the same stamp.
    pub(super) is_settled: bool,
    parts: Parts,
    snapshot: NamedTempFile,
    folder: PathBuf,
    note: PathBuf,
    _lock: File,
}

impl Renewal {
    /// Writes a line next to the cache, whether or not the cache is replaced.
    pub(super) fn note(&self, line: &str) {
        // If the note cannot be written, the refs are listed again.
        let _ = std::fs::write(&self.note, line);
    }

    /// Returns where the first of the new parts will be: 0 if the earlier ones are not reused.
    pub(super) fn start(&self) -> u64 {
        self.parts.start
    }

    /// Appends to the parts. Returns whether that succeeded.
    pub(super) fn write(&mut self, bytes: &[u8]) -> bool {
        self.parts.file.write_all(bytes).is_ok()
    }

    /// Replaces the index, and returns the new cache.
    pub(super) fn keep(mut self, index: &[u8]) -> Option<CachedData> {
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
        CachedData::at(&self.folder)
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
fn files_named(folder: &Path, prefixes: &'static [&'static str]) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = folder.read_dir().into_iter().flatten().filter_map(Result::ok);
    let is_named = |name: &OsStr| prefixes.iter().any(|prefix| name.as_encoded_bytes().starts_with(prefix.as_bytes()));
    entries.filter(move |entry| is_named(&entry.file_name())).map(|entry| entry.path())
}
