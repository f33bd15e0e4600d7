//! The format of a cached overview: parts for each domain, and an index of the parts. The index and every part have a
//! checksum, so that whatever is read is exactly what was written.
//!
//! Parts are appended to those of earlier snapshots as they are computed; what has not changed is not written again. The
//! index has a line for each domain, which is decoded only on demand, because most commands need only the domains of
//! one repository.
//!
//! A separate file records whether the refs have changed since, so that a snapshot that is still valid is not
//! rewritten.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use memchr::memmem::Finder;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Cache, CachedData, Renewal, Since};
use crate::model::{
    content_cache::{ContentCache, decoded_size},
    domain::Source,
    domain_summary::DomainSummary,
    name::{DomainName, RepoName},
    oid::Oid,
    realm::Repo,
};

/// The start of the first line of the index, with the version of the format. Other versions are ignored.
const MAGIC: &str = "git-blue-snapshot-7";
/// The size limit of computed parts that are held in memory if no file can be written. Other parts are recomputed on
/// demand.
const MAX_HELD: usize = 8 << 20;

/// Recently read indexes with their ids, by the identity of their file.
static INDEXES: ContentCache<String, (String, Arc<Index>)> = ContentCache::new(4 << 20);

/// The part of the snapshot about the realm itself, and the locations of all other parts.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    pub(super) head: Head,
    pub(super) lines: Lines,
}

/// The line of the index about the realm.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Head {
    /// The tip of the realm's own ref; `None` if something in it could not be read.
    pub(super) realm: Option<Oid>,
    /// The repositories that joined.
    pub(super) repos: BTreeMap<RepoName, Repo>,
    /// The number of contracts, as shown in a list of all domains.
    pub(super) contracts: usize,
}

/// The domains that could be read, sorted by name.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    /// The text of the index, including the line about the realm.
    text: String,
    all: OnceLock<Vec<Line>>,
    /// The domains of the first repository that was requested.
    of: OnceLock<(RepoName, Vec<Line>)>,
}

impl From<Vec<Line>> for Lines {
    fn from(all: Vec<Line>) -> Self {
        Self { all: all.into(), ..Self::default() }
    }
}

impl Lines {
    /// Returns all domains.
    pub(super) fn all(&self) -> &[Line] {
        self.all.get_or_init(|| self.kept().filter_map(|line| decode(line.as_bytes())).collect())
    }

    /// Returns the number of domains.
    pub(super) fn count(&self) -> usize {
        self.all.get().map_or_else(|| self.kept().count(), Vec::len)
    }

    /// Returns the domains that `repo` is involved in.
    pub(super) fn of(&self, repo: &RepoName) -> impl Iterator<Item = &Line> {
        let is_its = |line: &&Line| line.repos.binary_search(repo).is_ok();
        let all = || self.all().iter().filter(is_its).collect::<Vec<_>>();
        let found = match self.all.get() {
            Some(_) => all(),
            None => match self.of.get_or_init(|| (repo.clone(), self.with(&format!("\"{repo}\"")).collect())) {
                (of, lines) if of == repo => lines.iter().filter(is_its).collect(),
                _ => all(),
            },
        };
        found.into_iter()
    }

    /// Returns the domains that `repo` is not involved in, decoded one by one.
    pub(super) fn not_of(&self, repo: &RepoName) -> impl Iterator<Item = Line> {
        let made = self.all.get().into_iter().flatten().cloned();
        let lines = made.chain(self.unmade().filter_map(|line| decode(line.as_bytes())));
        lines.filter(move |line| line.repos.binary_search(repo).is_err())
    }

    /// Returns the domains with damage.
    pub(super) fn damaged(&self) -> impl Iterator<Item = Line> {
        let made = self.all.get().into_iter().flatten().cloned();
        made.chain(self.with("\"summary\":null")).filter(|line| line.summary.is_none())
    }

    /// Returns the lines that contain a word, unless all lines are decoded already.
    fn with(&self, word: &str) -> impl Iterator<Item = Line> {
        let finder = Finder::new(word).into_owned();
        let found = self.unmade().filter(move |line| finder.find(line.as_bytes()).is_some());
        found.filter_map(|line| decode(line.as_bytes()))
    }

    fn unmade(&self) -> impl Iterator<Item = &str> {
        self.kept().filter(|_| self.all.get().is_none())
    }

