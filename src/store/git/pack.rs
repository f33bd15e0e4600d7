//! Writes the objects of one write as one pack. A pack and its index need two flushes, while loose objects need two
//! each. The format is git's (`git help format-pack`). No object is stored as a delta, so that [small
//! packs](super::small_packs) can be combined by copying.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    io::{self, ErrorKind::NotFound, Write as _},
    path::{Path, PathBuf},
};

use gix::{
    ObjectId,
    hash::Kind as Hash,
    objs::Kind,
    odb::pack::data::entry::Header,
    zlib::{
        Compression, Status,
        stream::deflate::{Compress, FlushCompress},
    },
};

use super::fsync;
use crate::{
    platform::files::{self, Access},
    store::StoreError,
};

/// The size, in bytes, at which a pack is written and a new one is started. Until then, the pack is held in memory.
const MAX_HELD: usize = 16 << 20;
/// The first bytes of a pack and of an index, both of version 2.
const PACK: &[u8] = b"PACK\0\0\0\x02";
const INDEX: &[u8] = b"\xfftOc\0\0\0\x02";

/// An object in the format of a pack: its kind and size, followed by its compressed content.
pub(super) struct Entry {
    bytes: Vec<u8>,
    crc: u32,
}

impl Entry {
    /// Returns an entry from the bytes of a pack, if its checksum is correct and it is not a delta.
    pub(super) fn copied(bytes: &[u8], crc: u32) -> Option<Self> {
        let is_whole_object = bytes.first().is_some_and(|first| matches!(first >> 4 & 7, 1..=4));
        (is_whole_object && crc32fast::hash(bytes) == crc).then(|| Self { bytes: bytes.to_vec(), crc })
    }
}

/// A pack under construction.
pub(super) struct Packing {
    /// The store's objects folder.
    objects: PathBuf,
    hash: Hash,
    entries: RefCell<BTreeMap<ObjectId, Entry>>,
    held: Cell<usize>,
    /// Kept, because creating it takes longer than compressing a small object.
    compress: RefCell<Compress>,
}

impl Packing {
    pub(super) fn new(objects: &Path, hash: Hash) -> Self {
        Self {
            objects: objects.to_owned(),
            hash,
            entries: RefCell::default(),
            held: Cell::new(0),
            compress: RefCell::new(Compress::new(Compression::BEST_SPEED)),
        }
    }

    /// Adds an object.
    ///
    /// # Errors
    /// Returns an error if a full pack has to be written first, and that fails.
    pub(super) fn add(&self, id: ObjectId, kind: Kind, bytes: &[u8]) -> Result<(), StoreError> {
        let entry = self.entry(kind, bytes).map_err(StoreError::io("write an object to", self.folder()))?;
        self.insert(id, entry);
        if self.held.get() >= MAX_HELD {
            self.put()?;
        }
        Ok(())
    }

    /// Adds an object that is already in the format of a pack.
    pub(super) fn insert(&self, id: ObjectId, entry: Entry) {
        self.held.set(self.held.get() + entry.bytes.len());
        self.entries.borrow_mut().insert(id, entry);
    }

    /// Writes the pack into the store. Returns its name once it is on disk.
    ///
    /// # Errors
    /// Returns an error if the pack cannot be written or flushed.
    pub(super) fn put(&self) -> Result<String, StoreError> {
        let (entries, folder) = (self.entries.take(), self.folder());
        self.held.set(0);
        let written = pack(&entries, self.hash).and_then(|(pack, offsets, name)| {
            let stem = format!("pack-{name}");
            write(&folder, "tmp_pack_", &format!("{stem}.pack"), &pack)?;
            // git ignores a pack without an index, so the index is written last.
            write(&folder, "tmp_idx_", &format!("{stem}.idx"), &index(&entries, &offsets, &name, self.hash)?)?;
            Ok(stem)
        });
        let stem = written.map_err(StoreError::io("write a pack to", &folder))?;
        fsync::flush_name(&folder.join(&stem), &self.objects)?;
        Ok(stem)
    }

    fn folder(&self) -> PathBuf {
        self.objects.join("pack")
    }

