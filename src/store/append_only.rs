//! Checks fetched commits against the rules that every commit of a realm must follow: published
//! versions never change, and only the owner of a file changes it. Each commit is compared with its
//! first parent, and a merge with the merge that this program would make of its parents, so that
//! every machine reaches the same result, regardless of which commits it had before.
//!
//! The `Blue-Repo` trailer of a commit claims which repository made it. A false claim breaks no rule, but the owner is
//! notified of the commit's author either way.

mod exceptions;
mod renames;
mod rules;

use std::{
    cell::{Cell, OnceCell, RefCell},
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use renames::Renames;
use serde::de::DeserializeOwned;

use crate::model::{
    merge::ConflictId,
    name::RepoName,
    oid::Oid,
    set_aside::{RuleViolation, SetAside},
    trailer,
};
use crate::store::{
    CommitInfo, Edit, EntryKind, Store, StoreError, StoreRef, TreePath, codec,
    history::{self, Relation},
    layout,
    merge::{self, Overrides},
    read,
    tree_file::TreeFile,
    validate_incoming,
};

/// The maximum number of files in the record of one commit. Further files are kept out as well.
const MAX_CHANGES: usize = 5_000;

/// The maximum number of commits that are judged again to repeat merges. Somebody may push many merges onto old commits.
const MAX_REPEATED: usize = 10_000;

/// The result of checking the commits of a ref.
#[derive(Debug, Default)]
pub struct Examined {
    /// The files whose content must differ from that at the tip.
    pub overrides: Overrides,
    /// The commits that broke a rule.
    pub records: Vec<SetAside>,
}

/// Checks the commits that are in `tip` but not in `known`. Everything in `known` is trusted.
///
/// # Errors
/// Returns an error if an object cannot be read.
pub fn examine(store: &dyn Store, name: &StoreRef, known: &Oid, tip: &Oid) -> Result<Examined, StoreError> {
    if matches!(name, StoreRef::Sessions(_)) {
        return Ok(Examined::default());
    }
    // If the realm's own ref is examined, the renames in its new commits are added one by one, as each commit is
    // judged.
    let realm = if *name == StoreRef::Realm { Some(*known) } else { store.tip(&StoreRef::Realm)? };
    let mut examination = Examination::new(store, name, *known, Renames::until(realm));
    examination.all(history::added(store, known, tip)?)?;
    let refused = examination.refused.remove(tip).unwrap_or_default();
    let blamed: BTreeSet<Oid> = refused.values().map(|one| one.by).collect();
    let record = |commit| examination.record(commit);
    Ok(Examined {
        records: blamed.into_iter().map(record).collect::<Result<_, _>>()?,
        overrides: examination.overrides(&refused),
    })
}

/// A file whose change broke a rule, and that was not changed since.
#[derive(Debug, Clone)]
struct RefusedFile {
    /// The content to keep.
    content: Option<Oid>,
    /// The commit that broke the rule.
    by: Oid,
}

/// The files that a commit keeps out. Commits that change none of them share the map.
type RefusedFiles = BTreeMap<TreePath, RefusedFile>;

struct Examination<'a> {
    store: &'a dyn Store,
    name: &'a StoreRef,
    known: Oid,
    renames: Renames,
    breaches: Breaches,
    refused: BTreeMap<Oid, Rc<RefusedFiles>>,
    /// The rules that commits in `known` break, cached when first needed.
    known_violations: RefCell<BTreeMap<Oid, Rc<Vec<RuleViolation>>>>,
    /// Merges repeated as the merging machines made them, by their two parents, cached when first needed.
    repeated: RefCell<BTreeMap<[Oid; 2], Rc<Repeated>>>,
    /// The number of commits that may still be judged again to repeat merges.
    repeatable: Cell<usize>,
    /// Content to keep that does not exist as an object yet, by its id: the kept content of a refused file, with a
    /// later permitted change applied to it.
    unwritten: RefCell<BTreeMap<Oid, Vec<u8>>>,
    /// Whether the records of merges are trusted, because only other commits are judged.
    trusts_records: bool,
}

type Breaches = BTreeMap<Oid, Vec<RuleViolation>>;

/// A merge repeated as the merging machine made it: that machine trusted its own side, the first parent.
#[derive(Default)]
struct Repeated {
    /// The rules that commits of the other side broke.
    breaches: Breaches,
    /// The files that differ from those of its own side, if any was refused.
    expected: Option<BTreeMap<TreePath, Expected>>,
}

type Records = BTreeMap<ConflictId, SetAside>;

