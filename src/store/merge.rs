//! Merges the trees of one ref that two machines changed, path by path, against the merge base. If only one side
//! changed a path, its version is used; if both did, `model::merge` decides.

mod renames;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, de::DeserializeOwned};

use crate::model::{
    binding::Binding,
    conflict::Conflict,
    contract::Contract,
    domain::{Domain, Source},
    merge::{self, ConflictId, Merged, Newer},
    name::{ContractName, RepoName},
    oid::Oid,
    realm::Repo,
    set_aside::SetAside,
};
use crate::store::{
    Edit, Entry, EntryKind, Store, StoreError, StoreRef, TreePath, codec,
    history::{self, Relation},
    layout::{self, SOURCES},
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
    merge_with_overrides(store, name, relation, [ours, theirs], [&Overrides::new(), &Overrides::new()])
}

/// Files whose content replaces that in a side's tree; `None` means absent.
pub type Overrides = BTreeMap<TreePath, Option<Oid>>;

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
    let mut merging = TreeMerge { store, name, bases: &bases, trees: sides, pasts, merge: Merge::default() };
    let mut conflicts = merging.walk(bases.clone(), sides)?;
    for path in overrides.iter().flat_map(|one| one.keys()).collect::<BTreeSet<_>>() {
        conflicts.retain(|conflict| conflict.place.path() != *path);
        merging.merge_again(path, &bases, overrides, &mut conflicts)?;
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
    for conflict in conflicts {
        merging.settle(conflict)?;
    }
    merging.accept()?;
    if let StoreRef::Domain(_) = name {
        merging.keep_members(overrides[0])?;
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
    // The last commit has the changes of all, unless it takes some back.
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
        overrides: [&Overrides; 2],
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
            *side = match overrides[at].get(path) {
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
        let [ours, theirs] = self.trees;
        let [our, their] = [read::set_aside_in(self.store, &ours)?, read::set_aside_in(self.store, &theirs)?];
        let accepted =
            |records: &BTreeMap<ConflictId, SetAside>, id| records.get(id).is_some_and(SetAside::is_accepted);
        for (id, record) in our.iter().chain(&their).filter(|(_, record)| record.is_accepted()) {
            if accepted(&our, id) && accepted(&their, id) {
                continue;
            }
            for change in &record.changes {
                let content = |tree: &Oid| {
                    Ok::<_, StoreError>(read::lookup(self.store, tree, &change.path)?.map(|entry| entry.id))
                };
                let sides = [content(&ours)?, content(&theirs)?];
                let parts: Vec<_> = change.path.split('/').collect();
                let Some(place) = TreeFile::parse(self.name, &parts) else { continue };
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

    /// Keeps a member that one side removed while the other side published its binding or a contract of it. These stay,
    /// and nobody could change or remove them otherwise.
    fn keep_members(&mut self, replaced: &Overrides) -> Result<(), StoreError> {
        let path = layout::domain();
        let Some(mut merged) = self.merged::<Domain>(&path, replaced)? else { return Ok(()) };
        let mut removed = BTreeSet::new();
        for side in 0..2 {
            let domain = read::readable::<Domain>(self.store, self.blob_at(side, &path)?)?;
            removed.extend(domain.into_iter().flat_map(|domain| domain.members));
        }
        removed.retain(|member| !merged.has_member(member));
        if removed.is_empty() || merged.removed {
            return Ok(());
        }
        let owners = self.owners(replaced)?;
        let mut is_kept = false;
        for member in removed {
            if owners.contains(&member) || self.merged::<Binding>(&layout::binding(&member), replaced)?.is_some() {
                is_kept |= merged.members.insert(member);
            }
        }
        if is_kept {
            self.merge.edits.remove(&path);
            if self.merged::<Domain>(&path, replaced)?.as_ref() != Some(&merged) {
                self.merge.edits.insert(path, Edit::Put(codec::encode(&merged)));
            }
        }
        Ok(())
    }

    /// Returns the owners of the contracts that one side changed and that are not retired after the merge. Who removes a
    /// member knows its other contracts.
    fn owners(&self, replaced: &Overrides) -> Result<BTreeSet<RepoName>, StoreError> {
        let [ours, theirs] = &self.trees;
        let entries = |tree| {
            let entries = read::folder(self.store, tree, layout::CONTRACTS)?;
            Ok::<BTreeSet<_>, StoreError>(entries.into_iter().map(|entry| (entry.name, entry.id)).collect())
        };
        let (ours, theirs) = (entries(ours)?, entries(theirs)?);
        let names: BTreeSet<_> = ours.symmetric_difference(&theirs).map(|(name, _)| name).collect();
        let contracts = names.iter().filter_map(|file| layout::stem::<ContractName>(file));
        let mut owners = BTreeSet::new();
        for name in contracts {
            let contract = self.merged::<Contract>(&layout::contract(&name), replaced)?;
            owners.extend(contract.filter(|contract| contract.retired.is_none()).map(|contract| contract.owner));
        }
        Ok(owners)
    }

    /// Returns a document after the merge, if there is one that can be read.
    fn merged<T: DeserializeOwned>(&self, path: &TreePath, replaced: &Overrides) -> Result<Option<T>, StoreError> {
        let blob = match self.merge.edits.get(path) {
            Some(Edit::Put(text)) => return Ok(codec::decode(text).ok()),
            Some(Edit::Link(_, blob)) => Some(*blob),
            Some(Edit::Remove) => None,
            None => match replaced.get(path) {
                Some(content) => *content,
                None => self.blob_at(0, path)?,
            },
        };
        read::readable(self.store, blob)
    }

    fn entries(&self, tree: Option<Oid>) -> Result<BTreeMap<String, Entry>, StoreError> {
        let entries = tree.map(|tree| self.store.entries(&tree)).transpose()?.unwrap_or_default();
        Ok(entries.into_iter().map(|entry| (entry.name.clone(), entry)).collect())
    }

    /// Resolves a file that both sides changed.
    fn settle(&mut self, conflict: PathConflict) -> Result<(), StoreError> {
        let PathConflict { place, base, sides: [ours, theirs] } = conflict;
        let (Some(our), Some(their)) = (ours, theirs) else {
            return self.settle_absence(&place, base, [ours, theirs]);
        };
        match &place {
            TreeFile::Contract(name) => {
                let Some([our, their]) = self.both::<Contract>(&place, our, their)? else { return Ok(()) };
                let base = read::readable(self.store, base)?;
                let ([ours, theirs], newer) = self.comparable(name, &our, &their)?;
                let merged = merge::contract(base.as_ref(), &ours, &theirs, newer);
                self.put_contract(&place, &our, merged, name);
            }
            TreeFile::Version(name, _) => {
                let Some([our, their]) = self.both::<Contract>(&place, our, their)? else { return Ok(()) };
                let ([ours, theirs], newer) = self.comparable(name, &our, &their)?;
                let merged = merge::version(&ours, &theirs, newer);
                self.put_contract(&place, &our, merged, name);
            }
            TreeFile::Binding(repo) => {
                let Some([our, their]) = self.both::<Binding>(&place, our, their)? else { return Ok(()) };
                let base = read::readable(self.store, base)?;
                let merged = merge::binding(base.as_ref(), &our, &their, self.newer([repo; 2])?);
                self.put_binding(repo, Some(&our), merged);
            }
            TreeFile::Source(repo) => {
                let Some([our, their]) = self.both::<Source>(&place, our, their)? else { return Ok(()) };
                let base = read::readable(self.store, base)?;
                match merge::source(base.as_ref(), &our, &their, self.newer([repo; 2])?) {
                    Some(winner) => self.put(&place, &our, &winner),
                    None => drop(self.merge.edits.insert(place.path(), Edit::Remove)),
                }
            }
            TreeFile::Domain => {
                let base = read::readable(self.store, base)?;
                self.put_merged(&place, [our, their], |our, their| merge::domain(base.as_ref(), our, their))?;
            }
            TreeFile::Repo(repo) => {
                let Some([our, their]) = self.both::<Repo>(&place, our, their)? else { return Ok(()) };
                let Merged { winner, lost } = merge::repo(&our, &their);
                if let Some(lost) = lost {
                    let place = TreeFile::LosingRepo(repo.clone(), ConflictId::of(&lost));
                    self.record(&place, codec::encode(&lost));
                    self.merge.conflicts.push(Conflict::Repo(repo.clone()));
                }
                self.put(&place, &our, &winner);
            }
            TreeFile::SetAside(_) => self.put_merged(&place, [our, their], SetAside::merged_with)?,
            TreeFile::Session(_) | TreeFile::EndedSession(_) => {
                self.put_merged(&place, [our, their], merge::session)?;
            }
            TreeFile::Transfers(_) => self.put_merged(&place, [our, their], merge::transfers)?,
            // These files are named by their content, or never differ.
            TreeFile::Realm
            | TreeFile::Rename(_)
            | TreeFile::Approval(..)
            | TreeFile::LosingRepo(..)
            | TreeFile::LosingContract(..)
            | TreeFile::LosingBinding(..) => {
                self.smaller(&place, our, their);
            }
        }
        Ok(())
    }

    /// Resolves a file that one side removed and the other changed: it stays, unless it is a session that has ended, or a
    /// later commit of the repository removed its binding.
    fn settle_absence(
        &mut self,
        place: &TreeFile,
        base: Option<Oid>,
        [ours, theirs]: [Option<Oid>; 2],
    ) -> Result<(), StoreError> {
        if let TreeFile::Session(id) = place {
            let ended = layout::ended_session(id);
            let without = usize::from(ours.is_some());
            if read::lookup(self.store, &self.trees[without], ended.as_str())?.is_some() {
                self.merge.edits.extend(ours.map(|_| (place.path(), Edit::Remove)));
                return Ok(());
            }
        }
        if let TreeFile::Binding(repo) = place {
            let remover = if ours.is_none() { Newer::Ours } else { Newer::Theirs };
            if self.newer([repo; 2])? == remover {
                self.merge.edits.extend(ours.map(|_| (place.path(), Edit::Remove)));
                return Ok(());
            }
        }
        if let TreeFile::Binding(repo) = place
            && self.merge_renamed_binding(repo, base, [ours, theirs])?
        {
            return Ok(());
        }
        if let TreeFile::Source(repo) = place
            && self.merge_renamed_source(repo, base, [ours, theirs])?
        {
            return Ok(());
        }
        self.merge.edits.extend(theirs.map(|blob| (place.path(), Edit::Link(EntryKind::Blob, blob))));
        Ok(())
    }

    /// Reads both sides. If one cannot be read, the other wins; if neither can, the one with the smaller id wins.
    fn both<T: DeserializeOwned>(
        &mut self,
        place: &TreeFile,
        our: Oid,
        their: Oid,
    ) -> Result<Option<[T; 2]>, StoreError> {
        Ok(match (read::readable(self.store, Some(our))?, read::readable(self.store, Some(their))?) {
            (Some(ours), Some(theirs)) => Some([ours, theirs]),
            (Some(_), None) => None,
            (None, Some(_)) => {
                self.merge.edits.insert(place.path(), Edit::Link(EntryKind::Blob, their));
                None
            }
            (None, None) => {
                self.smaller(place, our, their);
                None
            }
        })
    }

    fn smaller(&mut self, place: &TreeFile, our: Oid, their: Oid) {
        if their < our {
            self.merge.edits.insert(place.path(), Edit::Link(EntryKind::Blob, their));
        }
    }

    fn put<T: Serialize + PartialEq>(&mut self, place: &TreeFile, ours: &T, winner: &T) {
        if ours != winner {
            self.merge.edits.insert(place.path(), Edit::Put(codec::encode(winner)));
        }
    }

    /// Merges a file of which nothing is lost.
    fn put_merged<T: Serialize + DeserializeOwned + PartialEq>(
        &mut self,
        place: &TreeFile,
        [our, their]: [Oid; 2],
        merge: impl FnOnce(&T, &T) -> T,
    ) -> Result<(), StoreError> {
        if let Some([our, their]) = self.both::<T>(place, our, their)? {
            self.put(place, &our, &merge(&our, &their));
        }
        Ok(())
    }

    fn put_binding(&mut self, repo: &RepoName, ours: Option<&Binding>, merged: Merged<Binding>) {
        let Merged { winner, lost } = merged;
        if let Some(lost) = lost {
            let place = TreeFile::LosingBinding(repo.clone(), ConflictId::of(&lost));
            self.record(&place, codec::encode(&lost));
            self.merge.conflicts.push(Conflict::Binding(repo.clone()));
        }
        if ours != Some(&winner) {
            self.merge.edits.insert(layout::binding(repo), Edit::Put(codec::encode(&winner)));
        }
    }

    fn put_contract(&mut self, place: &TreeFile, ours: &Contract, merged: Merged<Contract>, name: &ContractName) {
        let Merged { winner, lost } = merged;
        if let Some(lost) = lost {
            let lost = lost.as_published();
            let place = TreeFile::LosingContract(name.clone(), lost.version.clone(), ConflictId::of(&lost));
            self.record(&place, codec::encode_contract(&lost));
            self.merge.conflicts.push(Conflict::Contract(name.clone(), lost.version));
        }
        if *ours != winner {
            self.merge.edits.insert(place.path(), Edit::Put(codec::encode_contract(&winner)));
        }
    }

    fn record(&mut self, place: &TreeFile, lost: Vec<u8>) {
        // The file is named by its content, so it may already exist.
        self.merge.edits.insert(place.path(), Edit::Put(lost));
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
