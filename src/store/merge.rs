//! Merges the trees of one ref that two machines changed, path by path, against the merge base. If only one side
//! changed a path, its version is used; if both did, `model::merge` decides.

mod members;
mod renames;
mod settle;

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;

use crate::model::{conflict::Conflict, merge::ConflictId, oid::Oid, set_aside::SetAside};
use crate::store::{
    Edit, Entry, EntryKind, Store, StoreError, StoreRef, TreePath, codec,
    history::{self, Relation},
    layout::SOURCES,
    read,
    tree_file::TreeFile,
};

/// The maximum number of commits that are searched for earlier published commits of a repository.
const MAX_HISTORY: usize = 1_000;

/// The result of a merge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Merge {
    /// The changes to the local tree.
    pub edits: BTreeMap<TreePath, Edit>,
    /// The conflicts. The losing content is recorded.
    pub conflicts: Vec<Conflict>,
}

/// Merges `theirs` into the tree of `ours`. Both are commits of the ref `name`.
///
/// # Errors
/// Returns an error if an object cannot be read.
pub fn merge(
    store: &dyn Store,
    name: &StoreRef,
    relation: &Relation,
    ours: &Oid,
    theirs: &Oid,
) -> Result<Merge, StoreError> {
    merge_with_overrides(store, name, relation, [ours, theirs], [&Overrides::default(), &Overrides::default()])
}

/// Files whose content replaces that in a side's tree.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// The content of each file; `None` means absent.
    pub files: BTreeMap<TreePath, Option<Oid>>,
    /// The content that is in no object yet, by its id.
    pub made: BTreeMap<Oid, Vec<u8>>,
}

/// Merges like [`merge()`], but with `overrides` replacing the content of files on either side. The edits are relative
/// to the local tree with these replacements.
///
/// # Errors
/// Returns the errors of [`merge()`].
pub fn merge_with_overrides(
    store: &dyn Store,
    name: &StoreRef,
    relation: &Relation,
    [ours, theirs]: [&Oid; 2],
    overrides: [&Overrides; 2],
) -> Result<Merge, StoreError> {
    let bases =
        relation.bases.iter().map(|base| Ok(store.commit(base)?.tree)).collect::<Result<Vec<_>, StoreError>>()?;
    let sides = [store.commit(ours)?.tree, store.commit(theirs)?.tree];
    let pasts = [BTreeMap::new(), BTreeMap::new()];
    let mut merging = TreeMerge { store, name, bases: &bases, trees: sides, overrides, pasts, merge: Merge::default() };
    let mut conflicts = merging.walk(bases.clone(), sides)?;
    for path in overrides.iter().flat_map(|one| one.files.keys()).collect::<BTreeSet<_>>() {
        conflicts.retain(|conflict| conflict.place.path() != *path);
        merging.merge_again(path, &bases, &mut conflicts)?;
    }
    let about_repos = |conflict: &PathConflict| {
        matches!(
            conflict.place,
            TreeFile::Contract(_) | TreeFile::Version(..) | TreeFile::Binding(_) | TreeFile::Source(_)
        )
    };
    if conflicts.iter().any(about_repos) {
        merging.pasts = [past(store, ours, &relation.bases)?, past(store, theirs, &relation.bases)?];
    }
    // The merged current document of a contract decides which content its version has.
    conflicts.sort_by_key(|conflict| matches!(conflict.place, TreeFile::Version(..)));
    for conflict in conflicts {
        merging.settle(conflict)?;
    }
    merging.accept()?;
    if let StoreRef::Domain(_) = name {
        merging.keep_members()?;
    }
    for edit in merging.merge.edits.values_mut() {
        if let Edit::Link(_, blob) = edit
            && let Some(bytes) = overrides.iter().find_map(|one| one.made.get(blob))
        {
            *edit = Edit::Put(bytes.clone());
        }
    }
    merging.merge.conflicts.sort();
    merging.merge.conflicts.dedup();
    Ok(merging.merge)
}

/// Returns the commits that only `ours` has, if `theirs` already contains the changes of each of them; otherwise none.
///
/// # Errors
/// Returns an error if an object cannot be read.
pub fn superseded(store: &dyn Store, name: &StoreRef, ours: &Oid, theirs: &Oid) -> Result<Vec<Oid>, StoreError> {
    let own = history::added(store, theirs, ours)?;
    // Start with the last commit: unless it reverts some of the changes, it contains all of them.
    for commit in own.iter().rev() {
        let relation = Relation::of(store, theirs, commit)?;
        if relation.bases.is_empty() || merge(store, name, &relation, theirs, commit)? != Merge::default() {
            return Ok(Vec::new());
        }
    }
    Ok(own)
}

