//! Finds the commits that introduced the content of a domain, with their authors and times.

use std::collections::BTreeMap;

use super::{difference::FOLDERS, first_parents::History};
use crate::ops::message;
use crate::{
    error::{ErrorCode, OpError},
    model::oid::Oid,
    store::{CommitInfo, Entry, Store, TreePath, history::Relation, read},
};

/// The maximum number of commits to walk.
const MAX_COMMITS: usize = 10_000;
/// The maximum number of tree entries to compare. A folder with many contracts is large in every commit.
const MAX_ENTRIES: usize = 4_000_000;

/// A folder as it was at one commit.
#[derive(Default)]
struct Folder {
    id: Option<Oid>,
    /// The entries, read only if the folder differs from the next one.
    entries: Option<Vec<Entry>>,
}

/// The commit that introduced the content of a path.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// The commit's time.
    pub time: jiff::Timestamp,
    /// Its author, as `Name <email>`.
    pub author: String,
    /// Its committer, who published it, as `Name <email>`.
    pub committer: String,
    /// The repository that the commit message names.
    pub repo: Option<String>,
    /// The commit of that repository that made the change, as the message names it.
    pub source_commit: Option<String>,
    /// The content that the commit introduced; `None` if it removed the path.
    pub blob: Option<Oid>,
}

impl Origin {
    /// Describes a commit that introduced this content.
    pub fn new(commit: &CommitInfo, blob: Option<Oid>) -> Self {
        let (_, repo, source_commit) = message::parse(&commit.message);
        let (author, committer) = (commit.author.clone(), commit.committer.clone());
        Self { time: commit.time, author, committer, repo, source_commit, blob }
    }
}

/// Returns whether an earlier blob of the path at this index already had the change whose origin is searched for.
pub type HadChange<'a> = dyn Fn(usize, Oid) -> Result<bool, OpError> + 'a;

/// Returns the commits that made the change of each path at `tip`. Each path has the blob that the reader knows. A commit
/// that changed a path whose earlier blob `had_change` is passed over: it changed something else in the document.
/// There are several commits if concurrent changes were merged: those on each side that the reader does not know. Each
/// commit is compared with the next one only once, whatever the number of paths. For a change that is older than the
/// limit of the walk, the last commit of the walk is returned.
///
/// # Errors
/// Returns an error if the store cannot be read. Missing history only makes the times less exact.
pub fn origins(
    store: &dyn Store,
    tip: &Oid,
    paths: &[(&TreePath, Option<Oid>)],
    had_change: &HadChange<'_>,
) -> Result<Vec<Vec<Origin>>, OpError> {
    let mut walk = Walk { store, paths, had_change, origins: vec![Vec::new(); paths.len()], commits: 0, entries: 0 };
    let all = paths.iter().enumerate().map(|(at, (path, _))| (path.as_str(), at)).collect();
    let mut lines = vec![(*tip, all)];
    while let Some((tip, open)) = lines.pop() {
        lines.extend(walk.line(tip, open)?);
    }
    for origins in &mut walk.origins {
        if origins.is_empty() {
            origins.push(Origin::default());
        }
    }
    Ok(walk.origins)
}

/// The paths whose origin is not found yet, with their index.
type Open<'p> = BTreeMap<&'p str, usize>;

struct Walk<'a, 'p> {
    store: &'a dyn Store,
    paths: &'p [(&'p TreePath, Option<Oid>)],
    had_change: &'a HadChange<'a>,
    origins: Vec<Vec<Origin>>,
    commits: usize,
    entries: usize,
}