fn read_once<'c>(cell: &'c OnceCell<Records>, store: &dyn Store, tree: &Oid) -> Result<&'c Records, StoreError> {
    match cell.get() {
        Some(records) => Ok(records),
        None => read::set_aside_in(store, tree).map(|records| cell.get_or_init(|| records)),
    }
}

/// A commit, with the content to compare it with: the tree of its first parent, but with other content for some files.
struct Step<'a> {
    id: Oid,
    info: &'a CommitInfo,
    /// The tree of its first parent.
    before: Oid,
    /// The files that were refused before, unless it is a merge.
    kept: Rc<RefusedFiles>,
    /// The files that a merge should change.
    merged: BTreeMap<TreePath, Expected>,
    claim: Option<RepoName>,
    /// The records of commits that broke a rule, before and after the step.
    records: [OnceCell<Records>; 2],
    /// Whether the step is examined only to find out whether another commit restores what it changed.
    is_looked_up: bool,
}

impl Step<'_> {
    fn is_merge(&self) -> bool {
        self.info.parents.len() > 1
    }

    /// Returns the records of commits that broke a rule, before and after the step. They are read only once.
    fn records(&self, store: &dyn Store) -> Result<[&Records; 2], StoreError> {
        let [before, after] = &self.records;
        Ok([read_once(before, store, &self.before)?, read_once(after, store, &self.info.tree)?])
    }
}

/// The expected content of a file after a merge.
enum Expected {
    Content(Option<Oid>),
    Bytes(Vec<u8>),
}

impl<'a> Examination<'a> {
    fn new(store: &'a dyn Store, name: &'a StoreRef, known: Oid, renames: Renames) -> Self {
        Self {
            store,
            name,
            known,
            renames,
            breaches: BTreeMap::new(),
            refused: BTreeMap::new(),
            known_violations: RefCell::default(),
            repeated: RefCell::default(),
            repeatable: Cell::new(MAX_REPEATED),
            unwritten: RefCell::default(),
            trusts_records: false,
        }
    }

    /// Judges commits, parents first.
    fn all(&mut self, commits: Vec<Oid>) -> Result<(), StoreError> {
        commits.into_iter().try_for_each(|commit| self.commit(commit))
    }

    fn commit(&mut self, id: Oid) -> Result<(), StoreError> {
        let info = self.store.commit(&id)?;
        let Some(first) = info.parents.first() else { return Ok(()) };
        let mut inherited = Rc::<RefusedFiles>::default();
        for refused in info.parents.iter().rev().filter_map(|parent| self.refused.get(parent)) {
            if inherited.is_empty() {
                inherited = Rc::clone(refused)
            } else {
                Rc::make_mut(&mut inherited).extend(refused.iter().map(|(path, one)| (path.clone(), one.clone())))
            }
        }
        let before = self.store.commit(first)?.tree;
        if before == info.tree && info.parents.len() == 1 {
            self.refused.insert(id, inherited);
            return Ok(());
        }
        let step = self.step(id, &info, before, &inherited)?;
        let renames = self.renames_by(&step)?;
        self.renames.extend(renames);
        let (breaches, refused) = self.judge(&step, &inherited)?;
        if !breaches.is_empty() {
            self.breaches.insert(id, breaches);
        }
        if !refused.is_empty() {
            self.refused.insert(id, refused);
        }
        Ok(())
    }