    fn entry(&self, kind: Kind, bytes: &[u8]) -> io::Result<Entry> {
        let mut entry = Vec::with_capacity(bytes.len() / 2 + 64);
        header(kind).write_to(bytes.len() as u64, &mut entry)?;
        compress(&mut self.compress.borrow_mut(), bytes, &mut entry)?;
        Ok(Entry { crc: crc32fast::hash(&entry), bytes: entry })
    }
}

fn header(kind: Kind) -> Header {
    match kind {
        Kind::Tree => Header::Tree,
        Kind::Blob => Header::Blob,
        Kind::Commit => Header::Commit,
        Kind::Tag => Header::Tag,
    }
}

fn compress(compress: &mut Compress, mut bytes: &[u8], to: &mut Vec<u8>) -> io::Result<()> {
    compress.reset();
    let mut buffer = [0; 8 << 10];
    loop {
        let before = (compress.total_in(), compress.total_out());
        let status = compress.compress(bytes, &mut buffer, FlushCompress::Finish).map_err(io::Error::other)?;
        let step = |now: u64, before: u64| usize::try_from(now - before).unwrap_or(usize::MAX);
        bytes = bytes.get(step(compress.total_in(), before.0)..).unwrap_or_default();
        to.extend(buffer.iter().take(step(compress.total_out(), before.1)));
        if status == Status::StreamEnd {
            return Ok(());
        }
    }
}

/// Returns the bytes of a pack, the offset of each entry, and the hash that names the pack.
fn pack(entries: &BTreeMap<ObjectId, Entry>, hash: Hash) -> io::Result<(Vec<u8>, Vec<u32>, ObjectId)> {
    let too_many = |_| io::Error::other("too much for one pack");
    let mut bytes = PACK.to_vec();
    bytes.extend(u32::try_from(entries.len()).map_err(too_many)?.to_be_bytes());
    let mut offsets = Vec::with_capacity(entries.len());
    for entry in entries.values() {
        // The highest bit has a special meaning in an index.
        offsets.push(i32::try_from(bytes.len()).map_err(too_many)?.unsigned_abs());
        bytes.extend(&entry.bytes);
    }
    let name = seal(&mut bytes, hash)?;
    Ok((bytes, offsets, name))
}

/// Returns the bytes of an index: the number of ids up to each first byte, followed by ids, checksums and offsets,
/// each in id order.
fn index(entries: &BTreeMap<ObjectId, Entry>, offsets: &[u32], pack: &ObjectId, hash: Hash) -> io::Result<Vec<u8>> {
    let mut bytes = INDEX.to_vec();
    let (mut ids, mut below) = (entries.keys().peekable(), 0u32);
    for first in 0..=u8::MAX {
        while ids.next_if(|id| id.first_byte() == first).is_some() {
            below += 1;
        }
        bytes.extend(below.to_be_bytes());
    }
    entries.keys().for_each(|id| bytes.extend(id.as_slice()));
    entries.values().for_each(|entry| bytes.extend(entry.crc.to_be_bytes()));
    offsets.iter().for_each(|offset| bytes.extend(offset.to_be_bytes()));
    bytes.extend(pack.as_slice());
    seal(&mut bytes, hash)?;
    Ok(bytes)
}

/// Appends the hash of all preceding bytes.
fn seal(bytes: &mut Vec<u8>, hash: Hash) -> io::Result<ObjectId> {
    let mut hasher = gix::hash::hasher(hash);
    hasher.update(bytes);
    let sum = hasher.try_finalize().map_err(io::Error::other)?;
    bytes.extend(sum.as_slice());
    Ok(sum)
}

/// Writes a file under a temporary name, flushes and renames it.
fn write(folder: &Path, prefix: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let temporary = || {
        let mut builder = tempfile::Builder::new();
        files::set_access(builder.prefix(prefix), Access::ReadOnly);
        builder.tempfile_in(folder)
    };
    let mut file = match temporary() {
        // git creates the folder if it is missing, so another process may already have done so.
        Err(error) if error.kind() == NotFound => std::fs::create_dir_all(folder).and_then(|()| temporary()),
        file => file,
    }?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(folder.join(name)).map_err(|error| error.error)?;
    Ok(())
}
