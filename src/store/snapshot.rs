//! The form in which an overview is kept: a line that says what follows, an index, and then one
//! part for each domain that is read only where it is asked for. Every part has its checksum:
//! whatever happened to the file, what is read is what was written, or nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::Kept;
use crate::model::{
    domain::Source,
    name::{DomainName, RepoName},
    oid::Oid,
    realm::Repo,
};

/// Starts the file, with the number of its form: another one is not read.
const MAGIC: &str = "git-blue-snapshot-2";
/// Length of the first line: padded, so that it can be read at once.
const HEAD: usize = 64;

/// What the snapshot says of the realm, and where it says the rest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Index {
    /// The refs' stamp when it was made.
    pub(super) stamp: String,
    /// Whether equal stamps mean equal refs.
    pub(super) settled: bool,
    /// The realm's own tip, unless something there could not be read.
    pub(super) realm: Option<Oid>,
    /// The repositories that joined.
    pub(super) repos: BTreeMap<RepoName, Repo>,
    /// The domains that could be read, sorted by name.
    pub(super) domains: Vec<Line>,
}

/// A domain in the index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its name.
    pub name: DomainName,
    /// The commit that it was read at.
    pub tip: Oid,
    /// That commit's tree.
    pub tree: Oid,
    /// The repositories that have anything to do with it, sorted.
    pub repos: Vec<RepoName>,
    /// The commit of each repository that was published here last.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<RepoName, Source>,
    /// How many contracts a list of them has.
    pub contracts: usize,
    /// Where its summary is; nowhere where something of it could not be read.
    pub(super) summary: Option<Place>,
    /// Where the hashes of its schemas are, if it was examined and nothing was found.
    pub(super) schemas: Option<Place>,
    /// Whether both lie among the parts made just now, and not yet in the kept file.
    #[serde(skip)]
    pub(super) is_fresh: bool,
}

/// Where a part lies, counted from behind the index, and what it must hash to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place(u64, usize, u32);

/// What was read from a kept file.
pub(super) struct Snapshot {
    pub(super) index: Index,
    kept: Box<dyn Kept>,
    /// Where the parts start.
    start: u64,
}

impl Snapshot {
    /// Returns the snapshot in a file; nothing where it is damaged or of another form.
    pub(super) fn open(kept: Box<dyn Kept>) -> Option<Self> {
        let head = String::from_utf8(kept.part(0, HEAD)?).ok()?;
        let mut words = head.split_ascii_whitespace();
        if words.next()? != MAGIC {
            return None;
        }
        let len: usize = words.next()?.parse().ok()?;
        let sum = u32::from_str_radix(words.next()?, 16).ok()?;
        let index = kept.part(HEAD as u64, len).filter(|bytes| checksum(bytes) == sum)?;
        Some(Self { index: serde_json::from_slice(&index).ok()?, kept, start: (HEAD + len) as u64 })
    }

    /// Returns the bytes of a part.
    pub(super) fn part(&self, Place(at, len, sum): Place) -> Option<Vec<u8>> {
        self.kept.part(self.start.checked_add(at)?, len).filter(|bytes| checksum(bytes) == sum)
    }
}

/// The parts of a snapshot in the making.
#[derive(Debug, Default)]
pub(super) struct Parts(Vec<u8>);

impl Parts {
    /// Adds a value.
    pub(super) fn add<T: Serialize>(&mut self, value: &T) -> Place {
        let bytes = encode(value);
        let place = Place::of(&bytes).moved(&mut (self.0.len() as u64));
        self.0.extend_from_slice(&bytes);
        place
    }

    /// Returns the bytes of a part.
    pub(super) fn part(&self, Place(at, len, _): Place) -> Option<&[u8]> {
        let at = usize::try_from(at).ok()?;
        self.0.get(at..at.checked_add(len)?)
    }
}

impl Place {
    /// Returns the place of a part that holds these bytes, before any other.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(0, bytes.len(), checksum(bytes))
    }

    /// Returns where the part is once it follows `len` bytes of others.
    pub(super) fn moved(self, len: &mut u64) -> Self {
        let at = *len;
        *len += self.1 as u64;
        Self(at, self.1, self.2)
    }
}

/// Returns what stands before the parts.
pub(super) fn head(index: &Index) -> Vec<u8> {
    let index = encode(index);
    let head = format!("{MAGIC} {} {:x}", index.len(), checksum(&index));
    [format!("{head:<width$}\n", width = HEAD - 1).into_bytes(), index].concat()
}

/// Returns the value that a part holds.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}

/// Returns the bytes of a part that holds this value.
pub(super) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|error| unreachable!("model types have a JSON form: {error}"))
}

/// Against damage, not against an attacker: who can write this file can write the refs as well.
fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}