impl<'p> Walk<'_, 'p> {
    /// Walks along first parents, and records the origins that it finds. Returns the parents of merges at which the
    /// search has to continue, each with the paths to search for.
    fn line(&mut self, tip: Oid, mut open: Open<'p>) -> Result<Vec<(Oid, Open<'p>)>, OpError> {
        let mut others = Vec::new();
        let mut newer: Option<(CommitInfo, [Folder; FOLDERS.len()])> = None;
        let searched = FOLDERS.map(|folder| self.searches(folder));
        for step in History::of(self.store, Some(tip)) {
            self.commits += 1;
            if open.is_empty() || self.entries > MAX_ENTRIES || self.commits > MAX_COMMITS {
                break;
            }
            let (_, commit) = match step {
                Ok(step) => step,
                Err(error) if error.code == ErrorCode::Damaged => break,
                Err(error) => return Err(error),
            };
            let mut older: [Folder; FOLDERS.len()] = Default::default();
            let (mut brought, mut passed) = (Vec::new(), Vec::new());
            for (at, name) in FOLDERS.into_iter().enumerate().filter(|(at, _)| searched[*at]) {
                older[at].id = read::lookup(self.store, &commit.tree, name)?.map(|entry| entry.id);
                let Some((_, folders)) = &mut newer else { continue };
                if folders[at].id == older[at].id {
                    older[at].entries = folders[at].entries.take();
                    continue;
                }
                let new = folders[at].read(self.store)?;
                let old = older[at].read(self.store)?;
                self.entries += new.len() + old.len();
                for (changed, before) in differing(old, new) {
                    let Some((path, at)) = open.remove_entry(format!("{name}/{changed}").as_str()) else { continue };
                    if self.had_change_in(at, before)? {
                        passed.push((path, at));
                    } else {
                        brought.push((path, at));
                    }
                }
            }
            if let Some((newer, _)) = &newer {
                others.extend(self.settle(newer, brought)?);
            }
            open.extend(passed);
            newer = Some((commit, older));
        }
        if let Some((oldest, _)) = newer {
            for (path, at) in open {
                let blob = self.blob(&oldest.tree, path)?;
                self.record(at, &oldest, blob);
            }
        }
        Ok(others)
    }

    /// Returns whether a path already had the change when it had this blob. What the reader knows did not.
    fn had_change_in(&self, at: usize, before: Option<Oid>) -> Result<bool, OpError> {
        before.filter(|_| before != self.paths[at].1).map_or(Ok(false), |blob| (self.had_change)(at, blob))
    }

    /// Records an origin. Nearly every path has only one, so no room is reserved for more.
    fn record(&mut self, at: usize, commit: &CommitInfo, blob: Option<Oid>) {
        let origins = &mut self.origins[at];
        origins.reserve_exact(1);
        origins.push(Origin::new(commit, blob));
    }

    /// Returns whether any of the paths is in a folder. Other folders need not be read, although they may change often:
    /// nearly every commit changes the folder of the sources.
    fn searches(&self, folder: &str) -> bool {
        self.paths.iter().any(|(path, _)| path.as_str().split_once('/').is_some_and(|(parent, _)| parent == folder))
    }

    /// Records the paths that a commit introduced. Returns the paths that it merged, with the parents to go on with.
    fn settle(&mut self, commit: &CommitInfo, brought: Vec<(&'p str, usize)>) -> Result<Vec<(Oid, Open<'p>)>, OpError> {
        let mut lines: BTreeMap<Oid, Open<'p>> = BTreeMap::new();
        for (path, at) in brought {
            let sides = self.merged_sides(commit, path, self.paths[at].1)?;
            if sides.is_empty() {
                let blob = self.blob(&commit.tree, path)?;
                self.record(at, commit, blob);
            }
            for side in sides {
                lines.entry(side).or_default().insert(path, at);
            }
        }
        Ok(lines.into_iter().collect())
    }

    /// Returns the parents of a merge that have its content of a path, or, if none has, those that changed the path to
    /// something else than the reader knows.
    fn merged_sides(&self, commit: &CommitInfo, path: &str, known: Option<Oid>) -> Result<Vec<Oid>, OpError> {
        let [first, others @ ..] = &commit.parents[..] else { return Ok(Vec::new()) };
        if others.is_empty() {
            return Ok(Vec::new());
        }
        let merged = self.blob(&commit.tree, path)?;
        for other in others {
            if self.blob_at(other, path)?.is_some_and(|held| held == merged) {
                return Ok(vec![*other]);
            }
        }
        let bases = match Relation::of(self.store, first, &others[0]) {
            Err(error) if error.is_damage() => return Ok(Vec::new()),
            relation => relation?.bases,
        };
        let of_bases = bases.iter().map(|base| self.blob_at(base, path)).collect::<Result<Vec<_>, _>>()?;
        let mut sides = Vec::new();
        for parent in [first, &others[0]] {
            let held = self.blob_at(parent, path)?;
            if held.is_some_and(|held| held != known) && !of_bases.contains(&held) {
                sides.push(*parent);
            }
        }
        Ok(sides)
    }

    /// Returns the blob at a path of a commit, if the commit can be read.
    fn blob_at(&self, commit: &Oid, path: &str) -> Result<Option<Option<Oid>>, OpError> {
        match self.store.commit(commit) {
            Err(error) if error.is_damage() => Ok(None),
            info => Ok(Some(self.blob(&info?.tree, path)?)),
        }
    }

    fn blob(&self, tree: &Oid, path: &str) -> Result<Option<Oid>, OpError> {
        Ok(read::lookup(self.store, tree, path)?.map(|entry| entry.id))
    }
}

