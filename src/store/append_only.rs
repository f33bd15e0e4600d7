//! Checks fetched commits against the rules that every commit of a realm must follow: published
//! versions never change, and only the owner of a file changes it. Each commit is compared with its
//! first parent, and a merge with the merge that this program would make of its parents, so that
//! every machine reaches the same result, regardless of which commits it had before.
//!
//! The `Blue-Repo` trailer of a commit claims which repository made it. A false claim breaks no rule, but the owner is
//! notified of the commit's author either way.

mod rules;

use std::{
    cell::{OnceCell, RefCell},
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use serde::de::DeserializeOwned;

use crate::model::{
    merge::ConflictId,
    name::RepoName,
    oid::Oid,
    realm::Rename,
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
};

/// The maximum number of files in the record of one commit. Further files are kept out as well.
const MAX_CHANGES: usize = 5_000;

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
    let realm = if *name == StoreRef::Realm { Some(*tip) } else { store.tip(&StoreRef::Realm)? };
    let mut examination = Examination {
        store,
        name,
        known: *known,
        renames: realm.map(|realm| renames(store, &realm)).transpose()?.unwrap_or_default(),
        breaches: BTreeMap::new(),
        refused: BTreeMap::new(),
        looked_up: RefCell::default(),
    };
    for commit in history::added(store, known, tip)? {
        examination.commit(commit)?;
    }
    let refused = examination.refused.remove(tip).unwrap_or_default();
    let blamed: BTreeSet<Oid> = refused.values().map(|one| one.by).collect();
    let record = |commit| examination.record(commit);
    Ok(Examined {
        records: blamed.into_iter().map(record).collect::<Result<_, _>>()?,
        overrides: refused.iter().map(|(path, one)| (path.clone(), one.content)).collect(),
    })
}

/// Returns all renames in the realm, by former name.
fn renames(store: &dyn Store, realm: &Oid) -> Result<BTreeMap<RepoName, RepoName>, StoreError> {
    let tree = store.commit(realm)?.tree;
    let mut renames = BTreeMap::new();
    for entry in read::folder(store, &tree, layout::RENAMES)?.iter().filter(|entry| entry.kind == EntryKind::Blob) {
        if let Ok(Rename { from, to }) = codec::decode(&store.blob(&entry.id)?) {
            renames.insert(from, to);
        }
    }
    Ok(renames)
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
    renames: BTreeMap<RepoName, RepoName>,
    breaches: BTreeMap<Oid, Vec<RuleViolation>>,
    refused: BTreeMap<Oid, Rc<RefusedFiles>>,
    /// The rules that commits in `known` break, if they were needed.
    looked_up: RefCell<BTreeMap<Oid, Rc<Vec<RuleViolation>>>>,
}

type Records = BTreeMap<ConflictId, SetAside>;

fn read_once<'c>(cell: &'c OnceCell<Records>, store: &dyn Store, tree: &Oid) -> Result<&'c Records, StoreError> {
    match cell.get() {
        Some(records) => Ok(records),
        None => read::set_aside_in(store, tree).map(|records| cell.get_or_init(|| records)),
    }
}

/// A commit, with the tree to compare it with.
struct Step<'a> {
    id: Oid,
    info: &'a CommitInfo,
    /// The tree of its first parent.
    before: Oid,
    claim: Option<RepoName>,
    /// The records of commits that broke a rule, before and after the step.
    records: [OnceCell<Records>; 2],
    /// True if the step is only examined to see what another commit restores.
    is_looked_up: bool,
}

impl<'a> Step<'a> {
    fn new(id: Oid, info: &'a CommitInfo, before: Oid) -> Self {
        let claim = trailer::last(&info.message, trailer::REPO).and_then(|repo| repo.parse().ok());
        Self { id, info, before, claim, records: Default::default(), is_looked_up: false }
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

impl Examination<'_> {
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
        let step = Step::new(id, &info, before);
        let (breaches, refused) = self.judge(&step, &inherited)?;
        if !breaches.is_empty() {
            self.breaches.insert(id, breaches);
        }
        if !refused.is_empty() {
            self.refused.insert(id, refused);
        }
        Ok(())
    }

