//! Combines small packs. Every durable write leaves [one](super::pack), and looking up an object may have to search
//! each of them. Therefore, from time to time, a write copies the small packs into its own pack, which needs no
//! additional flushes, and then removes them. No object is lost, whether or not it is reachable.

use std::{collections::BTreeMap, path::Path};

use gix::{ObjectId, hash::Kind as Hash, odb::pack::index};

use super::{
    lock::{HeldLock, Locks},
    pack::{Entry, Packing},
    packing,
};
use crate::store::StoreError;

/// The minimum number of small packs to combine.
const MANY: usize = 16;
/// The size limit of a small pack, in bytes. Larger ones wait for `gc`.
const SMALL: u64 = 1 << 20;
/// The minimum ratio between the size of a pack that is left alone and the total size of all smaller ones. As a
/// result, each object is copied only a few times, and few packs are left.
const GROWTH: u64 = 2;

/// Copies the objects of small packs into a new one, if there are many of them and no other process is packing. Packs
/// that cannot be read are left alone. Returns the names of the others, and the lock that keeps out other packers.
fn combine(locks: &Locks, folder: &Path, hash: Hash, into: &Packing) -> Option<(HeldLock, Vec<String>)> {
    let small = small(folder);
    if small.len() < MANY {
        return None;
    }
    let alone = locks.try_acquire(packing::PACKING)?;
    let mut stems = Vec::new();
    for stem in chosen(small) {
        let Some(entries) = entries(folder, &stem, hash) else { continue };
        entries.into_iter().for_each(|(id, entry)| into.insert(id, entry));
        stems.push(stem);
    }
    Some((alone, stems))
}

/// Returns the small packs that consist of only a pack and its index. A pack with further files
/// belongs to whichever program added them.
fn small(folder: &Path) -> Vec<(u64, String)> {
    let mut files = BTreeMap::<String, Vec<String>>::new();
    for entry in folder.read_dir().into_iter().flatten().filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        // A multi-pack-index names packs that would be removed.
        if name.starts_with("multi-pack-index") {
            return Vec::new();
        }
        if let Some((stem, kind)) = name.rsplit_once('.').filter(|_| name.starts_with("pack-")) {
            files.entry(stem.to_owned()).or_default().push(kind.to_owned());
        }
    }
    let is_plain = |kinds: &Vec<String>| kinds.len() == 2 && kinds.iter().all(|kind| kind == "pack" || kind == "idx");
    let plain: Vec<_> = files.into_iter().filter(|(_, kinds)| is_plain(kinds)).map(|(stem, _)| stem).collect();
    if plain.len() < MANY {
        return Vec::new();
    }
    let size = |stem: &String| Some(folder.join(format!("{stem}.pack")).metadata().ok()?.len());
    let sized = plain.into_iter().filter_map(|stem| Some((size(&stem)?, stem)));
    sized.filter(|(size, _)| *size <= SMALL).collect()
}

/// Returns the packs to combine: all except the largest ones that are each [`GROWTH`] times as large as all smaller
/// ones.
fn chosen(mut small: Vec<(u64, String)>) -> Vec<String> {
    small.sort();
    let mut below: u64 = small.iter().map(|(size, _)| size).sum();
    while let Some((size, _)) = small.last() {
        below -= size;
        if *size < GROWTH * below || below == 0 {
            break;
        }
        small.pop();
    }
    small.into_iter().map(|(_, stem)| stem).collect()
}

/// Returns the objects of a pack, if all are intact and none is a delta.
fn entries(folder: &Path, stem: &str, hash: Hash) -> Option<Vec<(ObjectId, Entry)>> {
    let index = index::File::at(folder.join(format!("{stem}.idx")), hash).ok()?;
    let pack = std::fs::read(folder.join(format!("{stem}.pack"))).ok()?;
    let mut found: Vec<_> = index.iter().collect();
    found.sort_by_key(|entry| entry.pack_offset);
    let end = pack.len().checked_sub(hash.len_in_bytes())?;
    let ends = found.iter().skip(1).map(|next| usize::try_from(next.pack_offset).ok()).chain([Some(end)]);
    let copied = |(entry, end): (&index::Entry, Option<usize>)| {
        let bytes = pack.get(usize::try_from(entry.pack_offset).ok()?..end?)?;
        Some((entry.oid, Entry::copied(bytes, entry.crc32?)?))
    };
    found.iter().zip(ends).map(copied).collect()
}

/// Writes a pack into the store, together with the objects of small packs if there are many.
///
/// # Errors
/// Returns an error if the pack cannot be written or flushed.
pub(super) fn put(packing: &Packing, locks: &Locks, objects: &Path, hash: Hash) -> Result<(), StoreError> {
    let folder = objects.join("pack");
    let combined = combine(locks, &folder, hash, packing);
    let name = packing.put()?;
    let Some((_alone, stems)) = combined else { return Ok(()) };
    for stem in stems.iter().filter(|stem| **stem != name) {
        // A pack is not found without its index. One that cannot be removed does no harm.
        for kind in ["idx", "pack"] {
            let _ = std::fs::remove_file(folder.join(format!("{stem}.{kind}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_enough_packs_are_left_alone() {
        let chosen = |sizes: &[u64]| {
            let named = sizes.iter().map(|size| (*size, size.to_string())).collect();
            chosen(named).iter().map(|size| size.parse::<u64>().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(chosen(&[3, 3, 3, 3]), [3, 3, 3, 3]);
        assert_eq!(chosen(&[3, 100, 3, 3]), [3, 3, 3], "it is more than twice the others");
        assert_eq!(chosen(&[3, 10, 3, 3]), [3, 3, 3, 10]);
        assert_eq!(chosen(&[1000, 3, 100, 3]), [3, 3]);
    }
}
