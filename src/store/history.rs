//! Compares commits of a store by ancestry.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{Objects, StoreError};
use crate::model::oid::Oid;

const OURS: u8 = 1;
const THEIRS: u8 = 2;
/// Marks commits with a descendant that is reachable from both sides.
const COMMON: u8 = 4;

/// The common ancestors of two commits, and the number of commits that only one of them has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Relation {
    /// The latest common ancestors, sorted; empty if the histories are unrelated.
    pub bases: Vec<Oid>,
    /// The number of commits that only the first commit has.
    pub ahead: usize,
    /// The number of commits that only the second commit has.
    pub behind: usize,
    /// Whether the second commit contains the first.
    pub is_contained: bool,
    /// Whether the first commit contains the second.
    pub contains: bool,
}

impl Relation {
    /// Compares two commits. The cost grows with the number of commits that only one of them has, not with the length
    /// of the history.
    ///
    /// # Errors
    /// Returns an error if a commit on the way cannot be read.
    pub fn of<O: Objects + ?Sized>(store: &O, ours: &Oid, theirs: &Oid) -> Result<Self, StoreError> {
        if ours == theirs {
            return Ok(Self { bases: vec![*ours], is_contained: true, contains: true, ..Self::default() });
        }
        let walk = Walk::between(store, ours, theirs)?;
        let found = |mark: u8| walk.marks.values().filter(|held| **held == mark).count();
        let (ahead, behind) = (found(OURS), found(THEIRS));
        let met: BTreeSet<Oid> = walk
            .marks
            .iter()
            .filter(|(_, mark)| **mark & (OURS | THEIRS) == OURS | THEIRS)
            .map(|(id, _)| *id)
            .collect();
        // A common ancestor that is an ancestor of another one is not a merge base.
        let behind_one = |id: &Oid| walk.parents.get(id).into_iter().flatten().copied().collect::<Vec<_>>();
        let mut covered = BTreeSet::new();
        let mut open: Vec<Oid> = met.iter().flat_map(behind_one).collect();
        while let Some(id) = open.pop() {
            if covered.insert(id) {
                open.extend(behind_one(&id));
            }
        }
        let is_contained = walk.marks.get(ours).is_some_and(|mark| mark & THEIRS != 0);
        let contains = walk.marks.get(theirs).is_some_and(|mark| mark & OURS != 0);
        Ok(Self { bases: met.difference(&covered).copied().collect(), ahead, behind, is_contained, contains })
    }
}

/// A walk from two commits, latest first.
struct Walk<'a, O: Objects + ?Sized> {
    store: &'a O,
    marks: BTreeMap<Oid, u8>,
    queue: BTreeSet<(Timestamp, Oid)>,
    /// The commits in the queue that are not marked as common.
    open: BTreeSet<Oid>,
    parents: BTreeMap<Oid, Vec<Oid>>,
}

impl<'a, O: Objects + ?Sized> Walk<'a, O> {
    fn between(store: &'a O, ours: &Oid, theirs: &Oid) -> Result<Self, StoreError> {
        let (queue, open) = (BTreeSet::new(), BTreeSet::new());
        let mut walk = Self { store, marks: BTreeMap::new(), queue, open, parents: BTreeMap::new() };
        walk.mark(ours, OURS)?;
        walk.mark(theirs, THEIRS)?;
        walk.run()?;
        Ok(walk)
    }