/// The blobs of each `sources/<repo>.json` in the history of one side, including the current one.
type FormerBlobs = BTreeMap<String, BTreeSet<Oid>>;

fn past(store: &dyn Store, tip: &Oid, bases: &[Oid]) -> Result<FormerBlobs, StoreError> {
    let mut past = FormerBlobs::new();
    for commit in history::since(store, tip, bases, MAX_HISTORY)? {
        for entry in read::folder(store, &store.commit(&commit)?.tree, SOURCES)? {
            past.entry(entry.name).or_default().insert(entry.id);
        }
    }
    Ok(past)
}

/// A file that both sides changed.
struct PathConflict {
    place: TreeFile,
    /// The content in the merge base, if it is known.
    base: Option<Oid>,
    sides: [Option<Oid>; 2],
}

struct TreeMerge<'a> {
    store: &'a dyn Store,
    name: &'a StoreRef,
    bases: &'a [Oid],
    trees: [Oid; 2],
    overrides: [&'a Overrides; 2],
    pasts: [FormerBlobs; 2],
    merge: Merge,
}

/// One folder, in the merge bases and on both sides.
struct Level {
    path: Vec<String>,
    bases: Vec<Option<Oid>>,
    sides: [Option<Oid>; 2],
}

impl TreeMerge<'_> {
    /// Takes the changes that only the other side made, and returns the files that both sides changed.
    fn walk(&mut self, bases: Vec<Oid>, sides: [Oid; 2]) -> Result<Vec<PathConflict>, StoreError> {
        let mut conflicts = Vec::new();
        let top = Level { path: Vec::new(), bases: bases.into_iter().map(Some).collect(), sides: sides.map(Some) };
        let mut open = vec![top];
        while let Some(level) = open.pop() {
            let bases = level.bases.iter().map(|tree| self.entries(*tree)).collect::<Result<Vec<_>, _>>()?;
            let [ours, theirs] = [self.entries(level.sides[0])?, self.entries(level.sides[1])?];
            let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
            for name in names {
                let (our, their) = (ours.get(name), theirs.get(name));
                if same(our, their) {
                    continue;
                }
                let known: Vec<_> = bases.iter().map(|entries| entries.get(name)).collect();
                let path: Vec<_> = level.path.iter().chain([name]).cloned().collect();
                // If the merge bases differ, or there is none, the common content is unknown.
                let base = known.split_first().filter(|(first, rest)| rest.iter().all(|one| same(**first, *one)));
                let base = base.map(|(first, _)| *first);
                let is_tree = |entry: Option<&Entry>| entry.is_none_or(|entry| entry.kind == EntryKind::Tree);
                if is_tree(our) && is_tree(their) {
                    // If the other side did not change the folder, the local content is kept.
                    if !base.is_some_and(|base| same(base, their)) {
                        let bases = known.iter().map(|entry| tree_of(*entry)).collect();
                        open.push(Level { path, bases, sides: [tree_of(our), tree_of(their)] });
                    }
                    continue;
                }
                let parts: Vec<&str> = path.iter().map(String::as_str).collect();
                let Some(place) = TreeFile::parse(self.name, &parts) else {
                    // Neither side may have such a file, and it was reported before.
                    continue;
                };
                self.file(place, base, [our, their], &mut conflicts);
            }
        }
        Ok(conflicts)
    }

    fn file(
        &mut self,
        place: TreeFile,
        base: Option<Option<&Entry>>,
        [our, their]: [Option<&Entry>; 2],
        conflicts: &mut Vec<PathConflict>,
    ) {
        let id = |entry: Option<&Entry>| entry.filter(|entry| entry.kind == EntryKind::Blob).map(|entry| entry.id);
        let is_gone = their.is_none() || our.is_none();
        match (base, id(their)) {
            // Only one side has the file: it is kept or added.
            _ if is_gone && place.is_kept() => {
                self.merge.edits.extend(id(their).map(|blob| (place.path(), Edit::Link(EntryKind::Blob, blob))));
            }
            (Some(base), Some(blob)) if same(base, our) => {
                self.merge.edits.insert(place.path(), Edit::Link(EntryKind::Blob, blob));
            }
            (Some(base), None) if same(base, our) => drop(self.merge.edits.insert(place.path(), Edit::Remove)),
            (Some(base), _) if same(base, their) => {}
            _ => conflicts.push(PathConflict { place, base: base.and_then(id), sides: [id(our), id(their)] }),
        }
    }

    /// Merges again a file whose content was replaced.
    fn merge_again(
        &mut self,
        path: &TreePath,
        bases: &[Oid],
        conflicts: &mut Vec<PathConflict>,
    ) -> Result<(), StoreError> {
        self.merge.edits.remove(path);
        let Some(place) = TreeFile::parse(self.name, &path.parts().collect::<Vec<_>>()) else { return Ok(()) };
        let found = |tree: &Oid| read::lookup(self.store, tree, path.as_str());
        let known = bases.iter().map(found).collect::<Result<Vec<_>, _>>()?;
        let base = known.split_first().filter(|(first, rest)| rest.iter().all(|one| one == *first));
        let mut sides = [None, None];
        for (at, side) in sides.iter_mut().enumerate() {
            let blob = |id: Oid| Entry { name: String::new(), kind: EntryKind::Blob, id };
            *side = match self.overrides[at].files.get(path) {
                Some(content) => content.map(blob),
                None => found(&self.trees[at])?,
            };
        }
        let [our, their] = &sides;
        if !same(our.as_ref(), their.as_ref()) {
            let base = base.map(|(first, _)| first.as_ref());
            self.file(place, base, [our.as_ref(), their.as_ref()], conflicts);
        }
        Ok(())
    }

    /// Applies changes that were accepted on one side while the other side may still set them aside. Both sides have
    /// the commit that made them.
    fn accept(&mut self) -> Result<(), StoreError> {
        let [our, their] = [self.records(0)?, self.records(1)?];
        let accepted =
            |records: &BTreeMap<ConflictId, SetAside>, id| records.get(id).is_some_and(SetAside::is_accepted);
        for (id, record) in our.iter().chain(&their).filter(|(_, record)| record.is_accepted()) {
            if accepted(&our, id) && accepted(&their, id) {
                continue;
            }
            for change in record.accepted() {
                let parts: Vec<_> = change.path.split('/').collect();
                let Some(place) = TreeFile::parse(self.name, &parts) else { continue };
                let sides = [self.content(0, &place.path())?, self.content(1, &place.path())?];
                if sides == [change.refused, change.kept] {
                    self.merge.edits.remove(&place.path());
                } else if sides == [change.kept, change.refused] {
                    let edit = change.refused.map_or(Edit::Remove, |blob| Edit::Link(EntryKind::Blob, blob));
                    self.merge.edits.insert(place.path(), edit);
                }
            }
        }
        Ok(())
    }

    /// Returns the records of commits that broke a rule on one side.
    fn records(&self, side: usize) -> Result<BTreeMap<ConflictId, SetAside>, StoreError> {
        let mut records = read::set_aside_in(self.store, &self.trees[side])?;
        for (path, content) in &self.overrides[side].files {
            if let Some(TreeFile::SetAside(id)) = TreeFile::parse(self.name, &path.parts().collect::<Vec<_>>()) {
                records.remove(&id);
                records.extend(self.readable(*content)?.map(|record| (id, record)));
            }
        }
        Ok(records)
    }

    /// Returns a document, unless it is absent or cannot be read.
    fn readable<T: DeserializeOwned>(&self, blob: Option<Oid>) -> Result<Option<T>, StoreError> {
        let made = |blob: &Oid| self.overrides.iter().find_map(|one| one.made.get(blob));
        match blob.as_ref().and_then(made) {
            Some(bytes) => Ok(codec::decode(bytes).ok()),
            None => read::readable(self.store, blob),
        }
    }

    fn entries(&self, tree: Option<Oid>) -> Result<BTreeMap<String, Entry>, StoreError> {
        let entries = tree.map(|tree| self.store.entries(&tree)).transpose()?.unwrap_or_default();
        Ok(entries.into_iter().map(|entry| (entry.name.clone(), entry)).collect())
    }

    /// Returns the content of a file on one side, with its replacement.
    fn content(&self, side: usize, path: &TreePath) -> Result<Option<Oid>, StoreError> {
        match self.overrides[side].files.get(path) {
            Some(content) => Ok(*content),
            None => self.blob_at(side, path),
        }
    }

    fn blob_at(&self, side: usize, path: &TreePath) -> Result<Option<Oid>, StoreError> {
        Ok(read::lookup(self.store, &self.trees[side], path.as_str())?.map(|entry| entry.id))
    }
}

fn same(a: Option<&Entry>, b: Option<&Entry>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.id == b.id && a.kind == b.kind,
        (None, None) => true,
        _ => false,
    }
}

fn tree_of(entry: Option<&Entry>) -> Option<Oid> {
    entry.filter(|entry| entry.kind == EntryKind::Tree).map(|entry| entry.id)
}