    fn kept(&self) -> impl Iterator<Item = &str> {
        self.text.split('\n').skip(1)
    }
}

impl Index {
    fn decode(bytes: Vec<u8>) -> Option<Self> {
        let text = String::from_utf8(bytes).ok()?;
        let head = decode(text.split('\n').next()?.as_bytes())?;
        Some(Self { head, lines: Lines { text, ..Lines::default() } })
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = encode(&self.head);
        for line in self.lines.all() {
            bytes.push(b'\n');
            bytes.extend(encode(line));
        }
        bytes
    }

    /// Returns the number of bytes of the parts that the index refers to.
    fn used(&self) -> u64 {
        let parts = self.lines.all().iter().flat_map(|line| [line.summary, line.digest, line.schemas]);
        parts.flatten().map(|Place(_, len, _)| len as u64).sum()
    }

    /// Starts to replace a cache that contains this index. `kept` is that cache, if there is one.
    pub(super) fn renewal(&self, cache: &dyn Cache, kept: Option<&dyn CachedData>) -> Option<Box<dyn Renewal>> {
        let identity = kept.and_then(CachedData::identity);
        cache.renew(identity.as_deref().map(|identity| Since { identity, used: self.used() }))
    }

    /// Returns whether both indexes are equal.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.head == other.head && self.lines.all() == other.lines.all()
    }
}

/// A domain in the index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its name.
    pub name: DomainName,
    /// The commit that it was read from.
    pub tip: Oid,
    /// The tree of that commit.
    pub tree: Oid,
    /// The repositories involved in the domain, sorted.
    pub repos: Vec<RepoName>,
    /// The last published commit of each repository.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<RepoName, Source>,
    /// The repositories that have no binding in the domain, or whose code is adapted to a version of a contract that
    /// is not the current one, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) behind: Vec<RepoName>,
    /// The number of contracts, as shown in a list of domains.
    pub contracts: usize,
    /// The location of its summary; `None` if a part of it could not be read.
    pub(super) summary: Option<Place>,
    /// The location of its digest.
    pub(super) digest: Option<Place>,
    /// The location of the hashes of its schemas, if it was examined without findings.
    pub(super) schemas: Option<Place>,
    /// Whether the domain was just read, so that its parts are among the new ones rather than in the cached file.
    #[serde(skip)]
    pub(super) is_fresh: bool,
}

impl Line {
    /// Returns the line of a domain that was just read and is not cached yet.
    pub fn of(name: DomainName, tip: Oid, tree: Oid, summary: &DomainSummary) -> Self {
        Self {
            name,
            tip,
            tree,
            repos: summary.repos().into_iter().cloned().collect(),
            behind: summary.behind(),
            contracts: summary.contract_names().len(),
            sources: summary.sources.clone(),
            summary: None,
            digest: None,
            schemas: None,
            is_fresh: true,
        }
    }

    /// Returns whether `repo` is known to take part with code that is adapted to the current versions of all its
    /// imports. In that case, no earlier change has to be reported to it.
    pub fn is_as_adapted(&self, repo: &RepoName) -> bool {
        self.summary.is_some() && self.behind.binary_search(repo).is_err()
    }
}

/// The offset of a part, its length and its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place(u64, usize, u32);

/// The index and the parts of a cached file.
pub(super) struct Snapshot {
    pub(super) index: Arc<Index>,
    pub(super) kept: Box<dyn CachedData>,
    /// Its id.
    pub(super) id: String,
}

