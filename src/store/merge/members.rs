//! Keeps members that one side of a merge removed while the other side published something of them.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use super::TreeMerge;
use crate::model::{
    binding::Binding,
    contract::Contract,
    domain::Domain,
    name::{ContractName, RepoName},
};
use crate::store::{Edit, StoreError, TreePath, codec, layout, read};

impl TreeMerge<'_> {
    /// Keeps a member that one side removed, alone or with the whole domain, while the other side published the
    /// member's binding or one of its contracts. The merge keeps those files, and without their owner nobody could
    /// change or remove them.
    pub(super) fn keep_members(&mut self) -> Result<(), StoreError> {
        let path = layout::domain();
        let Some(mut merged) = self.merged::<Domain>(&path)? else { return Ok(()) };
        let mut removed = BTreeSet::new();
        for side in 0..2 {
            let domain = self.readable::<Domain>(self.content(side, &path)?)?;
            removed.extend(domain.into_iter().flat_map(|domain| domain.members));
        }
        removed.retain(|member| !merged.has_member(member));
        if removed.is_empty() {
            return Ok(());
        }
        let owners = self.owners()?;
        let mut is_kept = false;
        for member in removed {
            if owners.contains(&member) || self.merged::<Binding>(&layout::binding(&member))?.is_some() {
                is_kept |= merged.members.insert(member);
            }
        }
        if is_kept {
            merged.removed = false;
            self.merge.edits.remove(&path);
            if self.merged::<Domain>(&path)?.as_ref() != Some(&merged) {
                self.merge.edits.insert(path, Edit::Put(codec::encode(&merged)));
            }
        }
        Ok(())
    }

    /// Returns the owners of the contracts that differ between the sides and are not retired after the merge. Contracts
    /// that are the same on both sides do not count: whoever removed their owner saw them.
    fn owners(&self) -> Result<BTreeSet<RepoName>, StoreError> {
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
            let contract = self.merged::<Contract>(&layout::contract(&name))?;
            owners.extend(contract.filter(|contract| contract.retired.is_none()).map(|contract| contract.owner));
        }
        Ok(owners)
    }

    /// Returns a document after the merge, if there is one that can be read.
    pub(super) fn merged<T: DeserializeOwned>(&self, path: &TreePath) -> Result<Option<T>, StoreError> {
        let blob = match self.merge.edits.get(path) {
            Some(Edit::Put(text)) => return Ok(codec::decode(text).ok()),
            Some(Edit::Link(_, blob)) => Some(*blob),
            Some(Edit::Remove) => None,
            None => self.content(0, path)?,
        };
        self.readable(blob)
    }
}
