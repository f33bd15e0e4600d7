//! The parts of a snapshot while they are computed.

use super::{Index, Place, at_rest, checksum, first_line, id};
use crate::store::cache::{CachedData, Renewal};

/// The size limit of computed parts that are held in memory if no file can be written. Other parts are recomputed on
/// demand.
const MAX_HELD: usize = 8 << 20;

/// The first offset of parts that are not in a file.
const UNSAVED: u64 = 1 << 62;

/// The parts of a snapshot under construction.
pub(in crate::store) struct Parts {
    storage: Storage,
    /// The offset of the first part.
    start: u64,
    /// The offset of the next part.
    end: u64,
}

/// The storage of parts until the snapshot is complete.
enum Storage {
    /// In the file that replaces the cache.
    File(Renewal),
    /// In memory, up to [`MAX_HELD`] bytes.
    Memory(Vec<u8>),
    /// Nowhere, because they could not be written.
    Nowhere,
}

impl Parts {
    pub(in crate::store) fn new(renewal: Option<Renewal>) -> Self {
        let start = renewal.as_ref().map_or(UNSAVED, Renewal::start);
        let storage = renewal.map_or_else(|| Storage::Memory(Vec::new()), Storage::File);
        Self { storage, start, end: start }
    }

    /// Returns whether the parts are written to a new file, without those of the previous snapshot.
    pub(in crate::store) fn is_new_file(&self) -> bool {
        self.start == 0
    }

    pub(in crate::store) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Returns the renewal that the parts are written to, if anything can be cached.
    pub(in crate::store) fn renewal(&self) -> Option<&Renewal> {
        match &self.storage {
            Storage::File(renewal) => Some(renewal),
            _ => None,
        }
    }

    /// Adds a part. If it cannot be stored in memory either, it cannot be read again.
    pub(in crate::store) fn add(&mut self, bytes: &[u8]) -> Place {
        let place = Place(self.end, bytes.len(), checksum(bytes));
        self.end += bytes.len() as u64;
        let is_written = match &mut self.storage {
            Storage::File(renewal) => renewal.write(bytes),
            Storage::Memory(held) => {
                let is_next = place.0 - self.start == held.len() as u64;
                if is_next && held.len() + bytes.len() <= MAX_HELD {
                    held.extend_from_slice(bytes);
                }
                true
            }
            Storage::Nowhere => true,
        };
        if !is_written {
            self.storage = Storage::Nowhere;
        }
        place
    }

    /// Returns whether a part is one of these, rather than in the cached file.
    pub(in crate::store) fn contain(&self, place: Place) -> bool {
        place.0 >= self.start && !self.is_empty()
    }

    /// Returns the bytes of a part, if they are held in memory.
    pub(in crate::store) fn part(&self, Place(at, len, _): Place) -> Option<Vec<u8>> {
        let Storage::Memory(held) = &self.storage else { return None };
        let at = usize::try_from(at.checked_sub(self.start)?).ok()?;
        held.get(at..at.checked_add(len)?).map(<[u8]>::to_vec)
    }

    /// Records that the refs have not changed since an existing snapshot.
    pub(in crate::store) fn note(&self, id: &str, stamp: &str) {
        if let Some(renewal) = self.renewal() {
            renewal.note(&at_rest(id, stamp));
        }
    }

    /// Replaces the index of the cache, and returns the cache. Returns `None` if not everything could be written.
    /// `stamp` is the stamp of the refs, if it is certain to change with them.
    pub(in crate::store) fn keep(&mut self, index: &Index, stamp: Option<&str>) -> Option<CachedData> {
        let text = index.text().as_bytes();
        let id = id(text);
        if let Some(stamp) = stamp {
            self.note(&id, stamp);
        }
        let renewal = self.take_file()?;
        renewal.keep(&[first_line(&id).as_bytes(), b"\n", text].concat())
    }

    /// Returns the replacement of the cache that the parts were written to, if any. Its parts can no longer be read
    /// here.
    pub(in crate::store) fn take_file(&mut self) -> Option<Renewal> {
        self.renewal()?;
        match std::mem::replace(&mut self.storage, Storage::Nowhere) {
            Storage::File(renewal) => Some(renewal),
            Storage::Memory(_) | Storage::Nowhere => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::FileCache;

    #[test]
    fn incomplete_writes_are_not_kept() {
        // Simulate a full disk.
        let top = tempfile::tempdir().unwrap();
        let (cache, folder) = (FileCache::new(top.path().to_owned()), top.path().join("blue/cache"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(cache.file(), "parts-abcdef\n").unwrap();
        std::os::unix::fs::symlink("/dev/full", folder.join("parts-abcdef")).unwrap();
        let mut parts = Parts::new(cache.renew(Some((&cache.open().unwrap(), 0))));
        assert!(parts.renewal().is_some());
        let places = [parts.add(b"one"), parts.add(b"two")];
        assert_eq!(places.map(|place| parts.part(place)), [None, None], "they are read again");
        assert!(places.into_iter().all(|place| parts.contain(place)), "they are not in the old file");
        assert!(parts.keep(&Index::default(), None).is_none());
    }

    #[test]
    fn memory_holds_the_first_parts_up_to_the_limit() {
        let mut parts = Parts::new(None);
        let large = vec![b' '; MAX_HELD - 1];
        let places = [parts.add(&large), parts.add(b"more"), parts.add(b"x")];
        let lengths = places.map(|place| parts.part(place).map(|part| part.len()));
        assert_eq!(lengths, [Some(MAX_HELD - 1), None, None]);
    }
}
