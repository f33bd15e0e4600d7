//! A cache of computed values with a size limit. Servers use it, because most of what a request needs was also needed by
//! the previous one, and so do commands that read one document for many imports.
//!
//! A key names immutable content, such as a tree or a commit, and a value depends only on its key. Cached values
//! therefore never become stale, and are only evicted to stay within the size limit.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// A cache of values, keyed by the content that they are computed from.
#[derive(Debug)]
pub struct ContentCache<K, V> {
    /// The size limit of all values together, in bytes.
    most: usize,
    entries: Mutex<Entries<K, V>>,
}

/// Returns the approximate size in memory of a value that was decoded from `len` bytes of JSON. Even nearly empty maps
/// take some kilobytes.
pub const fn decoded_size(len: usize) -> usize {
    (6 << 10) + 3 * len
}

#[derive(Debug)]
struct Entries<K, V> {
    by_key: BTreeMap<K, Entry<V>>,
    weight: usize,
    /// The number of lookups and insertions so far.
    looks: u64,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    weight: usize,
    /// The value of `looks` when this entry was last used.
    last: u64,
}

impl<K: Ord + Clone, V: Clone> ContentCache<K, V> {
    /// Creates an empty cache with a size limit in bytes.
    pub const fn new(most: usize) -> Self {
        Self { most, entries: Mutex::new(Entries { by_key: BTreeMap::new(), weight: 0, looks: 0 }) }
    }

    /// Returns the value of a key, if it is cached.
    pub fn get(&self, key: &K) -> Option<V> {
        let mut entries = self.lock();
        let look = entries.look();
        let entry = entries.by_key.get_mut(key)?;
        entry.last = look;
        Some(entry.value.clone())
    }

    /// Caches a value of about `weight` bytes. Evicts the least recently used values if there is not enough room.
    pub fn put(&self, key: K, value: V, weight: usize) {
        if weight > self.most {
            return;
        }
        let mut entries = self.lock();
        if entries.weight + weight > self.most {
            // Free half of the room at once, so that eviction does not run for every insertion.
            entries.shrink((self.most / 2).min(self.most - weight));
        }
        let last = entries.look();
        entries.weight += weight;
        if let Some(before) = entries.by_key.insert(key, Entry { value, weight, last }) {
            entries.weight -= before.weight;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Entries<K, V>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Ord + Clone, V> Entries<K, V> {
    fn look(&mut self) -> u64 {
        self.looks += 1;
        self.looks
    }

    fn shrink(&mut self, most: usize) {
        let mut by_age: Vec<_> = self.by_key.iter().map(|(key, entry)| (entry.last, key.clone())).collect();
        by_age.sort_unstable_by_key(|(last, _)| *last);
        for (_, key) in by_age {
            if self.weight <= most {
                return;
            }
            self.weight -= self.by_key.remove(&key).map_or(0, |entry| entry.weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evicts_the_least_recently_used() {
        let held = ContentCache::new(10);
        for key in 0..10 {
            held.put(key, key, 1);
        }
        assert_eq!(held.get(&0), Some(0));
        held.put(10, 10, 1);
        let left: Vec<_> = (0..=10).filter(|key| held.get(key).is_some()).collect();
        assert_eq!(left, [0, 6, 7, 8, 9, 10], "half of the room is made free");
    }

    #[test]
    fn never_exceeds_the_size_limit() {
        let held = ContentCache::new(10);
        held.put("large", 1, 11);
        assert_eq!(held.get(&"large"), None);
        for _ in 0..20 {
            held.put("again", 2, 6);
        }
        held.put("beside", 3, 9);
        assert_eq!((held.get(&"again"), held.get(&"beside")), (None, Some(3)));
        assert_eq!(held.lock().weight, 9);
    }
}