impl Folder {
    fn read(&mut self, store: &dyn Store) -> Result<&[Entry], OpError> {
        if self.entries.is_none() {
            let entries = self.id.map(|id| store.entries(&id)).transpose();
            // An entry that is not a folder contains nothing to report.
            self.entries = Some(match entries {
                Err(error) if error.is_damage() => Vec::new(),
                entries => entries?.unwrap_or_default(),
            });
        }
        Ok(self.entries.as_deref().unwrap_or_default())
    }
}

/// Returns the names of the entries that only one side has, or that differ, with their older content. Both sides are in
/// git's order.
fn differing<'a>(old: &'a [Entry], new: &'a [Entry]) -> Vec<(&'a str, Option<Oid>)> {
    // Two neighboring trees are mostly equal, and their common entries are at the same positions from one end or the
    // other.
    let front = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[front..], &new[front..]);
    let back = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[..old.len() - back], &new[..new.len() - back]);
    let before: BTreeMap<&str, &Entry> = old.iter().map(|entry| (entry.name.as_str(), entry)).collect();
    let after: BTreeMap<&str, &Entry> = new.iter().map(|entry| (entry.name.as_str(), entry)).collect();
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    let changed = names.filter(|name| before.get(*name) != after.get(*name));
    changed.map(|name| (*name, before.get(name).map(|entry| entry.id))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::EntryKind;

    #[test]
    fn differing_entries_are_found_at_any_position() {
        let entry = |name: &str, id: char| Entry {
            name: name.to_owned(),
            kind: EntryKind::Blob,
            id: id.to_string().repeat(40).parse().unwrap(),
        };
        let all = |text: &str| -> Vec<Entry> {
            text.split_whitespace().map(|word| entry(&word[..1], word.chars().nth(1).unwrap())).collect()
        };
        for (old, new, expected) in [
            ("a1 b1 c1", "a1 b1 c1", ""),
            ("a1 b1 c1", "a1 b2 c1", "b"),
            ("a1 b1 c1", "a1 c1", "b"),
            ("", "a1", "a"),
            ("a1 b1 c1 d1", "a2 b1 d1 e1", "a c e"),
        ] {
            let (old_entries, new_entries) = (all(old), all(new));
            let names: Vec<_> = differing(&old_entries, &new_entries).into_iter().map(|(name, _)| name).collect();
            assert_eq!(names.join(" "), expected, "{old} | {new}");
        }
    }
}