    fn step<'i>(
        &self,
        id: Oid,
        info: &'i CommitInfo,
        before: Oid,
        inherited: &Rc<RefusedFiles>,
    ) -> Result<Step<'i>, StoreError> {
        let (mut kept, mut merged) = (Rc::default(), BTreeMap::new());
        if info.parents.len() > 1 {
            merged = self.expected(info)?;
        } else {
            kept = Rc::clone(inherited);
        }
        let claim = trailer::last(&info.message, trailer::REPO).and_then(|repo| repo.parse().ok());
        Ok(Step { id, info, before, kept, merged, claim, records: Default::default(), is_looked_up: false })
    }

    fn judge(
        &self,
        step: &Step<'_>,
        inherited: &Rc<RefusedFiles>,
    ) -> Result<(Vec<RuleViolation>, Rc<RefusedFiles>), StoreError> {
        let Step { id, info, before, .. } = step;
        let mut paths = self.changed(before, &info.tree)?;
        // In a commit with one parent, refused files that it does not change stay refused without being checked again.
        let mut refused = Rc::clone(inherited);
        if step.is_merge() {
            for path in step.merged.keys().chain(inherited.keys()) {
                if let Some(place) = TreeFile::parse(self.name, &path.parts().collect::<Vec<_>>()) {
                    paths.insert(path.clone(), place);
                }
            }
            refused = Rc::default();
        }
        let mut breaches = Vec::new();
        for (path, place) in paths {
            if refused.contains_key(&path) {
                Rc::make_mut(&mut refused).remove(&path);
            }
            let after = self.content(&info.tree, &path)?;
            let held = match (step.merged.get(&path), step.kept.get(&path)) {
                (Some(Expected::Content(content)), _) => *content,
                (Some(Expected::Bytes(bytes)), _) => match after {
                    Some(blob) if self.store.blob(&blob)? == *bytes => continue,
                    _ => self.content(before, &path)?,
                },
                (None, Some(one)) => one.content,
                (None, None) => self.content(before, &path)?,
            };
            if held == after {
                continue;
            }
            if let Some(one) = inherited.get(&path)
                && self.is_same_as_in_parent(info, &path, after)?
            {
                Rc::make_mut(&mut refused).insert(path, one.clone());
                continue;
            }
            if let Some(one) = step.kept.get(&path)
                && let Some(content) = self.with_later_change(step, &place, one.content, after)?
            {
                Rc::make_mut(&mut refused).insert(path, RefusedFile { content: Some(content), by: one.by });
                continue;
            }
            if let Some(breach) = self.violation_of(step, &place, held, after)? {
                Rc::make_mut(&mut refused).insert(path, RefusedFile { content: held, by: *id });
                breaches.push(breach);
            }
        }
        Ok((breaches, refused))
    }

    fn overrides(&self, refused: &RefusedFiles) -> Overrides {
        let files: BTreeMap<_, _> = refused.iter().map(|(path, one)| (path.clone(), one.content)).collect();
        let made = if files.is_empty() { BTreeMap::new() } else { self.unwritten.borrow().clone() };
        Overrides { files, made }
    }

    /// Returns the files of a merge whose content must differ from that in the first parent's tree.
    fn expected(&self, info: &CommitInfo) -> Result<BTreeMap<TreePath, Expected>, StoreError> {
        let of = |parent: &Oid| self.refused.get(parent).map(|refused| self.overrides(refused)).unwrap_or_default();
        let [ours, theirs, ..] = &info.parents[..] else { return Ok(BTreeMap::new()) };
        self.merged([ours, theirs], [&of(ours), &of(theirs)])
    }

    /// Returns the files that a merge changes in the tree of its first parent.
    fn merged(
        &self,
        [ours, theirs]: [&Oid; 2],
        overrides: [&Overrides; 2],
    ) -> Result<BTreeMap<TreePath, Expected>, StoreError> {
        let mut expected: BTreeMap<_, _> =
            overrides[0].files.iter().map(|(path, content)| (path.clone(), Expected::Content(*content))).collect();
        let relation = Relation::of(self.store, ours, theirs)?;
        let merged = merge::merge_with_overrides(self.store, self.name, &relation, [ours, theirs], overrides)?;
        expected.extend(merged.edits.into_iter().map(|(path, edit)| match edit {
            Edit::Put(bytes) => (path, Expected::Bytes(bytes)),
            Edit::Link(_, blob) => (path, Expected::Content(Some(blob))),
            Edit::Remove => (path, Expected::Content(None)),
        }));
        Ok(expected)
    }

    /// Returns whether a file has the same refused content as in a parent.
    fn is_same_as_in_parent(&self, info: &CommitInfo, path: &TreePath, after: Option<Oid>) -> Result<bool, StoreError> {
        for parent in &info.parents {
            let is_refused = self.refused.get(parent).is_some_and(|refused| refused.contains_key(path));
            if is_refused && self.content(&self.store.commit(parent)?.tree, path)? == after {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the rule that a change to a file breaks, unless it resolves a conflict.
    fn violation_of(
        &self,
        step: &Step<'_>,
        place: &TreeFile,
        before: Option<Oid>,
        after: Option<Oid>,
    ) -> Result<Option<RuleViolation>, StoreError> {
        let Some((rule, owners)) = self.rule(step, place, before, after)? else { return Ok(None) };
        // No machine accepts invalid content, so a later commit may remove it.
        let is_invalid = |blob| validate_incoming::is_invalid(self.store, self.name, place, blob);
        if before.map(is_invalid).transpose()? == Some(true)
            && (after.is_none() || self.rule(step, place, None, after)?.is_none())
        {
            return Ok(None);
        }
        let contract = match place {
            TreeFile::Contract(name) | TreeFile::Version(name, _) => Some(name.clone()),
            _ => None,
        };
        let path = place.path().to_string();
        let breach = RuleViolation { path, rule, owners, contract, kept: before, refused: after };
        let is_allowed = self.is_accepted(step, &breach)?
            || self.is_restoration(step, &breach)?
            || self.matches_repeated_merge(step, &place.path(), after)?;
        Ok((!is_allowed).then_some(breach))
    }

    fn record(&self, id: Oid) -> Result<SetAside, StoreError> {
        let CommitInfo { author, committer, time, .. } = self.store.commit(&id)?;
        let changes = self.breaches.get(&id).into_iter().flatten().take(MAX_CHANGES).cloned().collect();
        Ok(SetAside { commit: id, author, committer, time, changes, settled: None })
    }

    /// Returns the files of the realm that differ between two trees.
    fn changed(&self, before: &Oid, after: &Oid) -> Result<BTreeMap<TreePath, TreeFile>, StoreError> {
        let mut changed = BTreeMap::new();
        let mut open = vec![(Vec::<String>::new(), Some(*before), Some(*after))];
        while let Some((path, before, after)) = open.pop() {
            let mut names: BTreeMap<String, [Option<(EntryKind, Oid)>; 2]> = BTreeMap::new();
            for (at, tree) in [before, after].into_iter().enumerate() {
                for entry in tree.map(|tree| self.store.entries(&tree)).transpose()?.unwrap_or_default() {
                    names.entry(entry.name).or_default()[at] = Some((entry.kind, entry.id));
                }
            }
            for (name, sides) in names.into_iter().filter(|(_, [before, after])| before != after) {
                let path: Vec<String> = path.iter().cloned().chain([name]).collect();
                let tree = |side: Option<(EntryKind, Oid)>| side.filter(|(kind, _)| *kind == EntryKind::Tree);
                let [old, new] = sides.map(|side| tree(side).map(|(_, id)| id));
                if (old.is_some() || new.is_some()) && path.len() < layout::MAX_DEPTH {
                    open.push((path.clone(), old, new));
                }
                if let Some(place) = TreeFile::parse(self.name, &path.iter().map(String::as_str).collect::<Vec<_>>()) {
                    changed.insert(place.path(), place);
                }
            }
        }
        Ok(changed)
    }

    fn content(&self, tree: &Oid, path: &TreePath) -> Result<Option<Oid>, StoreError> {
        let entry = read::lookup(self.store, tree, path.as_str())?;
        Ok(entry.filter(|entry| entry.kind == EntryKind::Blob).map(|entry| entry.id))
    }

    fn read<T: DeserializeOwned>(&self, blob: Option<Oid>) -> Result<Option<T>, StoreError> {
        match blob.and_then(|blob| self.unwritten.borrow().get(&blob).map(|bytes| codec::decode(bytes).ok())) {
            Some(made) => Ok(made),
            None => read::readable(self.store, blob),
        }
    }

    /// Returns a document as it should be before a step, or after a merge.
    fn held<T: DeserializeOwned>(&self, step: &Step<'_>, path: &TreePath) -> Result<Option<T>, StoreError> {
        match (step.merged.get(path), step.kept.get(path)) {
            (Some(Expected::Bytes(bytes)), _) => Ok(codec::decode(bytes).ok()),
            (Some(Expected::Content(content)), _) => self.read(*content),
            (None, Some(one)) => self.read(one.content),
            (None, None) => self.read_at(&step.before, path),
        }
    }

    /// Returns the names of the files that a folder should have before a step, or after a merge.
    fn held_names(&self, step: &Step<'_>, folder: &str) -> Result<BTreeSet<String>, StoreError> {
        let mut names: BTreeSet<String> =
            read::folder(self.store, &step.before, folder)?.into_iter().map(|entry| entry.name).collect();
        let merged = step.merged.iter().map(|(path, file)| (path, !matches!(file, Expected::Content(None))));
        let kept = step.kept.iter().map(|(path, one)| (path, one.content.is_some()));
        for (path, exists) in merged.chain(kept) {
            let Some((_, name)) = path.as_str().rsplit_once('/').filter(|(within, _)| *within == folder) else {
                continue;
            };
            if exists {
                names.insert(name.to_owned());
            } else {
                names.remove(name);
            }
        }
        Ok(names)
    }

    fn read_at<T: DeserializeOwned>(&self, tree: &Oid, path: &TreePath) -> Result<Option<T>, StoreError> {
        self.read(read::lookup(self.store, tree, path.as_str())?.map(|entry| entry.id))
    }
}
