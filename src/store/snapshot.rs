//! The format of a cached overview: parts for each domain, and an index of the parts. The index and every part have a
//! checksum, so that whatever is read is exactly what was written.
//!
//! Parts are appended to those of earlier snapshots as they are computed; what has not changed is not written again.
//! The index has a line for each domain, which is decoded only on demand, because most commands need only the domains
//! of one repository. Lines of domains that have not changed are copied as text.
//!
//! A separate file records whether the refs have changed since, so that a snapshot that is still valid is not
//! rewritten.

mod index;
mod parts;

use std::sync::Arc;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::CachedData;
use crate::model::content_cache::{ContentCache, decoded_size};

pub use index::Line;
pub(super) use index::{Head, Index, LineWriter, WrittenLine};
pub(super) use parts::Parts;

/// The start of the first line of the index, with the version of the format and that of the engine, which examined the
/// domains. Other versions are ignored.
const MAGIC: &str = concat!("git-blue-snapshot-13-", env!("GIT_BLUE_ENGINE"));

/// Recently read indexes with their ids, by the identity of their file.
static INDEXES: ContentCache<String, (String, Arc<Index>)> = ContentCache::new(4 << 20);

/// The offset of a part, its length and its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place(u64, usize, u32);

impl Place {
    pub(super) fn new(at: u64, len: usize, sum: u32) -> Self {
        Self(at, len, sum)
    }

    /// Returns the number of bytes of the part.
    pub(super) fn len(self) -> usize {
        self.1
    }

    /// Returns the offset after the part.
    pub(super) fn end(self) -> u64 {
        self.0.saturating_add(self.1 as u64)
    }
}

/// The index and the parts of a cached file.
pub(super) struct Snapshot {
    pub(super) index: Arc<Index>,
    pub(super) cached: CachedData,
    /// Its id.
    pub(super) id: String,
}

impl Snapshot {
    /// Returns the snapshot in a file, or `None` if it is damaged or has another version. If `holds` is set, the index
    /// is held in memory, so that it is decoded only once.
    pub(super) fn open(cached: CachedData, holds: bool) -> Option<Self> {
        let file = holds.then(|| cached.identity()).flatten();
        if let Some((id, index)) = file.as_ref().and_then(|file| INDEXES.get(file)) {
            return Some(Self { index, cached, id });
        }
        // The text of a large realm can be megabytes long, so it is moved rather than copied.
        let mut text = cached.index()?;
        let end = text.iter().position(|byte| *byte == b'\n')?;
        let first: Vec<u8> = text.drain(..=end).collect();
        let id = id(&text);
        if first.strip_suffix(b"\n")? != first_line(&id).as_bytes() {
            return None;
        }
        let weight = decoded_size(text.len());
        let index = Arc::new(Index::decode(text)?);
        if let Some(file) = file {
            INDEXES.put(file, (id.clone(), index.clone()), weight);
        }
        Some(Self { index, cached, id })
    }
}

/// Returns the id of an index.
fn id(text: &[u8]) -> String {
    format!("{} {:x}", text.len(), checksum(text))
}

fn first_line(id: &str) -> String {
    format!("{MAGIC} {id}")
}

/// Returns the note that the refs had this stamp when they matched a snapshot, and that any later change is certain to
/// change the stamp.
pub(super) fn at_rest(id: &str, stamp: &str) -> String {
    format!("{} {stamp}\n", first_line(id))
}

/// Returns the bytes of a part.
pub(super) fn part(cached: &CachedData, Place(at, len, sum): Place) -> Option<Vec<u8>> {
    cached.part(at, len).filter(|bytes| checksum(bytes) == sum)
}

/// Decodes the value of a part.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}

/// Encodes a value as a part.
pub(super) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|error| unreachable!("model types have a JSON form: {error}"))
}

/// Computes a checksum that protects against damage. It need not protect against an attacker, who could write the refs
/// as well.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}