    fn judge(
        &self,
        step: &Step<'_>,
        inherited: &Rc<RefusedFiles>,
    ) -> Result<(Vec<RuleViolation>, Rc<RefusedFiles>), StoreError> {
        let Step { id, info, before, .. } = step;
        let (mut paths, mut expected) = (self.changed(before, &info.tree)?, BTreeMap::new());
        // A refused file that a commit with one parent does not change stays refused, without another look.
        let mut refused = Rc::clone(inherited);
        if info.parents.len() > 1 {
            expected = self.expected(info)?;
            for path in expected.keys().chain(inherited.keys()) {
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
            let held = match expected.get(&path) {
                Some(Expected::Content(content)) => *content,
                Some(Expected::Bytes(bytes)) => match after {
                    Some(blob) if self.store.blob(&blob)? == *bytes => continue,
                    _ => self.content(before, &path)?,
                },
                None => match inherited.get(&path).filter(|_| info.parents.len() == 1) {
                    Some(one) => one.content,
                    None => self.content(before, &path)?,
                },
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
            if let Some(breach) = self.violation_of(step, &place, held, after)? {
                Rc::make_mut(&mut refused).insert(path, RefusedFile { content: held, by: *id });
                breaches.push(breach);
            }
        }
        Ok((breaches, refused))
    }

    /// Returns the files of a merge whose content must differ from that in the first parent's tree.
    fn expected(&self, info: &CommitInfo) -> Result<BTreeMap<TreePath, Expected>, StoreError> {
        let none = Overrides::new();
        let overrides = |parent: Option<&Oid>| -> Overrides {
            let refused = parent.and_then(|parent| self.refused.get(parent)).into_iter().flat_map(|held| held.iter());
            refused.map(|(path, one)| (path.clone(), one.content)).collect()
        };
        let first = overrides(info.parents.first());
        let mut expected: BTreeMap<_, _> =
            first.iter().map(|(path, content)| (path.clone(), Expected::Content(*content))).collect();
        if let [ours, theirs, ..] = &info.parents[..] {
            let second = overrides(Some(theirs));
            let relation = Relation::of(self.store, ours, theirs)?;
            let sides = if first.is_empty() && second.is_empty() { [&none, &none] } else { [&first, &second] };
            let merged = merge::merge_with_overrides(self.store, self.name, &relation, [ours, theirs], sides)?;
            expected.extend(merged.edits.into_iter().map(|(path, edit)| match edit {
                Edit::Put(bytes) => (path, Expected::Bytes(bytes)),
                Edit::Link(_, blob) => (path, Expected::Content(Some(blob))),
                Edit::Remove => (path, Expected::Content(None)),
            }));
        }
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
        let contract = match place {
            TreeFile::Contract(name) | TreeFile::Version(name, _) => Some(name.clone()),
            _ => None,
        };
        let path = place.path().to_string();
        let breach = RuleViolation { path, rule, owners, contract, kept: before, refused: after };
        Ok((!self.is_accepted(step, &breach)? && !self.is_restoration(step, &breach)?).then_some(breach))
    }

    /// Returns whether the commit accepts a change that was set aside, on behalf of the file's owner.
    fn is_accepted(&self, step: &Step<'_>, breach: &RuleViolation) -> Result<bool, StoreError> {
        let Some(claim) = &step.claim else { return Ok(false) };
        let [held, now] = step.records(self.store)?;
        Ok(held.iter().any(|(id, record)| {
            let is_now = now.get(id).and_then(|now| now.settled.as_ref());
            let by_owner = is_now.is_some_and(|settled| settled.by == *claim) && record.is_owned_by(claim);
            record.is_open() && by_owner && now.get(id).is_some_and(SetAside::is_accepted) && {
                let change = record.changes.iter().find(|one| one.path == breach.path);
                change.is_some_and(|change| (change.kept, change.refused) == (breach.kept, breach.refused))
            }
        }))
    }

    /// Returns whether the commit only restores what another commit changed in violation of a rule. That other commit
    /// may be in `known`.
    fn is_restoration(&self, step: &Step<'_>, breach: &RuleViolation) -> Result<bool, StoreError> {
        if step.is_looked_up {
            return Ok(false);
        }
        let [_, records] = step.records(self.store)?;
        for record in records.values() {
            let undoes = |change: &&RuleViolation| {
                change.path == breach.path && (change.kept, change.refused) == (breach.refused, breach.kept)
            };
            let Some(change) = record.changes.iter().find(undoes) else { continue };
            if record.commit == step.id || !self.is_known(&record.commit)? {
                continue;
            }
            let breaches = self.breaches_of_known(record.commit)?;
            if breaches.iter().any(|one| one.path == change.path && one.refused == change.refused) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the rules that a commit in `known` breaks. Many files of a commit may restore what it changed.
    fn breaches_of_known(&self, id: Oid) -> Result<Rc<Vec<RuleViolation>>, StoreError> {
        if let Some(breaches) = self.looked_up.borrow().get(&id) {
            return Ok(Rc::clone(breaches));
        }
        let info = self.store.commit(&id)?;
        let mut breaches = Vec::new();
        if let Some(first) = info.parents.first() {
            let before = self.store.commit(first)?.tree;
            let step = Step { is_looked_up: true, ..Step::new(id, &info, before) };
            (breaches, _) = self.judge(&step, &Rc::default())?;
        }
        let breaches = Rc::new(breaches);
        self.looked_up.borrow_mut().insert(id, Rc::clone(&breaches));
        Ok(breaches)
    }

    /// Returns whether a commit is part of `known`.
    fn is_known(&self, commit: &Oid) -> Result<bool, StoreError> {
        match Relation::of(self.store, commit, &self.known) {
            Err(error) if error.is_damage() => Ok(false),
            relation => Ok(relation?.is_contained),
        }
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
        read::readable(self.store, blob)
    }

    fn read_at<T: DeserializeOwned>(&self, tree: &Oid, path: &TreePath) -> Result<Option<T>, StoreError> {
        self.read(read::lookup(self.store, tree, path.as_str())?.map(|entry| entry.id))
    }
}
