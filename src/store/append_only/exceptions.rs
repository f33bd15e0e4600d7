//! Changes that a rule forbids, but that are allowed or kept: those that a commit accepts or restores, and later changes of
//! a refused file.

use std::rc::Rc;

use serde::de::DeserializeOwned;

use super::{Breaches, Examination, Expected, Repeated, Step};
use crate::model::{
    self,
    contract::Contract,
    domain::Domain,
    oid::Oid,
    set_aside::{RuleViolation, SetAside},
};
use crate::store::{
    StoreError, TreePath, codec,
    history::{self, Relation},
    merge::Overrides,
    tree_file::TreeFile,
};

impl Examination<'_> {
    /// Returns whether the commit accepts a change that was set aside, on behalf of the file's owner.
    pub(super) fn is_accepted(&self, step: &Step<'_>, breach: &RuleViolation) -> Result<bool, StoreError> {
        let Some(claim) = &step.claim else { return Ok(false) };
        let [held, now] = step.records(self.store)?;
        let is_it = |change: &RuleViolation| {
            change.path == breach.path && (change.kept, change.refused) == (breach.kept, breach.refused)
        };
        let is_by_claim = |record: &SetAside| record.settled.as_ref().is_some_and(|settled| settled.by == *claim);
        let is_accepted_now = |now: &SetAside| is_by_claim(now) && now.accepted().any(is_it);
        Ok(held.iter().any(|(id, record)| record.is_open() && now.get(id).is_some_and(is_accepted_now)))
    }

    /// Returns whether the commit only restores what another commit changed in violation of a rule. That other commit
    /// may be in `known`.
    pub(super) fn is_restoration(&self, step: &Step<'_>, breach: &RuleViolation) -> Result<bool, StoreError> {
        if step.is_looked_up {
            return Ok(false);
        }
        let [held, records] = step.records(self.store)?;
        // A change that was accepted must not be undone as a restoration.
        let is_accepted = |id| held.get(id).is_some_and(SetAside::is_accepted);
        for (_, record) in records.iter().filter(|(id, _)| !is_accepted(id)) {
            let undoes = |change: &&RuleViolation| {
                change.path == breach.path && (change.kept, change.refused) == (breach.refused, breach.kept)
            };
            let Some(change) = record.changes.iter().find(undoes) else { continue };
            if record.commit == step.id || !self.is_known(&record.commit)? {
                continue;
            }
            let is_it = |one: &RuleViolation| one.path == change.path && one.refused == change.refused;
            if self.breaches_of_known(record.commit)?.iter().any(is_it) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether the record that a step added is justified: only a merge may set a commit aside, and the commit
    /// must really have broken the recorded rules.
    pub(super) fn is_justified_record(&self, step: &Step<'_>, record: &SetAside) -> Result<bool, StoreError> {
        if !step.is_merge() || !record.is_open() {
            return Ok(false);
        }
        if self.trusts_records {
            return Ok(true);
        }
        let is_broken = |breaches: &Breaches| {
            let broken = breaches.get(&record.commit);
            let is_it =
                |change: &RuleViolation, one: &RuleViolation| one.path == change.path && one.refused == change.refused;
            broken.is_some_and(|broken| record.changes.iter().all(|change| broken.iter().any(|one| is_it(change, one))))
        };
        Ok(is_broken(&self.breaches) || is_broken(&self.repeated(step)?.breaches))
    }

    /// Returns whether the content of a file in a merge is what the merging machine kept because it refused commits.
    /// Those commits may be in `known` here.
    pub(super) fn matches_repeated_merge(
        &self,
        step: &Step<'_>,
        path: &TreePath,
        after: Option<Oid>,
    ) -> Result<bool, StoreError> {
        if !step.is_merge() || step.is_looked_up || self.trusts_records {
            return Ok(false);
        }
        let repeated = self.repeated(step)?;
        let Some(expected) = &repeated.expected else { return Ok(false) };
        Ok(match (expected.get(path), after) {
            (Some(Expected::Content(content)), _) => *content == after,
            (Some(Expected::Bytes(bytes)), Some(after)) => self.store.blob(&after)? == *bytes,
            (Some(Expected::Bytes(_)), None) => false,
            (None, _) => self.content(&step.before, path)? == after,
        })
    }

    /// Repeats a merge as the merging machine made it, trusting its first parent.
    fn repeated(&self, step: &Step<'_>) -> Result<Rc<Repeated>, StoreError> {
        let [ours, theirs, ..] = &step.info.parents[..] else { return Ok(Rc::default()) };
        if let Some(repeated) = self.repeated.borrow().get(&[*ours, *theirs]) {
            return Ok(Rc::clone(repeated));
        }
        let commits = history::added(self.store, ours, theirs)?;
        let Some(left) = self.repeatable.get().checked_sub(commits.len()) else { return Ok(Rc::default()) };
        self.repeatable.set(left);
        let mut examination = Examination::new(self.store, self.name, *ours, self.renames.clone());
        examination.trusts_records = true;
        examination.all(commits)?;
        let refused = examination.refused.get(theirs).map(|refused| examination.overrides(refused));
        let expected = refused.map(|refused| self.merged([ours, theirs], [&Overrides::default(), &refused]));
        let repeated = Rc::new(Repeated { breaches: examination.breaches, expected: expected.transpose()? });
        self.repeated.borrow_mut().insert([*ours, *theirs], Rc::clone(&repeated));
        Ok(repeated)
    }

    /// Returns the rules that a commit in `known` breaks. The result is cached, because one commit may restore many
    /// files that it changed.
    fn breaches_of_known(&self, id: Oid) -> Result<Rc<Vec<RuleViolation>>, StoreError> {
        if let Some(breaches) = self.known_violations.borrow().get(&id) {
            return Ok(Rc::clone(breaches));
        }
        let info = self.store.commit(&id)?;
        let mut breaches = Vec::new();
        if let Some(first) = info.parents.first() {
            let (before, inherited) = (self.store.commit(first)?.tree, Rc::default());
            let step = Step { is_looked_up: true, ..self.step(id, &info, before, &inherited)? };
            (breaches, _) = self.judge(&step, &inherited)?;
        }
        let breaches = Rc::new(breaches);
        self.known_violations.borrow_mut().insert(id, Rc::clone(&breaches));
        Ok(breaches)
    }

    /// Returns whether a commit is part of `known`.
    fn is_known(&self, commit: &Oid) -> Result<bool, StoreError> {
        match Relation::of(self.store, commit, &self.known) {
            Err(error) if error.is_damage() => Ok(false),
            relation => Ok(relation?.is_contained),
        }
    }

    /// Returns the kept content of a refused file with the change that a later commit made on top of the refused
    /// content, if that later change alone breaks no rule. Its author is not responsible for the refused one.
    pub(super) fn with_later_change(
        &self,
        step: &Step<'_>,
        place: &TreeFile,
        kept: Option<Oid>,
        after: Option<Oid>,
    ) -> Result<Option<Oid>, StoreError> {
        let before = self.content(&step.before, &place.path())?;
        let bytes = match place {
            TreeFile::Domain => self
                .all_of::<Domain>([before, kept, after])?
                .map(|[before, kept, after]| codec::encode(&model::merge::domain(Some(&before), &kept, &after))),
            TreeFile::Contract(_) => self
                .all_of::<Contract>([before, kept, after])?
                .filter(|[before, _, after]| {
                    before.version == after.version
                        && before.owner == after.owner
                        && before.computed_content_hash() == after.computed_content_hash()
                })
                .map(|[before, kept, after]| codec::encode_contract(&model::merge::marks(&before, &kept, &after))),
            _ => None,
        };
        let Some(bytes) = bytes.filter(|_| before != after) else { return Ok(None) };
        if self.violation_of(step, place, before, after)?.is_some() {
            return Ok(None);
        }
        let id = self.store.blob_id(&bytes)?;
        self.unwritten.borrow_mut().insert(id, bytes);
        Ok(Some(id))
    }

    /// Returns the documents, if all of them can be read.
    fn all_of<T: DeserializeOwned>(&self, [a, b, c]: [Option<Oid>; 3]) -> Result<Option<[T; 3]>, StoreError> {
        Ok(match (self.read(a)?, self.read(b)?, self.read(c)?) {
            (Some(a), Some(b), Some(c)) => Some([a, b, c]),
            _ => None,
        })
    }
}