    fn mark(&mut self, id: &Oid, mark: u8) -> Result<(), StoreError> {
        let held = self.marks.entry(*id).or_default();
        if *held | mark != *held {
            *held |= mark;
            let is_common = *held & COMMON != 0;
            let commit = self.store.commit(id)?;
            self.parents.insert(*id, commit.parents);
            self.queue.insert((commit.time, *id));
            if is_common {
                self.open.remove(id)
            } else {
                self.open.insert(*id)
            };
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), StoreError> {
        // Follow commits that both sides have only while a commit of one side may still turn out to be older, because
        // the clocks of two machines differ.
        while !self.open.is_empty() {
            let Some((_, id)) = self.queue.pop_last() else { break };
            self.open.remove(&id);
            let mark = self.marks[&id];
            let both = mark & (OURS | THEIRS) == OURS | THEIRS;
            let handed = if both { mark | COMMON } else { mark };
            for parent in self.parents[&id].clone() {
                self.mark(&parent, handed)?;
            }
        }
        // A commit that was counted for one side but is an ancestor of a common one does not count.
        while let Some((_, id)) = self.queue.pop_last() {
            for parent in self.parents[&id].clone() {
                let mark = self.marks[&id] | COMMON;
                if let Some(held) = self.marks.get_mut(&parent).filter(|held| **held | mark != **held) {
                    *held |= mark;
                    self.queue.insert((Timestamp::UNIX_EPOCH, parent));
                }
            }
        }
        Ok(())
    }
}

/// Returns the commits that are in `tip` but not in `known`, parents first.
///
/// # Errors
/// Returns an error if a commit on the way cannot be read.
pub fn added<O: Objects + ?Sized>(store: &O, known: &Oid, tip: &Oid) -> Result<Vec<Oid>, StoreError> {
    if known == tip {
        return Ok(Vec::new());
    }
    let walk = Walk::between(store, known, tip)?;
    let is_added = |id: &Oid| walk.marks.get(id) == Some(&THEIRS);
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    let mut open: Vec<_> = Some((*tip, false)).filter(|_| is_added(tip)).into_iter().collect();
    while let Some((id, is_done)) = open.pop() {
        if is_done {
            found.push(id);
        } else if seen.insert(id) {
            open.push((id, true));
            let parents = walk.parents.get(&id).into_iter().flatten().rev();
            open.extend(parents.filter(|parent| is_added(parent)).map(|parent| (*parent, false)));
        }
    }
    Ok(found)
}

/// Returns the commits from `tip` back to and including `bases`, nearest first, at most `most`.
///
/// # Errors
/// Returns an error if a commit on the way cannot be read.
pub fn since<O: Objects + ?Sized>(store: &O, tip: &Oid, bases: &[Oid], most: usize) -> Result<Vec<Oid>, StoreError> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::from([*tip]));
    let mut open = std::collections::VecDeque::from([*tip]);
    while let Some(id) = open.pop_front().filter(|_| found.len() < most) {
        found.push(id);
        if bases.contains(&id) {
            continue;
        }
        for parent in store.commit(&id)?.parents {
            if seen.insert(parent) {
                open.push_back(parent);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        store::{Parents, Store as _, StoreRef, layout},
        testing::{make, memory::MemoryStore},
    };

    /// Commits to a ref named after `text`, on top of `tip` and merging `merge`, if given.
    fn commit(store: &MemoryStore, text: &str, merge: Option<Oid>, tip: Option<Oid>) -> Oid {
        commit_before(store, text, 0, merge, tip)
    }

    /// Commits as [`commit`] does, some hours before.
    fn commit_before(store: &MemoryStore, text: &str, hours: i64, merge: Option<Oid>, tip: Option<Oid>) -> Oid {
        let name = StoreRef::Sessions(format!("r{text}").parse().unwrap());
        let _lease = store.lock(&name).unwrap();
        let mut change = make::change(text, [make::put(layout::realm(), text)]);
        change.author.time = &change.author.time - jiff::Span::new().hours(hours);
        if let Some(other) = merge {
            change.parents = Parents::Merge(other);
        }
        if let Some(tip) = tip {
            store.advance(&name, None, tip).unwrap();
        }
        store.commit_change(&name, tip, &change).unwrap()
    }

    #[test]
    fn diverged_histories_have_one_base() {
        let store = MemoryStore::new();
        let root = commit(&store, "root", None, None);
        let a = commit(&store, "a", None, Some(root));
        let b = commit(&store, "b", None, Some(a));
        let c = commit(&store, "c", None, Some(root));
        let relation = Relation::of(&store, &b, &c).unwrap();
        assert_eq!((relation.bases, relation.ahead, relation.behind), (vec![root], 2, 1));
        assert!(!relation.is_contained && !relation.contains);
        let behind = Relation::of(&store, &root, &b).unwrap();
        assert_eq!((behind.bases, behind.ahead, behind.behind, behind.is_contained), (vec![root], 0, 2, true));
        let alone = commit(&store, "alone", None, None);
        assert_eq!(Relation::of(&store, &alone, &b).unwrap().bases, []);
    }

    /// One side has a commit that is older than many common ones, which must all be followed.
    #[test]
    fn many_open_branches_are_followed_in_time() {
        const MANY: usize = 10_000;
        let store = MemoryStore::new();
        let root = commit(&store, "root", None, None);
        let older = |text: &str, hours: i64| commit_before(&store, text, hours, None, Some(root));
        let mut tip = root;
        for at in 0..MANY {
            let branch = older(&format!("branch{at}"), 1);
            tip = commit(&store, &format!("merge{at}"), Some(branch), Some(tip));
        }
        let theirs = commit(&store, "theirs", Some(older("oldest", 2)), Some(tip));
        let begun = std::time::Instant::now();
        let relation = Relation::of(&store, &tip, &theirs).unwrap();
        assert_eq!((relation.bases, relation.ahead, relation.behind), (vec![tip], 0, 2));
        assert!(begun.elapsed() < std::time::Duration::from_secs(30), "{:?}", begun.elapsed());
    }

    #[test]
    fn crossed_histories_have_two_bases() {
        let store = MemoryStore::new();
        let root = commit(&store, "root", None, None);
        let (a, b) = (commit(&store, "a", None, Some(root)), commit(&store, "b", None, Some(root)));
        let (ab, ba) = (commit(&store, "ab", Some(b), Some(a)), commit(&store, "ba", Some(a), Some(b)));
        let relation = Relation::of(&store, &ab, &ba).unwrap();
        let mut both = vec![a, b];
        both.sort();
        assert_eq!((relation.bases, relation.ahead, relation.behind), (both, 1, 1));
        assert!(Relation::of(&store, &a, &ba).unwrap().is_contained);
        assert_eq!(since(&store, &ab, &[root], 100).unwrap().len(), 4);
        assert_eq!(since(&store, &ab, &[root], 2).unwrap().len(), 2);
    }
}
