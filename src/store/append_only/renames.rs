//! The renames of repositories, which allow a repository to change what it owns under a former name.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use super::{Examination, Step};
use crate::model::{name::RepoName, oid::Oid, realm::Rename};
use crate::store::{EntryKind, Store, StoreError, StoreRef, codec, history, layout, read};

/// The maximum number of the realm's commits that are searched for renames.
const MAX_HISTORY: usize = 10_000;

/// The later names of repositories, by each former name. A name that is in use again may be renamed again.
type LaterNames = BTreeMap<RepoName, BTreeSet<RepoName>>;

/// The renames in the history of the realm, and in the commits that are judged.
#[derive(Clone, Default)]
pub(super) struct Renames {
    realm: Option<Oid>,
    /// The renames in the history, read when first needed: it is long, and most commits claim no other name.
    past: OnceCell<LaterNames>,
    new: LaterNames,
}

impl Renames {
    /// Creates those in the history of this commit of the realm.
    pub(super) fn until(realm: Option<Oid>) -> Self {
        Self { realm, ..Self::default() }
    }

    pub(super) fn extend(&mut self, renames: impl IntoIterator<Item = Rename>) {
        add(&mut self.new, renames);
    }

    /// Returns whether `later` is the given name of a repository or a later one.
    pub(super) fn lead(&self, store: &dyn Store, name: &RepoName, later: &RepoName) -> Result<bool, StoreError> {
        if name == later {
            return Ok(true);
        }
        let past = self.past(store)?;
        let (mut reached, mut open) = (BTreeSet::from([name]), vec![name]);
        while let Some(name) = open.pop() {
            let next = [past, &self.new].into_iter().filter_map(|renames| renames.get(name)).flatten();
            open.extend(next.filter(|next| reached.insert(next)));
        }
        Ok(reached.contains(later))
    }

    fn past(&self, store: &dyn Store) -> Result<&LaterNames, StoreError> {
        if let Some(past) = self.past.get() {
            return Ok(past);
        }
        let past = self.realm.map(|realm| past(store, &realm)).transpose()?.unwrap_or_default();
        Ok(self.past.get_or_init(|| past))
    }
}

fn add(to: &mut LaterNames, renames: impl IntoIterator<Item = Rename>) {
    for Rename { from, to: later } in renames {
        to.entry(from).or_default().insert(later);
    }
}

/// Returns the renames that are recorded in a commit of the realm, and those that its history made: the record of a name
/// is removed when another repository takes that name.
fn past(store: &dyn Store, realm: &Oid) -> Result<LaterNames, StoreError> {
    let mut found = LaterNames::new();
    for entry in read::folder(store, &store.commit(realm)?.tree, layout::RENAMES)? {
        if entry.kind == EntryKind::Blob {
            add(&mut found, codec::decode::<Rename>(&store.blob(&entry.id)?).ok());
        }
    }
    let examination = Examination::new(store, &StoreRef::Realm, *realm, Renames::default());
    for id in history::since(store, realm, &[], MAX_HISTORY)? {
        let info = store.commit(&id)?;
        if let [parent] = &info.parents[..] {
            let step = examination.step(id, &info, store.commit(parent)?.tree, &Rc::default())?;
            add(&mut found, examination.renames_by(&step)?);
        }
    }
    Ok(found)
}

impl Examination<'_> {
    /// Returns the renames that a commit of the realm's ref makes, if they break no rule.
    pub(super) fn renames_by(&self, step: &Step<'_>) -> Result<Vec<Rename>, StoreError> {
        // The renames that a merge brings were found in the commits of its sides.
        if *self.name != StoreRef::Realm || step.is_merge() {
            return Ok(Vec::new());
        }
        let before = read::folder(self.store, &step.before, layout::RENAMES)?;
        let after = read::folder(self.store, &step.info.tree, layout::RENAMES)?;
        let mut renames = Vec::new();
        for entry in after.iter().filter(|entry| !before.contains(entry)) {
            let Some(old) = layout::stem::<RepoName>(&entry.name) else { continue };
            if self.is_honest_rename(step, &old, Some(entry.id))? {
                renames.extend(self.read::<Rename>(Some(entry.id))?);
            }
        }
        Ok(renames)
    }
}
