//! Putting small packs together. Every durable write leaves [one](super::pack), and whoever looks for an object may
//! have to look into each. So now and then a write takes the small ones into its own, by copying: it flushes no more
//! often for that, and only then are they removed. Objects are never lost, whether or not anything leads to them.

use std::{collections::BTreeMap, path::Path};

use gix::{ObjectId, hash::Kind as Hash, odb::pack::index};

use super::{
    lock::{Held, Locks},
    pack::{Entry, Packing},
    packing,
};
use crate::store::StoreError;

/// The number of small packs from which they are put together.
const MANY: usize = 16;
/// The largest size of a small pack, in bytes. Larger ones wait for `gc`.
const SMALL: u64 = 1 << 20;
/// What each pack that stays must be, at least, of all that are smaller than it. So each object is copied a few times
/// at most, and few packs are left.
const GROWTH: u64 = 2;

/// Small packs whose objects a write takes into its own.
pub(super) struct Together<'a> {
    folder: &'a Path,
    stems: Vec<String>,
    /// The lock that keeps others from packing.
    _alone: Held,
}

impl<'a> Together<'a> {
    /// Takes the objects of small packs into one in the making, if there are many, and nobody else packs just now.
    /// Packs that cannot be read stay as they are.
    pub(super) fn begin(locks: &Locks, folder: &'a Path, hash: Hash, into: &Packing) -> Option<Self> {
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
        Some(Self { folder, stems, _alone: alone })
    }

    /// Removes the packs, now that all they held is in the pack of this name. One that cannot be removed harms nobody.
    pub(super) fn remove(self, name: &str) {
        for stem in self.stems.iter().filter(|stem| *stem != name) {
            // None is found without its index.
            for kind in ["idx", "pack"] {
                let _ = std::fs::remove_file(self.folder.join(format!("{stem}.{kind}")));
            }
        }
    }
}

/// Returns the packs that are small, and nothing but a pack and its index: whatever lies beside others is the business
/// of who made them.
fn small(folder: &Path) -> Vec<(u64, String)> {
    let mut files = BTreeMap::<String, Vec<String>>::new();
    for entry in folder.read_dir().into_iter().flatten().filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        // It names packs that would go.
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

/// Returns those that are put together: all but the largest ones that are [`GROWTH`] times what is below them.
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

/// Returns the objects of a pack, if all of them are what was written and none is a difference from another.
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

/// Puts what a write made into the store, with what lies there in small packs, if these are many.
///
/// # Errors
/// Returns an error if it cannot be written or flushed.
pub(super) fn put(packing: &Packing, locks: &Locks, objects: &Path, hash: Hash) -> Result<(), StoreError> {
    let folder = objects.join("pack");
    let together = Together::begin(locks, &folder, hash, packing);
    let name = packing.put()?;
    if let Some(together) = together {
        together.remove(&name);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_grows() {
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