impl Snapshot {
    /// Returns the snapshot in a file, or `None` if it is damaged or has another version. If `holds` is set, the index
    /// is held in memory, so that it is decoded only once.
    pub(super) fn open(kept: Box<dyn CachedData>, holds: bool) -> Option<Self> {
        let file = holds.then(|| kept.identity()).flatten();
        if let Some((id, index)) = file.as_ref().and_then(|file| INDEXES.get(file)) {
            return Some(Self { index, kept, id });
        }
        let mut bytes = kept.index()?;
        let line = bytes.iter().position(|byte| *byte == b'\n')?;
        let text = bytes.split_off(line + 1);
        let id = id(&text);
        if bytes.strip_suffix(b"\n")? != first_line(&id).as_bytes() {
            return None;
        }
        let weight = decoded_size(text.len());
        let index = Arc::new(Index::decode(text)?);
        if let Some(file) = file {
            INDEXES.put(file, (id.clone(), index.clone()), weight);
        }
        Some(Self { index, kept, id })
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
pub(super) fn part(kept: &dyn CachedData, Place(at, len, sum): Place) -> Option<Vec<u8>> {
    kept.part(at, len).filter(|bytes| checksum(bytes) == sum)
}

/// The parts of a snapshot under construction.
pub(super) struct Parts {
    storage: Storage,
    /// Set if the parts of the previous snapshot are in another file.
    pub(super) is_new_file: bool,
    /// The offset of the next part.
    end: u64,
}

/// Where the parts are stored until the snapshot is complete.
enum Storage {
    /// In the file that replaces the cache.
    File(Box<dyn Renewal>),
    /// In memory, up to [`MAX_HELD`] bytes.
    Memory(Vec<u8>),
}

impl Parts {
    pub(super) fn new(renewal: Option<Box<dyn Renewal>>) -> Self {
        let end = renewal.as_ref().map_or(0, |renewal| renewal.start());
        let storage = renewal.map_or_else(|| Storage::Memory(Vec::new()), Storage::File);
        Self { storage, is_new_file: end == 0, end }
    }

    /// Returns the renewal that the parts are written to, if anything can be cached.
    pub(super) fn renewal(&self) -> Option<&dyn Renewal> {
        match &self.storage {
            Storage::File(renewal) => Some(&**renewal),
            Storage::Memory(_) => None,
        }
    }

    /// Adds a part. If it cannot be held in memory either, reading it finds nothing.
    pub(super) fn add(&mut self, bytes: &[u8]) -> Place {
        let place = Place(self.end, bytes.len(), checksum(bytes));
        self.end += bytes.len() as u64;
        match &mut self.storage {
            Storage::File(renewal) => {
                if !renewal.write(bytes) {
                    self.storage = Storage::Memory(Vec::new());
                }
            }
            Storage::Memory(held) if place.0 == held.len() as u64 && held.len() + bytes.len() <= MAX_HELD => {
                held.extend_from_slice(bytes);
            }
            Storage::Memory(_) => {}
        }
        place
    }

    /// Returns the bytes of a part, if they are held in memory.
    pub(super) fn part(&self, Place(at, len, _): Place) -> Option<Vec<u8>> {
        let Storage::Memory(held) = &self.storage else { return None };
        let at = usize::try_from(at).ok()?;
        held.get(at..at.checked_add(len)?).map(<[u8]>::to_vec)
    }

    /// Records that the refs have not changed since an existing snapshot.
    pub(super) fn note(&self, id: &str, stamp: &str) {
        if let Some(renewal) = self.renewal() {
            renewal.note(&at_rest(id, stamp));
        }
    }

    /// Replaces the index of the cache, and returns the cache. Returns `None` if not everything could be written.
    /// `stamp` is the stamp of the refs, if it is certain to change with them.
    pub(super) fn keep(self, index: &Index, stamp: Option<&str>) -> Option<Box<dyn CachedData>> {
        let text = index.encode();
        let id = id(&text);
        if let Some(stamp) = stamp {
            self.note(&id, stamp);
        }
        match self.storage {
            Storage::File(renewal) => renewal.keep(&[first_line(&id).as_bytes(), b"\n", &text].concat()),
            Storage::Memory(_) => None,
        }
    }
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
fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file on a disk that is full after this many bytes.
    struct Full(usize);

    impl Renewal for Full {
        fn stamp(&self) -> &str {
            ""
        }

        fn is_settled(&self) -> bool {
            true
        }

        fn note(&self, _line: &str) {}

        fn write(&mut self, bytes: &[u8]) -> bool {
            let room = self.0.checked_sub(bytes.len());
            self.0 = room.unwrap_or_default();
            room.is_some()
        }

        fn start(&self) -> u64 {
            0
        }

        fn keep(self: Box<Self>, _index: &[u8]) -> Option<Box<dyn CachedData>> {
            panic!("half of it would be kept")
        }
    }

    #[test]
    fn incomplete_writes_are_not_kept() {
        for room in [0, 3, 5] {
            let mut parts = Parts::new(Some(Box::new(Full(room))));
            let places = [parts.add(b"one"), parts.add(b"two")];
            assert_eq!(places.map(|place| parts.part(place)), [None, None], "they are read again");
            assert!(parts.keep(&Index::default(), None).is_none(), "{room}");
        }
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
