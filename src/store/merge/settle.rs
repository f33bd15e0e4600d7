//! Decides files that both sides of a merge changed.

use serde::{Serialize, de::DeserializeOwned};

use super::{PathConflict, TreeMerge};
use crate::model::{
    binding::Binding,
    conflict::Conflict,
    contract::Contract,
    domain::Source,
    merge::{self, ConflictId, Merged, Newer},
    name::{ContractName, RepoName},
    oid::Oid,
    realm::Repo,
    set_aside::SetAside,
    transfer::Transfers,
};
use crate::store::{Edit, EntryKind, StoreError, codec, layout, read, tree_file::TreeFile};

impl TreeMerge<'_> {
    /// Resolves a file that both sides changed.
    pub(super) fn settle(&mut self, conflict: PathConflict) -> Result<(), StoreError> {
        let PathConflict { place, base, sides: [ours, theirs] } = conflict;
        let (Some(our), Some(their)) = (ours, theirs) else {
            return self.settle_absence(&place, base, [ours, theirs]);
        };
        match &place {
            TreeFile::Contract(name) => {
                let Some([our, their]) = self.both::<Contract>(&place, our, their)? else { return Ok(()) };
                let base = self.readable(base)?;
                let ([ours, theirs], newer) = self.comparable(name, &our, &their)?;
                let merge =
                    if self.is_handed_over(name, [&ours, &theirs], newer)? { merge::contract } else { merge::rivals };
                let merged = merge(base.as_ref(), &ours, &theirs, newer);
                self.put_contract(&place, &our, merged, name);
            }
            TreeFile::Version(name, _) => {
                let Some([our, their]) = self.both::<Contract>(&place, our, their)? else { return Ok(()) };
                let ([ours, theirs], newer) = self.comparable(name, &our, &their)?;
                let current = self.merged(&layout::contract(name))?;
                let merged = merge::version(current.as_ref(), &ours, &theirs, newer);
                self.put_contract(&place, &our, merged, name);
            }
            TreeFile::Binding(repo) => {
                let Some([our, their]) = self.both::<Binding>(&place, our, their)? else { return Ok(()) };
                let base = self.readable(base)?;
                let merged = merge::binding(base.as_ref(), &our, &their, self.newer([repo; 2])?);
                self.put_binding(repo, Some(&our), merged);
            }
            TreeFile::Source(repo) => {
                let Some([our, their]) = self.both::<Source>(&place, our, their)? else { return Ok(()) };
                let base = self.readable(base)?;
                let merged = merge::source(base.as_ref(), &our, &their, self.newer([repo; 2])?);
                self.put(&place, &our, &merged);
            }
            TreeFile::Domain => {
                let base = self.readable(base)?;
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
            TreeFile::Transfers(_) => {
                let Some([our, their]) = self.both::<Transfers>(&place, our, their)? else { return Ok(()) };
                let merged = self.merged_transfers(base, [&our, &their])?;
                self.put(&place, &our, &merged);
            }
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

    /// Resolves a file that one side removed and the other changed: it stays, unless it is a session that has ended, or
    /// a later commit of the repository removed its binding.
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
        if let TreeFile::Transfers(name) = place
            && let Some(changed) = self.readable::<Transfers>(ours.or(theirs))?
        {
            let withdrawn = Transfers::of(name.clone());
            let sides = if ours.is_some() { [&changed, &withdrawn] } else { [&withdrawn, &changed] };
            if self.merged_transfers(base, sides)?.transfers.is_empty() {
                self.merge.edits.extend(ours.map(|_| (place.path(), Edit::Remove)));
                return Ok(());
            }
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
        Ok(match (self.readable(Some(our))?, self.readable(Some(their))?) {
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

    /// Merges a file whose merge loses nothing of either side.
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

    pub(super) fn put_binding(&mut self, repo: &RepoName, ours: Option<&Binding>, merged: Merged<Binding>) {
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
}
